"""What the database holds of a shared task: this server's share of the sums, and whether it was released."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.aggregate import Batch, Protocol
from hedgerow.sealing import Role
from hedgerow.service.schema import batches, partials
from hedgerow.service.sqlite_file import Overtaken

__all__ = ["Released", "add_batch", "batch_of", "erase", "released_of", "role_of"]

_CHECKSUM = 32  # bytes of SHA-256


@dataclass(frozen=True)
class Released:
    """What left this server of a batch: the same bytes for ever."""

    n: int
    checksum: bytes
    sealed: bytes
    other: bytes | None
    simulation: bool
    collected: int


def role_of(connection: Connection, number: int) -> Role:
    """Return what this server is in a shared task."""
    return Role(connection.execute(sa.select(batches.c.role).where(batches.c.task == number)).scalar_one())


def batch_of(connection: Connection, protocol: Protocol, number: int) -> tuple[int, Batch]:
    """Return the revision of this server's sums, and what has been added up so far."""
    row = connection.execute(sa.select(partials).where(partials.c.task == number)).first()
    if row is None:
        return 0, Batch.of(protocol, [], [])
    return int(row.revision), Batch(int(row.n), bytes(row.sums[:_CHECKSUM]), bytes(row.sums[_CHECKSUM:]))


def add_batch(connection: Connection, protocol: Protocol, number: int, more: Batch) -> None:
    """Add to the sums, within a transaction that does nothing else with them."""
    revision, before = batch_of(connection, protocol, number)
    whole = before.plus(protocol, more)
    values = {"revision": revision + 1, "n": whole.n, "sums": whole.checksum + whole.total}
    if revision == 0:
        connection.execute(partials.insert().values(task=number, events=b"", scrubbed=0, **values))
        return
    own = (partials.c.task == number) & (partials.c.revision == revision)
    if connection.execute(partials.update().where(own).values(**values)).rowcount != 1:
        raise Overtaken("another process adds to this batch.")


def erase(connection: Connection, number: int) -> None:
    """Forget this server's share without noise: it was released with noise, and nobody shall ever draw another."""
    own = partials.c.task == number
    connection.execute(partials.update().where(own).values(revision=partials.c.revision + 1, sums=b""))


def released_of(connection: Connection, number: int) -> Released | None:
    """Return what was released of a batch; None while nothing was."""
    row: Any = connection.execute(sa.select(batches).where(batches.c.task == number)).first()
    if row is None or row.sealed is None:
        return None
    other = None if row.other is None else bytes(row.other)
    return Released(int(row.n), bytes(row.checksum), bytes(row.sealed), other, bool(row.simulation), int(row.collected))
