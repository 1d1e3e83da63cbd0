"""Which ids and tokens are known: in memory, checked against the database at the start of every transaction.

The ids of a task stand in three places: packed by commit (``arrivals``), packed and sorted of all earlier commits
(``known``), and, of tasks that have many, one a row (``report_ids``). The first two are read once and kept here. The
version of ``known``, which every scrubbing raises, says whether they still hold; the numbers of ``arrivals`` say which
are new. So what is here is always a copy of what is committed, also when several servers share a database. What this
server brings itself is added after its commit, without reading it back; if the commit failed, or nobody knows, it is
not, and is found among the arrivals if it is there.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.schema import known

if TYPE_CHECKING:
    from hedgerow.service.database import Database

__all__ = [
    "KEY",
    "MARK",
    "Brought",
    "Known",
    "View",
    "pack_ids",
    "pack_tokens",
    "sorted_rows",
    "unpack_ids",
    "unpack_tokens",
]

# Bytes. Of 2**40 ids, two have the same key with a chance of 2**-49, and another upload the same mark with 2**-64.
KEY = 16
MARK = 8
_DIGEST = 32  # SHA-256
_NUMBER = 8  # a 64-bit number
_ID = np.dtype([("key", f"V{KEY}"), ("mark", f"V{MARK}")])
# Tasks kept in memory: each has some megabytes at most, and few are open at a time.
_TASKS = 16
Rows = npt.NDArray[np.uint8]


def sorted_rows(rows: Rows) -> Rows:
    """Return rows in the order of their bytes, which tells nothing but the rows.

    >>> sorted_rows(np.array([[2, 0], [1, 7], [1, 0]], dtype=np.uint8)).tolist()
    [[1, 0], [1, 7], [2, 0]]
    """
    whole = np.ascontiguousarray(rows).view(f"S{rows.shape[1]}")[:, 0]
    return rows[np.argsort(whole)]


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


def pack_tokens(spent: Mapping[bytes, int]) -> bytes:
    """Return digests of tokens, each with the number of reports that it brought, sorted.

    >>> unpack_tokens(pack_tokens({bytes(32): 3}))[bytes(32)]
    3
    """
    return b"".join(digest + n.to_bytes(_NUMBER, "big") for digest, n in sorted(spent.items()))


def unpack_tokens(*packed: bytes) -> dict[bytes, int]:
    """Return how many reports each token brought, over all of ``packed`` together."""
    spent: dict[bytes, int] = {}
    for data in packed:
        for i in range(0, len(data), _DIGEST + _NUMBER):
            digest = data[i : i + _DIGEST]
            n = int.from_bytes(data[i + _DIGEST : i + _DIGEST + _NUMBER], "big")
            spent[digest] = spent.get(digest, 0) + n
    return spent


@dataclass(frozen=True)
class Brought:
    """What the transaction under way brings to a task: the number of its arrival, ids with marks, spent tokens."""

    task: int
    seq: int
    pairs: Sequence[tuple[bytes, bytes]]
    spent: Mapping[bytes, int]


class View:
    """What is known of one task at this moment of a transaction."""

    def __init__(self, database: Database, task: int, version: int, sealed: int, ids: bytes, tokens: bytes) -> None:
        self.database = database
        self.task = task
        self.version = version
        self.sealed = sealed
        self.last = 0
        self._marks = unpack_ids(ids)
        self._spent = unpack_tokens(tokens)

    def arrived(self, seq: int, ids: bytes, tokens: bytes) -> None:
        """Add what a commit brought."""
        self._marks.update(unpack_ids(ids))
        for digest, n in unpack_tokens(tokens).items():
            self._spent[digest] = self._spent.get(digest, 0) + n
        self.last = seq

    def add(self, brought: Brought) -> None:
        """Add what a commit of this server brought."""
        self._marks.update(brought.pairs)
        for digest, n in brought.spent.items():
            self._spent[digest] = self._spent.get(digest, 0) + n
        self.last = brought.seq

    def marks(self, connection: Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the marks of those ids that are known."""
        found = self.database.sealed(connection, self.task, list(keys)) if self.sealed else {}
        found.update((key, self._marks[key]) for key in self._marks.keys() & set(keys))
        return found

    def spent(self, digest: bytes) -> int:
        """Return how many reports a token brought that are not yet taken off its number in the table."""
        return self._spent.get(digest, 0)


class Known:
    """The views of all tasks in use; for the thread that writes."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._views: dict[int, View] = {}
        self._brought: list[Brought] = []

    def look(self, connection: Connection, task: int) -> View:
        """Return what is known of a task, within a transaction of :meth:`Database.write_uploads`."""
        return self.refresh(connection, [task])[1][task]

    def refresh(self, connection: Connection, numbers: Sequence[int]) -> tuple[set[int], dict[int, View]]:
        """Return which of these tasks are not closed, and what is known of each, with one question to the database."""
        listed = ",".join(map(str, numbers))
        views = {number: self._views.pop(number, None) for number in numbers}
        news = [f"(task = {number} AND seq > {view.last})" for number, view in views.items() if view is not None]
        unclosed, versions, new = self.database.ask(
            connection,
            f"SELECT number FROM tasks WHERE number IN ({listed}) AND closed IS NULL",
            f"SELECT task, version FROM known WHERE task IN ({listed})",
            f"SELECT task, seq, ids, tokens FROM arrivals WHERE {' OR '.join(news) or 'false'} ORDER BY seq",
        )
        version = {int(task): int(number) for task, number in versions}
        found = {}
        for number, before in views.items():
            own = [row[1:] for row in new if row[0] == number]
            view = before
            if view is None or view.version != version.get(number, 0):
                view = self._load(connection, number)
                query = f"SELECT seq, ids, tokens FROM arrivals WHERE task = {number} ORDER BY seq"
                (own,) = self.database.ask(connection, query)  # all of them: after a scrubbing they are numbered anew
            for seq, ids, tokens in own:
                view.arrived(seq, bytes(ids), bytes(tokens))
            found[number] = view
            self._views[number] = view  # the one used last stands last
        while len(self._views) > max(_TASKS, len(numbers)):
            del self._views[next(iter(self._views))]
        return {int(row[0]) for row in unclosed}, found

    def bring(self, brought: Brought) -> None:
        """Note what the transaction under way brings; :meth:`settle` follows."""
        self._brought.append(brought)

    def settle(self, committed: bool) -> None:
        """Add what was brought, after the commit; forget it if there was none."""
        brought = self._brought
        self._brought = []
        for each in brought:
            view = self._views.get(each.task)
            if committed and view is not None:
                view.add(each)

    def _load(self, connection: Connection, task: int) -> View:
        row = connection.execute(sa.select(known).where(known.c.task == task)).first()
        if row is None:
            return View(self.database, task, 0, 0, b"", b"")
        return View(self.database, task, row.version, row.sealed, row.ids, row.tokens)
