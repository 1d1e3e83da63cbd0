"""kill -9 of a leader and of a helper, each a process with a database of its own: nothing lost, doubled or drawn twice.

``HEDGEROW_FULL_CRASH=1`` runs the long version: 10,000 reports, twenty kills.
"""

import os
import time

import pytest

pytest.importorskip("starlette")
pytest.importorskip("pyhpke")

from hedgerow.collector import card_at, collect, servers_of
from hedgerow.curator import Server
from hedgerow.service.database import Database
from hedgerow.service.shared.operator import set_operator
from hedgerow.service.shared.peers import add_peer
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.sums.examples import example_task
from tests.service.shared import COLLECTOR
from tests.service.test_service_shared import TOKEN, answers

FULL = bool(os.environ.get("HEDGEROW_FULL_CRASH"))
# No noise: sums must be exact. There is no such setting, so the process is changed before it starts.
QUIET = """
import sys
from fractions import Fraction
from hedgerow.service.shared import closing

original = closing.release

def release(protocol, role, batch, source):
    object.__setattr__(protocol, "variance", Fraction(0))
    return original(protocol, role, batch, source)

closing.release = release
from hedgerow.cli import main
sys.exit(main(sys.argv[1:]))
"""


@pytest.fixture
def pair(outside, tmp_path):
    made = {role: outside(f"sqlite:///{tmp_path}/{role}.db", program=("-c", QUIET)) for role in ("leader", "helper")}
    for role, server in made.items():
        with Database(server.url) as database, database.write() as connection:
            set_operator(connection, {"leader": "Town", "helper": "Club"}[role], server.address, now=1)
    cards = {role: card_at(server.address) for role, server in made.items()}
    for role, other in (("leader", "helper"), ("helper", "leader")):
        with Database(made[role].url) as database, database.write() as connection:
            add_peer(connection, cards[other], now=1)
    return made


def test_kills_of_either_server_change_nothing(pair, load):
    n, kills, size = (10_000, 20, 50) if FULL else (240, 2, 20)
    leader, helper = pair["leader"], pair["helper"]
    task = example_task(1.0, servers_of(leader.address, helper.address, COLLECTOR), 10)
    curator = Server(leader.address, TOKEN)
    curator.publish(task, purpose="To test", curator="Town", opens=0, closes=1 << 37)
    reports, sums = answers(task, n)
    bodies = [
        Reports(task, reports.tokens[i : i + size], reports.payloads[i : i + size]).to_bytes()
        for i in range(0, n, size)
    ]
    sending = load(leader, task, bodies).start()
    for k in range(kills):
        while len(sending.receipts) < (k + 1) * len(bodies) // (kills + 1):
            time.sleep(0.002)
            assert not sending.errors, sending.errors
        victim = (leader, helper)[k % 2]
        victim.kill()
        victim.start()
    sending.join()
    assert all(r["accepted"] + r["duplicates"] == size and not r["failures"] for r in sending.receipts.values())
    _, totals = collect(curator, task.id, COLLECTOR)
    assert totals.n_reports == n and list(totals.sums) == sums.tolist()
    helper.kill()
    assert collect(curator, task.id, COLLECTOR)[1] == totals  # the leader has kept both sealed shares


def test_a_leader_on_postgresql_and_a_helper_on_sqlite(inside, postgres, tmp_path, monkeypatch):
    from fractions import Fraction

    from hedgerow.service.shared import closing
    from tests.service.shared import Pair
    from tests.service.test_service_shared import opened, published

    original = closing.release

    def release(protocol, role, batch, source):
        object.__setattr__(protocol, "variance", Fraction(0))
        return original(protocol, role, batch, source)

    monkeypatch.setattr(closing, "release", release)
    pair = Pair(inside, {"leader": postgres, "helper": f"sqlite:///{tmp_path}/helper.db"})
    task = published(pair)
    reports, sums = answers(task, 20)
    pair.leader.send(task, reports)
    pair.leader.service.aggregator.turn()
    pair.leader.service.aggregator.scrub()
    assert pair.leader.send(task, reports).json()["duplicates"] == 20
    assert opened(task, pair.collect(task)).tolist() == sums.tolist()


def test_a_helper_on_postgresql(inside, postgres, tmp_path):
    from tests.service.shared import Pair
    from tests.service.test_service_shared import forwarded, published

    pair = Pair(inside, {"leader": f"sqlite:///{tmp_path}/leader.db", "helper": postgres})
    task = published(pair)
    reports, _ = answers(task, 6)
    pair.leader.send(task, reports)
    pair.verify(task)
    pair.helper.service.aggregator.scrub()
    again, _ = forwarded(pair, task, b"2" * 16, reports)
    assert set(again.content[96 + 56 :: 33]) == {1}
    first = pair.collect(task).json()
    assert pair.collect(task).json() == first
