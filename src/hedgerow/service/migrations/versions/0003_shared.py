"""Tasks that two servers share: other operators, batches, jobs of the leader, answers of the helper."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0003"
down_revision = "0002"

_BLOB = sa.LargeBinary


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "peers",
        sa.Column("signing_key", _BLOB, primary_key=True),
        sa.Column("card", sa.Text, nullable=False),
        sa.Column("created", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "batches",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("role", sa.Integer, nullable=False),
        sa.Column("leader", _BLOB, nullable=False),
        sa.Column("helper", _BLOB, nullable=False),
        sa.Column("simulation", sa.Boolean, nullable=False),
        sa.Column("collected", sa.BigInteger),
        sa.Column("n", sa.BigInteger),
        sa.Column("checksum", _BLOB),
        sa.Column("sealed", _BLOB),
        sa.Column("other", _BLOB),
    )
    op.create_table(
        "jobs",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", _BLOB, nullable=False),
        sa.Column("n", sa.Integer, nullable=False),
        sa.Column("simulation", sa.Boolean, nullable=False),
        sa.Column("body", _BLOB, nullable=False),
    )
    op.create_table(
        "answers",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("name", _BLOB, primary_key=True),
        sa.Column("digest", _BLOB, nullable=False),
        sa.Column("body", _BLOB, nullable=False),
    )
    if op.get_bind().dialect.name == "postgresql":
        # As of the other tables: what is random does not compress, and ANALYZE must not copy samples of it.
        op.execute("ALTER TABLE jobs ALTER COLUMN body SET STORAGE EXTERNAL")
        for column in ("name", "body"):
            op.execute(f"ALTER TABLE jobs ALTER COLUMN {column} SET STATISTICS 0")
