"""Adds reports up in the background, a segment at a time.

One transaction replaces the partial sums, deletes the payloads that went into them and nothing else. So a crash at
any moment leaves either the old sums with the payloads or the new sums without them, and repeats one segment at most.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt
import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.database import Database, StorageError, StoragePressure
from hedgerow.service.kinds import Kind, Summed
from hedgerow.service.logs import log
from hedgerow.service.schema import partials, report_ids, segments, tasks, upload_tokens, uploads
from hedgerow.service.writer import Writer
from hedgerow.tasks.alarms import Detector

__all__ = ["Aggregator", "add_rows", "kept_rows"]

Rows = npt.NDArray[np.uint8]
_SEGMENT, _KEPT, _PURGE = 20_000, 1 << 16, 50_000
Look = Callable[[int], tuple[Kind, Detector]]


def kept_rows(kind: Kind, bodies: list[bytes]) -> Rows:
    """Return stored bodies as rows."""
    return np.frombuffer(b"".join(bodies), dtype=np.uint8).reshape(-1, kind.kept_width)


def add_rows(kind: Summed, aggregate: Any, pending: list[Any]) -> Any:
    """Add uploads (rows with ``simulation`` and ``body``) to an aggregate."""
    for simulation in (False, True):
        rows = kept_rows(kind, [u.body for u in pending if bool(u.simulation) is simulation])
        if len(rows):
            aggregate.add(kind.batch(rows, simulation))
    return aggregate


class Aggregator:
    """The background thread.

    Parameters
    ----------
    look : callable
        From a task's number to its kind and detector.
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
        idle: Callable[[], None] | None = None,
        clock: Callable[[], float] = time.time,
        remember: float = 0.0,
    ) -> None:
        self.database, self.writer, self.look, self.every = database, writer, look, every
        self.clock, self.remember = clock, remember
        self._idle = idle or (lambda: None)
        self._turn, self._stop = threading.Lock(), threading.Event()
        self._thread = threading.Thread(target=self._run, name="aggregator", daemon=True)

    def start(self) -> Aggregator:
        """Start the thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """End the thread after its current segment."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    def _run(self) -> None:
        while not self._stop.wait(self.every):
            try:
                self.turn()
                self._idle()
            except StoragePressure as error:
                log("aggregation-waits", reason=str(error))
            except StorageError as error:
                log("aggregation-failed", level="error", reason=str(error))
                self._stop.wait(5 * self.every)
            except Exception as error:  # the thread must live: payloads wait until it works again
                log("aggregation-failed", level="error", reason=type(error).__name__)
                self._stop.wait(5 * self.every)

    def turn(self) -> int:
        """Aggregate all that waits, finish closed tasks; return the number of reports aggregated."""
        done = 0
        with self.database.read() as connection:
            waiting = list(connection.execute(sa.select(uploads.c.task).distinct()).scalars())
            query = sa.select(tasks.c.number, tasks.c.closed).where(tasks.c.closed.is_not(None), ~tasks.c.finished)
            closed = list(connection.execute(query))
        for number in waiting:
            while not self._stop.is_set() and (n := self.segment(number)):
                done += n
        now = self.clock() if closed else 0.0
        for number, when in closed:
            if now >= when + self.remember:
                self._finish(number)
        return done

    def segment(self, number: int) -> int:
        """Aggregate one segment of a task; return its number of reports."""
        kind, detector = self.look(number)
        with self._turn:
            with self.database.read() as connection:
                taken, partial = self._pending(connection, number), _partial(connection, number)
            if not taken:
                return 0
            n = sum(int(u.n) for u in taken)
            events = detector.count(kept_rows(kind, [u.body for u in taken])[:, kind.kept_width - kind.width :])
            if partial is not None and partial.events:
                events = events + np.frombuffer(partial.events, dtype="<i8")
            sums = b""
            if isinstance(kind, Summed):
                sums = add_rows(kind, kind.aggregate(partial.sums if partial else b""), taken).to_bytes()
            revision = partial.revision if partial else 0
            values = {"n": n + (partial.n if partial else 0), "sums": sums, "events": events.astype("<i8").tobytes()}

            def change(connection: Connection) -> None:
                _replace_partial(connection, number, revision, values)
                if not isinstance(kind, Summed):
                    _merge_segments(connection, kind, number, taken)
                gone = connection.execute(uploads.delete().where(uploads.c.seq.in_([u.seq for u in taken])))
                if gone.rowcount != len(taken):
                    raise StoragePressure("another process aggregates this task.")

            self.writer.run(change)
        return n

    def _pending(self, connection: Connection, number: int) -> list[Any]:
        """Return whole uploads up to the size of a segment."""
        taken: list[int] = []
        n = 0
        own = sa.select(uploads.c.seq, uploads.c.n).where(uploads.c.task == number)
        for seq, size in connection.execute(own.order_by(uploads.c.seq).limit(500)):
            if taken and n + size > _SEGMENT:
                break
            taken.append(seq)
            n += size
        return list(connection.execute(sa.select(uploads).where(uploads.c.seq.in_(taken))))

    def _finish(self, number: int) -> None:
        """Forget ids and tokens of a task that was closed: a report sent again is no longer known from here on."""
        with self.database.read() as connection:
            if connection.execute(sa.select(uploads.c.seq).where(uploads.c.task == number).limit(1)).first():
                return
            seconds = list(connection.execute(sa.select(tasks.c.finished).where(tasks.c.first == number)).scalars())
        kind, _ = self.look(number)
        if kind.retains and hasattr(kind, "reports") and not (seconds and all(seconds)):
            return  # the second round is checked against the ids of the first

        def some(connection: Connection) -> int:
            keys = sa.select(report_ids.c.key).where(report_ids.c.task == number).limit(_PURGE)
            own = (report_ids.c.task == number) & report_ids.c.key.in_(keys)
            return int(connection.execute(report_ids.delete().where(own)).rowcount)

        while not self._stop.is_set() and self.writer.run(some):
            pass  # a piece at a time, so that uploads to other tasks are not held up

        def end(connection: Connection) -> None:
            connection.execute(upload_tokens.delete().where(upload_tokens.c.task == number))
            connection.execute(tasks.update().where(tasks.c.number == number).values(finished=True))

        if not self._stop.is_set():
            self.writer.run(end)
            log("task-finished", task=number)


def _partial(connection: Connection, number: int) -> Any:
    return connection.execute(sa.select(partials).where(partials.c.task == number)).first()


def _replace_partial(connection: Connection, number: int, revision: int, values: dict[str, Any]) -> None:
    """Write new sums over those of ``revision``; refuse if somebody else has."""
    if revision == 0:
        if _partial(connection, number) is not None:
            raise StoragePressure("another process aggregates this task.")
        connection.execute(partials.insert().values(task=number, revision=1, **values))
        return
    own = (partials.c.task == number) & (partials.c.revision == revision)
    if connection.execute(partials.update().where(own).values(revision=revision + 1, **values)).rowcount != 1:
        raise StoragePressure("another process aggregates this task.")


def _merge_segments(connection: Connection, kind: Kind, number: int, taken: list[Any]) -> None:
    """Put rows into segments, each sorted by its bytes: the order of arrival is lost."""
    for simulation in (False, True):
        bodies = [u.body for u in taken if bool(u.simulation) is simulation]
        if not bodies:
            continue
        own = (segments.c.task == number) & (segments.c.simulation == simulation) & (segments.c.n < _KEPT)
        for old in connection.execute(sa.select(segments).where(own)):
            bodies.append(old.body)
            connection.execute(segments.delete().where(segments.c.seq == old.seq))
        rows = kept_rows(kind, bodies)
        body = rows[np.lexsort(rows.T[::-1])].tobytes()
        connection.execute(segments.insert().values(task=number, n=len(rows), simulation=simulation, body=body))
