"""TurboSHAKE128 (RFC 9861): Keccak with 12 rounds as a function from bytes to any number of bytes.

The compiled form is used where it was built; both give the same bytes. Neither branches on the message, but whole
numbers of Python take a time that depends on their size: where others can measure times, compile the kernels.
"""

from __future__ import annotations

import struct
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.vdaf.kernel import native

__all__ = ["DOMAIN", "RATE", "turboshake128"]

Lanes = npt.NDArray[np.uint64]

RATE = 168
"""Bytes that a permutation takes in or gives out: 1,600 bits without 256 that are never shown."""

DOMAIN = 1
"""The domain byte that the draft of VDAFs uses everywhere."""

_WORDS = RATE // 8  # of 64 bits
_MANY = 6  # messages from which a step of NumPy costs less than steps of Python: timed, no result rests on it
_MASK = (1 << 64) - 1  # a lane
# RFC 9861, appendix A.1: the last 12 of Keccak's 24 round constants.
_ROUNDS = (
    0x000000008000808B,
    0x800000000000008B,
    0x8000000000008089,
    0x8000000000008003,
    0x8000000000008002,
    0x8000000000000080,
    0x000000000000800A,
    0x800000008000000A,
    0x8000000080008081,
    0x8000000000008080,
    0x0000000080000001,
    0x8000000080008008,
)


def _moves() -> tuple[tuple[int, int, int], ...]:
    """Return, for each lane after the steps rho and pi, the lane that it comes from, its rotation, and 64 less that.

    Lane ``(x, y)``, at ``x + 5 y``, is rotated by its triangular number and goes to ``(y, 2 x + 3 y)``.
    """
    moves = {0: (0, 0)}
    x = 1
    y = 0
    for t in range(24):
        x_next = y
        y_next = (2 * x + 3 * y) % 5
        moves[x_next + 5 * y_next] = (x + 5 * y, (t + 1) * (t + 2) // 2 % 64)
        x = x_next
        y = y_next
    return tuple((moves[i][0], moves[i][1], 64 - moves[i][1]) for i in range(25))


_MOVES = _moves()


def _permute(a: list[int]) -> list[int]:
    """Return Keccak-p[1600, 12] of 25 lanes."""
    mask = _MASK
    for constant in _ROUNDS:
        # theta
        c0 = a[0] ^ a[5] ^ a[10] ^ a[15] ^ a[20]
        c1 = a[1] ^ a[6] ^ a[11] ^ a[16] ^ a[21]
        c2 = a[2] ^ a[7] ^ a[12] ^ a[17] ^ a[22]
        c3 = a[3] ^ a[8] ^ a[13] ^ a[18] ^ a[23]
        c4 = a[4] ^ a[9] ^ a[14] ^ a[19] ^ a[24]
        d = (
            c4 ^ (c1 << 1 & mask | c1 >> 63),
            c0 ^ (c2 << 1 & mask | c2 >> 63),
            c1 ^ (c3 << 1 & mask | c3 >> 63),
            c2 ^ (c4 << 1 & mask | c4 >> 63),
            c3 ^ (c0 << 1 & mask | c0 >> 63),
        ) * 5
        a = [lane ^ change for lane, change in zip(a, d, strict=True)]
        # rho and pi
        a = [a[i] << left & mask | a[i] >> right for i, left, right in _MOVES]
        # chi
        a = [
            lane
            for y in (0, 5, 10, 15, 20)
            for lane in (
                a[y] ^ ~a[y + 1] & a[y + 2],
                a[y + 1] ^ ~a[y + 2] & a[y + 3],
                a[y + 2] ^ ~a[y + 3] & a[y + 4],
                a[y + 3] ^ ~a[y + 4] & a[y],
                a[y + 4] ^ ~a[y] & a[y + 1],
            )
        ]
        # iota
        a[0] ^= constant
    return a


_FROM = np.array([source for source, _, _ in _MOVES])
_LEFT = np.array([left for _, left, _ in _MOVES], dtype=np.uint64)[:, np.newaxis]
_RIGHT = np.array([right % 64 for _, _, right in _MOVES], dtype=np.uint64)[:, np.newaxis]


def _permute_many(a: Lanes) -> Lanes:
    """Return :func:`_permute` of the columns of a matrix of 25 rows."""
    one = np.uint64(1)
    rest = np.uint64(63)
    for constant in _ROUNDS:
        c = np.bitwise_xor.reduce(a.reshape(5, 5, -1), axis=0)
        d = np.roll(c << one | c >> rest, -1, axis=0)
        d ^= np.roll(c, 1, axis=0)
        a = (a.reshape(5, 5, -1) ^ d).reshape(25, -1)[_FROM]
        planes: Lanes = (a << _LEFT | a >> _RIGHT).reshape(5, 5, -1)
        change: Lanes = ~np.roll(planes, -1, axis=1) & np.roll(planes, -2, axis=1)
        a = (planes ^ change).reshape(25, -1)
        a[0] ^= np.uint64(constant)
    return a


def turboshake128(messages: Sequence[bytes], length: int) -> list[bytes]:
    """Return the first ``length`` bytes of ``TurboSHAKE128(M, 1)`` for each of some messages of the same length.

    Examples
    --------
    >>> [out.hex() for out in turboshake128([b"a", b"b"], 8)]
    ['ec3de7521d131de9', '84e235d3e0bc92a0']
    """
    if length < 0:
        raise HedgerowError(f"'length' must not be negative. Got {length!r} instead.")
    compiled = native()
    if compiled is not None:
        return [compiled.turboshake128(message, length) for message in messages]
    if len(messages) < _MANY:
        return [_one(message, length) for message in messages]
    return _many(messages, length)


def _padded(message: bytes) -> bytes:
    """Return a message with the domain byte, zeros up to whole blocks, and the last bit set."""
    padded = bytearray(message)
    padded.append(DOMAIN)
    padded.extend(bytes(-len(padded) % RATE))
    padded[-1] ^= 0x80
    return bytes(padded)


def _one(message: bytes, length: int) -> bytes:
    state = [0] * 25
    for block in struct.iter_unpack("<21Q", _padded(message)):
        for i, word in enumerate(block):
            state[i] ^= word
        state = _permute(state)
    parts = []
    for start in range(0, length, RATE):
        if start:
            state = _permute(state)
        parts.append(struct.pack("<21Q", *state[:_WORDS]))
    return b"".join(parts)[:length]


def _many(messages: Sequence[bytes], length: int) -> list[bytes]:
    """Do the same with a column a message: a step of NumPy serves all of them."""
    n = len(messages)
    words = np.frombuffer(b"".join(map(_padded, messages)), dtype="<u8").reshape(n, -1).T
    state = np.zeros((25, n), dtype=np.uint64)
    for start in range(0, len(words), _WORDS):
        state[:_WORDS] ^= words[start : start + _WORDS]
        state = _permute_many(state)
    blocks = []
    for start in range(0, max(length, 1), RATE):
        if start:
            state = _permute_many(state)
        blocks.append(state[:_WORDS])
    rows = np.concatenate(blocks).T.astype("<u8")
    return [row.tobytes()[:length] for row in rows]
