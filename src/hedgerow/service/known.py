"""Which ids and tokens are known: in memory, checked against the database at the start of every transaction.

The ids of a task stand in three places: packed by commit (``arrivals``), packed and sorted of all earlier commits
(``known``), and, of tasks that have many, in large batches (``report_ids``). All but the last are read once and kept
here. The version of ``known``, which every scrubbing raises, says whether they still hold; the numbers of ``arrivals``
say which are new. What tokens have spent stands beside them, and that of large batches in pieces (``sealing``): the
first that is left says which were moved to the tokens themselves.
So what is here is always a copy of what is committed, also when several servers share a database.
What this server brings itself is added after its commit, without reading it back; if the commit failed, or nobody
knows, it is not, and is found among the arrivals if it is there.

The first bits of an arrival's number say which server wrote it. Those of one server count up in the order of its
commits: so whoever has asked for what follows the last that he heard of each knows all that was committed, whichever
server numbered first and committed last.

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
from hedgerow.service.ids import KEY, LARGE, MARK, Ids, Rows, Sieve, keys_in, share_ids, unpacked
from hedgerow.service.schema import LEVEL, known, report_ids, sealing, tasks

if TYPE_CHECKING:
    from hedgerow.service.database import Database

__all__ = ["SERVER", "Brought", "Known", "Met", "View", "arrivals_after", "known_row", "pack_tokens", "unpack_tokens"]

_ID = KEY + MARK
_DIGEST = 32  # SHA-256
_NUMBER = 8  # a 64-bit number
# Tasks kept in memory: each has some megabytes, or 20 if it has many ids, and few are open at a time.
_TASKS = 16
_MISSED = 1 << 19  # ids: if more have left than is read while uploads wait, they are read by another thread; by hand
_SCAN = 500  # rows of packed ids read at a time: a megabyte; by hand
_WORTH = 1 << 25  # ids: a sieve of more takes every fifth new one for known, and is not worth reading them
_LEVELS = 5  # of runs: more than a task has
SERVER = 32
"""Bits of an arrival's number behind those of its server: more than it ever commits."""
_LAST = (1 << 63) - 1  # the largest number that databases have


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


def arrivals_after(task: int, last: Mapping[int, int]) -> str:
    """Say which arrivals of a task follow the last of each server.

    >>> arrivals_after(1, {0: 7})
    'task = 1 AND (seq > 7 AND seq <= 9223372036854775807)'
    >>> arrivals_after(1, {2: (2 << 32) + 5})
    'task = 1 AND (seq > 0 AND seq <= 8589934592 OR seq > 8589934597 AND seq <= 9223372036854775807)'
    """
    servers = sorted(last)
    starts = [0, *(last[server] for server in servers)]
    ends = [*(server << SERVER for server in servers), _LAST]
    gaps = [f"seq > {start:d} AND seq <= {end:d}" for start, end in zip(starts, ends, strict=True) if start < end]
    return f"task = {task:d} AND ({' OR '.join(gaps)})"


class Met(Exception):
    """What was decided before the turn may not hold in the turn: it is decided again."""


@dataclass(frozen=True)
class Brought:
    """What a transaction brings to a task: the number of its arrival, packed ids, spent tokens."""

    task: int
    seq: int
    ids: bytes
    spent: Mapping[bytes, int]

    @property
    def n(self) -> int:
        """How many ids these are."""
        return len(self.ids) // _ID

    def meets(self, other: Brought) -> bool:
        """Whether another brought the same id or token, as far as the first bytes of ids tell."""
        if self.task != other.task:
            return False
        return not self.spent.keys().isdisjoint(other.spent) or share_ids(unpacked(self.ids), unpacked(other.ids))


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
    older : Ids
        Others of which ``kept`` have not, and the rest has: what came too late for the last scrubbing is among them.
    sieve : Sieve
        Holds them, and the first ``covered`` of those that have left.
    covered : int
        If it is less than ``sealed``, every id is looked up.
    arrived : int
        How many have come since the last scrubbing, to whatever server.
    last : dict
        The number of the last arrival that was heard of, by server.
    first_piece : int or None
        The first piece of spent tokens that is left.
    is_open : bool
        Whether the task was open when one asked last.
    """

    def __init__(self, database: Database, task: int) -> None:
        self.database = database
        self.task = task
        self.version = 0
        self.sealed = 0
        self.last: dict[int, int] = {}
        self.first_piece: int | None = None
        self.is_open = False
        self.young = Ids()
        self.older = Ids()
        self.kept = 0
        self.sieve = Sieve()
        self.covered = 0
        self.arrived = 0
        self._spent: dict[bytes, int] = {}
        self._moving_spent: dict[int, dict[bytes, int]] = {}

    def reload(self, connection: Connection, row: Any) -> None:
        """Follow a scrubbing: read what has changed and what has arrived, but for what the sieve lacks."""
        if row.sealed and self.sieve.size < LARGE:  # it has many ids from now on; until now, none had left
            self.sieve = Sieve(LARGE)
            self.sieve.add(self.older.rows)
            self.sieve.add(self.young.rows)
        arrived = self._arrivals(connection)
        heard = sum(n for seq, n, _, _ in arrived if self._heard(seq))
        if not self._place_ids(row, heard):
            self.covered = min(self.covered, row.sealed)  # of a task that was forgotten none is left
            self.young = Ids(connection.execute(_PACKED.where(known.c.task == self.task)).scalar_one_or_none() or b"")
            self.older, self.kept = Ids(), 0
            self.sieve.add(self.young.rows)
            self.last = {}
            arrived = self._arrivals(connection)
        self.version = row.version
        self.sealed = row.sealed
        self.arrived = 0
        self._spent = unpack_tokens(row.tokens)
        own = sa.select(sealing.c.piece, sealing.c.tokens).where(sealing.c.task == self.task)
        self._moving_spent = {piece: unpack_tokens(tokens) for piece, tokens in connection.execute(own)}
        last, self.last = self.last, {}
        for seq, n, ids, tokens in arrived:
            held = seq <= last.get(seq >> SERVER, 0)
            self.add(Brought(self.task, seq, ids, unpack_tokens(tokens)), held=n if held else 0)

    def _heard(self, seq: int) -> bool:
        return seq <= self.last.get(seq >> SERVER, 0)

    def _arrivals(self, connection: Connection) -> list[tuple[int, int, bytes, bytes]]:
        """Return the number of each arrival, how many ids it has, these if they are not in memory, and its tokens."""
        new = arrivals_after(self.task, self.last)
        query = f"SELECT seq, length(ids), CASE WHEN {new} THEN ids ELSE substr(ids, 1, 0) END, tokens FROM arrivals"
        (rows,) = self.database.ask(connection, f"{query} WHERE task = {self.task:d} ORDER BY seq")
        return [(int(seq), int(size) // _ID, bytes(ids), bytes(tokens)) for seq, size, ids, tokens in rows]

    def _place_ids(self, row: Any, heard: int) -> bool:
        """Find out where the ids in memory are, of which ``heard`` still stand among the arrivals; False if unclear.

        Whatever was young before a scrubbing is packed after it, or has left, or has arrived too late for it. So where
        the numbers agree nothing has to be read; and if as many have left as were young, it was these.
        """
        left = row.sealed - self.sealed
        packed = row.length // _ID
        young = len(self.young) + self.kept
        if left == 0 and packed + heard == young:
            return True
        if packed == 0 and left + heard == young:
            if self.certain:
                self.covered = row.sealed
            # What had come too late for the scrubbing before has left by now, and what did for this one is young.
            self.older, self.kept = (self.young if heard else Ids()), heard
            self.young = Ids()
            return True
        return False

    @property
    def certain(self) -> bool:
        """Whether the sieve holds all ids there are."""
        return self.covered == self.sealed

    def doubt(self) -> None:
        """Read anew what is young; what the sieve holds too much does no harm."""
        self.version = -1
        self.last = {}
        self.arrived = 0
        self.young = Ids()
        self.older, self.kept = Ids(), 0

    def add(self, brought: Brought, *, held: int = 0) -> None:
        """Add what a commit brought; if so many ids of it are ``held`` here, only what was spent."""
        if not held:
            self.young.add(brought.ids)
            self.sieve.add(unpacked(brought.ids))  # now, and not all of them when they leave
        self.arrived += held or brought.n
        for digest, n in brought.spent.items():
            self._spent[digest] = self._spent.get(digest, 0) + n
        self.last[brought.seq >> SERVER] = brought.seq

    def moved(self, first: int | None) -> None:
        """Forget pieces that were taken off their tokens: those before the first that is left, or all."""
        self.first_piece = first
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
        return found | self.older.find(asked) | self.young.find(asked)

    def spent(self, digest: bytes) -> int:
        """Return how many reports a token brought that are not yet taken off its number in the table."""
        moving = sum(piece.get(digest, 0) for piece in self._moving_spent.values())
        return self._spent.get(digest, 0) + moving


class Known:
    """The views of all tasks in use; for the thread that writes.

    Attributes
    ----------
    undone : bool
        Whether a transaction that failed may have left what it wrote in the pages, until the next scrubbing.
    """

    def __init__(self, database: Database) -> None:
        self.database = database
        self.undone = False
        self._views: dict[int, View] = {}
        self._looked: set[int] = set()  # tasks of which this transaction has learnt something, or brings something
        self._brought: list[Brought] = []
        self._news: list[Brought] = []
        self._offered: dict[int, Offer] = {}
        self._heard: dict[tuple[str, str], list[list[Any]]] = {}
        self._last = 0  # number of this server's last arrival; 0 if the database has not given it numbers yet

    @property
    def arrived(self) -> int:
        """How many ids have come since the last scrubbing, as far as this server knows: they are in memory."""
        return sum(view.arrived for view in list(self._views.values()))

    def number(self, connection: Connection) -> int:
        """Return the number of the next arrival that this server writes to PostgreSQL.

        Its first bits are the database's own count, which no two servers are given; if the transaction fails, nobody
        knows whether the count is on the disk, and another is drawn.
        """
        if not self._last:
            (row,) = self.database.ask(connection, "SELECT nextval('arrivals_seq_seq')")[0]
            self._last = int(row[0]) << SERVER
        self._last += 1
        return self._last

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
        unclosed = {int(row[0]) for row in heads if row[1]}
        self._looked.update(numbers)
        found = {}
        for number, before in views.items():
            if before is None or before.version != version[number]:
                view = self._load(connection, number, before)
            else:
                view = before
                for row in new:
                    if row[0] == number:
                        view.add(_brought(row))
            view.moved(first[number])
            view.is_open = number in unclosed
            if not view.certain:
                view.catch_up(connection, self._offered.pop(number, None))
            found[number] = view
            self._views[number] = view  # the one used last stands last
        while len(self._views) > max(_TASKS, len(numbers)):
            del self._views[next(iter(self._views))]
        return unclosed, found

    def questions(self, numbers: Sequence[int], *, own: bool = True) -> tuple[str, str]:
        """Return what is asked of tasks: whether they are open, where they stand, and what has arrived since.

        Without ``own``, from others than this server: of its own arrivals all are known but for those under way.
        """
        views = [self._views[number] for number in numbers if number in self._views]
        under_way = {} if own or not self._last else {self._last >> SERVER: self._last}
        news = " OR ".join(f"({arrivals_after(view.task, view.last | under_way)})" for view in views)
        return (
            f"WITH n(number) AS (VALUES {','.join(f'({number})' for number in numbers)}) SELECT n.number, "
            "t.number IS NOT NULL AND t.closed IS NULL, coalesce(k.version, 0), "
            "(SELECT min(piece) FROM sealing s WHERE s.task = n.number) "
            "FROM n LEFT JOIN tasks t ON t.number = n.number LEFT JOIN known k ON k.task = n.number",
            f"{_ARRIVALS} WHERE {news or 'false'} ORDER BY seq",
        )

    def hear(self, numbers: Sequence[int], answers: list[list[Any]]) -> None:
        """Take what the transaction that has just begun was told, for :meth:`refresh`."""
        self._heard = {self.questions(numbers): answers}

    def has(self, number: int) -> bool:
        """Whether a task was open when one asked last, and all that was known of it is in memory."""
        view = self._views.get(number)
        return view is not None and view.is_open and view.version >= 0 and view.certain

    def at_hand(self, numbers: Sequence[int]) -> dict[int, View]:
        """Return what was known of tasks when one asked last, for a transaction that asks again in its turn."""
        self._looked.update(numbers)
        return {number: self._views[number] for number in numbers}

    def again(self) -> tuple[str, str]:
        """Return what such a transaction asks."""
        return self.questions(sorted(self._looked), own=False)

    def confirm(self, heads: list[Any], new: list[Any]) -> None:
        """Hold what was decided by :meth:`at_hand` against the answers to :meth:`again`; Met if it may not hold.

        It holds if each task is open, was not scrubbed since, and nobody brought what this transaction brings. Who was
        refused for what is known, or acknowledged for it, would be now, too.
        """
        for number, is_open, version, first in heads:
            view = self._views[number]
            if not is_open or version != view.version or first != view.first_piece:
                raise Met
        self._news = [_brought(row) for row in new]
        if any(own.meets(each) for own in self._brought for each in self._news):
            raise Met

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
            lacking = (
                n - view.covered > len(view.young) + view.kept + _MISSED // 16 if view.certain else n > view.covered
            )
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
        self._looked.add(brought.task)

    def settle(self, committed: bool) -> None:
        """Add what was brought, after the commit. If there was none, doubt all that the transaction has looked at.

        It may have looked at its own arrivals, or at those of another server that had not reached the disk, and never
        will: whoever was acknowledged for the sake of those would be lost.
        """
        heard, brought, looked = self._news, self._brought, self._looked
        self._forget()
        if not committed:
            self.undone = True
            self._last = 0
        for view in map(self._views.get, () if committed else looked):
            if view is not None:
                view.doubt()
        for each in (*heard, *brought) if committed else ():
            view = self._views.get(each.task)
            if view is not None and each.seq > view.last.get(each.seq >> SERVER, 0):
                view.add(each)

    def undo(self) -> None:
        """Take back what was to be brought, after a transaction that only asked what is in memory."""
        self._forget()
        self.undone = True

    def _forget(self) -> None:
        self._heard = {}  # another transaction may see something else
        self._news = []
        self._brought = []
        self._looked = set()

    def _load(self, connection: Connection, task: int, before: View | None) -> View:
        """Return what is known after a scrubbing, from what was known before."""
        row = connection.execute(_HEAD.where(known.c.task == task)).first()
        view = before if before is not None and row is not None else View(self.database, task)
        view.reload(connection, row or known_row(task))
        return view


def _brought(row: Sequence[Any]) -> Brought:
    """Read a row of the arrivals."""
    task, seq, ids, tokens = row
    return Brought(int(task), int(seq), bytes(ids), unpack_tokens(bytes(tokens)))


_ARRIVALS = "SELECT task, seq, ids, tokens FROM arrivals"


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
    return SimpleNamespace(task=task, version=0, sealed=0, ids=b"", tokens=b"", length=0)
