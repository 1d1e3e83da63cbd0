"""What tokens spent is moved to the table with a row for each piece by piece."""

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
        sa.Column("tokens", sa.LargeBinary, nullable=False),
    )
