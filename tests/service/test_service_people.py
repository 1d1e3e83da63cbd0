"""More than one server, more than one person: scopes, sessions, the audit log, deletion, damaged tasks."""

import re
import sqlite3
import time

import numpy as np
import pytest
import sqlalchemy as sa

from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.service import removal
from hedgerow.service.audit import broken_at, read_audit, write_audit
from hedgerow.service.backup import backup, restore
from hedgerow.service.curators import add_curator, digest_of, list_curators, revoke_curator
from hedgerow.service.database import Database, StorageError, StoragePressure
from hedgerow.service.pages import note_pages, noted, write_anew
from hedgerow.service.problems import Problem
from hedgerow.tasks.labels.task import LabelTask

ADMIN = "curator-token-of-these-tests"


@pytest.fixture(params=["sqlite", "postgres"])
def url(request, tmp_path):
    return f"sqlite:///{tmp_path}/hedgerow.db" if request.param == "sqlite" else request.getfixturevalue("postgres")


def add(service, name, *scopes):
    with service.service.database.write() as connection:
        return add_curator(connection, name, scopes or ("publish", "read", "close", "admin"), now=5)


def sign_in(service, token):
    return service.client.post("/dashboard/sign-in", data={"token": token}, follow_redirects=False)


def asking(service, token, method, path, **options):
    return service.client.request(method, path, headers={"Authorization": f"Bearer {token}"}, **options)


def form(service, path):
    return re.search(r'name="csrf" value="([0-9a-f]{64})"', service.client.get(path).text)[1]


def actions(service):
    with service.service.database.read() as connection:
        assert broken_at(connection) is None
        return [(entry.actor, entry.action, entry.detail) for entry in reversed(read_audit(connection))]


@pytest.mark.parametrize(
    ("scope", "method", "path"),
    [
        ("publish", "POST", "/v1/tasks"),
        ("publish", "POST", "/v1/tasks/{id}/tokens"),
        ("publish", "POST", "/v1/tasks/{id}/second"),
        ("read", "GET", "/v1/tasks/{id}/status"),
        ("read", "GET", "/v1/tasks/{id}/model"),
        ("read", "GET", "/v1/tasks/{id}/leaves"),
        ("read", "GET", "/v1/tasks/{id}/data"),
        ("close", "POST", "/v1/tasks/{id}/close"),
        ("admin", "DELETE", "/v1/tasks/{id}"),
        ("admin", "GET", "/v1/audit"),
    ],
)
def test_a_token_allows_what_its_scopes_say(inside, local_task, scope, method, path):
    service, task = inside(), local_task()
    service.publish(task)
    one = add(service, "one", scope)
    others = add(service, "others", *({"publish", "read", "close", "admin"} - {scope}))
    refused = asking(service, others, method, path.format(id=task.id))
    assert (refused.status_code, refused.json()["code"]) == (403, "forbidden")
    assert asking(service, one, method, path.format(id=task.id)).status_code != 403


OTHERS = {
    ("GET", "/v1/tasks"),
    ("GET", "/v1/tasks/{id}"),
    ("GET", "/v1/tasks/{id}/witnesses"),
    ("POST", "/v1/tasks/{id}/passes"),
    ("GET", "/v1/operator"),
}


def test_every_route_of_curators_has_a_scope(inside):
    """A route that forgot to ask for a token would be found here."""
    service = inside()
    for route in service.app.routes:
        for method in getattr(route, "methods", None) or ():
            if not route.path.startswith("/v1") or method == "HEAD" or route.path.endswith("/reports"):
                continue
            if route.path.startswith("/v1/shared/") or (method, route.path) in OTHERS:
                continue  # between servers, whose messages are signed; and for holders
            answer = service.client.request(method, route.path.replace("{id}", "0" * 64))
            assert answer.status_code == 401, (method, route.path)


def test_a_session_holds_on_every_server_and_ends_on_every_server(inside, url):
    one, two = inside(url), inside(url)
    assert sign_in(one, ADMIN).status_code == 303
    two.client.cookies.update(one.client.cookies)
    assert two.client.get("/dashboard", follow_redirects=False).status_code == 200
    two.client.post("/dashboard/sign-out", data={"csrf": form(two, "/dashboard")})
    assert one.client.get("/dashboard", follow_redirects=False).status_code == 303
    assert [(actor, action) for actor, action, _ in actions(one)] == [
        ("environment", "sign-in"),
        ("environment", "sign-out"),
    ]


def test_whoever_signed_in_can_sign_out(inside):
    service = inside()
    assert sign_in(service, add(service, "anna", "publish")).status_code == 303
    answer = service.client.post(
        "/dashboard/sign-out", data={"csrf": form(service, "/dashboard/publish")}, follow_redirects=False
    )
    assert answer.status_code == 303
    assert service.client.get("/dashboard/publish", follow_redirects=False).status_code == 303


def test_a_revoked_curator_is_out_at_once(inside, url):
    one, two = inside(url), inside(url)
    token = add(one, "anna")
    assert sign_in(two, token).status_code == 303
    with one.service.database.write() as connection:
        revoke_curator(connection, "anna", now=9)
        assert [(c.name, c.revoked) for c in list_curators(connection)] == [("anna", 9)]
    assert two.client.get("/dashboard", follow_redirects=False).status_code == 303
    assert asking(two, token, "GET", "/v1/audit").status_code == 401
    with one.service.database.write() as connection, pytest.raises(HedgerowError, match="tell them apart"):
        add_curator(connection, "anna", now=10)


def test_a_session_of_the_environment_ends_with_its_token(inside, tmp_path):
    from starlette.testclient import TestClient

    from hedgerow.service import create_app

    service = inside()
    sign_in(service, ADMIN)
    other = create_app(f"sqlite:///{tmp_path}/hedgerow.db", clock=service.clock)
    with TestClient(other) as client:
        client.cookies.update(service.client.cookies)
        assert client.get("/dashboard", follow_redirects=False).status_code == 303


def test_wrong_tokens_are_counted_and_held_up(inside, caplog):
    service = inside(guess_seconds=0.05)
    with caplog.at_level("WARNING", logger="hedgerow.service"):
        assert sign_in(service, "wrong").status_code == 403
        assert asking(service, "wrong", "GET", "/v1/audit").status_code == 401
    assert service.service.guesses.count == 2
    assert [r.getMessage() for r in caplog.records] == ["wrong-tokens"]
    assert "wrong" not in [str(v) for r in caplog.records for v in r.fields.values()]


def test_too_many_wrong_tokens_at_once_are_refused():
    import asyncio

    from hedgerow.service.guesses import Guesses
    from hedgerow.service.problems import Problem

    async def many():
        guesses = Guesses(seconds=0.05)
        return await asyncio.gather(*(guesses.wrong() for _ in range(25)), return_exceptions=True)

    refused = [found for found in asyncio.run(many()) if isinstance(found, Problem)]
    assert len(refused) == 15
    assert {problem.code for problem in refused} == {"too-many-attempts"}


def test_what_curators_do_is_written_down_with_their_names(inside, local_task, holders, url):
    service, task = inside(url), local_task("Hours")
    anna = add(service, "anna")
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 1000, "closes": 2000}
    assert asking(service, anna, "POST", "/v1/tasks", json=body).status_code == 201
    assert asking(service, anna, "POST", "/v1/tasks", json=body).status_code == 200  # nothing new, nothing said
    service.send(task, holders(task, 20))
    assert asking(service, anna, "GET", f"/v1/tasks/{task.id}/model").status_code == 200
    assert asking(service, anna, "POST", f"/v1/tasks/{task.id}/close").status_code == 200
    assert asking(service, anna, "DELETE", f"/v1/tasks/{task.id}").status_code == 200
    said = [("anna", "publish", "Hours"), ("anna", "download", "model"), ("anna", "close", ""), ("anna", "delete", "")]
    assert actions(service)[1:] == said
    assert asking(service, anna, "GET", "/v1/audit").json()["broken_at"] is None


def test_the_audit_log_cannot_be_changed_and_says_if_it_was(inside, url, tmp_path):
    service = inside(url)
    database = service.service.database
    for i in range(4):
        with database.write() as connection:
            write_audit(connection, i, "anna", "close", detail=str(i))
    for statement in ("UPDATE audit SET actor = 'bob'", "DELETE FROM audit"):
        with pytest.raises(StorageError, match="only grows"), database.write() as connection:
            connection.exec_driver_sql(statement)
    if not database.sqlite:
        return
    with sqlite3.connect(tmp_path / "hedgerow.db") as other:  # somebody with the file
        other.execute("DROP TRIGGER audit_no_delete")
        other.execute("DELETE FROM audit WHERE seq = 2")
    other.close()
    with database.read() as connection:
        assert broken_at(connection) == 3


def test_a_deleted_task_leaves_nothing_and_never_comes_back(inside, local_task, holders, url, ids_in, tmp_path):
    service, task, other = inside(url), local_task(), local_task("other")
    service.publish(task, tokens=True)
    service.publish(other)
    token = service.post(task, "tokens", {"count": 1, "quota": 50}).json()["tokens"][0]
    sent = holders(task, 30)
    assert service.send(task, sent, Authorization=f"Bearer {token}").status_code == 200
    service.send(other, holders(other, 7, seed=1))
    service.service.aggregator.turn()
    refused = asking(service, ADMIN, "DELETE", f"/v1/tasks/{task.id}")
    assert (refused.status_code, refused.json()["code"]) == (409, "task-still-open")
    service.post(task, "close")
    assert asking(service, ADMIN, "DELETE", f"/v1/tasks/{task.id}").status_code == 200
    assert ids_in(service.service.database) == 7
    with service.service.database.read() as connection:
        for table in ("uploads", "segments", "sealed_segments", "partials", "known", "upload_tokens", "refusals"):
            count = f"SELECT count(*) FROM {table} WHERE task = 1"
            assert connection.exec_driver_sql(count).scalar() == 0, table
    for answer in (service.client.get(f"/v1/tasks/{task.id}"), service.get(task, "model"), service.send(task, sent)):
        assert (answer.status_code, answer.json()["code"]) == (410, "task-deleted")
    again = asking(
        service,
        ADMIN,
        "POST",
        "/v1/tasks",
        json={"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 1000, "closes": 2000},
    )
    assert (again.status_code, again.json()["code"]) == (410, "task-deleted")
    assert service.status(other)["accepted"] == 7
    if service.service.database.sqlite:
        assert token.encode() not in (tmp_path / "hedgerow.db").read_bytes()


def interrupted(monkeypatch):
    """Let a deletion stop in the middle of a large table, as if the process had been killed."""
    whole = removal.some_of

    def some_of(table, key, number):
        change = whole(table, key, number)
        calls = iter(range(10))

        def once(connection):
            if table.name == "sealed_segments" and next(calls):
                raise StoragePressure("the server was stopped")
            return change(connection)

        return once

    monkeypatch.setattr(removal, "_PURGE", 1)
    monkeypatch.setattr(removal, "some_of", some_of)


def test_a_part_of_what_is_being_deleted_is_never_given_out(inside, url, monkeypatch):
    service, task = inside(url), LabelTask(LabelGrid(0.0, 80.0, 16), LaplaceNoise(1.0, 16))
    monkeypatch.setattr("hedgerow.service.segments.SEALED", 8)
    service.publish(task)
    for first in range(0, 30, 10):
        reports = task.privatize(np.arange(first, first + 10), np.full(10, 5.0))
        assert service.send(task, reports).json()["accepted"] == 10
        service.service.aggregator.turn()
    assert service.get(task, "data").text.count("\n") == 31
    service.post(task, "close")
    collection = service.service.collection(task.id)
    other = inside(url)
    sign_in(other, ADMIN)
    with monkeypatch.context() as patched:
        interrupted(patched)
        assert asking(service, ADMIN, "DELETE", f"/v1/tasks/{task.id}").status_code == 503
    with service.service.database.read() as connection:
        count = "SELECT count(*) FROM sealed_segments WHERE task = 1"
        assert connection.exec_driver_sql(count).scalar() == 2  # of three
    with pytest.raises(Problem, match="task-deleted"):  # also for whoever had looked before
        service.service.rows(collection)
    for server in (service, other):
        for door in ("data", "model", "leaves", "status"):
            answer = server.get(task, door)
            assert (answer.status_code, answer.json()["code"]) == (410, "task-deleted"), door
        assert server.client.get("/metrics").status_code == 200
    for page in ("data", "model.json", "leaves.csv", "live"):
        assert other.client.get(f"/dashboard/tasks/{task.id}/{page}").status_code == 410, page
    assert f"/dashboard/tasks/{task.id}/delete" in other.client.get("/dashboard").text
    assert asking(other, ADMIN, "DELETE", f"/v1/tasks/{task.id}").status_code == 200
    with service.service.database.read() as connection:
        for left in ("sealed_segments WHERE task = 1", "settings WHERE name LIKE 'deleting%%'"):
            assert connection.exec_driver_sql(f"SELECT count(*) FROM {left}").scalar() == 0


def test_sums_of_what_is_being_deleted_are_never_given_out(inside, local_task, holders, url, monkeypatch):
    service, task = inside(url), local_task()
    service.publish(task)
    service.send(task, holders(task, 20))
    service.service.aggregator.turn()
    service.post(task, "close")
    collection = service.service.collection(task.id)
    with service.service.database.write() as connection:
        connection.exec_driver_sql("INSERT INTO settings (name, value) VALUES ('deleting:1', '1500')")
    with pytest.raises(Problem, match="task-deleted"):
        service.service.total(collection)
    assert service.get(task, "model").status_code == 410


def test_whoever_fetches_a_closed_task_is_told_by_every_server(inside, local_task, url):
    """Beside the announcement, which stays as it was signed."""
    service, task = inside(url), local_task()
    service.publish(task)
    other = inside(url, aggregate_seconds=0.05)
    path = f"/v1/tasks/{task.id}"
    opened = [server.client.get(path) for server in (service, other)]
    assert not any("hedgerow-closed" in answer.headers for answer in opened)
    service.clock.now = 1500.0
    service.post(task, "close")
    late = inside(url)  # a server that did not know the task yet
    for _ in range(200):
        if "hedgerow-closed" in other.client.get(path).headers:
            break
        time.sleep(0.05)
    for server in (service, other, late):
        answer = server.client.get(path)
        assert answer.headers["hedgerow-closed"] == "1500"
        assert answer.content == opened[0].content


def owed(service):
    with service.service.database.read() as connection:
        return list(noted(connection))


def test_a_deletion_that_must_wait_for_the_pages_says_what_is_true(inside, local_task, holders, postgres):
    """A backup reads: the task is deleted, and the aggregator writes the pages anew when it can."""
    service, task = inside(postgres), local_task()
    service.publish(task, passes=True)
    (token,) = service.post(task, "tokens", {}).json()["tokens"]
    service.post(task, "close")
    engine = sa.create_engine(postgres)
    with engine.begin() as connection:
        connection.exec_driver_sql("LOCK TABLE upload_tokens IN ACCESS SHARE MODE")
        answer = asking(service, ADMIN, "DELETE", f"/v1/tasks/{task.id}")
        assert (answer.status_code, answer.json()) == (200, {"deleted": task.id, "overwritten": False})
        assert service.client.get(f"/v1/tasks/{task.id}").json()["code"] == "task-deleted"
        assert owed(service) == ["upload_tokens"]
    engine.dispose()
    service = inside(postgres)  # the note outlives the process
    service.service.aggregator.turn()
    assert owed(service) == []
    assert digest_of(token) not in stored_in(service, "upload_tokens")


def stored_in(service, table):
    """Return the bytes of a table's pages."""
    with service.service.database.write() as connection:
        connection.exec_driver_sql("CREATE EXTENSION IF NOT EXISTS pageinspect")
        n = connection.exec_driver_sql(f"SELECT pg_relation_size('{table}') / 8192").scalar()
        each = [f"SELECT get_raw_page('{table}', {i})" for i in range(n)]
        return b"".join(bytes(connection.exec_driver_sql(query).scalar()) for query in each)


def test_pages_that_take_long_wait_for_a_quiet_moment_or_a_day(inside, local_task, postgres, monkeypatch):
    service, task = inside(postgres), local_task()
    service.publish(task, tokens=True)
    service.post(task, "tokens", {})
    service.post(task, "close")
    aggregator = service.service.aggregator
    given = []

    def slow(database, table, seconds):
        given.append(seconds)
        if seconds < 100:
            raise StoragePressure("canceling statement due to statement timeout")

    monkeypatch.setattr("hedgerow.service.aggregator.write_anew", slow)
    assert not asking(service, ADMIN, "DELETE", f"/v1/tasks/{task.id}").json()["overwritten"]
    assert set(given) == {5.0}
    n = len(owed(service))
    aggregator._pages_until = 0.0
    given.clear()
    aggregator.turn()
    assert given == [5.0] * n  # it was deleted a moment ago
    for later in ("quiet", "a day"):
        if later == "quiet":
            aggregator._busy_at -= 60.0
        else:
            with service.service.database.write() as connection:
                note_pages(connection, ["tasks"], service.clock())
            aggregator._busy_at = time.monotonic()
            service.clock.now += 86_400
        aggregator._pages_until = 0.0
        given.clear()
        aggregator.turn()
        assert set(given) == {3600.0} and owed(service) == []


def test_rows_deleted_while_pages_are_written_are_not_forgotten(inside, postgres, monkeypatch):
    service = inside(postgres)
    database, aggregator = service.service.database, service.service.aggregator

    def meanwhile(database, table, seconds):
        with database.write() as connection:
            note_pages(connection, [table], 1000.0)

    with database.write() as connection:
        note_pages(connection, ["tasks"], 1000.0)
    monkeypatch.setattr("hedgerow.service.aggregator.write_anew", meanwhile)
    aggregator.write_pages()
    assert owed(service) == ["tasks"]


def test_notes_of_pages_that_a_backup_brings_to_sqlite_disturb_nobody(inside, postgres, tmp_path):
    with inside(postgres).service.database as database:
        with database.write() as connection:
            note_pages(connection, ["tasks"], 1000.0)
        backup(database, str(tmp_path / "backup"))
    url = f"sqlite:///{tmp_path}/restored.db"
    with Database(url, "create") as database:
        restore(database, str(tmp_path / "backup"))
    service = inside(url)
    service.service.aggregator.turn()
    assert service.service.aggregator.overwrite()


def test_a_table_that_takes_long_to_write_anew_is_given_up(inside, postgres):
    database = inside(postgres).service.database
    with database.write() as connection:
        connection.exec_driver_sql("CREATE TABLE large AS SELECT i, repeat('x', 500) FROM generate_series(1, 60000) i")
    with pytest.raises(StoragePressure, match="statement timeout"):
        write_anew(database, "large", 0.005)
    write_anew(database, "large", 60.0)
    with database.outside() as run:
        assert run("SHOW statement_timeout") == [("0",)]


def test_another_server_refuses_reports_of_a_deleted_task(inside, local_task, holders, url):
    one, two = inside(url), inside(url)
    task = local_task()
    one.publish(task)
    assert two.send(task, holders(task, 3)).json()["accepted"] == 3  # and keeps the task in memory
    one.post(task, "close")
    asking(one, ADMIN, "DELETE", f"/v1/tasks/{task.id}")
    answer = two.send(task, holders(task, 3, seed=1))
    assert answer.status_code == 410
    two.service.aggregator._work()  # it looks once a second
    for answer in (two.client.get(f"/v1/tasks/{task.id}"), two.get(task, "status"), two.send(task, holders(task, 3))):
        assert (answer.status_code, answer.json()["code"]) == (410, "task-deleted")


def test_a_window_in_milliseconds_is_refused(inside, local_task):
    service = inside()
    body = {
        "task": local_task().to_dict(),
        "purpose": "To test",
        "curator": "Town",
        "opens": 1_700_000_000,
        "closes": 1_800_000_000_000,
    }
    answer = asking(service, ADMIN, "POST", "/v1/tasks", json=body)
    assert answer.status_code == 400
    assert "milliseconds" in answer.json()["detail"]


def test_a_damaged_task_disturbs_nobody_and_can_be_deleted(inside, local_task, holders, tmp_path):
    """One stored when windows were not bounded."""
    service, good, bad = inside(), local_task("good"), local_task("bad")
    service.publish(good)
    service.publish(bad)
    service.send(bad, holders(bad, 4))
    service.send(good, holders(good, 5, seed=1))
    with service.service.database.write() as connection:
        connection.exec_driver_sql(
            "UPDATE tasks SET announcement = replace(announcement, '\"closes\":2000', '\"closes\":9000000000000000')"
            " WHERE id = ?",
            (bad.id,),
        )
    fresh = inside()
    fresh.service.aggregator.turn()
    assert fresh.status(good)["aggregated"] == 5
    assert [row["id"] for row in fresh.client.get("/v1/tasks").json()["tasks"]] == [good.id]
    assert fresh.get(bad, "status").json()["code"] == "task-damaged"
    sign_in(fresh, ADMIN)
    page = fresh.client.get("/dashboard").text
    assert "cannot be read" in page
    assert "good" in page
    csrf = re.search(r'name="csrf" value="([0-9a-f]{64})"', page)[1]
    fresh.client.post(f"/dashboard/tasks/{bad.id}/delete", data={"csrf": csrf})
    assert "cannot be read" not in fresh.client.get("/dashboard").text
    assert "delete" in fresh.client.get("/dashboard/audit").text


def test_a_card_that_fails_leaves_the_others(inside, local_task, monkeypatch):
    from hedgerow.service.dashboard import pages

    service = inside()
    service.publish(local_task("one"))
    service.publish(local_task("two"))
    sign_in(service, ADMIN)
    whole = pages.card

    def card(seen):
        if seen.collection.announcement.title == "one":
            raise ArithmeticError
        return whole(seen)

    monkeypatch.setattr(pages, "card", card)
    page = service.client.get("/dashboard").text
    assert "two" in page
    assert "cannot be read" in page
