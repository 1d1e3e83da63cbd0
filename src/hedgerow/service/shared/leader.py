"""The leader's side: up to 500 reports at a time become a job, the helper is asked, and what both have found is added.

A job is committed before it is sent, and deleted in the transaction that adds up what came of it. A crash anywhere in
between sends the same job again, byte for byte, and the helper answers as it did before.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.aggregate import Party
from hedgerow.aggregate.job import JOB, MOST, Answer
from hedgerow.aggregate.verify import Verified
from hedgerow.service.collection import Collection
from hedgerow.service.schema import batches, jobs, uploads
from hedgerow.service.shared.peers import Caller
from hedgerow.service.shared.state import add_batch
from hedgerow.service.sqlite_file import Overtaken
from hedgerow.tasks.reports import TOKEN_BYTES

if TYPE_CHECKING:
    from hedgerow.service.database import Database
    from hedgerow.service.shared.operator import Identity
    from hedgerow.service.writer import Writer

__all__ = ["Leader", "checkpoint"]


def checkpoint(name: str) -> None:
    """Do nothing; tests stop the process here, between any two steps."""


@dataclass(frozen=True)
class _Taken:
    """Reports of a job."""

    name: bytes
    simulation: bool
    rows: list[tuple[bytes, bytes]]


class Leader:
    """Verifies the reports to one task together with the helper."""

    def __init__(
        self,
        database: Database,
        writer: Writer,
        collection: Collection,
        party: Party,
        identity: Identity,
        caller: Caller,
    ) -> None:
        self.database = database
        self.writer = writer
        self.collection = collection
        self.party = party
        self.identity = identity
        self.caller = caller

    def turn(self) -> tuple[int, int]:
        """Finish the job that is under way, or the next; return how many reports it had, and how many were refused."""
        taken = self._taken()
        if taken is None:
            return 0, 0
        checkpoint("job-committed")
        prepared = self.party.prepare(taken.name, taken.rows)
        answer = None
        if prepared.job is not None:
            protocol = self.party.protocol
            path = f"/v1/shared/{self.collection.id}/jobs"
            body = self.caller.ask(self.identity, protocol.servers.helper, path, prepared.job.to_bytes(protocol))
            answer = Answer.from_bytes(protocol, body, prepared.job)
        checkpoint("answered")
        verified = self.party.finish(prepared, answer)
        self.writer.add_up(self.collection.number, lambda connection: self._finish(connection, taken, verified))
        checkpoint("added")
        return len(taken.rows), len(verified.refused)

    def _taken(self) -> _Taken | None:
        number = self.collection.number
        with self.database.read() as connection:
            row = connection.execute(sa.select(jobs).where(jobs.c.task == number)).first()
            waits = connection.execute(sa.select(uploads.c.seq).where(uploads.c.task == number).limit(1)).first()
        if row is None and waits is not None:
            row = self.writer.add_up(number, self._begin)
        return None if row is None else self._read(row)

    def _begin(self, connection: Connection) -> Any:
        """Move reports from what was uploaded into a new job; return its row."""
        number = self.collection.number
        found = connection.execute(sa.select(jobs).where(jobs.c.task == number)).first()
        if found is not None:
            return found
        own = sa.select(uploads).where(uploads.c.task == number).order_by(uploads.c.seq).limit(1)
        row = connection.execute(own).first()
        if row is None:
            return None
        if connection.execute(uploads.delete().where(uploads.c.seq == row.seq)).rowcount != 1:
            raise Overtaken("another process has made a job of these reports.")
        n = min(int(row.n), MOST)
        end = n * self.collection.kind.kept_width
        rest = {"task": number, "n": row.n - n, "simulation": row.simulation, "body": row.body[end:]}
        if rest["n"]:
            connection.execute(uploads.insert().values(**rest))
        job = {"name": secrets.token_bytes(JOB), "n": n, "simulation": row.simulation, "body": row.body[:end]}
        connection.execute(jobs.insert().values(task=number, **job))
        return connection.execute(sa.select(jobs).where(jobs.c.task == number)).one()

    def _read(self, row: Any) -> _Taken:
        width = self.collection.kind.kept_width
        tag = self.collection.task.digest[:4]
        body = bytes(row.body)
        whole = [body[i * width : (i + 1) * width] for i in range(int(row.n))]
        rows = [(tag + each[:TOKEN_BYTES], each[TOKEN_BYTES:]) for each in whole]
        return _Taken(bytes(row.name), bool(row.simulation), rows)

    def _finish(self, connection: Connection, taken: _Taken, verified: Verified) -> None:
        """Add up what is valid and delete the payloads, in one transaction."""
        number = self.collection.number
        own = (jobs.c.task == number) & (jobs.c.name == taken.name)
        if connection.execute(jobs.delete().where(own)).rowcount != 1:
            raise Overtaken("another process has finished this job.")
        if verified.batch.n:
            add_batch(connection, self.party.protocol, number, verified.batch)
        if taken.simulation:
            connection.execute(batches.update().where(batches.c.task == number).values(simulation=True))
