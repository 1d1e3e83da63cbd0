"""Counts of reports by stretches of hours, and how many reports a curator hopes for."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0005"
down_revision = "0004"


def upgrade() -> None:
    """Create the tables."""
    op.create_table(
        "timeline",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("until", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("n", sa.BigInteger, nullable=False),
    )
    op.create_table(
        "targets",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("n", sa.BigInteger, nullable=False),
    )
