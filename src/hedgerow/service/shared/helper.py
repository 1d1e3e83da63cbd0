"""The helper's side: a job is answered once; ids, sums and the answer are committed together."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Callable
from itertools import chain
from typing import TypeVar

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.aggregate import Batch, Party
from hedgerow.aggregate.job import Answer, Job
from hedgerow.service.collection import Collection
from hedgerow.service.database import Database, StoragePressure
from hedgerow.service.digests import keys_of, marks_of
from hedgerow.service.ids import keyed, pack_ids
from hedgerow.service.problems import Problem
from hedgerow.service.schema import answers, tasks
from hedgerow.service.shared.leader import checkpoint
from hedgerow.service.shared.state import add_batch
from hedgerow.service.writer import Writer

__all__ = ["Helper"]

T = TypeVar("T")


class Helper:
    """Answers the leader's jobs about one task."""

    def __init__(self, database: Database, writer: Writer, collection: Collection, party: Party) -> None:
        self.database = database
        self.writer = writer
        self.collection = collection
        self.party = party

    def answer(self, body: bytes) -> bytes:
        """Return the answer to a job; when it returns, what it says is on the disk."""
        protocol = self.party.protocol
        job = Job.from_bytes(protocol, body)
        digest = hashlib.sha256(body).digest()
        before, known = self._in_turn(lambda connection: self._look(connection, job, digest))
        if before is not None:
            return before
        made, verified = self.party.answer(job, known)
        checkpoint("verified")
        stored = self._in_turn(lambda connection: self._commit(connection, job, digest, known, made, verified.batch))
        checkpoint("committed")
        return stored

    def _in_turn(self, change: Callable[[Connection], T]) -> T:
        """Run something in a transaction in which nobody else adds ids."""

        def alone() -> T:
            with self.database.write_uploads() as connection:
                return change(connection)

        return self.writer.call(alone)

    def _look(self, connection: Connection, job: Job, digest: bytes) -> tuple[bytes | None, frozenset[bytes]]:
        """Return the answer that was given before, and which of the reports are known."""
        before = self._before(connection, job, digest)
        if before is not None:
            return before, frozenset()
        closed = connection.execute(sa.select(tasks.c.closed).where(tasks.c.number == self.collection.number)).scalar()
        if closed is not None:
            raise Problem("task-closed", "This batch was collected; nothing is added to it any more.")
        return None, self._known(connection, job)

    def _before(self, connection: Connection, job: Job, digest: bytes) -> bytes | None:
        own = (answers.c.task == self.collection.number) & (answers.c.name == job.name)
        row = connection.execute(sa.select(answers).where(own)).first()
        if row is None:
            return None
        if not hmac.compare_digest(bytes(row.digest), digest):
            raise Problem("job-changed", "Another job was answered under this name.")
        return bytes(row.body)

    def _known(self, connection: Connection, job: Job) -> frozenset[bytes]:
        ids = [entry.report_id for entry in job.entries]
        keys = keys_of(ids)
        found = self.database.known.look(connection, self.collection.number).marks(connection, keyed(keys))
        return frozenset(report_id for report_id, key in zip(ids, keys, strict=True) if key in found)

    def _commit(
        self, connection: Connection, job: Job, digest: bytes, known: frozenset[bytes], made: Answer, batch: Batch
    ) -> bytes:
        """Store ids, sums and the answer; whatever became of a report, its id is known from now on."""
        before, now_known = self._look(connection, job, digest)
        if before is not None:
            return before
        if now_known != known:
            raise StoragePressure("another job had some of these reports in the meantime; ask again.")
        new = [entry for entry in job.entries if entry.report_id not in known]
        ids = [entry.report_id for entry in new]
        pairs = zip(keys_of(ids), marks_of(ids, [entry.to_bytes() for entry in new]), strict=True)
        if new:
            self.database.arrive(connection, self.collection.number, pack_ids(chain.from_iterable(pairs)), b"")
        if batch.n:
            add_batch(connection, self.party.protocol, self.collection.number, batch)
        body = made.to_bytes(self.party.protocol)
        values = {"task": self.collection.number, "name": job.name, "digest": digest, "body": body}
        connection.execute(answers.insert().values(**values))
        return body
