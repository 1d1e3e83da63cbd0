"""Two servers behind a load balancer on one PostgreSQL: kills and faults of the database under load lose nothing.

``HEDGEROW_FULL_CRASH=1`` runs the long version: 20 kills and 20 faults of the database, 60,000 reports.
"""

import contextlib
import os
import socket
import threading
import time

from hedgerow.tasks.totals import Aggregate

CURATOR = {"Authorization": "Bearer curator-token-of-these-tests"}
FULL = bool(os.environ.get("HEDGEROW_FULL_CRASH"))


class Balancer:
    """A load balancer: each connection goes to the next server that answers."""

    def __init__(self, servers):
        self.servers = servers
        self.turn = 0
        self.counts = [0] * len(servers)
        self.listening = socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self):
        with contextlib.suppress(OSError):
            while True:
                client, _ = self.listening.accept()
                threading.Thread(target=self._serve, args=(client,), daemon=True).start()

    def _serve(self, client):
        server = self._connect()
        if server is None:
            client.close()
            return
        threading.Thread(target=self._pipe, args=(server, client), daemon=True).start()
        self._pipe(client, server)

    def _connect(self):
        for _ in self.servers:
            self.turn = (self.turn + 1) % len(self.servers)
            with contextlib.suppress(OSError):
                found = socket.create_connection(("127.0.0.1", self.servers[self.turn].port), 5)
                self.counts[self.turn] += 1
                return found
        return None

    def _pipe(self, source, sink):
        with contextlib.suppress(OSError):
            while data := source.recv(1 << 16):
                sink.sendall(data)
        for side in (source, sink):
            with contextlib.suppress(OSError):
                side.shutdown(socket.SHUT_RDWR)
            side.close()

    def close(self):
        self.listening.close()


def cut_off(url):
    """End every connection to the database, as a restart or a fail-over does."""
    import psycopg

    with psycopg.connect(url.replace("+psycopg", ""), autocommit=True) as connection:
        connection.execute(
            "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
            "WHERE pid <> pg_backend_pid() AND datname = current_database()"
        )


def patiently(server, url):
    """Ask again while connections that were cut off are found out, one by one, each by a 503."""
    for _ in range(10):
        answer = server.client.get(url, headers=CURATOR)
        if answer.status_code != 503:
            break
    return answer


def test_two_servers_behind_a_balancer_lose_nothing(postgres, outside, local_task, holders, part, load):
    n, faults, size = (60_000, 20, 20) if FULL else (2_400, 2, 20)
    servers = [outside(postgres), outside(postgres)]
    balancer = Balancer(servers)
    task = local_task(max_depth=4)
    body = {"task": task.to_dict(), "purpose": "To test", "curator": "Town", "opens": 0, "closes": 1 << 37}
    assert servers[0].client.post("/v1/tasks", json=body, headers=CURATOR).status_code == 201
    reports = holders(task, n)
    bodies = [part(reports, i, i + size).to_bytes() for i in range(0, n, size)]
    sending = load(balancer, task, bodies).start()
    for k in range(2 * faults):
        while len(sending.receipts) < (k + 1) * len(bodies) // (2 * faults + 1):
            time.sleep(0.002)
            assert not sending.errors, sending.errors
        if k % 2:
            cut_off(postgres)
        else:
            victim = servers[k // 2 % 2]
            victim.kill()
            victim.start()
    sending.join()
    balancer.close()
    receipts = sending.receipts.values()
    assert all(r["accepted"] + r["duplicates"] == size and not r["failures"] for r in receipts)
    assert min(balancer.counts) > 0
    url = f"/v1/tasks/{task.id}"
    expected = Aggregate(task).add(reports).model().to_json()
    for server in servers:
        assert patiently(server, url + "/status").json()["accepted"] == n
        assert patiently(server, url + "/model").text == expected
    servers[0].client.post(url + "/close", headers=CURATOR)
    media = {"Content-Type": "application/vnd.hedgerow.reports+bin; version=1"}
    late = servers[1].client.post(url + "/reports", content=holders(task, 1, seed=1).to_bytes(), headers=media)
    assert late.json()["code"] == "task-closed"
    again = servers[1].client.post(url + "/reports", content=bodies[0], headers=media)
    assert again.json() == {"accepted": 0, "duplicates": size, "failures": []}


def test_the_most_reports_hold_over_both_servers(postgres, inside, local_task, holders, part):
    one, two = inside(postgres), inside(postgres)
    task = local_task()
    one.publish(task, max_reports=5)
    reports = holders(task, 8)
    assert one.send(task, part(reports, 0, 3)).json()["accepted"] == 3
    answer = two.send(task, part(reports, 3)).json()
    assert answer["accepted"] == 2 and len(answer["failures"]) == 3
    assert one.send(task, part(reports, 7)).json()["code"] == "task-full"
