"""Full disk, locked database, slow clients, clocks that jump: clear errors, nothing lost."""

import os
import resource
import socket
import sqlite3
import threading
import time

import numpy as np
import pytest

from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Aggregate

CURATOR = {"Authorization": "Bearer curator-token-of-these-tests"}


def small_batches(task, n, size):
    rng = np.random.default_rng(0)
    for _ in range(n):
        tokens = np.frombuffer(rng.bytes(12 * size), dtype=np.uint8).reshape(size, 12)
        rows = np.frombuffer(rng.bytes(task.encoding.width * size), dtype=np.uint8).reshape(size, -1)
        yield Reports(task, tokens, rows)


def test_a_full_disk_is_said_and_loses_nothing_that_was_acknowledged(inside, local_task):
    service, task = inside(), local_task(max_depth=7)
    service.publish(task)
    engine = service.service.database.engine
    with engine.connect() as connection:
        pages = connection.exec_driver_sql("PRAGMA page_count").scalar()
        connection.rollback()
        connection.exec_driver_sql(f"PRAGMA max_page_count={pages + 30}")
        connection.rollback()
    kept, refused = [], 0
    for batch in small_batches(task, 60, 50):
        answer = service.send(task, batch)
        if answer.status_code == 200:
            kept.append(batch)
        else:
            assert (answer.status_code, answer.json()["code"]) == (507, "storage-full")
            assert "log of the server" in answer.json()["detail"] and int(answer.headers["retry-after"]) > 0
            refused += 1
    assert kept and refused
    collection, expected = service.service.collection(task.id), Aggregate(task)
    for batch in kept:
        expected.add(batch)
    assert service.service.total(collection).to_bytes() == expected.to_bytes()
    with engine.connect() as connection:
        connection.exec_driver_sql("PRAGMA max_page_count=1000000")
        connection.rollback()
    more = next(iter(small_batches(local_task(max_depth=7), 1, 50)))
    assert service.send(task, more).status_code == 200  # the very first batch again: acknowledged, not counted
    assert service.status(task)["accepted"] == expected.n_reports


def test_a_file_that_may_not_grow(outside, local_task):
    # The kernel refuses every write beyond this size, whoever makes it: as near to a full disk as a test comes.
    limit = 400_000

    def small():
        import signal

        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))

    server, task = outside(limit=small), local_task(max_depth=7)
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    assert server.client.post("/v1/tasks", json=body, headers=CURATOR).status_code == 201
    kept, codes = [], set()
    headers = {"Content-Type": "application/vnd.hedgerow.reports+bin; version=1"}
    for batch in small_batches(task, 40, 100):
        answer = server.client.post(f"/v1/tasks/{task.id}/reports", content=batch.to_bytes(), headers=headers)
        if answer.status_code == 200:
            kept.append(batch)
        else:
            codes.add((answer.status_code, answer.json()["code"]))
    assert kept and codes == {(507, "storage-full")}
    server.kill()
    server.limit = None
    server.start()
    status = server.client.get(f"/v1/tasks/{task.id}/status", headers=CURATOR).json()
    assert status["accepted"] == 100 * len(kept)
    expected = Aggregate(task)
    for batch in kept:
        expected.add(batch)
    model = server.client.get(f"/v1/tasks/{task.id}/model", headers=CURATOR).text
    assert model == expected.model().to_json()


def test_a_locked_database_is_busy_for_a_while(inside, local_task, holders, tmp_path, monkeypatch):
    from hedgerow.service import database

    monkeypatch.setattr(database, "_BUSY_SECONDS", 0.2)
    service, task = inside(), local_task()
    service.publish(task)
    other = sqlite3.connect(tmp_path / "hedgerow.db", isolation_level=None)
    other.execute("BEGIN EXCLUSIVE")
    reports = holders(task, 5)
    answer = service.send(task, reports)
    assert (answer.status_code, answer.json()["code"]) == (503, "storage-busy")
    assert service.service.problems["storage-busy"] == 1
    assert answer.headers["retry-after"] == "5"
    assert service.client.get("/healthz").status_code == 503
    assert service.client.get("/livez").status_code == 200
    other.execute("COMMIT")
    other.close()
    assert service.send(task, reports).json()["accepted"] == 5
    assert service.status(task)["accepted"] == 5


def test_a_lock_that_ends_in_time_is_waited_for(inside, local_task, holders, tmp_path):
    service, task = inside(), local_task()
    service.publish(task)
    other = sqlite3.connect(tmp_path / "hedgerow.db", isolation_level=None, check_same_thread=False)
    other.execute("BEGIN IMMEDIATE")
    threading.Timer(0.3, lambda: other.execute("COMMIT")).start()
    assert service.send(task, holders(task, 5)).json()["accepted"] == 5
    other.close()


def test_slow_clients_are_cut_off_and_hold_up_nobody(inside, local_task, holders):
    import uvicorn

    service, task = inside(body_seconds=0.5), local_task()
    service.publish(task)
    body = holders(task, 10).to_bytes()
    # The application runs already; the server only lends it sockets.
    config = uvicorn.Config(service.app, port=0, log_config=None, lifespan="off", access_log=False)
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        time.sleep(0.01)
    port = server.servers[0].sockets[0].getsockname()[1]
    head = (
        f"POST /v1/tasks/{task.id}/reports HTTP/1.1\r\nHost: x\r\n"
        "Content-Type: application/vnd.hedgerow.reports+bin; version=1\r\n"
        f"Content-Length: {len(body)}\r\n\r\n"
    ).encode()
    slow = [socket.create_connection(("127.0.0.1", port)) for _ in range(50)]
    for s in slow:
        s.sendall(head + body[:5])
    start = time.monotonic()
    quick = socket.create_connection(("127.0.0.1", port))
    quick.sendall(head + body)
    assert b"200 OK" in quick.recv(1000)
    assert time.monotonic() - start < 5
    slow[0].settimeout(20)
    answer = slow[0].recv(2000)
    assert b"408" in answer and b"body-timeout" in answer
    for s in (*slow, quick):
        s.close()
    server.should_exit = True
    thread.join(20)
    assert service.status(task)["accepted"] == 10


def test_a_client_that_leaves_in_the_middle_leaves_nothing(outside, local_task, holders):
    server, task = outside(), local_task()
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    server.client.post("/v1/tasks", json=body, headers=CURATOR)
    sent = holders(task, 10).to_bytes()
    head = (
        f"POST /v1/tasks/{task.id}/reports HTTP/1.1\r\nHost: x\r\n"
        "Content-Type: application/vnd.hedgerow.reports+bin; version=1\r\n"
        f"Content-Length: {len(sent)}\r\n\r\n"
    ).encode()
    for cut in (1, 30, len(sent) - 1):
        with socket.create_connection(("127.0.0.1", server.port)) as s:
            s.sendall(head + sent[:cut])
    status = server.client.get(f"/v1/tasks/{task.id}/status", headers=CURATOR).json()
    assert status["accepted"] == 0
    assert "Traceback" not in server.log.read_text()


def test_a_clock_that_jumps_refuses_for_a_while_and_forgets_nothing(inside, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task)
    reports, late = holders(task, 5), holders(task, 5, seed=1)
    service.send(task, reports)
    for now in (1e11, -5.0, 0.0):
        service.clock.now = now
        assert service.send(task, late).json()["code"] in ("task-ended", "task-not-open")
        service.service.aggregator.turn()
        assert service.status(task)["state"] in ("ended", "announced")
    service.clock.now = 1500
    assert service.send(task, reports).json() == {"accepted": 0, "duplicates": 5, "failures": []}
    assert service.send(task, late).json()["accepted"] == 5
    expected = Aggregate(task).add(reports).add(late)
    assert service.service.total(service.service.collection(task.id)).to_bytes() == expected.to_bytes()


def test_a_clock_that_jumps_back_does_not_open_a_closed_task(inside, local_task, holders):
    service, task = inside(), local_task()
    service.publish(task)
    service.clock.now = 3000
    service.post(task, "close")
    service.clock.now = 1500
    assert service.send(task, holders(task, 1)).json()["code"] == "task-closed"


@pytest.mark.parametrize("url", ["nonsense", "mysql://x/y", "sqlite://", "sqlite:///:memory:", "oracle+what://x"])
def test_a_wrong_url_is_named(url):
    from hedgerow.errors import HedgerowError
    from hedgerow.service.database import Database

    with pytest.raises(HedgerowError, match="database"):
        Database(url)


def test_a_database_out_of_reach_is_said_at_once():
    from hedgerow.service.database import Database, StoragePressure

    pytest.importorskip("psycopg")
    with pytest.raises(StoragePressure, match="out of reach"):
        Database("postgresql+psycopg://nobody@127.0.0.1:1/none")


def test_a_folder_that_does_not_exist_is_said(tmp_path):
    from hedgerow.service.database import Database, StorageError

    with pytest.raises(StorageError, match="no folder"):
        Database(f"sqlite:///{tmp_path}/no/such/x.db", "create")
    assert not os.path.exists(tmp_path / "no")
