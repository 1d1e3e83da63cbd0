"""The first tables."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0001"
down_revision = None

_BLOB = sa.LargeBinary
# SQLite counts up only in columns that are exactly INTEGER.
_COUNT = sa.BigInteger().with_variant(sa.Integer(), "sqlite")


def upgrade() -> None:
    """Create them."""
    op.create_table(
        "settings",
        sa.Column("name", sa.Text, primary_key=True),
        sa.Column("value", sa.Text, nullable=False),
    )
    op.create_table(
        "tasks",
        sa.Column("number", sa.Integer, primary_key=True, autoincrement=True),
        sa.Column("id", sa.String(64), nullable=False, unique=True),
        sa.Column("announcement", sa.Text, nullable=False),
        sa.Column("first", sa.Integer),
        sa.Column("simulation", sa.Boolean, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
        sa.Column("closed", sa.BigInteger),
        sa.Column("finished", sa.Boolean, nullable=False),
    )
    for name in ("uploads", "segments", "sealed_segments"):
        op.create_table(
            name,
            sa.Column("seq", _COUNT, primary_key=True, autoincrement=True),
            sa.Column("task", sa.Integer, nullable=False),
            sa.Column("n", sa.Integer, nullable=False),
            sa.Column("simulation", sa.Boolean, nullable=False),
            sa.Column("body", _BLOB, nullable=False),
        )
        op.create_index(f"ix_{name}_task", name, ["task"])
    op.create_table(
        "partials",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("revision", sa.BigInteger, nullable=False),
        sa.Column("n", sa.BigInteger, nullable=False),
        sa.Column("sums", _BLOB, nullable=False),
        sa.Column("events", _BLOB, nullable=False),
        sa.Column("scrubbed", sa.BigInteger, nullable=False),
    )
    _ids()
    op.create_table(
        "refusals",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("code", sa.String(40), primary_key=True),
        sa.Column("n", sa.BigInteger, nullable=False),
    )
    _postgres()


def _ids() -> None:
    op.create_table(
        "arrivals",
        sa.Column("seq", _COUNT, primary_key=True, autoincrement=True),
        sa.Column("task", sa.Integer, nullable=False),
        sa.Column("ids", _BLOB, nullable=False),
        sa.Column("tokens", _BLOB, nullable=False),
    )
    op.create_table(
        "known",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("version", sa.BigInteger, nullable=False),
        sa.Column("sealed", sa.BigInteger, nullable=False),
        sa.Column("ids", _BLOB, nullable=False),
        sa.Column("tokens", _BLOB, nullable=False),
    )
    op.create_table(
        "report_ids",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("key", _BLOB, primary_key=True),
        sa.Column("mark", _BLOB, nullable=False),
        sqlite_with_rowid=False,
    )
    op.create_table(
        "upload_tokens",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("digest", _BLOB, primary_key=True),
        sa.Column("remaining", sa.BigInteger, nullable=False),
        sqlite_with_rowid=False,
    )


_BODIES = ("uploads", "segments", "sealed_segments")
_BYTES = {
    **dict.fromkeys(_BODIES, ("body",)),
    "partials": ("sums", "events"),
    "arrivals": ("ids", "tokens"),
    "known": ("ids", "tokens"),
    "report_ids": ("key", "mark"),
    "upload_tokens": ("digest",),
}


def _postgres() -> None:
    if op.get_bind().dialect.name != "postgresql":
        return
    # Noise does not compress; do not let the server try.
    for table in _BODIES:
        op.execute(f"ALTER TABLE {table} ALTER COLUMN body SET STORAGE EXTERNAL")
    # ANALYZE would copy samples of payloads and digests into the catalogue, where nobody deletes them.
    for table, columns in _BYTES.items():
        for column in columns:
            op.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0")
