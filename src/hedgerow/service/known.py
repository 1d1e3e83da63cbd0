"""Which ids and tokens are known: in memory, checked against the database at the start of every transaction.

The ids of a task stand in three places: packed by commit (``arrivals``), packed and sorted of all earlier commits
(``known``), and, of tasks that have many, in large batches (``report_ids``). All but the last are read once and kept
here. The version of ``known``, which every scrubbing raises, says whether they still hold; the numbers of ``arrivals``
say which are new. What tokens have spent stands beside them, and that of large batches in pieces (``sealing``): the
first that is left says which were moved to the tokens themselves.
So what is here is always a copy of what is committed, also when several servers share a database.
What this server brings itself is added after its commit, without reading it back; if the commit failed, or nobody
knows, it is not, and is found among the arrivals if it is there.

A sieve tells of most new ids that they are, so that nearly none has to be looked up.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.ids import KEY, MARK, Ids, Rows, Sieve, distinct, unpacked
from hedgerow.service.schema import LEVEL, known, report_ids, sealing

if TYPE_CHECKING:
    from hedgerow.service.database import Database

__all__ = ["Brought", "Known", "View", "known_row", "pack_tokens", "unpack_tokens"]

_DIGEST = 32  # SHA-256
_NUMBER = 8  # a 64-bit number
# Tasks kept in memory: each has some megabytes at most, and few are open at a time.
_TASKS = 16
_MISSED = 1 << 18  # ids: if more have left than is read while uploads wait, they are read by another thread; by hand
_SCAN = 500  # rows of packed ids read at a time: a megabyte; by hand


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
    """What a transaction brings to a task: the number of its arrival, packed ids, spent tokens."""

    task: int
    seq: int
    ids: bytes
    spent: Mapping[bytes, int]


class View:
    """What is known of one task at this moment of a transaction.

    Attributes
    ----------
    version, sealed : int
        Of the row of ``known``: how often the task was scrubbed, and how many ids have left for ``report_ids``.
    young : Ids
        Those that have not.
    sieve : Sieve or None
        Holds all of them; None if that is not certain of those that have left: every id is looked up then.
    """

    def __init__(self, database: Database, task: int) -> None:
        self.database = database
        self.task = task
        self.version = 0
        self.sealed = 0
        self.last = 0
        self.young = Ids()
        self.sieve: Sieve | None = Sieve()
        self._spent: dict[bytes, int] = {}
        self._moving_spent: dict[int, dict[bytes, int]] = {}

    def reload(self, connection: Connection, row: Any) -> None:
        """Follow a scrubbing: read what has changed, but for the arrivals."""
        self._place_ids(connection, row.sealed, row.length // (KEY + MARK))
        self.version = row.version
        self.sealed = row.sealed
        self.last = 0
        self._spent = unpack_tokens(row.tokens)
        own = sa.select(sealing.c.piece, sealing.c.tokens).where(sealing.c.task == self.task)
        self._moving_spent = {piece: unpack_tokens(tokens) for piece, tokens in connection.execute(own)}

    def _place_ids(self, connection: Connection, sealed: int, packed: int) -> None:
        """Find out where the ids are, of which so many have left and so many are packed.

        Whatever was young before a scrubbing is packed after it, or all of it has left. So where the numbers agree,
        nothing has to be read; and if as many have left as were young, it was these.
        """
        left = sealed - self.sealed
        if left == 0 and packed == len(self.young):
            return
        if left == len(self.young) and packed == 0:
            self.young = Ids()
            return
        if left > _MISSED:
            self.sieve = None
        elif left and self.sieve is not None:
            gone = distinct(np.concatenate([self.young.rows, self._left_since(connection, self.sealed)]))
            self.sieve.add(gone)
            if left != len(gone):  # others were merged in the meantime
                self.sieve = None
        self.young = Ids(connection.execute(_PACKED.where(known.c.task == self.task)).scalar_one())
        if self.sieve is not None:
            self.sieve.add(self.young.rows)

    def add(self, brought: Brought) -> None:
        """Add what a commit brought."""
        self.young.add(brought.ids)
        if self.sieve is not None:
            self.sieve.add(unpacked(brought.ids))  # now, and not all of them when they leave
        for digest, n in brought.spent.items():
            self._spent[digest] = self._spent.get(digest, 0) + n
        self.last = brought.seq

    def moved(self, first: int | None) -> None:
        """Forget pieces that were taken off their tokens: those before the first that is left, or all."""
        gone = [piece for piece in self._moving_spent if first is None or piece < first]
        for piece in gone:
            del self._moving_spent[piece]

    def _left_since(self, connection: Connection, sealed: int) -> Rows:
        """Return ids in batches that left after the first ``sealed`` ids, and were not merged in the meantime."""
        since = (report_ids.c.run >= sealed) & (report_ids.c.run < LEVEL)
        return unpacked(b"".join(connection.execute(_SEALED.where(report_ids.c.task == self.task, since)).scalars()))

    def accept(self, connection: Connection, sealed: int, sieve: Sieve | None) -> None:
        """Use a sieve that holds the first ``sealed`` ids that have left, and add those that left since.

        While uploads go on, some always leave before all ids are read. If not all of these are found, because batches
        were merged, or they are more than is read while uploads wait, another sieve has to be made.
        """
        if sieve is None or self.sealed - sealed > _MISSED:
            return
        if sealed != self.sealed:
            gone = distinct(self._left_since(connection, sealed))
            if len(gone) != self.sealed - sealed:
                return
            sieve.add(gone)
        sieve.add(self.young.rows)
        self.sieve = sieve

    def marks(self, connection: Connection, keys: Sequence[bytes]) -> dict[bytes, bytes]:
        """Return the marks of those ids that are known."""
        asked = keys if self.sieve is None else self.sieve.may_hold(keys)
        if not asked:
            return {}
        found = self.database.sealed(connection, self.task, list(asked)) if self.sealed else {}
        return found | self.young.find(asked)

    def spent(self, digest: bytes) -> int:
        """Return how many reports a token brought that are not yet taken off its number in the table."""
        moving = sum(piece.get(digest, 0) for piece in self._moving_spent.values())
        return self._spent.get(digest, 0) + moving


class Known:
    """The views of all tasks in use; for the thread that writes."""

    def __init__(self, database: Database) -> None:
        self.database = database
        self._views: dict[int, View] = {}
        self._brought: list[Brought] = []
        self._offered: dict[int, tuple[int, Sieve]] = {}

    def look(self, connection: Connection, task: int) -> View:
        """Return what is known of a task, within a transaction of :meth:`Database.write_uploads`."""
        return self.refresh(connection, [task])[1][task]

    def refresh(self, connection: Connection, numbers: Sequence[int]) -> tuple[set[int], dict[int, View]]:
        """Return which of these tasks are not closed, and what is known of each, with one question to the database."""
        listed = ",".join(map(str, numbers))
        views = {number: self._views.pop(number, None) for number in numbers}
        news = [f"(task = {number} AND seq > {view.last})" for number, view in views.items() if view is not None]
        unclosed, versions, pieces, new = self.database.ask(
            connection,
            f"SELECT number FROM tasks WHERE number IN ({listed}) AND closed IS NULL",
            f"SELECT task, version FROM known WHERE task IN ({listed})",
            f"SELECT task, min(piece) FROM sealing WHERE task IN ({listed}) GROUP BY task",
            f"SELECT task, seq, ids, tokens FROM arrivals WHERE {' OR '.join(news) or 'false'} ORDER BY seq",
        )
        version = {int(task): int(number) for task, number in versions}
        first = {int(task): int(piece) for task, piece in pieces}
        found = {}
        for number, before in views.items():
            own = [row[1:] for row in new if row[0] == number]
            view = before
            if view is None or view.version != version.get(number, 0):
                view = self._load(connection, number, view)
                query = f"SELECT seq, ids, tokens FROM arrivals WHERE task = {number} ORDER BY seq"
                (own,) = self.database.ask(connection, query)  # all of them: after a scrubbing they are numbered anew
            for seq, ids, tokens in own:
                view.add(Brought(number, seq, bytes(ids), unpack_tokens(bytes(tokens))))
            view.moved(first.get(number))
            if view.sieve is None:
                view.accept(connection, *self._offered.pop(number, (0, None)))
            found[number] = view
            self._views[number] = view  # the one used last stands last
        while len(self._views) > max(_TASKS, len(numbers)):
            del self._views[next(iter(self._views))]
        return {int(row[0]) for row in unclosed}, found

    def offer_sieve(self) -> bool:
        """Make a sieve for one task that lacks it, and leave it for the thread that writes; return whether one did.

        After a start, and after commits of others that were missed: for another thread, for it reads all ids.
        """
        lacking = [view.task for view in list(self._views.values()) if view.sieve is None]
        if not lacking:
            return False
        task = lacking[0]
        sieve = Sieve()
        with self.database.read() as connection:
            sealed = connection.execute(sa.select(known.c.sealed).where(known.c.task == task)).scalar()
            own = _SEALED.where(report_ids.c.task == task)
            for part in connection.execution_options(stream_results=True).execute(own).scalars().partitions(_SCAN):
                sieve.add(unpacked(b"".join(part)))
        self._offered[task] = (sealed or 0, sieve)
        return True

    def bring(self, brought: Brought) -> None:
        """Note what the transaction under way brings; :meth:`settle` follows."""
        self._brought.append(brought)

    def settle(self, committed: bool) -> None:
        """Add what was brought, after the commit; forget it if there was none."""
        brought = self._brought
        self._brought = []
        for each in brought:
            view = self._views.get(each.task)
            if view is None:
                continue
            if not committed:
                del self._views[each.task]  # the transaction may have looked at its own arrivals
            elif each.seq > view.last:
                view.add(each)

    def _load(self, connection: Connection, task: int, before: View | None) -> View:
        """Return what is known after a scrubbing, from what was known before."""
        row = connection.execute(_HEAD.where(known.c.task == task)).first()
        view = before if before is not None and row is not None else View(self.database, task)
        if row is not None:
            view.reload(connection, row)
        return view


_PACKED = sa.select(known.c.ids)
_SEALED = sa.select(report_ids.c.ids)
_HEAD = sa.select(known.c.version, known.c.sealed, known.c.tokens, sa.func.length(known.c.ids).label("length"))


def known_row(task: int) -> Any:
    """Return the row of a task of which nothing is known yet."""
    return SimpleNamespace(task=task, version=0, sealed=0, ids=b"", tokens=b"")
