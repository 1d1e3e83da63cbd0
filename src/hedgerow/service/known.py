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

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.drivers import by_driver
from hedgerow.service.ids import KEY, LARGE, MARK, Ids, Rows, Sieve, keys_in, unpacked
from hedgerow.service.schema import LEVEL, known, report_ids, sealing, tasks

if TYPE_CHECKING:
    from hedgerow.service.database import Database

__all__ = ["Brought", "Known", "View", "known_row", "pack_tokens", "unpack_tokens"]

_DIGEST = 32  # SHA-256
_NUMBER = 8  # a 64-bit number
# Tasks kept in memory: each has some megabytes, or 20 if it has many ids, and few are open at a time.
_TASKS = 16
_MISSED = 1 << 19  # ids: if more have left than is read while uploads wait, they are read by another thread; by hand
_SCAN = 500  # rows of packed ids read at a time: a megabyte; by hand
_WORTH = 1 << 25  # ids: a sieve of more takes every fifth new one for known, and is not worth reading them
_LEVELS = 5  # of runs: more than a task has


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


@dataclass(frozen=True)
class Offer:
    """A sieve of those ids that left after the first ``since`` and before the first ``until`` had."""

    since: int
    until: int
    sieve: Sieve


class View:
    """What is known of one task at this moment of a transaction.

    Attributes
    ----------
    version, sealed : int
        Of the row of ``known``: how often the task was scrubbed, and how many ids have left for ``report_ids``.
    young : Ids
        Those that have not.
    sieve : Sieve
        Holds them, and the first ``covered`` of those that have left.
    covered : int
        If it is less than ``sealed``, every id is looked up.
    arrived : int
        How many have come since the last scrubbing, to whatever server.
    """

    def __init__(self, database: Database, task: int) -> None:
        self.database = database
        self.task = task
        self.version = 0
        self.sealed = 0
        self.last = 0
        self.young = Ids()
        self.sieve = Sieve()
        self.covered = 0
        self.arrived = 0
        self._spent: dict[bytes, int] = {}
        self._moving_spent: dict[int, dict[bytes, int]] = {}

    def reload(self, connection: Connection, row: Any) -> None:
        """Follow a scrubbing: read what has changed, but for the arrivals and for what the sieve lacks."""
        if row.sealed and self.sieve.size < LARGE:  # it has many ids from now on; until now, none had left
            self.sieve = Sieve(LARGE)
            self.sieve.add(self.young.rows)
        self._place_ids(connection, row.sealed, row.length // (KEY + MARK))
        self.version = row.version
        self.sealed = row.sealed
        self.last = 0
        self.arrived = 0
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
            if self.certain:
                self.covered = sealed
            self.young = Ids()
            return
        self.covered = min(self.covered, sealed)  # of a task that was forgotten none is left
        self.young = Ids(connection.execute(_PACKED.where(known.c.task == self.task)).scalar_one())
        self.sieve.add(self.young.rows)

    @property
    def certain(self) -> bool:
        """Whether the sieve holds all ids there are."""
        return self.covered == self.sealed

    def doubt(self) -> None:
        """Read anew what is young; what the sieve holds too much does no harm."""
        self.version = -1
        self.last = 0
        self.arrived = 0
        self.young = Ids()

    def add(self, brought: Brought) -> None:
        """Add what a commit brought."""
        self.young.add(brought.ids)
        self.arrived += len(brought.ids) // (KEY + MARK)
        self.sieve.add(unpacked(brought.ids))  # now, and not all of them when they leave
        for digest, n in brought.spent.items():
            self._spent[digest] = self._spent.get(digest, 0) + n
        self.last = brought.seq

    def moved(self, first: int | None) -> None:
        """Forget pieces that were taken off their tokens: those before the first that is left, or all."""
        gone = [piece for piece in self._moving_spent if first is None or piece < first]
        for piece in gone:
            del self._moving_spent[piece]

    def catch_up(self, connection: Connection, offer: Offer | None) -> None:
        """Let the sieve hold those that left unseen: what is offered, and what left since, if that is not much.

        These are batches that were not merged yet. If not all are found there, another thread has to read them.
        """
        if offer is not None and offer.since <= self.covered:
            self.sieve.unite(offer.sieve)
            self.covered = max(self.covered, min(offer.until, self.sealed))
        if not 0 < self.sealed - self.covered <= _MISSED:
            return
        batches = f"task = {self.task:d} AND run >= {self.covered:d} AND run < {LEVEL:d}"
        found = by_driver(connection, f"SELECT ids FROM report_ids WHERE {batches}", binary=True)
        rows = unpacked(b"".join(ids for (ids,) in found))
        if len(rows) == self.sealed - self.covered:
            self.sieve.add(rows)
            self.covered = self.sealed

    def marks(self, connection: Connection, rows: Rows) -> dict[bytes, bytes]:
        """Return the marks of those ids that are known, by their keys; a row begins with the key."""
        asked = self.sieve.may_hold(rows) if self.certain else keys_in(rows)
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
        self._offered: dict[int, Offer] = {}
        self._heard: dict[tuple[str, str], list[list[Any]]] = {}

    @property
    def arrived(self) -> int:
        """How many ids have come since the last scrubbing, as far as this server knows: they are in memory."""
        return sum(view.arrived for view in list(self._views.values()))

    def look(self, connection: Connection, task: int) -> View:
        """Return what is known of a task, within a transaction of :meth:`Database.write_uploads`."""
        return self.refresh(connection, [task])[1][task]

    def refresh(self, connection: Connection, numbers: Sequence[int]) -> tuple[set[int], dict[int, View]]:
        """Return which of these tasks are not closed, and what is known of each, with one question to the database."""
        questions = self.questions(numbers)
        heads, new = self._heard.pop(questions, None) or self.database.ask(connection, *questions)
        views = {number: self._views.pop(number, None) for number in numbers}
        version = {int(row[0]): int(row[2]) for row in heads}
        first = {int(row[0]): row[3] for row in heads}
        found = {}
        for number, before in views.items():
            own = [row[1:] for row in new if row[0] == number]
            view = before
            if view is None or view.version != version[number]:
                view = self._load(connection, number, view)
                query = f"SELECT seq, ids, tokens FROM arrivals WHERE task = {number} ORDER BY seq"
                (own,) = self.database.ask(connection, query)  # all of them: after a scrubbing they are numbered anew
            for seq, ids, tokens in own:
                view.add(Brought(number, seq, bytes(ids), unpack_tokens(bytes(tokens))))
            view.moved(first[number])
            if not view.certain:
                view.catch_up(connection, self._offered.pop(number, None))
            found[number] = view
            self._views[number] = view  # the one used last stands last
        while len(self._views) > max(_TASKS, len(numbers)):
            del self._views[next(iter(self._views))]
        return {int(row[0]) for row in heads if row[1]}, found

    def questions(self, numbers: Sequence[int]) -> tuple[str, str]:
        """Return what is asked of tasks: whether they are open, where they stand, and what has arrived since."""
        views = [self._views[number] for number in numbers if number in self._views]
        news = " OR ".join(f"(task = {view.task} AND seq > {view.last})" for view in views)
        return (
            f"WITH n(number) AS (VALUES {','.join(f'({number})' for number in numbers)}) SELECT n.number, "
            "t.number IS NOT NULL AND t.closed IS NULL, coalesce(k.version, 0), "
            "(SELECT min(piece) FROM sealing s WHERE s.task = n.number) "
            "FROM n LEFT JOIN tasks t ON t.number = n.number LEFT JOIN known k ON k.task = n.number",
            f"SELECT task, seq, ids, tokens FROM arrivals WHERE {news or 'false'} ORDER BY seq",
        )

    def hear(self, numbers: Sequence[int], answers: list[list[Any]]) -> None:
        """Take what the transaction that has just begun was told, for :meth:`refresh`."""
        self._heard = {self.questions(numbers): answers}

    def offer(self) -> bool:
        """Read ids that one task's sieve lacks, for the thread that writes; return whether one lacked any.

        After a start, and after commits of others that were missed: for another thread, for they may be many.
        """
        views = list(self._views.values())
        if not views:
            return False
        with self.database.read() as connection:
            own = _COUNTS.where(known.c.task.in_([view.task for view in views]))
            sealed = {int(task): int(n) for task, n in connection.execute(own)}
        for view in views:
            n = sealed.get(view.task, 0)
            # Those that were young may have left meanwhile. A few more are read when the next report comes, if they are
            # not merged by then; else all that comes is looked up until this is asked again.
            lacking = n - view.covered > len(view.young) + _MISSED // 16 if view.certain else n > view.covered
            if lacking and n <= _WORTH:
                self._offer(view, n)
                return True
        return False

    def _offer(self, view: View, sealed: int) -> None:
        """Add what is lacking of the first ``sealed`` ids to what was offered before, if nobody took that."""
        offer = self._offered.pop(view.task, None)  # from here on nobody else has it
        since = view.covered
        if offer is None or not offer.since <= since <= offer.until:
            offer = Offer(since, since, Sieve(LARGE))
        own = _SEALED.where(report_ids.c.task == view.task, _runs_since(offer.until))
        with self.database.read(young=False) as connection:
            for part in connection.execution_options(stream_results=True).execute(own).scalars().partitions(_SCAN):
                offer.sieve.add(unpacked(b"".join(part)))
        self._offered[view.task] = Offer(offer.since, sealed, offer.sieve)

    def prepare(self) -> None:
        """Read all ids of open tasks, before the first report comes."""
        with self.database.read() as connection:
            query = sa.select(tasks.c.number).join(known, known.c.task == tasks.c.number)
            query = query.where(tasks.c.closed.is_(None), known.c.sealed > 0).order_by(tasks.c.number.desc())
            numbers = connection.execute(query.limit(_TASKS)).scalars().all()
        for _ in range(1 + len(numbers) if numbers else 0):  # once to look what is lacking, then a task at a time
            with self.database.write_uploads() as connection:
                self.refresh(connection, numbers)
            if not self.offer():
                return

    def follow(self) -> None:
        """Look at all tasks in use: the memory of ids that have left need not wait for the next report."""
        numbers = list(self._views)
        if numbers:
            with self.database.write_uploads(numbers) as connection:
                self.refresh(connection, numbers)

    def bring(self, brought: Brought) -> None:
        """Note what the transaction under way brings; :meth:`settle` follows."""
        self._brought.append(brought)

    def settle(self, committed: bool) -> None:
        """Add what was brought, after the commit; forget it if there was none."""
        self._heard = {}  # another transaction may see something else
        brought = self._brought
        self._brought = []
        for each in brought:
            view = self._views.get(each.task)
            if view is None:
                continue
            if not committed:
                view.doubt()  # the transaction may have looked at its own arrivals
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
_COUNTS = sa.select(known.c.task, known.c.sealed)
_HEAD = sa.select(known.c.version, known.c.sealed, known.c.tokens, sa.func.length(known.c.ids).label("length"))


def _runs_since(sealed: int) -> sa.ColumnElement[bool]:
    """Say which runs hold ids that left after the first ``sealed``: a merged one has the number of its last batch."""
    numbers = [(level * LEVEL + sealed, (level + 1) * LEVEL) for level in range(_LEVELS)]
    return sa.or_(*((report_ids.c.run >= first) & (report_ids.c.run < end) for first, end in numbers))


def known_row(task: int) -> Any:
    """Return the row of a task of which nothing is known yet."""
    return SimpleNamespace(task=task, version=0, sealed=0, ids=b"", tokens=b"")
