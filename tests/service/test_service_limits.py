"""How many reports a task takes in all, and how often one address or one token may ask."""

import json
import sqlite3

import pytest
import sqlalchemy as sa
from starlette.testclient import TestClient

from hedgerow.service.problems import Problem
from hedgerow.service.rates import BURST_SECONDS, Rates


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    if request.param == "postgres":
        return request.getfixturevalue("postgres")
    return f"sqlite:///{tmp_path}/hedgerow.db"


def test_reports_beyond_the_limit_are_refused_and_copies_are_not(inside, url, local_task, holders, part):
    service = inside(url)
    task = local_task()
    service.publish(task, max_reports=5)
    reports = holders(task, 8)
    assert service.send(task, part(reports, 0, 3)).json()["accepted"] == 3
    service.service.aggregator.turn()  # what was added up counts, and what waits
    answer = service.send(task, part(reports, 2)).json()
    assert (answer["accepted"], answer["duplicates"]) == (2, 1)
    assert [failure["code"] for failure in answer["failures"]] == ["task-full"] * 3
    assert [failure["index"] for failure in answer["failures"]] == [3, 4, 5]
    refused = service.send(task, part(reports, 6))
    assert (refused.status_code, refused.json()["code"]) == (410, "task-full")
    again = service.send(task, part(reports, 0, 3))  # a receipt that was lost
    assert again.json() == {"accepted": 0, "duplicates": 3, "failures": []}
    status = service.status(task)
    assert (status["accepted"], status["max_reports"]) == (5, 5)
    assert status["refused"] == {"task-full": 4}


def test_uploads_of_one_commit_share_what_is_left(inside, local_task, holders, part):
    from hedgerow.service.intake import take

    service = inside()
    task = local_task()
    service.publish(task, max_reports=4)
    reports = holders(task, 6)
    collection = service.service.collection(task.id)
    uploads = []
    for start in (0, 3):
        batch = collection.kind.read(part(reports, start, start + 3).to_bytes())
        uploads.append(collection.kind.upload(collection.number, batch, None, None))
        uploads[-1].most = 4
    database = service.service.database
    with database.write_uploads() as connection:
        first, second = take(database, connection, uploads)
    assert (first.accepted, second.accepted) == (3, 1)
    assert second.failures == ((1, "task-full"), (2, "task-full"))


def test_a_token_is_not_spent_by_what_does_not_fit(inside, local_task, holders, part):
    service = inside()
    task = local_task()
    service.publish(task, max_reports=1, tokens=True)
    one, two = service.post(task, "tokens", {"count": 2}).json()["tokens"]
    reports = holders(task, 2)
    assert service.send(task, part(reports, 0, 1), Authorization=f"Bearer {one}").status_code == 200
    late = service.send(task, part(reports, 1), Authorization=f"Bearer {two}")
    assert late.json()["code"] == "task-full"
    with service.service.database.read() as connection:
        tokens = connection.exec_driver_sql("SELECT coalesce(max(length(tokens)), 0) FROM arrivals").scalar()
    assert tokens == 40  # one digest and one number


def test_the_limit_is_signed_and_said_everywhere(inside, local_task):
    from hedgerow.commands.server import status_lines
    from hedgerow.holder.words import describe
    from hedgerow.tasks.announcement import Announcement

    service = inside()
    task = local_task(title="Hours")
    service.publish(task, max_reports=12_000, target=9_000)
    notice = Announcement.from_json(service.client.get(f"/v1/tasks/{task.id}").text).verify()
    assert notice.max_reports == 12_000
    assert "At most 12,000 reports are taken." in describe(notice)
    lines = status_lines(service.status(task))
    assert lines[0] == "Hours: open, 0 reports of 9,000 aimed at, at most 12,000 are taken"
    changed = {**json.loads(notice.to_json()), "max_reports": 10**9}
    with pytest.raises(Exception, match="signature does not hold"):
        Announcement.from_dict(changed).verify()


@pytest.mark.parametrize("words", [{"max_reports": -1}, {"max_reports": 10**13}, {"target": 0}, {"target": 10**13}])
def test_numbers_that_nobody_means_are_refused(inside, local_task, words):
    from tests.service.conftest import CURATOR, WORDS

    service = inside()
    answer = service.client.post("/v1/tasks", json={"task": local_task().to_dict(), **WORDS, **words}, headers=CURATOR)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-request")


def far(service, host="203.0.113.9"):
    """Return a client at another address than this machine's."""
    return TestClient(service.app, client=(host, 50_000), raise_server_exceptions=False)


def test_an_address_is_told_to_wait_and_no_other(inside, local_task):
    service = inside(address_rate=0.1, token_rate=0.0)
    task = local_task()
    service.publish(task)
    client = far(service)
    answers = [client.get(f"/v1/tasks/{task.id}") for _ in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]
    problem = answers[2].json()
    assert problem["code"] == "too-many-requests" and answers[2].headers["retry-after"] in ("9", "10")
    assert answers[2].headers["content-type"] == "application/problem+json"
    assert client.post(f"/v1/tasks/{task.id}/reports", content=b"").status_code == 429
    assert client.get("/livez").status_code == 200  # asks nothing of the database
    assert client.get("/").status_code == 429  # reads all tasks
    assert far(service, "203.0.113.10").get(f"/v1/tasks/{task.id}").status_code == 200
    metrics = far(service, "203.0.113.11").get("/metrics").text
    assert 'hedgerow_problems_total{code="too-many-requests"} 3' in metrics


def test_a_token_is_told_to_wait_wherever_it_comes_from(inside, local_task, holders, part):
    service = inside(address_rate=0.0, token_rate=0.1)
    task = local_task()
    service.publish(task, tokens=True)
    token = service.post(task, "tokens", {"quota": 9}).json()["tokens"][0]
    reports = holders(task, 3)
    answers = [service.send(task, part(reports, i, i + 1), Authorization=f"Bearer {token}") for i in range(3)]
    assert [answer.status_code for answer in answers] == [200, 200, 429]


def test_no_address_is_stored_or_logged(inside, local_task, holders, capfd, tmp_path):
    service = inside(address_rate=0.1)
    task = local_task()
    service.publish(task)
    client = far(service, "203.0.113.77")
    for _ in range(4):
        client.get(f"/v1/tasks/{task.id}")
    assert "203.0.113.77" not in repr(vars(service.service.rates))
    service.service._log_uploads()
    with sqlite3.connect(tmp_path / "hedgerow.db") as connection:
        assert "203.0.113.77" not in "\n".join(connection.iterdump())
    captured = capfd.readouterr()
    assert "203.0.113.77" not in captured.out + captured.err


def test_silence_fills_the_allowance_and_is_forgotten():
    now = [0.0]
    rates = Rates(address=1.0, token=0.0, clock=lambda: now[0])
    for _ in range(int(BURST_SECONDS)):
        rates.take_address("203.0.113.9")
    with pytest.raises(Problem):
        rates.take_address("203.0.113.9")
    now[0] = 1.0
    rates.take_address("203.0.113.9")
    with pytest.raises(Problem):
        rates.take_address("203.0.113.9")
    now[0] = 1.5 + BURST_SECONDS
    rates.forget()
    assert rates._left == {}


def test_a_household_has_one_allowance_and_this_machine_none():
    rates = Rates(address=0.05, token=0.0, clock=lambda: 0.0)
    rates.take_address("2001:db8:1:2::1")
    with pytest.raises(Problem):
        rates.take_address("2001:db8:1:2:ffff::2")
    rates.take_address("2001:db8:1:3::1")
    for _ in range(100):
        rates.take_address("127.0.0.1")
        rates.take_address("::ffff:127.0.0.1")


def test_two_processes_know_an_address_by_different_digests():
    one, two = Rates(1.0, 1.0), Rates(1.0, 1.0)
    for rates in (one, two):
        rates.take_address("203.0.113.9")
    assert set(one._left).isdisjoint(two._left)


def test_lists_of_tasks_do_not_read_announcements_again(inside, local_task):
    """They may have a megabyte each, and everybody may ask for the list."""
    before = inside()
    for title in ("one", "two", "three"):
        before.publish(local_task(title))
    service, asked = inside(), []
    service.client.post("/dashboard/sign-in", data={"token": "curator-token-of-these-tests"})

    def note(connection, cursor, statement, *_):
        asked.append(statement)

    for engine in (service.service.database.engine, service.service.database.readers):
        sa.event.listen(engine, "before_cursor_execute", note)
    before.publish(local_task("four"))  # by another server, as far as this one knows
    for _ in range(2):
        asked.clear()
        for path in ("/", "/v1/tasks", "/dashboard", "/metrics"):
            answer = service.client.get(path)
            assert answer.status_code == 200
            assert path == "/metrics" or all(title in answer.text for title in ("one", "two", "three", "four"))
    assert asked
    assert not [statement for statement in asked if "announcement" in statement]
