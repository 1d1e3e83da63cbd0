"""A PostgreSQL that hangs: no answer, no error, connections open. The server stops in time all the same."""

import contextlib
import os
import socket
import threading
import time

import pytest

CURATOR = {"Authorization": "Bearer curator-token-of-these-tests"}
FULL = bool(os.environ.get("HEDGEROW_FULL_CRASH"))


class Wire:
    """A way to the database that can be cut without anybody being told."""

    def __init__(self, port):
        self.port = port
        self.cut = threading.Event()
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.own = self.listening.getsockname()[1]
        self.sockets = [self.listening]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                server = socket.create_connection(("127.0.0.1", self.port))
                self.sockets += [client, server]
                for pair in ((client, server), (server, client)):
                    threading.Thread(target=self._pipe, args=pair, daemon=True).start()

    def _pipe(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                if self.cut.is_set():
                    continue  # swallowed: who waits for it waits on
                sink.sendall(data)
        with contextlib.suppress(OSError):
            sink.shutdown(socket.SHUT_RDWR)

    def close(self):
        for each in self.sockets:
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()


@pytest.fixture
def wire(postgres):
    """Return the wire, and the URL of the database through it."""
    port = int(postgres.rsplit(":", 1)[1].split("/")[0])
    made = Wire(port)
    yield made, postgres.replace(f":{port}/", f":{made.own}/")
    made.close()


@pytest.mark.skipif(not FULL, reason="takes half a minute: HEDGEROW_FULL_CRASH=1")
def test_sigterm_ends_the_process_within_30_seconds(wire, outside, local_task, holders, part, load):
    cut, url = wire
    server = outside(url)
    task = local_task()
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    assert server.client.post("/v1/tasks", json=body, headers=CURATOR).status_code == 201
    reports = holders(task, 400)
    sending = load(server, task, [part(reports, i, i + 2).to_bytes() for i in range(0, 400, 2)]).start()
    while len(sending.receipts) < 20:
        time.sleep(0.01)
    cut.cut.set()
    time.sleep(1)
    start = time.monotonic()
    server.process.terminate()
    server.process.wait(60)
    seconds = time.monotonic() - start
    print(f"stopped after {seconds:.1f} seconds")
    assert seconds < 30
    cut.cut.clear()
    server.start()
    sending.join()
    found = server.client.get(f"/v1/tasks/{task.id}/status", headers=CURATOR).json()
    assert found["accepted"] == 400
