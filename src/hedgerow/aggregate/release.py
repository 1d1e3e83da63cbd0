r"""What leaves a server, and how the collector puts it together.

Each server adds a discrete Gaussian to its share of every sum and seals that for the collector. Against the curator
together with one server, the other server's noise alone makes the sums private: :math:`\rho = \Delta^2 / 2 \sigma^2`
zCDP for replacing a record. It must therefore be drawn once. Whoever has two draws of one batch takes their mean, and
5,000 of them read a batch of one; so callers store what :func:`release` returns, in the transaction that closes the
batch, and hand out the same bytes for ever.
"""

from __future__ import annotations

import numpy as np

from hedgerow.aggregate.batch import Batch
from hedgerow.aggregate.protocol import LABEL, Protocol
from hedgerow.discrete_gaussian import discrete_gaussian
from hedgerow.errors import HedgerowError
from hedgerow.randomness import Randomness
from hedgerow.sealing import KeyPair, Role, info_of, seal, unseal
from hedgerow.types import IntArray

__all__ = ["combine", "release"]

_COUNT = 8  # bytes


def release(protocol: Protocol, role: Role, batch: Batch, randomness: Randomness) -> bytes:
    """Return a server's share of the sums with its noise, sealed for the collector. Call it once a batch."""
    if batch.n < protocol.min_batch:
        raise HedgerowError(f"at least {protocol.min_batch} reports are released together. There are {batch.n}.")
    noise = discrete_gaussian(protocol.variance, protocol.length, randomness)
    noisy = protocol.prio3.shifted(batch.total, noise.tolist())
    info = info_of(LABEL, role, Role.COLLECTOR)
    return seal(protocol.servers.collector_key, info, _bound(protocol, batch.n, batch.checksum), noisy)


def combine(
    protocol: Protocol, key: KeyPair, n: int, checksum: bytes, from_leader: bytes, from_helper: bytes
) -> IntArray:
    """Return the noisy sums; shares of different reports, tasks or roles cannot be opened together."""
    aad = _bound(protocol, n, checksum)
    shares = [
        unseal(key, info_of(LABEL, role, Role.COLLECTOR), aad, sealed)
        for role, sealed in ((Role.LEADER, from_leader), (Role.HELPER, from_helper))
    ]
    sums = protocol.prio3.unshard(shares, signed=True)
    most = n * protocol.max_weight + (1 << 40)  # noise beyond 2**40 has no chance: its deviation is at most 2**14
    if any(abs(value) > most for value in sums):
        raise HedgerowError("the sums are beyond what reports and noise can be: a server has spoilt its share.")
    return np.array(sums, dtype=np.int64)


def _bound(protocol: Protocol, n: int, checksum: bytes) -> bytes:
    return protocol.task + n.to_bytes(_COUNT, "big") + checksum
