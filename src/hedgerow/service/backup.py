"""Backup and restore: one file that either kind of database can be filled from.

The file is a header, then for every table its rows as length-prefixed MessagePack, then the SHA-256 of all before it.
It is read from one snapshot, while the service runs. It holds the signing key and the digests of tokens: guard it.
"""

from __future__ import annotations

import hashlib
import os
import struct
import time
from collections.abc import Iterator
from typing import IO, Any

import msgspec
import sqlalchemy as sa

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.service.audit import write_audit
from hedgerow.service.database import Database
from hedgerow.service.migrate import VERSION
from hedgerow.service.schema import arrivals, batches, jobs, known, metadata, partials, sessions, tasks, uploads
from hedgerow.service.scrub import merged

__all__ = ["backup", "check_backup", "restore"]

_MAGIC = b"HDGB\x01\x00"
_SIZE = struct.Struct("<I")
_DIGEST = hashlib.sha256().digest_size
_PIECE = 1 << 20  # bytes read at a time; by hand
_ROWS = 2_000  # fetched at a time: some megabytes; by hand


class _Hashing:
    """A file that hashes what goes through it."""

    def __init__(self, file: IO[bytes]) -> None:
        self.file = file
        self.hash = hashlib.sha256()

    def write(self, data: bytes) -> None:
        self.hash.update(data)
        self.file.write(data)

    def read(self, n: int) -> bytes:
        data = self.file.read(n)
        if len(data) != n:
            raise FormatError("this backup is truncated; use another copy.")
        self.hash.update(data)
        return data


def backup(database: Database, path: str) -> dict[str, int]:
    """Write a backup to a new file, readable by its owner only; return the number of rows by table."""
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise HedgerowError(f"{path} exists; a backup is never replaced. Choose another name.") from None
    counts = {}
    try:
        with os.fdopen(handle, "wb") as file, database.read() as connection:
            out = _Hashing(file)
            out.write(_MAGIC + _SIZE.pack(VERSION))
            for table in metadata.sorted_tables:
                _put(out, [str(table.name), [str(column.name) for column in table.columns]])
                counts[table.name] = 0
                for part in _contents(connection, table):
                    _put(out, [list(row) for row in part])
                    counts[table.name] += len(part)
                _put(out, [])
            file.write(out.hash.digest())
            file.flush()
            os.fsync(file.fileno())
    except BaseException:
        os.unlink(path)
        raise
    return counts


def _contents(connection: sa.Connection, table: sa.Table) -> Iterator[Any]:
    """Yield the rows of a table in parts, by their keys: as they lie they could tell the order of arrival.

    What has arrived since the last scrubbing is put into what is known, because a backup is kept: it must not tell
    which ids and tokens came together.
    """
    if table is arrivals:
        return
    if table is known:
        either = sa.union(sa.select(known.c.task), sa.select(arrivals.c.task))
        for task in sorted(connection.execute(either).scalars()):
            yield [merged(connection, task).values()]
        return
    ordered = sa.select(table).order_by(*table.primary_key.columns)
    yield from connection.execution_options(stream_results=True).execute(ordered).partitions(_ROWS)


def check_backup(path: str) -> None:
    """Refuse a file that is not a whole backup of this schema, so that no database is made for it."""
    head = len(_MAGIC) + _SIZE.size
    with open(path, "rb") as file:
        begin = file.read(head)
        if begin[: len(_MAGIC)] != _MAGIC or len(begin) < head:
            raise FormatError(f"{path} is not a backup; 'hedgerow serve backup' makes one.")
        (version,) = _SIZE.unpack(begin[len(_MAGIC) :])
        if version != VERSION:
            raise FormatError(
                f"{path} is a backup of schema version {version}, and this hedgerow reads {VERSION}: restore it by the "
                "version that made it, and start this one on that database."
            )
        left = os.fstat(file.fileno()).st_size - head - _DIGEST
        digest = hashlib.sha256(begin)
        while left > 0 and (piece := file.read(min(left, _PIECE))):
            digest.update(piece)
            left -= len(piece)
        if file.read() != digest.digest():
            raise FormatError(f"{path} is damaged or cut short: its digest does not hold. Use another copy.")


def restore(database: Database, path: str) -> dict[str, int]:
    """Fill an empty database from a backup, all or nothing; return the number of rows by table."""
    check_backup(path)
    counts: dict[str, int] = {}
    with open(path, "rb") as file, database.write() as connection:
        for table in metadata.sorted_tables:
            if connection.execute(sa.select(sa.literal(1)).select_from(table).limit(1)).first():
                raise HedgerowError("the database is not empty; restore into a new one.")
        source = _Hashing(file)
        source.read(len(_MAGIC) + _SIZE.size)
        for table in metadata.sorted_tables:
            name, columns = _get(source)
            if name != table.name or columns != [column.name for column in table.columns]:
                raise FormatError(f"{path} has a table {name!r} where {table.name!r} is expected.")
            counts[table.name] = 0
            for rows in _parts(source):
                connection.execute(table.insert(), [dict(zip(columns, row, strict=True)) for row in rows])
                counts[table.name] += len(rows)
            if connection.dialect.name == "postgresql":
                _continue_counting(connection, table)
        _end_shared(connection)
        # Whoever signed out since then must stay out. And the log says where it goes on from another time.
        connection.execute(sessions.delete())
        write_audit(connection, int(time.time()), "command line", "restored", detail=f"{counts['tasks']} tasks")
        expected = source.hash.digest()
        if file.read() != expected:
            raise FormatError(f"{path} is damaged: its digest does not hold. Use another copy.")
    return counts


def _end_shared(connection: sa.Connection) -> None:
    """End what two servers share and was not collected when the backup was made.

    Since then ids may have come that are not in it, and noise may have been drawn: a restored server would take
    reports twice, and draw again. Whatever is collected later, is collected by another task.
    """
    open_ones = sa.select(batches.c.task).where(batches.c.sealed.is_(None))
    connection.execute(partials.delete().where(partials.c.task.in_(open_ones)))
    for table in (uploads, jobs):
        connection.execute(table.delete().where(table.c.task.in_(open_ones)))
    own = tasks.c.number.in_(open_ones) & tasks.c.closed.is_(None)
    connection.execute(tasks.update().where(own).values(closed=int(time.time())))


def _put(out: _Hashing, value: Any) -> None:
    data = msgspec.msgpack.encode(value)
    out.write(_SIZE.pack(len(data)) + data)


def _get(source: _Hashing) -> Any:
    (size,) = _SIZE.unpack(source.read(_SIZE.size))
    try:
        return msgspec.msgpack.decode(source.read(size))
    except msgspec.MsgspecError as error:
        raise FormatError(f"this backup is damaged: {error}") from error


def _parts(source: _Hashing) -> Iterator[Any]:
    while rows := _get(source):
        yield rows


def _continue_counting(connection: sa.Connection, table: sa.Table) -> None:
    """Let PostgreSQL count on after the largest number that was restored."""
    for column in table.primary_key.columns:
        if column.autoincrement is True:
            connection.exec_driver_sql(
                f"SELECT setval(pg_get_serial_sequence('{table.name}', '{column.name}'), "
                f"(SELECT coalesce(max({column.name}), 0) + 1 FROM {table.name}), false)"
            )
