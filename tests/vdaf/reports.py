"""Reports and verification for tests: everything from a seed, by way of SHAKE-128 of "seed/name"."""

import hashlib

from hedgerow.vdaf import MultihotCountVec, Prio3, Report

CTX = b"a context"
KEY = bytes(range(32))


def drawn(seed, name, n):
    return hashlib.shake_128(f"{seed}/{name}".encode()).digest(n)


def multihot(length=20, max_weight=4, chunk=5, servers=2):
    return Prio3(MultihotCountVec(length, max_weight, chunk), servers=servers)


def bits(seed, length, weight):
    """Return a vector with at most ``weight`` bits set."""
    places = {place % length for place in drawn(seed, "bits", weight)}
    return [int(i in places) for i in range(length)]


def sharded(prio3, measurement, seed, ctx=CTX):
    """Return what each server gets of a report."""
    nonce = drawn(seed, "nonce", 16)
    public, inputs = prio3.shard(ctx, measurement, nonce, drawn(seed, "rand", prio3.rand_size))
    return [Report(nonce, public, share) for share in inputs]


def verified(prio3, reports, ctx=CTX, keys=None):
    """Return the output shares of all servers; raises if the report is refused."""
    keys = keys or [KEY] * prio3.servers
    states = [prio3.verify_init(key, ctx, i, each) for i, (key, each) in enumerate(zip(keys, reports, strict=True))]
    message = prio3.verifier_shares_to_message(ctx, [state.verifier_share for state in states])
    return [prio3.verify_next(state, message) for state in states]
