"""Ids of reports as bytes: packed and sorted, looked up in memory at 24 bytes each, or told to be new at a glance.

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
_HEAD = 8  # of a key, as one number
_ID = np.dtype([("key", f"V{KEY}"), ("mark", f"V{MARK}")])
_FRESH = 1 << 14  # ids that wait in a dictionary to be sorted: 4 MB, and few runs to look through; by hand
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
    return rows[:, :_HEAD].copy().view(">u8")[:, 0].astype(np.uint64)


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
        self._runs: list[_Run] = [_Run(packed)] if packed else []

    def __len__(self) -> int:
        return len(self._fresh) + sum(map(len, self._runs))

    def add(self, pairs: Sequence[Pair]) -> None:
        """Add ids that are new."""
        self._fresh.update(pairs)
        if len(self._fresh) > _FRESH:
            self._runs.append(self._settled())
            self._fresh = {}

    def _settled(self) -> _Run:
        return _Run(b"".join(key + mark for key, mark in self._fresh.items()))

    def find(self, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the marks of those that are here."""
        found = {key: self._fresh[key] for key in self._fresh.keys() & set(keys)}
        if keys and self._runs:
            heads = np.frombuffer(b"".join(keys), dtype=">u8")[:: KEY // _HEAD].astype(np.uint64)
            for run in self._runs:
                found.update(run.find(keys, heads))
        return found

    @property
    def rows(self) -> Rows:
        """All of them, a row each, keys before marks, in no order."""
        return np.concatenate([run.rows for run in (*self._runs, self._settled())])


class _Run:
    """Ids in the order of the first eight bytes of their keys, which stand apart as numbers."""

    def __init__(self, packed: bytes) -> None:
        rows = np.frombuffer(packed, dtype=np.uint8).reshape(-1, KEY + MARK)
        heads = _heads(rows)
        order = np.argsort(heads, kind="stable")
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
