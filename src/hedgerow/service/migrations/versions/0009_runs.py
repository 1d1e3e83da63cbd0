"""Ids of large collections are packed into sorted runs, some tens in a row, instead of a row each."""

from __future__ import annotations

import sqlalchemy as sa
from alembic import op

revision = "0009"
down_revision = "0008"

_BLOB = sa.LargeBinary
_ROW = 80  # ids in a row
_OLD = "ids_by_row"


def upgrade() -> None:
    """Pack what there is of each task as its first run; for some hours, the first step made the new table itself."""
    connection = op.get_bind()
    if "run" in {column["name"] for column in sa.inspect(connection).get_columns("report_ids")}:
        return
    op.rename_table("report_ids", _OLD)
    if connection.dialect.name == "postgresql":
        op.execute(f"ALTER INDEX report_ids_pkey RENAME TO {_OLD}_pkey")
    packed = op.create_table(
        "report_ids",
        sa.Column("task", sa.Integer, primary_key=True, autoincrement=False),
        sa.Column("run", sa.BigInteger, primary_key=True, autoincrement=False),
        sa.Column("first", _BLOB, primary_key=True),
        sa.Column("ids", _BLOB, nullable=False),
        sqlite_with_rowid=False,
    )
    old = sa.table(_OLD, sa.column("task", sa.Integer), sa.column("key", _BLOB), sa.column("mark", _BLOB))
    for task in connection.execute(sa.select(old.c.task).distinct()).scalars().all():
        own = sa.select(old.c.key, old.c.mark).where(old.c.task == task).order_by(old.c.key)
        for rows in connection.execute(own.execution_options(stream_results=True)).partitions(_ROW):
            ids = b"".join(bytes(key) + bytes(mark) for key, mark in rows)
            connection.execute(packed.insert().values(task=task, run=0, first=bytes(rows[0][0]), ids=ids))
    op.drop_table(_OLD)
    if connection.dialect.name == "postgresql":
        # As of the other tables: ANALYZE must not copy samples of digests into the catalogue.
        for column in ("first", "ids"):
            op.execute(f"ALTER TABLE report_ids ALTER COLUMN {column} SET STATISTICS 0")
