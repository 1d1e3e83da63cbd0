"""Coins that two fits share: a source that all code takes for the secure one, and that repeats itself."""

from __future__ import annotations

import hashlib
from typing import Any

from hedgerow.randomness import SecureRandomness

__all__ = ["Coins"]

Bytes = bytes  # inside the class, ``bytes`` is a method


class Coins(SecureRandomness):
    """Call number i of ``bytes(n)`` returns the first n bytes of ``SHAKE128(path || i)``.

    It is a :class:`~hedgerow.randomness.SecureRandomness` to whoever asks, so that an audited fit takes the path that
    ships. A longer answer begins with the shorter one: coins that are drawn one a record stay with their records when
    a record is added at the end. No call moves the coins of a later one.

    Examples
    --------
    >>> one, two = Coins(b"seed"), Coins(b"seed")
    >>> one.integers(10, 5).tolist() == two.integers(10, 6).tolist()[:5]
    True
    >>> one.integers(10, 5).tolist() == two.integers(10, 5).tolist(), one.simulation
    (True, False)
    """

    def __init__(self, path: Bytes = b"") -> None:
        super().__init__()
        self.path, self.calls = path, 0

    def bytes(self, n: int) -> Bytes:
        """Return the bytes of the next call."""
        self.calls += 1
        return hashlib.shake_128(self.path + b"#" + self.calls.to_bytes(8, "little")).digest(n)

    def child(self, *path: object) -> Coins:
        """Return the coins of a path; the same path gives the same coins."""
        return Coins(self.path + b"/" + repr(path).encode())

    def __reduce__(self) -> tuple[Any, ...]:
        return (Coins, (self.path,))
