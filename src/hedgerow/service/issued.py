"""Which upload tokens were given out: asked before a body is read, so that no stranger makes the service hold one."""

from __future__ import annotations

import sqlalchemy as sa

from hedgerow.service.database import Database
from hedgerow.service.schema import tasks, upload_tokens

__all__ = ["Issued"]

_MOST = 100_000  # digests in memory: some ten megabytes; by hand


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
