"""The end of a batch: it is closed, noise is drawn and the noisy share is stored, all in one transaction, once."""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.aggregate import Protocol, release
from hedgerow.errors import FormatError
from hedgerow.randomness import SecureRandomness
from hedgerow.service.audit import write_audit
from hedgerow.service.collection import Collection
from hedgerow.service.problems import Problem
from hedgerow.service.schema import batches, tasks
from hedgerow.service.shared.state import Released, batch_of, erase, released_of, role_of

__all__ = ["close_batch", "keep_other"]


def close_batch(
    connection: Connection, collection: Collection, protocol: Protocol, n: int, checksum: bytes, now: int, actor: str
) -> Released:
    """Release this server's share of the batch that the other server has too; of one that was, the same bytes again.

    The caller has the transaction of :meth:`Database.write_uploads`: nobody adds anything in between.
    """
    before = released_of(connection, collection.number)
    if before is not None:
        if (before.n, before.checksum) != (n, checksum):
            raise Problem("batch-mismatch", "This batch was released, and it is another one.")
        return before
    _, batch = batch_of(connection, protocol, collection.number)
    if batch.n < protocol.min_batch:
        raise Problem("batch-too-small", f"At least {protocol.min_batch} reports are needed; there are {batch.n}.")
    try:
        batch.check(protocol, n, checksum)
    except FormatError as error:
        raise Problem("batch-mismatch", str(error)) from None
    role = role_of(connection, collection.number)
    sealed = release(protocol, role, batch, SecureRandomness())
    values = {"n": n, "checksum": checksum, "sealed": sealed, "collected": now}
    own = batches.c.task == collection.number
    connection.execute(batches.update().where(own & batches.c.sealed.is_(None)).values(**values))
    closed = tasks.update().where((tasks.c.number == collection.number) & tasks.c.closed.is_(None)).values(closed=now)
    connection.execute(closed)
    erase(connection, collection.number)
    write_audit(connection, now, actor, "collect", task=collection.id, detail=f"{n} reports")
    found = released_of(connection, collection.number)
    assert found is not None
    return found


def keep_other(connection: Connection, number: int, sealed: bytes) -> None:
    """Keep the helper's sealed share at the leader, so that a collection can be repeated whoever has gone."""
    connection.execute(sa.update(batches).where(batches.c.task == number).values(other=sealed))
