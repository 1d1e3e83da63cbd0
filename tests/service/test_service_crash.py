"""kill -9 during a load: every acknowledged report is counted once, none twice, and the model is the reference.

``HEDGEROW_FULL_CRASH=1`` runs the long version: 100,000 reports, 20 kills.
"""

import os
import time

import pytest

from hedgerow.tasks.totals import Aggregate

CURATOR = {"Authorization": "Bearer curator-token-of-these-tests"}
FULL = bool(os.environ.get("HEDGEROW_FULL_CRASH"))


def survive(server, task, reports, part, load, kills, size):
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    assert server.client.post("/v1/tasks", json=body, headers=CURATOR).status_code == 201
    n = len(reports)
    bodies = [part(reports, i, i + size).to_bytes() for i in range(0, n, size)]
    sending = load(server, task, bodies).start()
    for k in range(kills):
        while len(sending.receipts) < (k + 1) * len(bodies) // (kills + 1):
            time.sleep(0.002)
            assert not sending.errors, sending.errors
        server.kill()
        server.start()
    sending.join()
    receipts = sending.receipts.values()
    assert all(r["accepted"] + r["duplicates"] == size and not r["failures"] for r in receipts)
    url = f"/v1/tasks/{task.id}"
    assert server.client.get(url + "/status", headers=CURATOR).json()["accepted"] == n
    expected = Aggregate(task).add(reports).model().to_json()
    assert server.client.get(url + "/model", headers=CURATOR).text == expected
    server.client.post(url + "/close", headers=CURATOR)
    for _ in range(200):
        if server.client.get(url + "/status", headers=CURATOR).json()["aggregated"] == n:
            break
        time.sleep(0.1)
    assert server.client.get(url + "/model", headers=CURATOR).text == expected
    return sum(r["duplicates"] for r in receipts)


def test_sqlite_survives_kill_9(outside, local_task, holders, part, load):
    n, kills = (100_000, 20) if FULL else (8_000, 2)
    task = local_task(max_depth=4)
    unheard = survive(outside(), task, holders(task, n), part, load, kills, 20)
    print(f"{n} reports, {kills} kills; {unheard} were kept whose acknowledgement was lost")


def test_postgres_survives_kill_9(postgres, outside, local_task, holders, part, load):
    n, kills = (100_000, 20) if FULL else (3_000, 1)
    task = local_task(max_depth=4)
    survive(outside(postgres), task, holders(task, n), part, load, kills, 20)


# Few ids are many; the process kills itself at a step of their way, before its commit.
DYING = """
import os, sys
from hedgerow.cli import main
from hedgerow.service import aggregator, scrub, sealing
scrub.SEALED, sealing._FAN, sealing._MERGED = 50, 1, 100
module, step, times = {}, "{}", [{}]
real = getattr(module, step)
def dying(*given):
    done = real(*given)
    times[0] -= 1
    if times[0] == 0:
        os.kill(os.getpid(), 9)
    return done
setattr(module, step, dying)
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.parametrize("step", [("scrub", "set_aside", 1), ("aggregator", "merge_piece", 1)])
def test_ids_survive_kill_9_at_a_step_of_their_way(outside, local_task, holders, step):
    server, task = outside(program=("-c", DYING.format(*step))), local_task(max_depth=4)
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    assert server.client.post("/v1/tasks", json=body, headers=CURATOR).status_code == 201
    reports = holders(task, 100)
    media = {"Content-Type": "application/vnd.hedgerow.reports+bin; version=1"}
    url = f"/v1/tasks/{task.id}"
    sent = server.client.post(f"{url}/reports", content=reports.to_bytes(), headers=media)
    assert sent.json()["accepted"] == 100
    assert server.process.wait(60) == -9
    server.program = ("-m", "hedgerow.cli")
    server.start()
    again = server.client.post(f"{url}/reports", content=reports.to_bytes(), headers=media).json()
    assert again == {"accepted": 0, "duplicates": 100, "failures": []}
    expected = Aggregate(task).add(reports).model().to_json()
    assert server.client.get(url + "/model", headers=CURATOR).text == expected


def test_a_crash_between_aggregation_and_commit_repeats_the_segment(inside, local_task, holders, monkeypatch):
    from hedgerow.service import segments

    service, task = inside(), local_task()
    service.publish(task)
    reports = holders(task, 500)
    service.send(task, reports)
    collection = service.service.collection(task.id)

    replace = segments.replace_partial

    def crash(*given):
        replace(*given)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        # The new sums are written, the payloads not yet deleted.
        patch.setattr(segments, "replace_partial", crash)
        with pytest.raises(KeyboardInterrupt):
            service.service.aggregator.segment(collection.number)
    expected = Aggregate(task).add(reports)
    assert service.status(task)["aggregated"] == 0
    assert service.service.total(collection).to_bytes() == expected.to_bytes()
    assert service.service.aggregator.segment(collection.number) == 500
    assert service.service.total(collection).to_bytes() == expected.to_bytes()


def test_stopping_gracefully_answers_what_was_sent(outside, local_task, holders, part, load):
    server, task = outside(), local_task()
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    server.client.post("/v1/tasks", json=body, headers=CURATOR)
    reports = holders(task, 2000)
    sending = load(server, task, [part(reports, i, i + 10).to_bytes() for i in range(0, 2000, 10)]).start()
    while len(sending.receipts) < 50:
        time.sleep(0.002)
    server.stop()
    server.start()
    sending.join()
    status = server.client.get(f"/v1/tasks/{task.id}/status", headers=CURATOR).json()
    assert status["accepted"] == 2000
    log = server.log.read_text()
    assert '"event": "stopped"' in log
