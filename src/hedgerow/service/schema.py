"""The tables of the service, and the steps that bring an older database up to date.

Nothing in here says who sent a report: no address, no time of arrival, no token beside a report. Ids are kept as
digests, apart from payloads and in the order of the digests, so that neither leads to the other.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.errors import FormatError

__all__ = ["VERSION", "metadata", "migrate"]

metadata = sa.MetaData()
_Blob = sa.LargeBinary
# SQLite counts up only in columns that are exactly INTEGER.
_Count = sa.BigInteger().with_variant(sa.Integer(), "sqlite")

settings = sa.Table(
    "settings",
    metadata,
    sa.Column("name", sa.Text, primary_key=True),
    sa.Column("value", sa.Text, nullable=False),
)
"""The curator's signing key and the digests of curators' tokens."""

tasks = sa.Table(
    "tasks",
    metadata,
    sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
    sa.Column("id", sa.String(64), nullable=False, unique=True),
    sa.Column("announcement", sa.Text, nullable=False),
    sa.Column("first", sa.Integer),
    sa.Column("simulation", sa.Boolean, nullable=False),
    sa.Column("created", sa.BigInteger, nullable=False),
    sa.Column("closed", sa.BigInteger),
    sa.Column("finished", sa.Boolean, nullable=False, default=False),
)

uploads = sa.Table(
    "uploads",
    metadata,
    sa.Column("seq", _Count, primary_key=True, autoincrement=True),
    sa.Column("task", sa.Integer, nullable=False, index=True),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("simulation", sa.Boolean, nullable=False),
    sa.Column("body", _Blob, nullable=False),
)
"""Payloads that were acknowledged and not yet aggregated."""

segments = sa.Table(
    "segments",
    metadata,
    sa.Column("seq", _Count, primary_key=True, autoincrement=True),
    sa.Column("task", sa.Integer, nullable=False, index=True),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("simulation", sa.Boolean, nullable=False),
    sa.Column("body", _Blob, nullable=False),
)
"""Rows of tasks that deliver a data set instead of sums; each segment is shuffled."""

partials = sa.Table(
    "partials",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("n", sa.BigInteger, nullable=False),
    sa.Column("sums", _Blob, nullable=False),
    sa.Column("events", _Blob, nullable=False),
)
"""Partial sums of a task, and the counts that the detector of forgeries looks at."""

report_ids = sa.Table(
    "report_ids",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("key", _Blob, primary_key=True),
    sa.Column("mark", _Blob, nullable=False),
    sqlite_with_rowid=False,
)
"""Digests of report ids, with a fingerprint of the payload that only the id can open."""

upload_tokens = sa.Table(
    "upload_tokens",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("digest", _Blob, primary_key=True),
    sa.Column("remaining", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""How many reports each upload token may still bring; never which ones it brought."""

refusals = sa.Table(
    "refusals",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("code", sa.String(40), primary_key=True),
    sa.Column("n", sa.BigInteger, nullable=False),
)

_version = sa.Table("schema_version", sa.MetaData(), sa.Column("version", sa.Integer, nullable=False))


def _first(connection: Connection) -> None:
    """Create everything."""
    metadata.create_all(connection)
    if connection.dialect.name == "postgresql":
        # Noise does not compress; do not let the server try.
        for table in ("uploads", "segments"):
            connection.exec_driver_sql(f"ALTER TABLE {table} ALTER COLUMN body SET STORAGE EXTERNAL")


MIGRATIONS: tuple[Callable[[Connection], None], ...] = (_first,)
"""Step i brings version i to version i + 1. A step that was released never changes."""

VERSION = len(MIGRATIONS)


def migrate(connection: Connection) -> int:
    """Bring the database to :data:`VERSION` in one transaction; return the version it had.

    A database of a newer version is refused: an old program must not write into it.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql("SELECT pg_advisory_xact_lock(7218541)")
    _version.create(connection, checkfirst=True)
    found = connection.execute(sa.select(_version.c.version)).scalar()
    before = int(found or 0)
    if before > VERSION:
        raise FormatError(
            f"the database has schema version {before}, and this program knows {VERSION}; upgrade hedgerow."
        )
    for step in MIGRATIONS[before:]:
        step(connection)
    if found is None:
        connection.execute(_version.insert().values(version=VERSION))
    elif before != VERSION:
        connection.execute(_version.update().values(version=VERSION))
    return before
