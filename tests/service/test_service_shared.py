"""Leader and helper: exact sums, replay, collection once, and what either server does when the other misbehaves."""

import base64
import json
import time
from fractions import Fraction

import numpy as np
import pytest

pytest.importorskip("starlette")
pytest.importorskip("pyhpke")

from hedgerow.aggregate import combine
from hedgerow.aggregate.job import Job
from hedgerow.sealing import Role
from hedgerow.service.audit import read_audit
from hedgerow.service.database import Database, StorageError
from hedgerow.service.openapi import PEER
from hedgerow.service.problems import Problem
from hedgerow.service.shared import closing, leader
from hedgerow.service.shared import helper as helper_side
from hedgerow.service.shared.peers import signed
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.sums.examples import example_task
from tests.service.shared import COLLECTOR, ORIGINS, Pair

LEAST = 5


@pytest.fixture
def pair(inside, tmp_path):
    return Pair(inside, {role: f"sqlite:///{tmp_path}/{role}.db" for role in ("leader", "helper")})


@pytest.fixture
def quiet(monkeypatch):
    """Switch the noise off, to see that sums are exact."""
    original = closing.release

    def without(protocol, role, batch, randomness):
        object.__setattr__(protocol, "variance", Fraction(0))
        return original(protocol, role, batch, randomness)

    monkeypatch.setattr(closing, "release", without)


def answers(task, n, seed=0):
    """Return honest reports, and the sums of their bits."""
    rng = np.random.default_rng(seed)
    reports = []
    sums = np.zeros(task.length, dtype=int)
    from hedgerow.aggregate import share
    from hedgerow.randomness import SecureRandomness

    source = SecureRandomness()
    for _ in range(n):
        bits = task.set_bits_of({"x": rng.random(), "y": rng.random()}, randomness=int(rng.integers(1 << 30)))
        vector = np.zeros(task.length, dtype=int)
        vector[bits] = 1
        sums += vector
        token = source.uint8(12)
        payload = share(task.protocol, task.digest[:4] + token.tobytes(), vector.tolist(), source)
        reports.append((token, np.frombuffer(payload, dtype=np.uint8)))
    tokens, payloads = (np.stack(column) for column in zip(*reports, strict=True))
    return Reports(task, tokens, payloads), sums


def published(pair, least=LEAST, **words):
    task = example_task(1.0, pair.servers, least)
    pair.leader.publish(task, **words)
    return task


def opened(task, answer):
    found = answer.json()
    sealed = [base64.b64decode(found[role]) for role in ("leader", "helper")]
    return combine(task.protocol, COLLECTOR, found["n"], bytes.fromhex(found["checksum"]), *sealed)


def test_sums_through_two_servers_are_exact(pair, quiet):
    task = published(pair)
    reports, sums = answers(task, 30)
    assert pair.leader.send(task, reports).json() == {"accepted": 30, "duplicates": 0, "failures": []}
    pair.verify(task)
    assert pair.batches(task)[0] == pair.batches(task)[1] and pair.batches(task)[0][0] == 30
    collected = pair.collect(task)
    assert collected.status_code == 200, collected.text
    assert opened(task, collected).tolist() == sums.tolist()
    assert collected.json()["n"] == 30 and not collected.json()["simulation"]


def test_payloads_are_deleted_when_they_are_added_up(pair):
    task = published(pair)
    pair.leader.send(task, answers(task, 6)[0])
    pair.verify(task)
    for service in pair.services.values():
        with service.database.read() as connection:
            for table in ("uploads", "jobs"):
                assert connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar() == 0


def test_each_server_knows_what_it_is_told_and_refuses_the_rest(pair, inside, local_task, holders):
    task = published(pair)
    refused = pair.helper.send(task, answers(task, 1)[0])
    assert refused.json()["code"] == "not-leader"
    for what in ("model", "data", "leaves"):
        assert pair.leader.get(task, what).json()["code"] == "not-available"
    assert pair.helper.post(task, "collect").status_code == 409
    plain = local_task()
    pair.leader.publish(plain)
    assert pair.leader.post(plain, "collect").json()["code"] == "not-available"
    assert pair.leader.get(plain, "witnesses").json()["code"] == "not-available"


# Replay.


def test_a_report_counts_once_however_often_it_is_sent(pair, quiet):
    task = published(pair)
    reports, sums = answers(task, 8)
    for _ in range(2):
        pair.leader.send(task, reports)
        pair.verify(task)
    assert pair.batches(task) == [pair.batches(task)[0]] * 2 and pair.batches(task)[0][0] == 8
    assert pair.leader.send(task, reports).json()["duplicates"] == 8
    collected = pair.collect(task)
    assert opened(task, collected).tolist() == sums.tolist()
    assert pair.leader.send(task, reports).json()["duplicates"] == 8  # known, and not counted again
    assert pair.leader.send(task, answers(task, 1)[0]).json()["code"] == "task-closed"
    assert pair.collect(task).json() == collected.json()


def rows_of(task, reports):
    pairs = zip(reports.tokens, reports.payloads, strict=True)
    return [(task.digest[:4] + token.tobytes(), row.tobytes()) for token, row in pairs]


def forwarded(pair, task, name, reports):
    """Send a job to the helper as a leader would that has forgotten all it knew."""
    service = pair.leader.service
    party = service.shared.party(service.collection(task.id), Role.LEADER)
    rows = rows_of(task, reports)
    job = party.prepare(name, rows).job
    path = f"/v1/shared/{task.id}/jobs"
    body = signed(service.shared.identity, path, job.to_bytes(task.protocol))
    return pair.helper.client.post(path, content=body, headers={"Content-Type": PEER}), job


def test_the_helper_alone_refuses_what_it_has_seen_valid_or_not(pair):
    task = published(pair)
    reports, _ = answers(task, 4)
    first, _ = forwarded(pair, task, b"1" * 16, reports)
    again, _ = forwarded(pair, task, b"1" * 16, reports)
    assert first.status_code == 200 and first.content == again.content  # the same job, answered again
    other, _ = forwarded(pair, task, b"2" * 16, reports)
    codes = other.content[96 + 56 :: 33]
    assert set(codes) == {1}  # known
    changed, _ = forwarded(pair, task, b"1" * 16, answers(task, 2)[0])
    assert changed.json()["code"] == "job-changed"
    with pair.helper.service.database.read() as connection:
        assert connection.exec_driver_sql("SELECT n FROM partials").scalar() == 4


def test_a_refused_report_has_had_its_one_try(pair):
    # Two tries with different shares of the leader would be two questions about one record.
    task = published(pair)
    reports, _ = answers(task, 2)
    service = pair.leader.service
    party = service.shared.party(service.collection(task.id), Role.LEADER)
    rows = [
        (task.digest[:4] + t.tobytes(), row.tobytes()) for t, row in zip(reports.tokens, reports.payloads, strict=True)
    ]
    job = party.prepare(b"a" * 16, rows).job
    spoilt = [type(e)(e.report_id, e.public_share, e.sealed, bytes(len(e.verifier_share))) for e in job.entries]
    path = f"/v1/shared/{task.id}/jobs"

    def send(job):
        body = signed(service.shared.identity, path, job.to_bytes(task.protocol))
        answer = pair.helper.client.post(path, content=body, headers={"Content-Type": PEER})
        assert answer.status_code == 200, answer.text
        return set(answer.content[96 + 56 :: 33])

    assert send(Job(b"a" * 16, tuple(spoilt))) == {3}  # the proof fails
    assert send(Job(b"b" * 16, job.entries)) == {1}  # and the honest one comes too late


def test_the_helper_adds_nothing_after_the_collection(pair):
    task = published(pair)
    pair.leader.send(task, answers(task, LEAST)[0])
    assert pair.collect(task).status_code == 200
    late, _ = forwarded(pair, task, b"9" * 16, answers(task, 2, seed=5)[0])
    assert late.json()["code"] == "task-closed"


# Who asks.


def test_unsigned_wrongly_signed_and_foreign_messages_are_refused(pair):
    task = published(pair)
    path = f"/v1/shared/{task.id}/share"
    own = pair.helper.service.shared.identity
    good = signed(pair.leader.service.shared.identity, path, b"{}")
    for body in (b"", b"x" * 200, signed(own, path, b"{}"), good[:-1] + b"?", signed(own, "/other", b"{}")):
        answer = pair.helper.client.post(path, content=body, headers={"Content-Type": PEER})
        assert answer.json()["code"] == "forbidden", body
    elsewhere = pair.helper.client.post(f"/v1/shared/{task.id}/jobs", content=good, headers={"Content-Type": PEER})
    assert elsewhere.json()["code"] == "forbidden"
    assert pair.helper.client.post(path, content=good).json()["code"] == "unsupported-media-type"


@pytest.mark.parametrize("n", ["Infinity", "-Infinity", "NaN", "1e999", '"x"', "null", "[]"])
def test_the_leader_names_a_batch_by_a_number(pair, n):
    task = published(pair)
    path = f"/v1/shared/{task.id}/share"
    content = f'{{"n": {n}, "checksum": "00"}}'.encode()
    body = signed(pair.leader.service.shared.identity, path, content)
    answer = pair.helper.client.post(path, content=body, headers={"Content-Type": PEER})
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid-request")


def test_a_slow_helper_leaves_time_for_other_tasks(pair, monkeypatch):
    """One that takes long for every job, and has one after the other, would keep all other reports waiting."""
    monkeypatch.setattr(leader, "MOST", 2)
    monkeypatch.setattr("hedgerow.service.service.HELPER_SLOW", 0.2)
    task = published(pair)
    pair.leader.send(task, answers(task, 6)[0])
    service = pair.leader.service
    number = service.collection(task.id).number
    pair.wire.lose = lambda path: bool(time.sleep(0.6 * path.endswith("/jobs")))
    start = time.monotonic()
    assert service._verify(number) == 2 and service._verify(number) == 0
    time.sleep(max(0.0, start + 2 - time.monotonic()))
    assert service._verify(number) == 2


def test_a_task_is_shared_with_known_servers_and_pinned_keys_only(pair, inside, tmp_path):
    from dataclasses import replace

    other = replace(pair.servers, helper=replace(pair.servers.helper, origin="https://evil.example"))
    strange = replace(pair.servers, verify_key_digest=b"v" * 32)
    for servers in (other, strange):
        body = {"task": example_task(1.0, servers, 5).to_dict(), "purpose": "x", "curator": "y"}
        answer = pair.leader.client.post("/v1/tasks", json=body, headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.json()["code"] == "not-shared", answer.text
    swapped = replace(pair.servers, leader=pair.servers.helper, helper=pair.servers.leader)
    body = {"task": example_task(1.0, swapped, 5).to_dict(), "purpose": "x", "curator": "y"}
    answer = pair.leader.client.post("/v1/tasks", json=body, headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.json()["code"] == "not-shared"
    nobody = {"task": example_task(1.0, None, 5).to_dict(), "purpose": "x", "curator": "y"}
    answer = pair.leader.client.post("/v1/tasks", json=nobody, headers={"Authorization": f"Bearer {TOKEN}"})
    assert answer.json()["code"] == "invalid-request"


TOKEN = "curator-token-of-these-tests"


# Collection.


def test_too_few_reports_are_not_released_and_the_task_stays_open(pair):
    task = published(pair)
    reports, _ = answers(task, LEAST)
    pair.leader.send(task, Reports(task, reports.tokens[: LEAST - 1], reports.payloads[: LEAST - 1]))
    assert pair.collect(task).json()["code"] == "batch-too-small"
    assert pair.leader.status(task)["state"] == "open"
    pair.leader.send(task, reports)
    assert pair.collect(task).status_code == 200


def test_the_helper_alone_refuses_too_few_and_another_set(pair):
    task = published(pair)
    pair.leader.send(task, answers(task, LEAST)[0])
    pair.verify(task)
    n, checksum = pair.batches(task)[0]
    shared = pair.leader.service.shared
    for content in ({"n": n - 1, "checksum": checksum.hex()}, {"n": n, "checksum": bytes(32).hex()}):
        with pytest.raises(Problem, match="batch-mismatch"):
            shared._ask(task.protocol, f"/v1/shared/{task.id}/share", json.dumps(content).encode())
    small = published(pair, least=9)
    pair.leader.send(small, answers(small, 8)[0])
    pair.verify(small)
    n, checksum = pair.batches(small)[0]
    name = json.dumps({"n": n, "checksum": checksum.hex()}).encode()
    with pytest.raises(Problem, match="batch-too-small"):
        shared._ask(small.protocol, f"/v1/shared/{small.id}/share", name)


def test_unequal_sets_are_released_by_nobody(pair):
    task = published(pair)
    pair.leader.send(task, answers(task, LEAST + 1)[0])
    pair.verify(task)
    with pair.helper.service.database.write() as connection:
        connection.exec_driver_sql("UPDATE partials SET n = n + 1")
    assert pair.collect(task).json()["code"] == "batch-mismatch"
    for service in pair.services.values():
        with service.database.read() as connection:
            assert connection.exec_driver_sql("SELECT sealed FROM batches").scalar() is None


def test_noise_is_drawn_once_and_answered_for_ever(pair, monkeypatch):
    drawn = []
    original = closing.release
    monkeypatch.setattr(closing, "release", lambda *args: drawn.append(args[1]) or original(*args))
    task = published(pair)
    pair.leader.send(task, answers(task, LEAST)[0])
    first = pair.collect(task).json()
    assert [pair.collect(task).json() for _ in range(3)] == [first] * 3
    with pair.leader.service.database.read() as connection:
        entries = [(e.actor, e.action, e.detail) for e in reversed(read_audit(connection))]
    assert entries[0] == ("command line", "operator", f"Town at {ORIGINS['leader']}")
    assert entries.count(("environment", "download", "sealed sums")) == 4  # what was collected can be had again
    assert sorted(drawn) == [2, 3]  # the leader once, the helper once
    for service in pair.services.values():  # and the share without noise is gone
        with service.database.read() as connection:
            assert connection.exec_driver_sql("SELECT length(sums) FROM partials").scalar() == 0


def test_a_restored_backup_releases_nothing_that_was_open(pair, tmp_path):
    from hedgerow.service.backup import backup, restore

    task = published(pair)
    pair.leader.send(task, answers(task, LEAST)[0])
    pair.verify(task)
    backup(pair.helper.service.database, str(tmp_path / "copy"))
    with Database(f"sqlite:///{tmp_path}/restored.db", "create") as database:
        restore(database, str(tmp_path / "copy"))
        with database.read() as connection:
            assert connection.exec_driver_sql("SELECT count(*) FROM partials").scalar() == 0
            assert connection.exec_driver_sql("SELECT closed FROM tasks").scalar() is not None


# Crashes: at every step of either server, nothing is lost, doubled or drawn twice.


class Killed(BaseException):
    pass


STEPS = ("job-committed", "verified", "committed", "answered", "added", "helper-released", "leader-released")


@pytest.mark.parametrize("step", STEPS)
def test_a_crash_at_any_step_changes_nothing(pair, quiet, monkeypatch, step):
    from hedgerow.service.shared import shared

    task = published(pair)
    reports, sums = answers(task, 12)
    pair.leader.send(task, reports)
    crashed = []

    def die(name):
        if name == step and not crashed:
            crashed.append(name)
            raise StorageError("killed here")

    for module in (leader, helper_side, shared):
        monkeypatch.setattr(module, "checkpoint", die)
    for _ in range(3):
        collected = pair.collect(task)
        if collected.status_code == 200:
            break
    assert crashed == [step]
    assert collected.status_code == 200, collected.text
    assert opened(task, collected).tolist() == sums.tolist() and collected.json()["n"] == 12


def test_a_lost_answer_is_asked_for_again(pair, quiet):
    task = published(pair)
    reports, sums = answers(task, 7)
    pair.leader.send(task, reports)
    lost = []

    def lose(path):
        if path.endswith(("/jobs", "/share")) and path not in lost:
            lost.append(path)
            return True
        return False

    pair.wire.lose = lose
    codes = [pair.collect(task).status_code for _ in range(3)]
    assert codes == [502, 502, 200] and len(lost) == 2
    assert opened(task, pair.collect(task)).tolist() == sums.tolist()


def test_invalid_reports_are_counted_and_the_rest_is_exact(pair, quiet):
    task = published(pair)
    reports, sums = answers(task, 6)
    strange, _ = answers(task, 2, seed=1)
    strange.payloads.setflags(write=True)
    strange.payloads[0, -1] ^= 1  # what the helper opens
    strange.payloads[1, 70] ^= 1  # what the leader opens
    for each in (reports, strange):
        assert pair.leader.send(task, each).json()["accepted"] == len(each)
    collected = pair.collect(task)
    assert opened(task, collected).tolist() == sums.tolist()
    assert pair.leader.status(task)["refused"]["invalid-report"] == 2


def test_upload_tokens_work(pair):
    task = published(pair, tokens=True)
    reports, _ = answers(task, LEAST)
    assert pair.leader.send(task, reports).json()["code"] == "token-required"
    (token,) = pair.leader.post(task, "tokens", {"count": 1, "quota": LEAST}).json()["tokens"]
    assert pair.leader.send(task, reports, Authorization=f"Bearer {token}").json()["accepted"] == LEAST
    more, _ = answers(task, 1, seed=3)
    assert pair.leader.send(task, more, Authorization=f"Bearer {token}").json()["code"] == "token-spent"
    assert pair.collect(task).status_code == 200


def test_a_collection_and_the_aggregator_do_not_get_in_each_others_way(pair, quiet):
    import threading

    task = published(pair)
    reports, sums = answers(task, 40)
    for i in range(0, 40, 4):
        pair.leader.send(task, Reports(task, reports.tokens[i : i + 4], reports.payloads[i : i + 4]))
    beside = threading.Thread(target=pair.leader.service.aggregator.turn)
    beside.start()
    collected = pair.collect(task)
    beside.join()
    assert collected.status_code == 200, collected.text
    assert opened(task, collected).tolist() == sums.tolist()


def test_status_and_dashboard_show_both_servers_and_what_each_sees(pair):
    task = published(pair)
    pair.leader.send(task, answers(task, LEAST)[0])
    before = pair.leader.status(task)["servers"]
    assert [(s["role"], s["operator"], s["here"]) for s in before] == [
        ("leader", "Town", True),
        ("helper", "Club", False),
    ]
    assert "5 wait for the helper" in before[0]["state"] and "nothing was released" in before[1]["state"]
    assert pair.collect(task).status_code == 200
    after = pair.leader.status(task)["servers"]
    assert all("released, once" in server["state"] for server in after)
    assert "random by itself" in after[0]["sees"] and "no network address" in after[1]["sees"]
    assert pair.helper.status(task)["servers"][1]["here"]
    client = pair.leader.client
    client.post("https://testserver/dashboard/sign-in", data={"token": TOKEN})
    page = client.get(f"https://testserver/dashboard/tasks/{task.id}").text
    assert "leader: Town (this server)" in page and "helper: Club" in page and "would not conspire" in page
