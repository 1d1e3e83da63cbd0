"""Two servers, a collector and holders, in memory."""

import hashlib
from fractions import Fraction

import numpy as np

from hedgerow.aggregate import Party, Protocol, Server, Servers, share
from hedgerow.aggregate.protocol import verify_key
from hedgerow.randomness import SecureRandomness
from hedgerow.sealing import KeyPair, Role

KEYS = {name: KeyPair.of(bytes([i + 1]) * 32) for i, name in enumerate(("leader", "helper", "collector", "other"))}
TASK = hashlib.sha256(b"a task").digest()


def servers(**changed):
    digest = hashlib.sha256(verify_key(Role.LEADER, KEYS["leader"], KEYS["helper"].public)).digest()
    fields = {
        "leader": Server("Town", "https://town.example", KEYS["leader"].public, b"L" * 32),
        "helper": Server("Club", "https://club.example", KEYS["helper"].public, b"H" * 32),
        "collector_key": KEYS["collector"].public,
        "verify_key_digest": digest,
    }
    return Servers(**{**fields, **changed})


def protocol(task=TASK, *, length=12, weight=3, chunk=4, variance=0, min_batch=1, **changed):
    return Protocol(task, length, weight, chunk, Fraction(variance), min_batch, servers(**changed))


def both(rules):
    return Party(rules, Role.LEADER, KEYS["leader"]), Party(rules, Role.HELPER, KEYS["helper"])


def vectors(rules, n, seed=0):
    """Return rows of bits with the most that may be set."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((n, rules.length), dtype=int)
    for row in rows:
        row[rng.choice(rules.length, rules.max_weight, replace=False)] = 1
    return rows


def ids(n, seed=0):
    return [hashlib.sha256(f"{seed}/{i}".encode()).digest()[:16] for i in range(n)]


def reports(rules, bits, seed=0):
    """Return ids and payloads."""
    source = SecureRandomness()
    return [
        (name, share(rules, name, row.tolist(), source)) for name, row in zip(ids(len(bits), seed), bits, strict=True)
    ]


def run(rules, rows, known=(), name=b"j" * 16):
    """Run one job through both servers; return what each has added, and what each refused."""
    from hedgerow.aggregate.job import Answer, Job

    leader, helper = both(rules)
    prepared = leader.prepare(name, rows)
    request = prepared.job.to_bytes(rules)
    answer, theirs = helper.answer(Job.from_bytes(rules, request), known)
    again = Answer.from_bytes(rules, answer.to_bytes(rules), prepared.job)
    return leader.finish(prepared, again), theirs
