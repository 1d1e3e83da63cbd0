"""Ids of reports as bytes: packed and sorted, looked up in memory at 32 bytes each, or told to be new at a glance.

An id is known by a key, a digest of 16 bytes, and has a mark of 8. A dictionary takes 250 bytes for each; that is most
of the memory of a busy server.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
import numpy.typing as npt

__all__ = ["KEY", "MARK", "Ids", "Sieve", "distinct", "pack_ids", "sorted_rows", "unpack_ids"]

# Bytes. Of 2**40 ids, two have the same key with a chance of 2**-49, and another upload the same mark with 2**-64.
KEY = 16
MARK = 8
_ID = np.dtype([("key", f"V{KEY}"), ("mark", f"V{MARK}")])
_FRESH = 1 << 14  # ids that wait in a dictionary to be put among the sorted ones: 4 MB, for a merge of milliseconds
_BITS = 1 << 24  # of a sieve, 2 MB: after 2,000,000 ids it is wrong about 2 % of new ones, and that costs a look
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
        order = np.argsort(heads, kind="stable")
        if (np.diff(heads[order]) != 0).all():  # nearly always eight random bytes are enough
            return rows[order]
    return rows[np.argsort(rows.view(f"S{rows.shape[1]}")[:, 0])]


def _heads(rows: Rows) -> npt.NDArray[np.uint64]:
    """Return the first eight bytes of each row as a number; the order is that of bytes."""
    return rows[:, :8].copy().view(">u8")[:, 0].astype(np.uint64)


def distinct(rows: Rows) -> Rows:
    """Return rows that may stand there twice once each; if other rows begin as they do, perhaps still twice.

    >>> distinct(np.array([[3] * 24, [1] * 24, [3] * 24], dtype=np.uint8))[:, 0].tolist()
    [1, 3]
    """
    rows = rows[np.argsort(_heads(rows), kind="stable")]
    new = np.append(True, (rows[1:] != rows[:-1]).any(axis=1))
    return np.asarray(rows[new[: len(rows)]])


def pack_ids(parts: Iterable[bytes]) -> bytes:
    """Return keys, each followed by its mark, sorted; the parts may hold any number of them."""
    data = b"".join(parts)
    return sorted_rows(np.frombuffer(data, dtype=np.uint8).reshape(-1, KEY + MARK)).tobytes()


def unpack_ids(packed: bytes) -> dict[bytes, bytes]:
    """Return marks by key.

    >>> list(unpack_ids(pack_ids([bytes(16), b"marked as"[:8]])).values())
    [b'marked a']
    """
    table = np.frombuffer(packed, dtype=_ID)
    return dict(zip(table["key"].tolist(), table["mark"].tolist(), strict=True))


class Ids:
    r"""A set of ids with their marks.

    Parameters
    ----------
    packed : bytes
        Keys, each followed by its mark, in any order.

    Examples
    --------
    >>> ids = Ids(bytes(KEY) + b"a mark..")
    >>> ids.add([(b"another key.....", b"its mark")])
    >>> ids.find([b"another key.....", b"unknown.........", bytes(KEY)])
    {b'another key.....': b'its mark', b'\x00...\x00': b'a mark..'}
    """

    def __init__(self, packed: bytes = b"") -> None:
        self._fresh: dict[bytes, bytes] = {}
        self._rows = np.empty((0, KEY + MARK), dtype=np.uint8)
        self._heads = _heads(self._rows)
        self._include(packed)

    def __len__(self) -> int:
        return len(self._rows) + len(self._fresh)

    def add(self, pairs: Sequence[Pair]) -> None:
        """Add ids that are new."""
        self._fresh.update(pairs)
        if len(self._fresh) > _FRESH:
            self._merge()

    def _merge(self) -> None:
        fresh = self._fresh
        self._fresh = {}
        self._include(b"".join(key + mark for key, mark in fresh.items()))

    def _include(self, packed: bytes) -> None:
        if not packed:
            return
        rows = np.concatenate([self._rows, np.frombuffer(packed, dtype=np.uint8).reshape(-1, KEY + MARK)])
        heads = _heads(rows)
        order = np.argsort(heads, kind="stable")
        self._rows = rows[order]
        self._heads = heads[order]

    def find(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the marks of those that are here."""
        found = {key: self._fresh[key] for key in self._fresh.keys() & set(keys)}
        n = len(self._rows)
        if not n or not keys:
            return found
        asked = np.frombuffer(b"".join(keys), dtype=">u8")[:: KEY // 8].astype(np.uint64)
        at = np.searchsorted(self._heads, asked)
        near = np.flatnonzero(self._heads[np.minimum(at, n - 1)] == asked)
        for i in near.tolist():
            found.update(self._here(int(at[i]), keys[i]))
        return found

    def _here(self, at: int, key: bytes) -> list[Pair]:
        """Return the pair of a key among the rows that begin as it does, the first of which is given."""
        head = self._heads[at]
        while at < len(self._rows) and self._heads[at] == head:
            row = self._rows[at].tobytes()
            if row[:KEY] == key:
                return [(key, row[KEY:])]
            at += 1
        return []

    @property
    def rows(self) -> Rows:
        """All of them, a row each, keys before marks."""
        self._merge()
        return self._rows


class Sieve:
    r"""Tells of most ids that they are new, in a bounded memory; the others have to be looked up (a Bloom filter).

    Keys are digests: four numbers of a key are as good as four hashes of it. Who finds ids whose keys are taken for
    known by it makes the server look them up, and no more.

    Examples
    --------
    >>> sieve = Sieve()
    >>> sieve.add(np.arange(24, dtype=np.uint8)[None, :])
    >>> sieve.may_hold([bytes(range(16)), bytes(range(1, 17))])
    [b'\x00\x01...\x0f']
    """

    def __init__(self) -> None:
        self._bits = np.zeros(_BITS // 8, dtype=np.uint8)

    def add(self, rows: Rows) -> None:
        """Add ids, a row each."""
        self._mark(np.ascontiguousarray(rows[:, :KEY]))

    def add_keys(self, keys: Sequence[bytes]) -> None:
        """Add ids by their keys."""
        self._mark(_rows_of(keys))

    def _mark(self, keys: Rows) -> None:
        at = _places(keys).ravel()
        np.bitwise_or.at(self._bits, at >> 3, np.left_shift(1, at & 7).astype(np.uint8))

    def may_hold(self, keys: Sequence[bytes]) -> list[bytes]:
        """Return those that may be here; none of the others is."""
        if not keys:
            return []
        at = _places(_rows_of(keys))
        held = (self._bits[at >> 3] >> (at & 7).astype(np.uint8) & 1).all(axis=1)
        return [keys[i] for i in np.flatnonzero(held).tolist()]


def _rows_of(keys: Sequence[bytes]) -> Rows:
    return np.frombuffer(b"".join(keys), dtype=np.uint8).reshape(-1, KEY)


def _places(keys: Rows) -> npt.NDArray[np.uint32]:
    return keys.view("<u4") & np.uint32(_BITS - 1)
