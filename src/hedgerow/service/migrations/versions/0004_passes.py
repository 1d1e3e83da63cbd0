"""Passes by blind signatures: a key for each task, and which invitations were exchanged."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0004"
down_revision = "0003"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "pass_keys",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("key", sa.LargeBinary, nullable=False),
    )
    op.create_table(
        "exchanges",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("invitation", sa.LargeBinary, primary_key=True),
        sa.Column("blinded", sa.LargeBinary, primary_key=True),
        sqlite_with_rowid=False,
    )
