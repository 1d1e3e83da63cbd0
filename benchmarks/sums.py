"""Two servers that see no record: reports verified a second and core, by each server; what a report costs a device."""

from __future__ import annotations

import hashlib
import time
from fractions import Fraction

import numpy as np

from benchmarks.timing import Row
from hedgerow.aggregate import Party, Protocol, Server, Servers, combine, release, share
from hedgerow.aggregate.job import MOST, Answer, Job
from hedgerow.aggregate.protocol import verify_key
from hedgerow.kernels import native
from hedgerow.randomness import SecureRandomness
from hedgerow.sealing import KeyPair, Role
from hedgerow.sums.rules import Rules
from hedgerow.tasks.sums.message import SumsMessage

LEAST = {True: 1500.0, False: 50.0}  # reports a second, with the kernel and without: issue 22
SLOWEST = {True: 5.0, False: 150.0}  # milliseconds that a device needs: likewise
LARGEST = 10_400  # bytes of a report: likewise


def _parties() -> tuple[Protocol, KeyPair, KeyPair, KeyPair]:
    leader, helper, collector = KeyPair.generate(), KeyPair.generate(), KeyPair.generate()
    digest = hashlib.sha256(verify_key(Role.LEADER, leader, helper.public)).digest()
    servers = Servers(
        Server("Leader", "https://leader.example", leader.public, bytes(32)),
        Server("Helper", "https://helper.example", helper.public, b"1" * 32),
        collector.public,
        digest,
    )
    asked = Rules().asked
    circuit = SumsMessage(2 * sum(asked), len(asked)).circuit
    rules = (circuit.length, circuit.max_weight, circuit.chunk, Fraction(0), 1)
    return Protocol(hashlib.sha256(b"task").digest(), *rules, servers), leader, helper, collector


def run(quick: bool) -> list[Row]:
    """Measure CPU time: opening, verifying and adding up, without HTTP and disk; sums are checked to be exact."""
    jobs = 1 if quick else 20
    protocol, leader_key, helper_key, collector = _parties()
    leader = Party(protocol, Role.LEADER, leader_key)
    helper = Party(protocol, Role.HELPER, helper_key)
    source = SecureRandomness()
    rng = np.random.default_rng(1)
    seconds = dict.fromkeys(("client", "leader", "helper"), 0.0)
    sums = np.zeros(protocol.length, dtype=np.int64)
    ours = theirs = None
    for _ in range(jobs):
        bits = np.zeros((MOST, protocol.length), dtype=int)
        for row in bits:
            row[rng.choice(protocol.length, protocol.max_weight, replace=False)] = 1
        sums += bits.sum(axis=0)
        names = [source.uint8(16).tobytes() for _ in range(MOST)]
        start = time.process_time()
        rows = [(name, share(protocol, name, row.tolist(), source)) for name, row in zip(names, bits, strict=True)]
        seconds["client"] += time.process_time() - start
        start = time.process_time()
        prepared = leader.prepare(source.uint8(16).tobytes(), rows)
        assert prepared.job is not None
        request = prepared.job.to_bytes(protocol)
        seconds["leader"] += time.process_time() - start
        start = time.process_time()
        answer, added = helper.answer(Job.from_bytes(protocol, request), ())
        reply = answer.to_bytes(protocol)
        seconds["helper"] += time.process_time() - start
        start = time.process_time()
        finished = leader.finish(prepared, Answer.from_bytes(protocol, reply, prepared.job))
        seconds["leader"] += time.process_time() - start
        ours = finished.batch if ours is None else ours.plus(protocol, finished.batch)
        theirs = added.batch if theirs is None else theirs.plus(protocol, added.batch)
    assert ours is not None
    assert theirs is not None
    parts = [release(protocol, Role.LEADER, ours, source), release(protocol, Role.HELPER, theirs, source)]
    exact = bool((combine(protocol, collector, ours.n, ours.checksum, *parts) == sums).all())
    n = jobs * MOST
    kernel = native() is not None
    least = LEAST[kernel]
    return [
        Row("leader: reports a second and core", n / seconds["leader"], "/s", least, at_least=True),
        Row("helper: reports a second and core", n / seconds["helper"], "/s", least, at_least=True),
        Row("a report on the device", 1000 * seconds["client"] / n, "ms", SLOWEST[kernel]),
        Row("a report, with its id", float(16 + protocol.width), "bytes", LARGEST),
        Row(f"sums of {n:,} reports are exact", float(exact), "(1 = yes)", 1.0, at_least=True),
    ]
