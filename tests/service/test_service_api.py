"""The rules of uploads, seen from outside: HTTP in, receipts and counts out."""

import json
import sqlite3

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.service.curators import add_curator
from hedgerow.service.database import Database
from hedgerow.tasks.announcement import Announcement
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate
from tests.service.conftest import WORDS

CURATOR = {"Authorization": "Bearer curator-token-of-these-tests"}


def code(answer):
    assert answer.headers["content-type"] == "application/problem+json", answer.text
    problem = answer.json()
    assert problem["status"] == answer.status_code and problem["type"] == f"urn:hedgerow:problem:{problem['code']}"
    return problem["code"]


def receipt(accepted, duplicates=0, failures=()):
    return {"accepted": accepted, "duplicates": duplicates, "failures": list(failures)}


def test_a_task_is_published_signed_and_never_changes(inside, local_task):
    service, task = inside(), local_task("commute")
    made = service.publish(task, purpose="plan buses", curator="Town")
    fetched = service.client.get(f"/v1/tasks/{task.id}")
    assert fetched.json() == made
    notice = Announcement.from_json(fetched.content).verify()
    assert notice.task == task and notice.id == task.id and (notice.opens, notice.closes) == (1000, 2000)
    listed = service.client.get("/v1/tasks").json()["tasks"]
    assert [(t["id"], t["open"]) for t in listed] == [(task.id, True)]

    again = {"task": task.to_dict(), "opens": 1000, "closes": 2000, "purpose": "plan buses", "curator": "Town"}
    assert service.client.post("/v1/tasks", json=again, headers=CURATOR).status_code == 200
    for change in ({"purpose": "sell cars"}, {"closes": 3000}, {"tokens": True}, {"simulation": True}):
        answer = service.client.post("/v1/tasks", json=again | change, headers=CURATOR)
        assert (answer.status_code, code(answer)) == (409, "task-exists")
    altered = task.to_dict() | {"epsilon": 9.0}
    assert code(service.client.post("/v1/tasks", json=again | {"task": altered}, headers=CURATOR)) == "invalid-request"


def test_the_key_stays_the_same_and_can_be_given(inside, local_task, tmp_path):
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

    from hedgerow.service import create_app

    one = inside().publish(local_task("one"))
    two = inside().publish(local_task("two"))
    assert one["public_key"] == two["public_key"]
    key = Ed25519PrivateKey.generate()
    url = f"sqlite:///{tmp_path}/other.db"
    Database(url, "create").close()
    service = create_app(url, key=key).state.service
    assert service.key is key
    service.database.close()


@pytest.mark.parametrize("what", ["status", "model", "leaves", "data"])
def test_results_are_for_curators(inside, local_task, what):
    service, task = inside(), local_task()
    service.publish(task)
    for headers in ({}, {"Authorization": "Bearer wrong"}, {"Authorization": "Basic curator"}):
        answer = service.client.get(f"/v1/tasks/{task.id}/{what}", headers=headers)
        assert answer.status_code == 401 and code(answer) == "unauthorized"
        assert answer.headers["www-authenticate"] == "Bearer"


def test_a_curator_made_by_init_is_known_and_only_its_digest_is_kept(inside, local_task, tmp_path):
    service = inside()
    with service.service.database.write() as connection:
        token = add_curator(connection, "anna", now=1)
    answer = service.client.post(
        "/v1/tasks",
        json={"task": local_task().to_dict(), "purpose": "To test", "curator": "Town"},
        headers={"Authorization": f"Bearer {token}"},
    )
    assert answer.status_code == 201
    assert token.encode() not in b"".join(p.read_bytes() for p in tmp_path.iterdir())


def test_the_same_bytes_again_are_acknowledged_and_counted_once(inside, local_task, holders, part):
    service, task = inside(), local_task()
    service.publish(task)
    reports = holders(task, 50)
    assert service.send(task, reports).json() == receipt(50)
    for _ in range(2):
        assert service.send(task, reports).json() == receipt(0, 50)
    both = Reports(task, np.vstack([reports.tokens] * 2), np.vstack([reports.payloads] * 2))
    assert service.send(task, both).json() == receipt(0, 100)
    new = holders(task, 10, seed=1)
    mixed = Reports(task, np.vstack([reports.tokens[:3], new.tokens]), np.vstack([reports.payloads[:3], new.payloads]))
    assert service.send(task, mixed).json() == receipt(10, 3)
    service.service.aggregator.turn()
    assert service.send(task, mixed).json() == receipt(0, 13)  # after the payloads are gone, too
    assert service.status(task)["accepted"] == 60
    expected = Aggregate(task).add(reports).add(new)
    assert service.service.total(service.service.collection(task.id)).to_bytes() == expected.to_bytes()


def test_other_bytes_under_an_old_id_fail_whether_aggregated_or_not(inside, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task)
    reports, others = holders(task, 4), holders(task, 4, seed=1)
    service.send(task, reports)
    payloads = reports.payloads.copy()
    payloads[2] ^= np.uint8(1)
    forged = Reports(task, reports.tokens, payloads)
    failure = {"index": 2, "id": reports[2].id.hex(), "code": "id-conflict"}
    assert service.send(task, forged).json() == receipt(0, 3, [failure])
    service.service.aggregator.turn()
    assert service.send(task, forged).json() == receipt(0, 3, [failure])
    twice = Reports(task, np.repeat(others.tokens[:1], 2, axis=0), others.payloads[:2] | payloads[:2])
    twice.payloads[1] ^= np.uint8(1)
    assert service.send(task, twice).json() == receipt(
        1, 0, [{"index": 1, "id": others[0].id.hex(), "code": "id-conflict"}]
    )
    assert service.status(task)["accepted"] == 5
    assert service.status(task)["refused"] == {"id-conflict": 3}


def test_invalid_reports_fail_alone_and_in_order(inside, local_task, holders):
    task = local_task(response="k_ary")
    service = inside()
    service.publish(task)
    reports = holders(task, 40)
    payloads = reports.payloads.copy()
    for bad in (3, 17, 39):
        payloads[bad] = 255
    answer = service.send(task, Reports(task, reports.tokens, payloads)).json()
    assert (answer["accepted"], [(f["index"], f["code"]) for f in answer["failures"]]) == (
        37,
        [(3, "invalid-report"), (17, "invalid-report"), (39, "invalid-report")],
    )
    assert answer["failures"][1]["id"] == reports[17].id.hex()
    good = [i for i in range(40) if i not in (3, 17, 39)]
    expected = Aggregate(task).add(Reports(task, reports.tokens[good], reports.payloads[good]))
    assert service.service.total(service.service.collection(task.id)).to_bytes() == expected.to_bytes()


def test_a_body_full_of_nonsense_is_refused_as_a_whole(inside, local_task, holders):
    task = local_task(response="k_ary")
    service = inside()
    service.publish(task)
    reports = holders(task, 300)
    answer = service.send(task, Reports(task, reports.tokens, np.full_like(reports.payloads, 255)))
    assert code(answer) == "malformed-batch" and "more than 100" in answer.json()["detail"]
    assert service.status(task)["accepted"] == 0


def test_seeded_reports_are_refused_unless_the_task_is_a_demonstration(inside, local_task):
    from hedgerow.tasks.holder import privatize_many

    service, real, demo = inside(), local_task("real"), local_task("demo")
    service.publish(real)
    service.publish(demo, simulation=True)
    X = np.full((3, 2), 0.5)
    answer = service.send(real, privatize_many(real, X, X[:, 0], randomness=1)).json()
    assert answer["accepted"] == 0 and {f["code"] for f in answer["failures"]} == {"simulation-refused"}
    assert service.status(real)["accepted"] == 0
    assert service.send(demo, privatize_many(demo, X, X[:, 0], randomness=1)).json()["accepted"] == 3
    assert json.loads(service.get(demo, "model").text)["simulation"] is True


def test_the_window_is_half_open_and_the_clock_is_read_once(inside, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task)
    for now, expected in ((999.99, "task-not-open"), (2000, "task-ended"), (1e12, "task-ended")):
        service.clock.now = now
        answer = service.send(task, holders(task, 1))
        assert code(answer) == expected
    for now in (1000, 1999.999):
        service.clock.now, before = now, service.clock.readings
        assert service.send(task, holders(task, 1)).status_code == 200
        assert service.clock.readings == before + 1
    before = service.clock.readings
    service.get(task, "status")
    service.post(task, "close")
    assert service.clock.readings == before + 2
    assert service.status(task)["refused"] == {"task-not-open": 1, "task-ended": 2}


def test_closing_is_for_ever_and_forgets_ids(inside, local_task, holders, ids_in):
    service, task = inside(), local_task()
    service.publish(task)
    reports = holders(task, 30)
    service.send(task, reports)
    assert service.post(task, "close").json()["state"] == "closed"
    assert code(service.send(task, holders(task, 1, seed=9))) == "task-closed"
    model = service.get(task, "model").text
    assert ids_in(service.service.database) == 30
    service.clock.now += service.service.settings.remember_seconds
    service.service.aggregator.turn()
    assert ids_in(service.service.database) == 0
    with service.service.database.read() as connection:
        assert connection.exec_driver_sql("SELECT count(*) FROM uploads").scalar() == 0
    service.clock.now = 1500
    assert code(service.send(task, reports)) == "task-closed"
    assert service.post(task, "close").status_code == 200
    assert service.get(task, "model").text == model == Aggregate(task).add(reports).model().to_json()


def test_one_token_is_one_report(inside, local_task, holders, part):
    service, task = inside(), local_task()
    service.publish(task, tokens=True)
    reports = holders(task, 5)
    one, two = part(reports, 0, 1), part(reports, 1, 2)
    tokens = service.post(task, "tokens", {"count": 2}).json()["tokens"]
    first, second = ({"Authorization": f"Bearer {t}"} for t in tokens)
    assert code(service.send(task, one)) == "token-required"
    assert code(service.send(task, one, Authorization="Bearer made-up")) == "token-unknown"
    assert code(service.send(task, part(reports, 0, 2), **first)) == "token-spent"
    assert service.send(task, one, **first).json() == receipt(1)
    assert service.send(task, one, **first).json() == receipt(0, 1)  # lost answers may be asked for again
    assert code(service.send(task, two, **first)) == "token-spent"
    assert service.send(task, two, **second).json() == receipt(1)
    assert service.status(task)["accepted"] == 2
    expected = Aggregate(task).add(part(reports, 0, 2))
    assert service.service.total(service.service.collection(task.id)).to_bytes() == expected.to_bytes()


def test_a_gateway_has_a_quota(inside, local_task, holders, part):
    service, task = inside(), local_task()
    service.publish(task, tokens=True)
    (token,) = service.post(task, "tokens", {"quota": 7}).json()["tokens"]
    gateway, reports = {"Authorization": f"Bearer {token}"}, holders(task, 10)
    assert service.send(task, part(reports, 0, 5), **gateway).json() == receipt(5)
    assert code(service.send(task, part(reports, 3, 9), **gateway)) == "token-spent"
    assert service.send(task, part(reports, 3, 7), **gateway).json() == receipt(2, 2)
    assert code(service.send(task, part(reports, 9), **gateway)) == "token-spent"
    assert service.status(task)["accepted"] == 7


def test_tokens_of_one_task_do_not_open_another(inside, local_task, holders):
    service, one, two = inside(), local_task("one"), local_task("two")
    for task in (one, two):
        service.publish(task, tokens=True)
    (token,) = service.post(one, "tokens").json()["tokens"]
    assert code(service.send(two, holders(two, 1), Authorization=f"Bearer {token}")) == "token-unknown"


def test_bodies_that_are_refused_change_nothing(inside, local_task, holders):
    service, task, other = inside(most_reports=20, most_bytes=4000), local_task(), local_task("other")
    service.publish(task)
    good = holders(task, 20).to_bytes()
    bad = {
        b"": "malformed-batch",
        good[:47]: "malformed-batch",
        good[:-1]: "malformed-batch",
        good + b"\0": "malformed-batch",
        b"X" + good[1:]: "malformed-batch",
        good[:4] + b"\2" + good[5:]: "malformed-batch",
        holders(other, 3).to_bytes(): "malformed-batch",
        holders(task, 0).to_bytes(): "empty-batch",
        holders(task, 21).to_bytes(): "too-many-reports",
        bytes(4001): "body-too-large",
    }
    for body, expected in bad.items():
        assert code(service.send(task, body)) == expected
    for media in (
        "application/json",
        "application/vnd.hedgerow.reports+bin",
        "application/vnd.hedgerow.reports+bin; version=2",
        "",
    ):
        assert code(service.send(task, good, **{"Content-Type": media})) == "unsupported-media-type"
    assert code(service.client.post("/v1/tasks/abc/reports", content=good)) == "task-unknown"
    assert service.status(task)["accepted"] == 0
    assert service.send(task, good).json() == receipt(20)


def test_unknown_addresses_and_methods_are_problems_too(inside):
    client = inside().client
    assert code(client.get("/v2")) == "not-found"
    answer = client.get("/v1/tasks/abc/reports")
    assert code(answer) == "method-not-allowed" and "POST" in answer.headers["allow"]
    assert code(client.delete("/v1/tasks")) == "method-not-allowed"
    assert code(client.post("/v1/tasks", content=b"{", headers=CURATOR)) == "invalid-request"
    assert code(client.post("/v1/tasks", json={"task": {}, "more": 1}, headers=CURATOR)) == "invalid-request"
    assert code(client.post("/v1/tasks", json={"task": {"format": "x"}}, headers=CURATOR)) == "invalid-request"


def test_a_failure_inside_is_a_problem_and_is_logged_without_its_text(inside, local_task, holders, monkeypatch, caplog):
    service, task = inside(), local_task()
    service.publish(task)

    def fail(*_):
        raise RuntimeError("secret-text")

    monkeypatch.setattr(type(service.service.collection(task.id).kind), "read", fail)
    with caplog.at_level("INFO", logger="hedgerow.service"):
        assert code(service.send(task, holders(task, 1))) == "internal"
    assert "secret-text" not in caplog.text and any(r.getMessage() == "failed" for r in caplog.records)


def test_nothing_about_the_sender_is_stored(inside, local_task, holders, tmp_path):
    service, task = inside(), local_task()
    service.publish(task, tokens=True)
    (token,) = service.post(task, "tokens").json()["tokens"]
    reports = holders(task, 1)
    service.send(
        task, reports, Authorization=f"Bearer {token}", **{"User-Agent": "device-77", "X-Forwarded-For": "203.0.113.9"}
    )
    service.service.aggregator.turn()
    service.client.__exit__(None, None, None)
    with sqlite3.connect(tmp_path / "hedgerow.db") as plain:
        plain.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        columns = {
            row[0]: [c[1] for c in plain.execute(f"PRAGMA table_info({row[0]})")]
            for row in plain.execute("SELECT name FROM sqlite_master WHERE type='table'").fetchall()
        }
    assert columns["report_ids"] == ["task", "run", "first", "ids"]
    assert columns["arrivals"] == ["seq", "task", "ids", "tokens"]
    assert columns["known"] == ["task", "version", "sealed", "ids", "tokens"]
    assert columns["uploads"] == ["seq", "task", "n", "simulation", "body"]
    # The numbers of records are empty unless reports name their record anyway.
    assert columns["upload_tokens"] == ["task", "digest", "remaining", "first_record", "last_record"]
    stored = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    for secret in (token.encode(), b"device-77", b"203.0.113.9", reports.tokens[0].tobytes()):
        assert secret not in stored


def test_payloads_are_scrubbed_from_the_file(inside, holders, local_task, tmp_path):
    service, task = inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 20)
    service.send(task, reports)
    assert reports.payloads[7].tobytes() in b"".join(p.read_bytes() for p in tmp_path.iterdir())
    service.service.aggregator.turn()
    service.client.__exit__(None, None, None)
    with sqlite3.connect(tmp_path / "hedgerow.db") as plain:
        plain.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    stored = b"".join(p.read_bytes() for p in tmp_path.iterdir())
    assert all(p.tobytes() not in stored for p in reports.payloads)


def test_uploads_at_once_are_committed_together(inside, local_task, holders, part):
    import asyncio

    service, task = inside(), local_task()
    service.publish(task)
    reports = holders(task, 300)
    collection = service.service.collection(task.id)

    def one(i):
        return collection.kind.upload(
            collection.number, collection.kind.read(part(reports, i, i + 1).to_bytes()), None, None
        )

    async def send():
        again = [service.service.store(one(i % 300)) for i in range(350)]
        return await asyncio.gather(*again)

    before = service.service.writer.commits
    outcomes = asyncio.run(send())
    assert sum(o.accepted for o in outcomes) == 300 and sum(o.duplicates for o in outcomes) == 50
    assert service.service.writer.commits - before < 100
    assert service.service.total(collection).to_bytes() == Aggregate(task).add(reports).to_bytes()


def test_too_much_at_once_is_refused_with_a_time_to_come_back(inside, local_task, holders):
    service, task = inside(waiting=10), local_task()
    service.publish(task)
    answer = service.send(task, holders(task, 11))
    assert (answer.status_code, code(answer), answer.headers["retry-after"]) == (503, "busy", "1")
    assert service.send(task, holders(task, 10)).status_code == 200


def test_health_metrics_and_description(inside, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task)
    service.send(task, holders(task, 3))
    service.send(task, b"x")
    assert service.client.get("/healthz").json() == {"status": "ok"}
    text = service.client.get("/metrics").text
    assert f'hedgerow_reports_accepted_total{{task="{task.id}"}} 3' in text
    assert f'hedgerow_refused_total{{task="{task.id}",code="malformed-batch"}} 1' in text
    assert 'hedgerow_requests_total{route="POST /v1/tasks/{id}/reports",status="200"} 1' in text
    assert 'hedgerow_problems_total{code="malformed-batch"} 1' in text
    assert 'hedgerow_seconds_count{route="upload"} 2' in text
    assert f'hedgerow_alarms{{task="{task.id}"}} 0' in text
    assert "hedgerow_waiting_bytes 0" in text
    service.service.aggregator._idle()
    assert f'hedgerow_refused_total{{task="{task.id}",code="malformed-batch"}} 1' in service.client.get("/metrics").text
    described = service.client.get("/openapi.json").json()
    served = {(r.path, m) for r in service.app.routes if r.path.startswith("/v1") for m in r.methods - {"HEAD"}}
    assert served == {
        (p, m.upper())
        for p, item in described["paths"].items()
        if p.startswith("/v1")
        for m in item
        if m != "parameters"
    }


def test_status_counts_what_is_aggregated_and_leaves_say_what_a_forgery_can_do(inside, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task)
    assert code(service.get(task, "model")) == "no-reports"
    service.send(task, holders(task, 2000))
    assert (service.status(task)["accepted"], service.status(task)["aggregated"]) == (2000, 0)
    service.service.aggregator.turn()
    status = service.status(task)
    assert (status["accepted"], status["aggregated"], status["state"]) == (2000, 2000, "open")
    assert status["manipulation"]["alarms"] == [] and status["manipulation"]["watched"] > 20
    assert status["forgery"]["count"] == pytest.approx(2 * task.encoding.most_influence(1))
    table = service.get(task, "leaves").json()
    assert len(table["leaves"]) == task.n_leaves and len(table["forecasts"]) == 3
    assert all(0 <= row["forged_mean_shift"] <= 1 for row in table["leaves"])
    assert code(service.client.get(f"/v1/tasks/{task.id}/leaves?level=2", headers=CURATOR)) == "invalid-request"
    assert code(service.get(task, "data")) == "not-available"


def test_one_environment_variable_makes_a_curator(tmp_path, monkeypatch):
    from hedgerow.service import create_app

    monkeypatch.setenv("HEDGEROW_CURATOR_TOKEN", "a-token-from-the-outside")
    url = f"sqlite:///{tmp_path}/x.db"
    Database(url, "create").close()
    service = create_app(url).state.service
    assert service.curator("a-token-from-the-outside").name == "environment"
    assert service.curator("else") is None
    service.database.close()


@pytest.mark.parametrize("token", ["x", "a" * 40, "short-but-mixed"])
def test_a_token_that_can_be_guessed_is_refused(tmp_path, token):
    from hedgerow.service import create_app

    url = f"sqlite:///{tmp_path}/x.db"
    Database(url, "create").close()
    with pytest.raises(HedgerowError, match="can be guessed"):
        create_app(url, curator_token=token)


def test_a_publication_that_is_sent_again_is_the_same(inside, local_task):
    """Its answer was lost, and the client tries again: the window is that of the first, where none was said."""
    service = inside()
    body = {"task": local_task().to_dict(), **WORDS}
    first = service.client.post("/v1/tasks", json=body, headers=CURATOR)
    service.clock.now += 7
    again = service.client.post("/v1/tasks", json=body, headers=CURATOR)
    assert (first.status_code, again.status_code, again.content) == (201, 200, first.content)
    other = service.client.post("/v1/tasks", json={**body, "opens": int(service.clock.now)}, headers=CURATOR)
    assert code(other) == "task-exists"


def test_what_to_do_about_a_task_that_was_there_before_helps(inside, local_task):
    service, task = inside(), local_task()
    service.publish(task)
    body = {"task": task.to_dict(), "opens": 1000, "closes": 2000, **WORDS, "title": "Another"}
    exists = service.client.post("/v1/tasks", json=body, headers=CURATOR)  # a title of the announcement only
    service.post(task, "close")
    assert service.client.delete(f"/v1/tasks/{task.id}", headers=CURATOR).status_code == 200
    deleted = service.client.post("/v1/tasks", json=body, headers=CURATOR)
    assert (code(exists), code(deleted)) == ("task-exists", "task-deleted")
    for answer in (exists, deleted):
        assert "hedgerow design --title" in answer.json()["detail"]
    service.publish(local_task(title="Another"))


def test_nobody_is_given_a_token_for_a_task_that_is_over(inside, local_task):
    service, task, other = inside(), local_task(), local_task(title="Other")
    service.publish(task, tokens=True)
    service.publish(other, tokens=True)
    service.post(task, "close")
    assert code(service.post(task, "tokens")) == "task-closed"
    service.clock.now = 2000
    assert code(service.post(other, "tokens")) == "task-ended"


def test_every_address_is_described_with_what_it_refuses_whatever_it_is(inside):
    described = inside().client.get("/openapi.json").json()
    shared = described["components"]["responses"]
    operations = [o for item in described["paths"].values() for o in item.values() if isinstance(o, dict)]
    assert len(operations) > 20
    for operation in operations:
        for status, name in (("405", "MethodNotAllowed"), ("431", "HeadTooLarge")):
            assert operation["responses"][status] == {"$ref": f"#/components/responses/{name}"}
    assert "content" not in shared["HeadTooLarge"] and "32768" in shared["HeadTooLarge"]["description"]
    schema = shared["MethodNotAllowed"]["content"]["application/problem+json"]["schema"]
    assert schema["allOf"][1]["properties"]["code"]["enum"] == ["method-not-allowed"]
