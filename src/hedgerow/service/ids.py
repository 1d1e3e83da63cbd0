"""Ids of reports as bytes: packed and sorted, looked up in memory at 24 bytes each, or told to be new at a glance.

An id is known by a key, a digest of 16 bytes, and has a mark of 8. A dictionary takes 250 bytes for each; that is most
of the memory of a busy server.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

from hedgerow.kernels import native

__all__ = [
    "KEY",
    "LARGE",
    "MARK",
    "SMALL",
    "Ids",
    "Rows",
    "Sieve",
    "any_alike",
    "distinct",
    "keyed",
    "keys_in",
    "pack_ids",
    "share_ids",
    "sorted_rows",
    "unpacked",
]

# Bytes. Of 2**40 ids, two have the same key with a chance of 2**-49, and another upload the same mark with 2**-64.
KEY = 16
MARK = 8
_HEAD = 8  # of a key, as one number
_PARTS = 64  # put together: few are left, so that what Python needs for each part does not count; by hand
_RUN = 1 << 14  # ids: smaller runs are put together, so that there are few to look through; by hand
# Bytes of a sieve: 1 MB is wrong about one new id in 10,000 after 300,000, and 16 MB about one in a million after
# 2,000,000 and one in 360 after 10,000,000, as measured; each wrong one costs a look.
SMALL = 1 << 20
LARGE = 1 << 24
_LINE = 64  # bytes of a sieve that an id looks at: a line of the processor's cache
_NAMED = 6  # bits that it sets there; by hand, near the best for both sizes
Rows = npt.NDArray[np.uint8]
Pair = tuple[bytes, bytes]


def sorted_rows(rows: Rows) -> Rows:
    """Return rows in the order of their bytes, which tells nothing but the rows.

    >>> sorted_rows(np.array([[2, 0], [1, 7], [1, 0]], dtype=np.uint8)).tolist()
    [[1, 0], [1, 7], [2, 0]]
    """
    rows = np.ascontiguousarray(rows)
    if rows.shape[1] >= KEY:
        heads = _heads(rows)
        order = np.argsort(heads)
        if (np.diff(heads[order]) != 0).all():  # nearly always eight random bytes are enough
            return _taken(rows, order)
    return _taken(rows, np.argsort(rows.view(f"S{rows.shape[1]}")[:, 0]))


def _taken(rows: Rows, order: npt.NDArray[np.intp]) -> Rows:
    """Return ``rows[order]``, a row at a time instead of a byte at a time."""
    width = rows.shape[1]
    return np.take(rows.view(f"V{width}")[:, 0], order).view(np.uint8).reshape(-1, width)


def _heads(rows: Rows) -> npt.NDArray[np.uint64]:
    """Return the first eight bytes of each row as a number; the order is that of bytes."""
    return rows[:, :_HEAD].copy().view(">u8")[:, 0].astype(np.uint64)


def distinct(rows: Rows) -> Rows:
    """Return rows that may stand there twice once each: their number is relied on, whatever they begin with.

    >>> distinct(np.array([[3] * 24, [1] * 24, [3] * 24], dtype=np.uint8))[:, 0].tolist()
    [1, 3]
    """
    heads = _heads(rows)
    order = np.argsort(heads)
    new = _news(rows[order])
    if (new[1:] & (np.diff(heads[order]) == 0)).any():  # others begin alike: copies need not be neighbours
        order = np.lexsort(np.ascontiguousarray(rows).view(np.uint64).T)
        new = _news(rows[order])
    return np.asarray(rows[order][new])


def _news(rows: Rows) -> npt.NDArray[np.bool_]:
    """Say of each row whether it is not the one before again."""
    return np.append(True, (rows[1:] != rows[:-1]).any(axis=1))[: len(rows)]


def any_alike(rows: Rows) -> bool:
    """Whether two of some sorted rows may have the same key: these begin alike."""
    return not (np.diff(_heads(rows)) != 0).all()


def share_ids(rows: Rows, others: Rows) -> bool:
    """Whether any of some sorted rows may be among the others: one of those begins alike.

    >>> rows = unpacked(pack_ids([bytes(24), b"another key.....its mark"]))
    >>> share_ids(rows, rows[1:]), share_ids(rows, rows[:0]), share_ids(rows[:1], rows[1:])
    (True, False, False)
    """
    if not len(rows):
        return False
    heads, wanted = _heads(rows), _heads(others)
    at = np.minimum(np.searchsorted(heads, wanted), len(heads) - 1)
    return bool((heads[at] == wanted).any())


def keys_in(rows: Rows) -> list[bytes]:
    """Return the keys that rows begin with."""
    return [row.tobytes() for row in rows[:, :KEY]]


def keyed(keys: Sequence[bytes]) -> Rows:
    """Return keys, a row each.

    >>> keyed([bytes(KEY)]).shape
    (1, 16)
    """
    return np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, KEY)


def pack_ids(parts: Iterable[bytes]) -> bytes:
    """Return keys, each followed by its mark, sorted; the parts may hold any number of them."""
    return sorted_rows(unpacked(b"".join(parts))).tobytes()


def unpacked(packed: bytes) -> Rows:
    """Return packed ids, a row each.

    >>> unpacked(pack_ids([bytes(16), b"its mark"])).shape
    (1, 24)
    """
    return np.frombuffer(packed, dtype=np.uint8).reshape(-1, KEY + MARK)


class Ids:
    r"""A set of ids with their marks.

    Parameters
    ----------
    packed : bytes
        Keys, each followed by its mark, in any order.

    Examples
    --------
    >>> ids = Ids(bytes(KEY) + b"a mark..")
    >>> ids.add(b"another key....." + b"its mark")
    >>> ids.find([b"another key.....", b"unknown.........", bytes(KEY)])
    {b'another key.....': b'its mark', b'\x00...\x00': b'a mark..'}
    """

    def __init__(self, packed: bytes = b"") -> None:
        self._runs: list[_Run] = []
        self._parts: list[bytes] = []
        self._new = [packed]
        self._n = len(packed) // (KEY + MARK)

    def __len__(self) -> int:
        return self._n

    def add(self, packed: bytes) -> None:
        """Add ids that are new."""
        self._new.append(packed)
        self._n += len(packed) // (KEY + MARK)
        if len(self._new) >= _PARTS:  # not sorted: uploads would wait for it, and few ids are ever looked up
            self._parts.append(b"".join(self._new))
            self._new = []

    def _settle(self) -> None:
        """Sort what is new, together with runs that are no longer than it."""
        rows = self._unsorted()
        self._parts = []
        self._new = []
        while self._runs and len(self._runs[-1]) <= len(rows) < _RUN:
            rows = np.concatenate([rows, self._runs.pop().rows])
        if len(rows):
            self._runs.append(_Run(rows))

    def find(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the marks of those that are here."""
        self._settle()
        found: dict[bytes, bytes] = {}
        if keys:
            heads = np.frombuffer(b"".join(keys), dtype=">u8")[:: KEY // _HEAD].astype(np.uint64)
            for run in self._runs:
                found.update(run.find(keys, heads))
        return found

    def _unsorted(self) -> Rows:
        return unpacked(b"".join([*self._parts, *self._new]))

    @property
    def rows(self) -> Rows:
        """All of them, a row each, keys before marks, in no order."""
        return np.concatenate([self._unsorted(), *(run.rows for run in self._runs)])


class _Run:
    """Ids in the order of the first eight bytes of their keys, which stand apart as numbers."""

    def __init__(self, rows: Rows) -> None:
        heads = _heads(rows)
        order = np.argsort(heads)
        self._heads = heads[order]
        self._rest = rows[order, _HEAD:]

    @property
    def rows(self) -> Rows:
        """The ids, a row each."""
        return np.hstack([self._heads.astype(">u8").view(np.uint8).reshape(-1, _HEAD), self._rest])

    def __len__(self) -> int:
        return len(self._heads)

    def find(self, keys: Sequence[bytes], heads: npt.NDArray[np.uint64]) -> list[Pair]:
        """Return those of the keys that are here, with their marks; ``heads`` are their first eight bytes."""
        at = np.searchsorted(self._heads, heads)
        near = np.flatnonzero(self._heads[np.minimum(at, len(self) - 1)] == heads)
        return [pair for i in near.tolist() for pair in self._from(int(at[i]), keys[i])]

    def _from(self, at: int, key: bytes) -> list[Pair]:
        """Return the pair of a key among the ids that begin as it does, the first of which is given."""
        head = self._heads[at]
        while at < len(self) and self._heads[at] == head:
            rest = self._rest[at].tobytes()
            if rest[: KEY - _HEAD] == key[_HEAD:]:
                return [(key, rest[KEY - _HEAD :])]
            at += 1
        return []


class Sieve:
    r"""Tells of most ids that they are new, in a bounded memory; the others have to be looked up (a Bloom filter).

    Keys are digests: numbers in a key are as good as hashes of it. All bits of an id stand close together, so that it
    takes one look at memory and not one for each bit. Who finds ids whose keys are taken for known by it makes the
    server look them up, and no more.

    Parameters
    ----------
    size : int
        Bytes, a power of two; sieves that are united have the same.

    Examples
    --------
    >>> sieve = Sieve()
    >>> sieve.add(np.arange(24, dtype=np.uint8)[None, :])
    >>> sieve.may_hold(keyed([bytes(range(16)), bytes(range(1, 17))]))
    [b'\x00\x01...\x0f']
    """

    def __init__(self, size: int = SMALL) -> None:
        self.size = size
        self._bits = np.zeros(size, dtype=np.uint8)

    def add(self, rows: Rows) -> None:
        """Add ids, a row each."""
        compiled = native()
        if compiled is not None:
            compiled.sieve_add(self._bits, np.ascontiguousarray(rows), rows.shape[1])
            return
        at = self._places(rows).ravel()
        np.bitwise_or.at(self._bits, at >> 3, np.left_shift(1, at & 7).astype(np.uint8))

    def may_hold(self, rows: Rows) -> list[bytes]:
        """Return the keys of those that may be here; none of the others is."""
        return keys_in(rows[self._held(rows)])

    def _held(self, rows: Rows) -> npt.NDArray[np.bool_]:
        compiled = native()
        if compiled is not None:
            held = np.empty(len(rows), dtype=np.bool_)
            compiled.sieve_has(self._bits, np.ascontiguousarray(rows), rows.shape[1], held)
            return held
        at = self._places(rows)
        return np.asarray((self._bits[at >> 3] >> (at & 7).astype(np.uint8) & 1).all(axis=1))

    def unite(self, other: Sieve) -> None:
        """Add all that another holds."""
        self._bits |= other._bits

    def _places(self, rows: Rows) -> npt.NDArray[np.uint64]:
        """Return the numbers of the bits of each row."""
        line = np.ascontiguousarray(rows[:, :4]).view("<u4").astype(np.uint64) % np.uint64(self.size // _LINE)
        named = np.ascontiguousarray(rows[:, 4:12]).view("<u8").astype(np.uint64)
        within = named >> np.arange(0, 9 * _NAMED, 9, dtype=np.uint64) & np.uint64(8 * _LINE - 1)
        return np.asarray(line * np.uint64(8 * _LINE) + within)
