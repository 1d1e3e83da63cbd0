"""What a server has added up: how many reports, which ones (a checksum of their ids), and its share of their sum."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

from hedgerow.aggregate.protocol import Protocol
from hedgerow.errors import FormatError

__all__ = ["Batch", "checksum_of"]

_CHECKSUM = 32  # bytes of SHA-256


def checksum_of(report_ids: Iterable[bytes]) -> bytes:
    """Return the XOR of the SHA-256 of all ids (DAP's checksum): whatever the order, equal sets give equal bytes.

    It tells when two servers have lost or doubled something. It does not bind a server that cheats: such a server can
    spoil the sums in any case.

    >>> checksum_of([b"a", b"b"]) == checksum_of([b"b", b"a"]), checksum_of([]) == bytes(32)
    (True, True)
    """
    total = 0
    for report_id in report_ids:
        total ^= int.from_bytes(hashlib.sha256(report_id).digest(), "big")
    return total.to_bytes(_CHECKSUM, "big")


@dataclass(frozen=True)
class Batch:
    """Reports that were verified and added up by one server.

    Attributes
    ----------
    n : int
        How many.
    checksum : bytes
        Which ones, see :func:`checksum_of`.
    total : bytes
        This server's share of the sums; uniformly random by itself.
    """

    n: int
    checksum: bytes
    total: bytes

    @classmethod
    def of(cls, protocol: Protocol, ids: list[bytes], shares: list[bytes]) -> Batch:
        """Add up verified shares."""
        return cls(len(ids), checksum_of(ids), protocol.prio3.aggregate(shares))

    def plus(self, protocol: Protocol, other: Batch) -> Batch:
        """Return both together; a report that is in both would be counted twice, so callers see that none is."""
        pairs = zip(self.checksum, other.checksum, strict=True)
        total = protocol.prio3.aggregate([self.total, other.total])
        return Batch(self.n + other.n, bytes(a ^ b for a, b in pairs), total)

    def check(self, protocol: Protocol, n: int, checksum: bytes) -> None:
        """Refuse to release too few reports, or others than the other server has."""
        if self.n < protocol.min_batch:
            raise FormatError(f"at least {protocol.min_batch} reports are released together. There are {self.n}.")
        if (n, checksum) != (self.n, self.checksum):
            raise FormatError(
                f"the servers have not added up the same reports ({self.n} here, {n} there): one of them has lost "
                "something. Nothing was released."
            )
