"""Adds reports up in the background, a segment at a time (:mod:`hedgerow.service.segments`).

Then it writes anew whatever the uploads had touched, so that the database forgets what belonged together
(:mod:`hedgerow.service.scrub`).
"""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable
from functools import partial

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.errors import FormatError
from hedgerow.service.database import Database, StorageError, StoragePressure
from hedgerow.service.kinds import Kind
from hedgerow.service.logs import log
from hedgerow.service.memory import give_back
from hedgerow.service.pace import PACE, Pace
from hedgerow.service.pages import BRIEF_SECONDS, FORGOTTEN_FROM, LONG_SECONDS, note_pages, noted, take_note, write_anew
from hedgerow.service.problems import Problem
from hedgerow.service.removal import FORGOTTEN, some_of
from hedgerow.service.schema import (
    answers,
    arrivals,
    jobs,
    known,
    partials,
    sealing,
    tasks,
    uploads,
)
from hedgerow.service.scrub import SEALED, prepare, scrub, settle
from hedgerow.service.sealing import merge_piece, move_piece, unfinished
from hedgerow.service.segments import Segment, partial_of, replace_partial
from hedgerow.service.sqlite_file import Overtaken
from hedgerow.service.timeline import hour_ended, mark
from hedgerow.service.writer import Writer
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.trimmed import Groups

__all__ = ["Aggregator"]

# Reports added up in one transaction. Uploads have less of the processor meanwhile, so it is done in pieces with rests,
# and on PostgreSQL a pause follows; a long backlog is worked off in larger ones, for each has a commit, however few
# reports it has. With SQLite all uploads wait for that commit: the fewer the better. By hand.
_SEGMENT = 20_000
_SMALL_SEGMENT = 5_000
_SEGMENTS = 40  # that a backlog is cut into
# Uploads wait while it scrubs, so that takes at most a fiftieth of the time, unless six batches to seal have come:
# until then their ids are in memory, 10 MB of them. By hand: with three, 1 % of the answers waited for a scrubbing.
_REST = 50
_MANY = 6 * SEALED
_MERGE_PACE = 1.0  # times as long as merging took: what arrives until it is done, uploads wait for in the end; by hand
_PAUSES = 3  # of the time that reading ids took, until they are read again; by hand
_MERGING = 0.1  # of the time, while uploads wait: there are more runs for a while, and nothing else; by hand
# Pages that take long to write anew wait until nothing has come for a minute, for a day at most; by hand.
_QUIET = 60.0
_DAY = 86_400
Look = Callable[[int], tuple[Kind, Detector]]


class Aggregator:
    """The background thread.

    Parameters
    ----------
    look : callable
        From a task's number to its kind and detector.
    share : callable
        From the number of a task that two servers share to how many reports were dealt with: one step of that.
    idle : callable
        Called at every turn, for housekeeping.
    clock, remember : callable, float
        Reads the time; how many seconds ids outlive the closing of their task.
    """

    def __init__(
        self,
        database: Database,
        writer: Writer,
        look: Look,
        *,
        every: float = 1.0,
        share: Callable[[int], int] | None = None,
        idle: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.time,
        remember: float = 0.0,
    ) -> None:
        self.database = database
        self.writer = writer
        self.look = look
        self.every = every
        self.clock = clock
        self.remember = remember
        self._share = share or (lambda _: 0)
        self._idle = idle or (lambda: None)
        self._turn = threading.Lock()
        self._stop = threading.Event()
        self._clean = False
        self._united: set[int] = set()  # closed tasks whose groups were looked at
        self._looked: int | None = None
        self._rest_until = 0.0
        self._read_until = 0.0
        self._pages_until = 0.0
        self._revisions = 0
        self._busy_at = time.monotonic()
        self._thread = threading.Thread(target=self._run, name="aggregator", daemon=True)

    def start(self) -> Aggregator:
        """Start the thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End the thread after its current turn, and scrub a last time."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()
            self._try(self._end)

    def _run(self) -> None:
        while not self._stop.wait(self.every):
            if not self._try(self._work):
                self._stop.wait(5 * self.every)

    def _try(self, action: Callable[[], None]) -> bool:
        """Do something that may fail for a while; the thread must live, and payloads wait until it works again."""
        try:
            action()
        except StoragePressure as error:
            log("aggregation-waits", reason=str(error))
        except StorageError as error:
            log("aggregation-failed", level="error", reason=str(error))
            return False
        except Exception as error:
            log("aggregation-failed", level="error", reason=type(error).__name__)
            return False
        return True

    def _work(self) -> None:
        try:
            self.turn()
        except StoragePressure as error:  # somebody is in the way; housekeeping is not in theirs
            log("aggregation-waits", reason=str(error))
        self._idle()

    def _end(self) -> None:
        self._stop.clear()
        self._busy_at = time.monotonic()  # what takes long is for the next start: a supervisor waits
        self.turn()
        if self._dirty():
            self.scrub()

    def turn(self) -> int:
        """Aggregate all that waits, finish closed tasks, scrub; return the number of reports aggregated."""
        done = 0
        self._follow()  # here too: until then all that comes is looked up, and adding up may take a while
        with self.database.read() as connection:
            either = sa.union(sa.select(uploads.c.task), sa.select(jobs.c.task))
            waiting = sorted(connection.execute(either).scalars())
            moving = unfinished(connection)
            query = sa.select(tasks.c.number, tasks.c.closed).where(tasks.c.closed.is_not(None), ~tasks.c.finished)
            closed = list(connection.execute(query))
            revisions = int(connection.execute(sa.select(sa.func.sum(partials.c.revision))).scalar() or 0)
            pages = bool(noted(connection))
        calm = not waiting and not self.writer.waiting
        if revisions != self._revisions or self.writer.waiting:
            self._revisions = revisions
            self._busy_at = time.monotonic()
        for number in waiting:
            done += self._task(number)
        for number, _ in closed:
            self._unite(number)
        now = self.clock()
        self._mark(now)
        over = [number for number, when in closed if now >= when + self.remember and self._over(number)]
        if self._due(bool(over), calm) and self.scrub(wait=False):
            moving = True
            self._finish(over)
        if (pages or over) and time.monotonic() >= self._pages_until:
            self.write_pages()
        if moving:
            self._move()
        self._follow()
        return done

    def _follow(self) -> None:
        """Read ids that others have taken, so that what comes need not be looked up among them."""
        start = time.monotonic()
        if start >= self._read_until and self.database.known.offer():
            end = time.monotonic()
            self._read_until = end + _PAUSES * (end - start)

    def _task(self, number: int) -> int:
        """Aggregate all that waits for a task; one that cannot be read keeps nobody else waiting."""
        done = 0
        try:
            kind, _ = self.look(number)
            # What comes meanwhile waits for the next turn: each segment costs a commit, however few reports it has.
            most = math.inf if kind.shared else self.waiting(number)
            small = _SEGMENT if self.database.sqlite else _SMALL_SEGMENT
            size = min(_SEGMENT, max(small, most / _SEGMENTS))
            step = self._share if kind.shared else partial(self.segment, size=size)
            start = time.monotonic()
            while not self._stop.is_set() and done < most and (n := step(number)):
                done += n
                self._pause(time.monotonic() - start, n / (n + max(0, most - done)))
                start = time.monotonic()
                if self._many(2 * _MANY):  # a backlog may be long; but what waits is written anew, so rather after it
                    self.scrub(wait=False)
        except (FormatError, Problem) as error:
            log("task-damaged", level="error", task=number, reason=str(error))
        except Overtaken as error:
            # The rest of the turn is to be done all the same.
            log("aggregation-overtaken", task=number, reason=str(error))
        return done

    def _pause(self, took: float, share: float) -> None:
        """Let uploads that wait go first after a segment that was this share of what was left when it began.

        Not for longer than it takes to be done with all of it by the next turn, which brings more.
        """
        pause = min(PACE * took, share * self.every - took)
        if self.writer.waiting and pause > 0 and not self.database.sqlite:
            self._stop.wait(pause)

    def _unite(self, number: int) -> None:
        """Put the groups of a closed task together where one is too small to be trimmed: it will never be larger."""
        if number in self._united:
            return
        try:
            kind, _ = self.look(number)
        except (FormatError, Problem):
            return  # it cannot be read
        with self._turn:
            with self.database.read() as connection:
                waits = connection.execute(sa.select(uploads.c.seq).where(uploads.c.task == number).limit(1)).first()
                before = partial_of(connection, number)
            if waits is not None:
                return
            found = kind.aggregate(before.sums) if before is not None and kind.n_groups else None
            one = found.united() if isinstance(found, Groups) else None
            if before is not None and one is not None:
                values = {"sums": one.to_bytes()}
                try:
                    self.writer.run(lambda connection: replace_partial(connection, number, before.revision, values))
                except Overtaken:
                    return  # the next turn sees what the other has made of it
        self._united.add(number)

    def waiting(self, number: int) -> int:
        """Return how many reports to a task wait to be added up."""
        query = sa.select(sa.func.coalesce(sa.func.sum(uploads.c.n), 0)).where(uploads.c.task == number)
        with self.database.read() as connection:
            return int(connection.execute(query).scalar_one())

    def _move(self) -> None:
        """Move what tokens spent to their rows and merge runs of ids, piece by piece, uploads in between."""
        until = time.monotonic() + _MERGING * self.every
        while not self._stop.is_set() and (self.writer.run_in_turn(move_piece) or self.writer.beside(self._merge)):
            if self.writer.waiting and time.monotonic() >= until:
                return  # the rest at the next turn

    def _merge(self) -> bool:
        with self.database.write_large(wait=False) as connection:
            return connection is not None and merge_piece(self.database, connection)

    def _mark(self, now: float) -> None:
        """Count the reports up to the full hour that has just ended, if one has."""
        until = hour_ended(self._looked, now)
        self._looked = int(now)  # first: an hour that could not be marked is not marked later
        if until is None:
            return

        def change() -> None:
            with self.database.write_uploads() as connection:  # one server at a time, and no task is deleted meanwhile
                mark(connection, until)

        self.writer.call(change)

    def overwrite(self) -> bool:
        """Leave nothing of deleted rows on the disk; return whether that is done, or else left for a turn to come."""
        try:
            self.scrub()
            return self.write_pages()
        except StorageError as error:
            log("aggregation-waits", reason=str(error))
            return False

    def write_pages(self) -> bool:
        """Write anew the pages of PostgreSQL that hold deleted rows; return whether none is left.

        Uploads wait for it, a table at a time. So one that takes long waits for a quiet moment, for a day at most.
        """
        with self.database.read() as connection:
            found = noted(connection)
        start = time.monotonic()
        done = True
        for table, (when, note) in found.items():
            patient = time.monotonic() - self._busy_at >= _QUIET or self.clock() - when >= _DAY
            try:
                self._write_table(table, note, LONG_SECONDS if patient else BRIEF_SECONDS)
            except StoragePressure as error:
                done = False
                log("pages-wait", table=table, reason=str(error))
        end = time.monotonic()
        self._pages_until = end + _REST * (end - start)
        return done

    def _write_table(self, table: str, note: str, seconds: float) -> None:
        self.writer.call(lambda: write_anew(self.database, table, seconds))
        self.writer.run(lambda connection: take_note(connection, table, note))

    def _due(self, over: bool, calm: bool) -> bool:
        """Whether to scrub now: there is a reason, and it is not too soon after the last time.

        Where nothing has come since the last reports were added up, to whatever server, nobody waits for it: what is
        not used any more need not stay in memory, nor what came with what in the database. After a failure it is too
        soon all the same.
        """
        if time.monotonic() >= self._rest_until or self._many(_MANY) or (calm and self._clean):
            return over or self._dirty()
        return over and self._clean  # tasks are seldom over; after a failure they wait with the rest

    def _many(self, most: int) -> bool:
        """Whether so many ids are in memory that scrubbing does not wait; after a failure it does, for a while."""
        return self.database.known.arrived >= most and (self._clean or time.monotonic() >= self._rest_until)

    def _dirty(self) -> bool:
        """Whether anything was aggregated, here or elsewhere, or exchanged or undone here, since the last scrubbing."""
        if not self._clean or self.database.exchanged or self.database.known.undone:
            return True  # just started: whatever ran here before may have been killed at any moment
        with self.database.read() as connection:
            query = sa.select(partials.c.task).where(partials.c.scrubbed != partials.c.revision).limit(1)
            return connection.execute(query).first() is not None

    def scrub(self, *, wait: bool = True) -> bool:
        """Make the database forget what came with what, and when; StoragePressure if a reader is in the way.

        Without ``wait`` not if another server is at it; return whether it was done.
        """
        prepare(self.database)
        start = time.monotonic()
        was_clean, self._clean = self._clean, False
        try:
            since = self.writer.beside(lambda: self._scrubbed(wait))
            start = start if since is None else since
        finally:
            end = time.monotonic()
            self._rest_until = end + _REST * (end - start)
        if since is None:
            self._clean = was_clean
            return False
        self.writer.call(self.database.known.follow)
        self._clean = True
        give_back()
        return True

    def _scrubbed(self, wait: bool) -> float | None:
        """Scrub in a transaction; return since when uploads waited, None if another server has one open."""
        with self.database.write_large(wait=wait) as connection:
            if connection is None:
                return None
            rest = (lambda: None) if self.database.sqlite else Pace(self.writer, self._stop, _MERGE_PACE)
            since = scrub(self.database, connection, rest)
        settle(self.database)
        return since

    def segment(self, number: int, size: float = math.inf) -> int:
        """Aggregate one segment of a task, of ``size`` reports or a little less; return its number of reports."""
        kind, detector = self.look(number)
        most = min(size, _SEGMENT)
        rest = Pace(self.writer, self._stop)
        with self._turn:
            if self.database.sqlite:  # uploads wait for whoever writes: not while sums are made
                with self.database.read() as connection:
                    found = Segment.of(connection, kind, detector, number, most, rest)
                if found is not None:
                    self.writer.add_up(number, found.store)
            else:
                with self.database.write_sums(number, alone=True) as connection:
                    found = Segment.of(connection, kind, detector, number, most, rest)
                    if found is not None:
                        found.store(connection)
        return 0 if found is None else found.n

    def _over(self, number: int) -> bool:
        try:
            return self._forget(number)
        except (FormatError, Problem):
            return False  # it cannot be read; whoever deletes it deletes its ids

    def _forget(self, number: int) -> bool:
        """Delete ids and tokens of a task that was closed: a report sent again is no longer known from here on.

        Nor is which invitations were exchanged.
        """
        with self.database.read() as connection:
            if connection.execute(sa.select(uploads.c.seq).where(uploads.c.task == number).limit(1)).first():
                return False
            if connection.execute(sa.select(jobs.c.task).where(jobs.c.task == number)).first():
                return False
            seconds = list(connection.execute(sa.select(tasks.c.finished).where(tasks.c.first == number)).scalars())
        kind, _ = self.look(number)
        if kind.keeps_ids and not (seconds and all(seconds)):
            return False  # the second round is checked against the ids of the first
        self.writer.run_in_turn(lambda connection: _forget_young(connection, number), keeping=True)
        for table, key in FORGOTTEN:
            some = some_of(table, key, number)
            while not self._stop.is_set() and self.writer.run_in_turn(some, keeping=True):
                pass  # a piece at a time, so that uploads to other tasks are not held up
        return not self._stop.is_set()

    def _finish(self, over: list[int]) -> None:
        """Note that tasks are forgotten, and that pages have to be written anew for it."""
        if not over:
            return

        def change(connection: Connection) -> None:
            connection.execute(tasks.update().where(tasks.c.number.in_(over)).values(finished=True))
            note_pages(connection, FORGOTTEN_FROM, self.clock())

        self.writer.run(change)
        for number in over:
            log("task-finished", task=number)


def _forget_young(connection: Connection, number: int) -> None:
    """Delete what is packed; the new version tells every server to forget it too."""
    connection.execute(arrivals.delete().where(arrivals.c.task == number))
    connection.execute(answers.delete().where(answers.c.task == number))
    connection.execute(sealing.delete().where(sealing.c.task == number))
    nothing = {"version": known.c.version + 1, "sealed": 0, "ids": b"", "tokens": b""}
    if not connection.execute(known.update().where(known.c.task == number).values(**nothing)).rowcount:
        connection.execute(known.insert().values(task=number, version=1, sealed=0, ids=b"", tokens=b""))
