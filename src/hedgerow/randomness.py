"""Where every random bit comes from.

Two sources share one interface, :class:`Randomness`:

* :class:`SecureRandomness` (the default) reads the operating system's generator through a buffer. The buffer
  is thrown away in a forked child and is never pickled, so that no two processes ever share noise.
* :class:`SeededRandomness` is SHAKE-128 keyed by a seed, for tests and simulation. Noise that can be
  reproduced can be subtracted: whatever was made with it carries ``simulation = True``.

Both are streams of *bytes*; samplers (:mod:`hedgerow.samplers`) turn bytes into integers with exact laws, in
the same way for both sources and, byte for byte, in other languages.
"""

from __future__ import annotations

import hashlib
import os
import threading
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError

__all__ = ["Randomness", "SecureRandomness", "SeededRandomness", "as_randomness"]

_BLOCK = 1 << 16  # bytes drawn at a time: a call of the system a block, not a draw
_BEGINNING = 1 << 11  # bytes of a seeded stream made at first: most streams end there, others lose a 32nd; by hand

Bytes = bytes  # inside the classes below, ``bytes`` is a method


class Randomness:
    """A stream of uniformly random bytes, and integers cut from it.

    Examples
    --------
    >>> source = SeededRandomness(7)
    >>> source.simulation
    True
    >>> source.integers(6, 5).tolist() == SeededRandomness(7).integers(6, 5).tolist()
    True
    """

    simulation: bool = False

    def __init__(self) -> None:
        self._buffer = b""
        self._used = 0
        # Two threads that read the same bytes would draw the same noise.
        self._lock = threading.Lock()

    def _refill(self) -> Bytes:
        raise NotImplementedError

    def _lengthen(self, n: int) -> None:
        """Have at least ``n`` bytes of the same block in the buffer, where it held only a beginning."""

    def bytes(self, n: int) -> Bytes:
        """Return the next ``n`` bytes of the stream."""
        if n < 0:  # would step back, and hand out the same bytes twice
            raise HedgerowError(f"'n' must not be negative. Got {n!r} instead.")
        with self._lock:
            if self._used + n > len(self._buffer):
                self._lengthen(self._used + n)
            if self._used + n <= len(self._buffer):
                taken = self._buffer[self._used : self._used + n]
                self._used += n
                return taken
            parts = [self._buffer[self._used :]]
            missing = n - len(parts[0])
            while missing >= _BLOCK:
                block = self._refill()
                parts.append(block)
                missing -= len(block)
            self._buffer = self._refill() if missing else b""
            self._used = missing
            parts.append(self._buffer[:missing])
            return b"".join(parts)

    def uint8(self, n: int) -> npt.NDArray[np.uint8]:
        """``n`` uniform bytes."""
        return np.frombuffer(self.bytes(n), dtype=np.uint8)

    def uint16(self, n: int) -> npt.NDArray[np.uint16]:
        """``n`` uniform 16-bit integers, little-endian."""
        return np.frombuffer(self.bytes(2 * n), dtype="<u2")

    def uint32(self, n: int) -> npt.NDArray[np.uint32]:
        """``n`` uniform 32-bit integers, little-endian."""
        return np.frombuffer(self.bytes(4 * n), dtype="<u4")

    def uint64(self, n: int) -> npt.NDArray[np.uint64]:
        """``n`` uniform 64-bit integers, little-endian."""
        return np.frombuffer(self.bytes(8 * n), dtype="<u8")

    def bits(self, k: int) -> int:
        """One uniform integer of ``k`` bits (``k`` a multiple of 8)."""
        return int.from_bytes(self.bytes(k // 8), "big")

    def integers(self, high: int, size: int) -> npt.NDArray[np.int64]:
        """``size`` integers, exactly uniform on ``0 .. high - 1`` (rejection, no modulo bias)."""
        if not 1 <= high <= 1 << 62:
            raise HedgerowError(f"'high' must be in 1 .. 2**62. Got {high!r} instead.")
        width = 32 if high <= 1 << 24 else 64
        draw = self.uint32 if width == 32 else self.uint64
        limit = (1 << width) - (1 << width) % high  # the largest multiple of high that fits
        words = draw(size).astype(np.uint64)
        if limit < 1 << width:
            bad = np.flatnonzero(words >= limit)
            while bad.size:
                words[bad] = draw(bad.size)
                bad = bad[words[bad] >= limit]
        return (words % np.uint64(high)).astype(np.int64)

    def child(self, *path: object) -> Randomness:
        """Return an independent stream named by ``path`` (a secure source is its own child)."""
        return self


_forks = 0  # seen by this process


def _count_fork() -> None:
    global _forks
    _forks += 1


# A process id can come back: a grandchild may get the id of an ancestor that has died.
if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_count_fork)


def _process() -> tuple[int, int]:
    """Return what tells this process from all its ancestors: its id and its depth in the family."""
    return os.getpid(), _forks


class SecureRandomness(Randomness):
    """The operating system's generator, buffered; safe after fork and when pickled."""

    def __init__(self) -> None:
        super().__init__()
        self._process = _process()

    def bytes(self, n: int) -> Bytes:
        """Return the next ``n`` bytes, never bytes that another process could hold too."""
        if self._process != _process():
            self.__init__()  # type: ignore[misc]
        return super().bytes(n)

    def _refill(self) -> Bytes:
        return os.urandom(_BLOCK)

    def __reduce__(self) -> tuple[Any, ...]:
        return (SecureRandomness, ())

    def __repr__(self) -> str:
        return "SecureRandomness()"


class SeededRandomness(Randomness):
    """SHAKE-128 of (seed, path, counter), for tests and simulation only.

    Block ``i`` of the stream is the first 65,536 bytes of ``SHAKE128(key || i)`` with ``i`` as 8
    little-endian bytes and ``key = b"hedgerow" || seed || path``. A pickled copy continues where
    the original stood.
    """

    simulation = True

    def __init__(self, seed: int, path: tuple[str, ...] = ()) -> None:
        super().__init__()
        if isinstance(seed, bool) or not isinstance(seed, int | np.integer):
            raise HedgerowError(f"'seed' must be an integer. Got {seed!r} instead.")
        self.seed = int(seed)
        self.path = tuple(path)
        self._counter = 0
        # Escaped, so that no two paths give one text: ("a/b",) is not ("a", "b").
        text = "/".join([str(self.seed), *(p.replace("~", "~0").replace("/", "~1") for p in self.path)])
        self._key = b"hedgerow" + len(text).to_bytes(4, "little") + text.encode()

    def _refill(self) -> Bytes:
        block = self._made(_BLOCK)
        self._counter += 1
        return block

    def _made(self, n: int) -> Bytes:
        """Return the first ``n`` bytes of the next block: SHAKE's output is the beginning of a longer one."""
        return hashlib.shake_128(self._key + self._counter.to_bytes(8, "little")).digest(n)

    def _lengthen(self, n: int) -> None:
        if self._counter > 0:  # the first block is there as a whole
            return
        if n <= _BEGINNING:
            self._buffer = self._made(_BEGINNING)
        elif self._buffer:
            self._buffer = self._refill()

    @property
    def place(self) -> tuple[int, int]:
        """How many blocks were begun, and how many bytes of the last are left."""
        if self._counter == 0 and self._buffer:
            return 1, _BLOCK - self._used
        return self._counter, len(self._buffer) - self._used

    def child(self, *path: object) -> SeededRandomness:
        """Return an independent seeded stream; the same path gives the same stream."""
        return SeededRandomness(self.seed, (*self.path, *(str(p) for p in path)))

    def __getstate__(self) -> dict[str, Any]:
        return {k: v for k, v in self.__dict__.items() if k != "_lock"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        path = f", path={self.path}" if self.path else ""
        return f"SeededRandomness({self.seed}{path})"


def as_randomness(random_state: object = None) -> Randomness:
    """Return a source: ``None`` is secure, an integer is seeded, a :class:`Randomness` is itself.

    >>> as_randomness(None)
    SecureRandomness()
    >>> as_randomness(3)
    SeededRandomness(3)
    """
    if random_state is None:
        return SecureRandomness()
    if isinstance(random_state, Randomness):
        return random_state
    if isinstance(random_state, np.random.RandomState):
        return SeededRandomness(int(random_state.randint(0, 2**31 - 1)))
    if isinstance(random_state, np.random.Generator):
        return SeededRandomness(int(random_state.integers(0, 2**31 - 1)))
    if isinstance(random_state, int | np.integer) and not isinstance(random_state, bool):
        return SeededRandomness(int(random_state))
    raise HedgerowError(
        f"The 'random_state' parameter must be None (secure), an int or a Randomness. Got {random_state!r} instead."
    )
