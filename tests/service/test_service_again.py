"""A device whose receipt was lost sends the same bytes again and learns that it counted, whatever the task's state."""

import asyncio

import numpy as np
import pytest

from hedgerow.service.bodies import SMALL
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate

COUNTED = {"accepted": 0, "duplicates": 1, "failures": []}
WEEK = 7 * 86_400


@pytest.fixture(params=["sqlite", "postgres"])
def service(request, inside):
    return inside() if request.param == "sqlite" else inside(request.getfixturevalue("postgres"))


def shut(service, task, state):
    if state == "closed":
        service.post(task, "close")
    else:
        service.clock.now = {"ended": 2000.0, "announced": 10.0}[state]


CODES = {"closed": "task-closed", "ended": "task-ended", "announced": "task-not-open"}


@pytest.mark.parametrize("state", CODES)
def test_what_was_accepted_stays_acknowledged_and_nothing_else_is_taken(service, local_task, holders, part, state):
    task = local_task()
    service.publish(task)
    known, other = holders(task, 3), holders(task, 2, seed=1)
    service.send(task, known)
    shut(service, task, state)
    one, new = part(known, 0, 1), part(other, 0, 1)
    for turns in range(2):  # while payloads wait, and when they are sums
        answer = service.send(task, one)
        assert (answer.status_code, answer.json()) == (200, COUNTED)
        refused = service.send(task, new)
        assert refused.status_code in (409, 410) and refused.json()["code"] == CODES[state], turns
        service.service.aggregator.turn()

    changed = known.payloads.copy()
    changed[1] ^= np.uint8(1)
    tokens = np.vstack([known.tokens, other.tokens])
    answer = service.send(task, Reports(task, tokens, np.vstack([changed, other.payloads]))).json()
    assert (answer["accepted"], answer["duplicates"]) == (0, 2)
    found = [(f["index"], f["code"]) for f in answer["failures"]]
    assert found == [(1, "id-conflict"), (3, CODES[state]), (4, CODES[state])]
    assert service.send(task, Reports(task, known.tokens[1:2], changed[1:2])).json()["code"] == CODES[state]

    service.clock.now = 1500.0
    assert service.status(task)["accepted"] == 3
    total = service.service.total(service.service.collection(task.id))
    assert total.to_bytes() == Aggregate(task).add(known).to_bytes()


@pytest.mark.parametrize("state", CODES)
def test_whatever_else_is_wrong_the_state_is_said(service, local_task, holders, state):
    task = local_task()
    service.publish(task)
    shut(service, task, state)
    bad = holders(task, 1).to_bytes()[:-1]
    answers = [service.send(task, bad), service.send(task, holders(task, 1), **{"Content-Type": "text/plain"})]
    expected = {"malformed-batch", "unsupported-media-type"} if state == "closed" else {CODES[state]}
    assert {a.json()["code"] for a in answers} == expected


def test_a_server_that_is_busy_does_not_say_that_the_time_is_over(inside, local_task, holders):
    """That would be the last word to a gateway whose receipt was lost, and its reports counted."""
    service, task = inside(), local_task(max_depth=7)
    service.publish(task)
    reports = holders(task, 2000)
    assert len(reports.to_bytes()) > SMALL
    assert service.send(task, reports).json()["accepted"] == 2000
    shut(service, task, "ended")
    room, service.service.bodies.room = service.service.bodies.room, 0
    answer = service.send(task, reports)
    assert (answer.status_code, answer.json()["code"]) == (503, "busy")
    service.service.bodies.room = room
    assert service.send(task, reports).json()["duplicates"] == 2000


def test_upload_tokens_are_asked_for_and_not_spent(service, local_task, holders):
    task = local_task()
    service.publish(task, tokens=True)
    (token,) = service.post(task, "tokens").json()["tokens"]
    mine = {"Authorization": f"Bearer {token}"}
    report = holders(task, 1)
    assert service.send(task, report, **mine).json()["accepted"] == 1
    service.post(task, "close")
    assert service.send(task, report, **mine).json() == COUNTED
    assert service.send(task, report, Authorization="Bearer hu_other").json()["code"] == "task-closed"
    assert service.send(task, report).json()["code"] == "token-required"


def test_ids_are_forgotten_in_the_end(service, local_task, holders):
    task = local_task()
    service.publish(task)
    report = holders(task, 1)
    service.send(task, report)
    service.post(task, "close")
    service.clock.now = 1000.0 + WEEK - 1
    service.service.aggregator.turn()
    assert service.send(task, report).json() == COUNTED
    service.clock.now += 1
    service.service.aggregator.turn()
    assert service.send(task, report).json()["code"] == "task-ended"
    service.clock.now = 1500.0
    assert service.send(task, report).json()["code"] == "task-closed"


def test_a_copy_that_waits_beside_its_original_is_one(service, local_task, holders):
    """Both in one commit: the original in time, the copy a moment too late, and put first on purpose."""
    from hedgerow.service.intake import take

    task = local_task()
    service.publish(task)
    collection, body = service.service.collection(task.id), holders(task, 1).to_bytes()

    def upload(late):
        made = collection.kind.upload(collection.number, collection.kind.read(body), None, None)
        made.late = late
        return made

    database = service.service.database
    with database.write_uploads() as connection:
        copy, original = take(database, connection, [upload("task-ended"), upload("")])
    assert (original.accepted, copy.accepted, copy.duplicates, copy.refused) == (1, 0, 1, "")


def test_late_copies_cost_one_look_up(service, local_task, holders, monkeypatch):
    """However many reports a task has: one query by primary key for the whole upload, and none if it has few."""
    from hedgerow.service import scrub
    from hedgerow.service.database import Database

    task = local_task()
    service.publish(task)
    known = holders(task, 500)
    service.send(task, known)
    service.post(task, "close")
    asked = []
    real = Database.sealed
    monkeypatch.setattr(Database, "sealed", lambda self, c, t, keys: asked.append(len(keys)) or real(self, c, t, keys))
    assert service.send(task, known).json()["duplicates"] == 500 and asked == []
    monkeypatch.setattr(scrub, "SEALED", 500)
    service.service.aggregator.turn()
    assert service.send(task, known).json()["duplicates"] == 500 and asked == [500]


def test_without_storage_nothing_late_is_acknowledged(inside, local_task, holders):
    service, task = inside(storage=False), local_task()
    service.publish(task)
    collection = service.service.collection(task.id)
    late = collection.kind.upload(collection.number, collection.kind.read(holders(task, 1).to_bytes()), None, None)
    late.late = "task-ended"
    assert asyncio.run(service.service.store(late)).refused == "task-ended"
