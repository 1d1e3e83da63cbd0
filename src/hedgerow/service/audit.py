"""What curators did and when: a log that only grows.

The database refuses to change or delete its rows (triggers, see the migrations), and each row carries a SHA-256 over
itself and the row before: whoever changes the file by other means, or cuts rows out of the middle, breaks the chain.
Nothing about holders is in it: no upload, no address.
"""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.schema import audit

__all__ = ["Entry", "broken_at", "read_audit", "write_audit"]

_START = bytes(32)
# Whoever writes has this, so that each row is chained to the last; SQLite has one writer anyway.
_TURN = "SELECT pg_advisory_xact_lock(7218543)"


@dataclass(frozen=True)
class Entry:
    """One row."""

    seq: int
    time: int
    actor: str
    action: str
    task: str | None
    detail: str


def _chain(before: bytes, time: int, actor: str, action: str, task: str | None, detail: str) -> bytes:
    content = json.dumps([time, actor, action, task, detail]).encode()
    return hashlib.sha256(before + content).digest()


def write_audit(
    connection: Connection, time: int, actor: str, action: str, *, task: str | None = None, detail: str = ""
) -> None:
    """Add a row, in the transaction of what it tells about: both are there, or neither."""
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_TURN)
    last = connection.execute(sa.select(audit.c.chain).order_by(audit.c.seq.desc()).limit(1)).scalar()
    chain = _chain(bytes(last or _START), time, actor, action, task, detail)
    connection.execute(
        audit.insert().values(time=time, actor=actor, action=action, task=task, detail=detail, chain=chain)
    )


def read_audit(connection: Connection, most: int = 1000) -> list[Entry]:
    """Return the last rows, newest first."""
    columns = (audit.c.seq, audit.c.time, audit.c.actor, audit.c.action, audit.c.task, audit.c.detail)
    rows = connection.execute(sa.select(*columns).order_by(audit.c.seq.desc()).limit(most))
    return [Entry(*row) for row in rows]


def broken_at(connection: Connection) -> int | None:
    """Return the number of the first row that does not fit the one before; None if all do."""
    before = _START
    for row in connection.execute(sa.select(audit).order_by(audit.c.seq)):
        before = _chain(before, row.time, row.actor, row.action, row.task, row.detail)
        if before != bytes(row.chain):
            return int(row.seq)
    return None
