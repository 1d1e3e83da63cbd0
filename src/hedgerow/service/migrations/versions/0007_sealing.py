"""What is moved to tables with a row for each id is moved piece by piece."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0007"
down_revision = "0006"


def upgrade() -> None:
    """Make the table of pieces."""
    op.create_table(
        "sealing",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("piece", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("ids", sa.LargeBinary, nullable=False),
        sa.Column("tokens", sa.LargeBinary, nullable=False),
    )
