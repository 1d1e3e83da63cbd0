"""The same rules on a real PostgreSQL."""

import asyncio
import threading
import time

import numpy as np
import pytest

from hedgerow.service import database
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate

CURATOR = {"Authorization": "Bearer curator-token-of-these-tests"}


def test_a_collection_from_end_to_end(postgres, inside, local_task, holders, part, ids_in):
    service, task = inside(postgres), local_task()
    service.publish(task)
    reports = holders(task, 500)
    for start in (0, 100, 200, 300):
        assert service.send(task, part(reports, start, start + 200)).status_code == 200
        service.service.aggregator.turn()
    status = service.status(task)
    assert (status["accepted"], status["aggregated"]) == (500, 500)
    payloads = reports.payloads.copy()
    payloads[1] ^= np.uint8(1)
    answer = service.send(task, Reports(task, reports.tokens, payloads)).json()
    assert answer["duplicates"] == 499 and [f["code"] for f in answer["failures"]] == ["id-conflict"]
    assert service.get(task, "model").text == Aggregate(task).add(reports).model().to_json()
    service.post(task, "close")
    assert service.send(task, holders(task, 1, seed=3)).json()["code"] == "task-closed"
    service.clock.now += service.service.settings.remember_seconds
    service.service.aggregator.turn()
    assert ids_in(service.service.database) == 0
    assert service.get(task, "model").text == Aggregate(task).add(reports).model().to_json()


def test_tokens_and_refusals(postgres, inside, local_task, holders):
    service, task = inside(postgres), local_task()
    service.publish(task, tokens=True)
    (token,) = service.post(task, "tokens").json()["tokens"]
    one = {"Authorization": f"Bearer {token}"}
    assert service.send(task, holders(task, 1), **one).json()["accepted"] == 1
    assert service.send(task, holders(task, 1, seed=1), **one).json()["code"] == "token-spent"
    service.service.aggregator._idle()
    service.service.aggregator._idle()
    assert service.status(task)["refused"] == {"token-spent": 1}
    assert service.client.get("/metrics").status_code == 200


def test_two_servers_share_a_database(postgres, inside, local_task, holders, part):
    one, two, task = inside(postgres), inside(postgres), local_task()
    one.publish(task)
    reports = holders(task, 600)
    batches = [part(reports, i, i + 20).to_bytes() for i in range(0, 600, 20)]
    collections = [s.service.collection(task.id) for s in (one, two)]
    outcomes = []

    def run(service, collection):
        async def send():
            for body in batches:
                upload = collection.kind.upload(collection.number, collection.kind.read(body), None, None)
                while True:
                    try:
                        outcomes.append(await service.service.store(upload))
                        break
                    except ValueError:  # the other server took the same report at the same moment
                        await asyncio.sleep(0.005)

        asyncio.run(send())

    threads = [threading.Thread(target=run, args=pair) for pair in zip((one, two), collections, strict=True)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sum(o.accepted for o in outcomes) == 600 and sum(o.duplicates for o in outcomes) == 600
    for service in (one, two):
        service.service.aggregator.turn()
    expected = Aggregate(task).add(reports).to_bytes()
    assert [s.service.total(c).to_bytes() for s, c in zip((one, two), collections, strict=True)] == [expected] * 2
    one.post(task, "close")
    assert two.send(task, holders(task, 1, seed=5)).json()["code"] == "task-closed"


def test_others_have_their_turn_while_a_commit_goes_to_the_disk(
    postgres, inside, local_task, holders, part, monkeypatch
):
    """On a disk that takes a second: two servers take one second for a commit each, and nobody is answered before."""
    one, two, task = inside(postgres), inside(postgres), local_task()
    one.publish(task)
    reports = holders(task, 4)
    for i, each in enumerate((one, two)):  # loads what is loaded once
        assert each.send(task, part(reports, i, i + 1)).json()["accepted"] == 1
    monkeypatch.setattr(database, "_FLUSH", f"SELECT pg_sleep(1); {database._FLUSH}")
    seconds = []

    def send(each, i):
        start = time.perf_counter()
        assert each.send(task, part(reports, i, i + 1)).json()["accepted"] == 1
        seconds.append(time.perf_counter() - start)

    threads = [threading.Thread(target=send, args=(each, 2 + i)) for i, each in enumerate((one, two))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(seconds) == 2 and min(seconds) >= 1 and max(seconds) < 1.9


def test_what_is_acknowledged_is_in_the_flushed_log(postgres, inside, local_task, holders, part):
    """Also a copy, whose first may still be on its way to the disk by another server.

    Without the flush PostgreSQL would write some time within its next 200 milliseconds.
    """
    import psycopg

    one, two, task = inside(postgres), inside(postgres), local_task()
    one.publish(task)
    reports = holders(task, 20)
    flushed = 0
    with psycopg.connect(postgres.replace("+psycopg", ""), autocommit=True) as connection:
        for i in range(20):
            for each, what in ((one, "accepted"), (two, "duplicates")):
                assert each.send(task, part(reports, i, i + 1)).json()[what] == 1
                query = "SELECT pg_current_wal_flush_lsn() >= pg_current_wal_insert_lsn()"
                flushed += connection.execute(query).fetchone()[0]
    assert flushed >= 36  # the server writes a note of its own now and then


def test_a_commit_that_may_not_be_on_the_disk_is_not_acknowledged(postgres, inside, local_task, holders, monkeypatch):
    service, task = inside(postgres), local_task()
    service.publish(task)
    reports = holders(task, 3)
    with monkeypatch.context() as patch:
        patch.setattr(database, "_FLUSH", "SELECT 1 / 0")
        assert service.send(task, reports).status_code >= 500
    assert service.send(task, reports).json() == {"accepted": 0, "duplicates": 3, "failures": []}
    service.service.aggregator.turn()
    assert service.status(task)["accepted"] == 3


def test_a_server_that_goes_away_is_busy_and_comes_back(postgres, inside, local_task, holders):
    import psycopg

    service, task = inside(postgres), local_task()
    service.publish(task)
    assert service.send(task, holders(task, 2)).status_code == 200
    plain = postgres.replace("+psycopg", "")
    with psycopg.connect(plain, autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )
    codes = [service.send(task, holders(task, 2, seed=1)).status_code for _ in range(2)]
    assert codes[-1] == 200 and set(codes) <= {200, 503}
    assert service.status(task)["accepted"] >= 4


@pytest.mark.parametrize("way", ["to postgres", "to sqlite"])
def test_backups_move_between_databases(postgres, inside, local_task, holders, tmp_path, way, ids_in):
    from hedgerow.service.backup import backup, restore
    from hedgerow.service.database import Database

    urls = [f"sqlite:///{tmp_path}/a.db", postgres]
    source, target = urls if way == "to postgres" else urls[::-1]
    service, task = inside(source), local_task()
    service.publish(task)
    reports = holders(task, 100)
    service.send(task, reports)
    service.service.aggregator.turn()
    service.send(task, holders(task, 10, seed=1))
    before = service.get(task, "model").text
    backup(service.service.database, str(tmp_path / "copy"))
    with Database(target, "create") as empty:
        restore(empty, str(tmp_path / "copy"))
        assert ids_in(empty) == 110
    moved = inside(target)
    assert moved.get(task, "model").text == before
    assert moved.send(task, reports).json() == {"accepted": 0, "duplicates": 100, "failures": []}
    assert moved.send(task, holders(task, 5, seed=2)).json()["accepted"] == 5
    assert (
        moved.publish(local_task("next"))["public_key"]
        == service.client.get(f"/v1/tasks/{task.id}").json()["public_key"]
    )


def test_a_real_process(postgres, outside, local_task, holders, load, part):
    server, task = outside(postgres), local_task()
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    assert server.client.post("/v1/tasks", json=body, headers=CURATOR).status_code == 201
    reports = holders(task, 2000)
    load(server, task, [part(reports, i, i + 50).to_bytes() for i in range(0, 2000, 50)]).start().join()
    answer = server.client.get(f"/v1/tasks/{task.id}/model", headers=CURATOR)
    assert answer.text == Aggregate(task).add(reports).model().to_json()
