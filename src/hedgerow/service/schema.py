"""The tables of the service, and the steps that bring an older database up to date.

Nothing in here says who sent a report: no address, no time of arrival, no token beside a report. Ids are kept as
digests, apart from payloads and in the order of the digests, so that neither leads to the other.

Databases remember more than their rows: which transaction wrote each, in which order, and what stood there before.
So what uploads write (:data:`YOUNG`) is packed, not one row a report, and is written anew, whole, soon after
(:mod:`hedgerow.service.scrub`). What grows large is moved to tables with a row for each (``report_ids``,
``upload_tokens``, ``sealed_segments``), which are written in batches of tens of thousands only.
"""

from __future__ import annotations

from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.errors import FormatError

__all__ = ["VERSION", "YOUNG", "metadata", "migrate"]

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
"""Rows of tasks that deliver a data set instead of sums, sorted by their bytes; one segment grows for each task."""

sealed_segments = sa.Table(
    "sealed_segments",
    metadata,
    sa.Column("seq", _Count, primary_key=True, autoincrement=True),
    sa.Column("task", sa.Integer, nullable=False, index=True),
    sa.Column("n", sa.Integer, nullable=False),
    sa.Column("simulation", sa.Boolean, nullable=False),
    sa.Column("body", _Blob, nullable=False),
)
"""Segments that have grown large; they never change."""

partials = sa.Table(
    "partials",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("revision", sa.BigInteger, nullable=False),
    sa.Column("n", sa.BigInteger, nullable=False),
    sa.Column("sums", _Blob, nullable=False),
    sa.Column("events", _Blob, nullable=False),
    sa.Column("scrubbed", sa.BigInteger, nullable=False, default=0),
)
"""Partial sums of a task, the counts that the detector of forgeries looks at, and the revision last scrubbed."""

arrivals = sa.Table(
    "arrivals",
    metadata,
    sa.Column("seq", _Count, primary_key=True, autoincrement=True),
    sa.Column("task", sa.Integer, nullable=False),
    sa.Column("ids", _Blob, nullable=False),
    sa.Column("tokens", _Blob, nullable=False),
)
"""What one commit brought to one task: ids (key and mark, 24 bytes each) and spent tokens (digest and number, 40)."""

known = sa.Table(
    "known",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("version", sa.BigInteger, nullable=False),
    sa.Column("sealed", sa.BigInteger, nullable=False),
    sa.Column("ids", _Blob, nullable=False),
    sa.Column("tokens", _Blob, nullable=False),
)
"""The same of all earlier commits together, sorted; ``sealed`` ids of the task were moved to ``report_ids``."""

report_ids = sa.Table(
    "report_ids",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("key", _Blob, primary_key=True),
    sa.Column("mark", _Blob, nullable=False),
    sqlite_with_rowid=False,
)
"""Digests of report ids, with a fingerprint of the payload that only the id can open: of tasks that have many."""

upload_tokens = sa.Table(
    "upload_tokens",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("digest", _Blob, primary_key=True),
    sa.Column("remaining", sa.BigInteger, nullable=False),
    sqlite_with_rowid=False,
)
"""How many reports each upload token may bring, without what ``known`` and ``arrivals`` say of it; never which ones."""

refusals = sa.Table(
    "refusals",
    metadata,
    sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
    sa.Column("code", sa.String(40), primary_key=True),
    sa.Column("n", sa.BigInteger, nullable=False),
)

YOUNG = (arrivals, known, partials, segments, uploads, refusals)
"""What uploads and their aggregation write to, in the order in which transactions use them."""

_version = sa.Table("schema_version", sa.MetaData(), sa.Column("version", sa.Integer, nullable=False))


def _first(connection: Connection) -> None:
    """Create everything."""
    metadata.create_all(connection)
    if connection.dialect.name != "postgresql":
        return
    # Noise does not compress; do not let the server try.
    for table in (uploads, segments, sealed_segments):
        connection.exec_driver_sql(f"ALTER TABLE {table.name} ALTER COLUMN body SET STORAGE EXTERNAL")
    # ANALYZE would copy samples of payloads and digests into the catalogue, where nobody deletes them.
    for table in metadata.sorted_tables:
        for column in table.columns:
            if isinstance(column.type, sa.LargeBinary):
                connection.exec_driver_sql(f"ALTER TABLE {table.name} ALTER COLUMN {column.name} SET STATISTICS 0")


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
