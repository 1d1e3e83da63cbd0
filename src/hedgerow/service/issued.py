"""Upload tokens: making them, and which were given out.

That is asked before a body is read, so that no stranger makes the service hold one.
"""

from __future__ import annotations

import secrets
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.collection import Collection
from hedgerow.service.curators import digest_of
from hedgerow.service.database import Database
from hedgerow.service.problems import Problem
from hedgerow.service.schema import tasks, upload_tokens

__all__ = ["Issued", "NewToken", "new_tokens"]

_MOST = 100_000  # digests in memory: some ten megabytes; by hand


_LAST = (1 << 63) - 1  # the largest number of a record, as databases and messages have it


@dataclass(frozen=True)
class NewToken:
    """A token, shown once; and the records that it is for, where reports name theirs."""

    text: str
    records: range | None = None


def new_tokens(
    connection: Connection, collection: Collection, count: int, quota: int, first: int | None
) -> list[NewToken]:
    """Make tokens and store their digests, in an order that tells nothing."""
    start = _start(connection, collection, first)
    if start is not None and start + count * quota - 1 > _LAST:
        raise Problem("invalid-request", f"The numbers of records end at {_LAST}.")
    made: list[NewToken] = []
    rows: list[dict[str, Any]] = []
    for i in range(count):
        records = None
        bound = {}
        if start is not None:
            records = range(start + i * quota, start + (i + 1) * quota)
            bound = {"first_record": records[0], "last_record": records[-1]}
        made.append(NewToken("hu_" + secrets.token_urlsafe(32), records))
        rows.append({"task": collection.number, "digest": digest_of(made[-1].text), "remaining": quota, **bound})
    connection.execute(upload_tokens.insert(), sorted(rows, key=lambda row: row["digest"]))
    return made


def _start(connection: Connection, collection: Collection, first: int | None) -> int | None:
    """Return the first record of new tokens; None where reports name none."""
    if not collection.kind.numbered:
        return None
    if first is not None:
        return first
    own = upload_tokens.c.task == collection.number
    last = connection.execute(sa.select(sa.func.max(upload_tokens.c.last_record)).where(own)).scalar()
    return 0 if last is None else int(last) + 1


class Issued:
    """Remembers tokens that were found; one that is revoked or spent is refused later, in the transaction."""

    def __init__(self, database: Database) -> None:
        self._database = database
        self._found: set[tuple[int, bytes]] = set()

    def has(self, task: int, digest: bytes) -> bool:
        """Return whether this token was seen before; without asking the database."""
        return (task, digest) in self._found

    def look(self, task: int, digest: bytes) -> str:
        """Return "" for a token of this task, else why it is refused.

        After a closed task is forgotten its tokens are, too: its holders are told that it is closed, which is final.
        """
        own = (upload_tokens.c.task == task) & (upload_tokens.c.digest == digest)
        with self._database.read() as connection:
            if connection.execute(sa.select(upload_tokens.c.remaining).where(own)).scalar() is not None:
                if len(self._found) >= _MOST:
                    self._found.clear()
                self._found.add((task, digest))
                return ""
            closed = connection.execute(sa.select(tasks.c.closed).where(tasks.c.number == task)).scalar()
        return "token-unknown" if closed is None else "task-closed"
