"""One thread writes. Requests wait in a queue; the thread takes all that wait and commits them together.

A request is answered only after its commit is on the disk. While one group is being written the next gathers, so
the cost of a commit is shared by whoever came in the meantime (group commit).
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from typing import Any, TypeVar

from sqlalchemy import Connection

from hedgerow.service.database import Database, StorageError
from hedgerow.service.deadlines import Deadlines
from hedgerow.service.intake import Outcome, Upload, at_hand, take, take_before_turn
from hedgerow.service.known import Met

__all__ = ["Busy", "Writer"]

T = TypeVar("T")
_Job = tuple[Callable[[], Any], "Future[Any]"]
_NOTHING: tuple[()] = ()
# By hand: longer than a database that hangs is waited for, shorter than a person or a proxy waits.
_UPLOAD_SECONDS = 30.0
_CALL_SECONDS = 3600.0  # for what rewrites whole tables
_Waiting = tuple[Upload, "asyncio.Future[Outcome]", asyncio.AbstractEventLoop]


class Busy(StorageError):
    """More reports wait than may wait; the sender should try again later."""


class Writer:
    """Commits uploads in groups, and other changes one at a time, in the order of arrival.

    Parameters
    ----------
    database : Database
        Where to write.
    group : int
        Most reports (or kilobytes) in one commit.
    waiting : int
        Most reports (or kilobytes) that may wait; beyond, uploads are refused at once.
    """

    def __init__(self, database: Database, *, group: int = 20_000, waiting: int = 200_000) -> None:
        self.database = database
        self.group = group
        self.most_waiting = waiting
        self.commits = self.committed = self.waiting = 0
        self._deadlines = Deadlines(_UPLOAD_SECONDS)
        self._queue: queue.SimpleQueue[_Waiting | _Job | None] = queue.SimpleQueue()
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)
        self._stopping = False

    def start(self) -> Writer:
        """Start the thread."""
        self._thread.start()
        return self

    def stop(self) -> None:
        """Commit what waits, then end the thread."""
        self._stopping = True
        self._queue.put(None)
        if self._thread.is_alive():
            self._thread.join()

    async def upload(self, upload: Upload) -> Outcome:
        """Store reports; return when they are on the disk.

        Busy if that takes too long: it may still happen, and the same reports sent again are known by their ids.
        """
        if self._stopping or self.waiting + upload.weight > self.most_waiting:
            raise Busy(f"{self.waiting} reports wait to be written; try again in a moment.")
        loop = asyncio.get_running_loop()
        future: asyncio.Future[Outcome] = loop.create_future()
        self.waiting += upload.weight  # both ends of the count run in the event loop
        deadline = self._deadlines.start(lambda: _give_up(future))
        self._queue.put((upload, future, loop))
        try:
            return await future
        finally:
            deadline.stop()

    def run(self, change: Callable[[Connection], T]) -> T:
        """Make a change in its own transaction and wait for it (not from the event loop)."""

        def in_transaction() -> T:
            with self.database.write() as connection:
                return change(connection)

        return self.call(in_transaction)

    def run_in_turn(self, change: Callable[[Connection], T], *, keeping: bool = False) -> T:
        """Make a change between two commits of reports, by whatever server, and wait for it.

        What is read there and written on the strength of it stays true until the commit: others that do so wait, with
        ``keeping`` those too that merge ids.
        """

        def in_turn() -> T:
            with self.database.write_uploads(keeping=keeping) as connection:
                return change(connection)

        return self.call(in_turn)

    def add_up(self, task: int, change: Callable[[Connection], T]) -> T:
        """Make sums of a task's payloads in a transaction, and wait for it (not from the event loop).

        PostgreSQL does so beside the commits of reports, which need not wait; SQLite has one writer.
        """

        def in_transaction() -> T:
            with self.database.write_sums(task) as connection:
                return change(connection)

        return self.beside(in_transaction)

    def beside(self, action: Callable[[], T]) -> T:
        """Do something with a transaction of its own, which on PostgreSQL uploads need not wait for."""
        return self.call(action) if self.database.sqlite else action()

    def call(self, action: Callable[[], T], seconds: float = _CALL_SECONDS) -> T:
        """Do something between two transactions and wait for it (not from the event loop)."""
        if self._stopping or not self._thread.is_alive():
            raise Busy("the service is not running; try again in a moment.")
        future: Future[T] = Future()
        self._queue.put((action, future))
        try:
            return future.result(seconds)
        except FutureTimeout:
            raise Busy("the database has not answered in time; try again in a moment.") from None

    @property
    def alive(self) -> bool:
        """Whether the thread runs."""
        return self._thread.is_alive() and not self._stopping

    def _run(self) -> None:
        item: _Waiting | _Job | tuple[()] | None = self._queue.get()
        while item is not None:
            if len(item) == 0:
                item = self._queue.get()
                continue
            if len(item) == 2:
                self._do(*item)
                item = _NOTHING
                continue
            item = self._commit([item])

    def _gather(self, group: list[_Waiting]) -> _Waiting | _Job | tuple[()] | None:
        """Add uploads that wait to a group; return what follows them."""
        n = sum(upload.weight for upload, _, _ in group)
        item = self._next()
        while item is not None and len(item) == 3 and n < self.group:
            group.append(item)
            n += item[0].weight
            item = self._next()
        return item

    def _next(self) -> _Waiting | _Job | tuple[()] | None:
        """Return what waits next; an empty tuple if nothing does."""
        try:
            return self._queue.get_nowait()
        except queue.Empty:
            return _NOTHING

    def _do(self, action: Callable[[], Any], future: Future[Any]) -> None:
        try:
            result = action()
        except BaseException as error:
            future.set_exception(error)
        else:
            future.set_result(result)

    def _commit(self, group: list[_Waiting]) -> _Waiting | _Job | tuple[()] | None:
        """Commit all uploads that wait, also those that come while others have their turn; return what follows them."""
        following = self._gather(group)

        def uploads() -> list[Upload]:
            nonlocal following
            if following is not None and len(following) == 0:
                following = self._gather(group)
            return [upload for upload, _, _ in group]

        try:
            outcomes = self._taken([upload for upload, _, _ in group], uploads)
        except BaseException as error:
            self._answer(group, [error] * len(group))
            return following
        self.commits += 1
        self.committed += sum(o.accepted for o in outcomes)
        self._answer(group, outcomes)
        return following

    def _taken(self, first: list[Upload], uploads: Callable[[], list[Upload]]) -> list[Outcome]:
        """Store uploads, before the turn where that is possible; ``uploads`` are the first, and what came meanwhile."""
        if not self.database.sqlite and at_hand(self.database, first):
            try:
                with self.database.write_before_turn() as connection:
                    outcomes = take_before_turn(self.database, connection, uploads())
            except Met:
                pass
            else:
                return outcomes
        with self.database.write_uploads(sorted({upload.task for upload in first})) as connection:
            return take(self.database, connection, uploads())

    def _answer(self, group: list[_Waiting], results: list[Any]) -> None:
        """Wake the requests, with one call into each event loop."""
        loops: dict[asyncio.AbstractEventLoop, list[tuple[asyncio.Future[Outcome], Any, int]]] = {}
        for (upload, future, loop), result in zip(group, results, strict=True):
            loops.setdefault(loop, []).append((future, result, upload.weight))
        for loop, answers in loops.items():
            if not loop.is_closed():
                loop.call_soon_threadsafe(self._settle, answers)

    def _settle(self, answers: list[tuple[asyncio.Future[Outcome], Any, int]]) -> None:
        for future, result, weight in answers:
            self.waiting -= weight
            if future.done():
                continue  # nobody waits for it any more
            if isinstance(result, BaseException):
                future.set_exception(result)
            else:
                future.set_result(result)


def _give_up(future: asyncio.Future[Outcome]) -> None:
    """Let a request wait no longer; what it sent may still be written."""
    if not future.done():
        future.set_exception(Busy("the database has not answered in time; try again in a moment."))
