"""Upload tokens of tasks whose reports name their record are for certain records."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0006"
down_revision = "0005"


def upgrade() -> None:
    """Add the columns."""
    op.add_column("upload_tokens", sa.Column("first_record", sa.BigInteger))
    op.add_column("upload_tokens", sa.Column("last_record", sa.BigInteger))
