"""Sums of a task may be kept by group, so that they can be trimmed."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0008"
down_revision = "0007"


def upgrade() -> None:
    """Add how many groups there are, and the key that deals reports into them."""
    op.add_column("tasks", sa.Column("groups", sa.Integer, nullable=False, server_default="0"))
    op.add_column("tasks", sa.Column("group_key", sa.LargeBinary))
