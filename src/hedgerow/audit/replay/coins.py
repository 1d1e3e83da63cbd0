"""Coins that two fits share: a source that all code takes for the secure one, and that repeats itself."""

from __future__ import annotations

import hashlib
from typing import Any

from hedgerow.randomness import SecureRandomness
from hedgerow.types import IntArray

__all__ = ["Coins"]

Bytes = bytes  # inside the class, ``bytes`` is a method
_ASSIGNMENT = b"/('assignment',)"  # what the forests call the stream of their coins by record


class Coins(SecureRandomness):
    """Call number i of ``bytes(n)`` returns the first n bytes of ``SHAKE128(path || i)``.

    It is a :class:`~hedgerow.randomness.SecureRandomness` to whoever asks, so that an audited fit takes the path that
    ships. A longer answer begins with the shorter one, and no call moves the coins of a later one.

    Coins by which records are assigned belong to the records: given ``records``, the number of each record in the table
    that the fit is compared with, they stay with them wherever a record was added.

    Examples
    --------
    >>> one, two = Coins(b"seed"), Coins(b"seed")
    >>> one.integers(10, 5).tolist() == two.integers(10, 6).tolist()[:5]
    True
    >>> one.integers(10, 5).tolist() == two.integers(10, 5).tolist(), one.simulation
    (True, False)
    """

    def __init__(self, path: Bytes = b"", records: IntArray | None = None) -> None:
        super().__init__()
        self.path = path
        self.calls = 0
        self.records = records

    def bytes(self, n: int) -> Bytes:
        """Return the bytes of the next call."""
        self.calls += 1
        return hashlib.shake_128(self.path + b"#" + self.calls.to_bytes(8, "little")).digest(n)

    def integers(self, high: int, size: int) -> IntArray:
        """Return integers; those of an assignment follow their records."""
        if self.records is None or size != self.records.size or not self.path.endswith(_ASSIGNMENT):
            return super().integers(high, size)
        return super().integers(high, int(self.records.max(initial=-1)) + 1)[self.records]

    def child(self, *path: object) -> Coins:
        """Return the coins of a path; the same path gives the same coins."""
        return Coins(self.path + b"/" + repr(path).encode(), self.records)

    def __reduce__(self) -> tuple[Any, ...]:
        return (Coins, (self.path, self.records))
