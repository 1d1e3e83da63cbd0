"""Pages of PostgreSQL that hold rows which were deleted: noted by whoever deletes, written anew by the aggregator.

A row that was deleted lies in its page until the table is written anew (``VACUUM FULL``), and whoever uses the table
waits for that. So the note is part of the transaction that deletes, and the writing follows when it holds up nobody
for long. A note is taken away only if it is the one that was there before the writing: rows that were deleted
meanwhile have left another. SQLite overwrites what is deleted, and needs none of this.
"""

from __future__ import annotations

import secrets
from collections.abc import Iterable

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.database import Database
from hedgerow.service.postgres import ANSWER_SECONDS
from hedgerow.service.schema import metadata, settings

__all__ = ["BRIEF_SECONDS", "LONG_SECONDS", "FORGOTTEN_FROM", "noted", "note_pages", "take_note", "write_anew"]

BRIEF_SECONDS = ANSWER_SECONDS / 2
"""For writing a table anew at any time: other servers give the database up after twice that, uploads much later."""
LONG_SECONDS = 3600.0
"""For writing it anew when nobody waits; by hand."""
FORGOTTEN_FROM = ("report_ids", "upload_tokens", "sealing", "exchanges")
"""The large tables that a task's ids and tokens are forgotten from."""
_LOCK_MILLISECONDS = 1000  # uploads queue behind whoever waits for a table; by hand
_PREFIX = "pages:"


def note_pages(connection: Connection, tables: Iterable[str], now: float) -> None:
    """Note that rows of these tables are deleted in this transaction, at this time."""
    if connection.dialect.name != "postgresql":
        return
    for table in tables:
        name = _PREFIX + table
        connection.execute(settings.delete().where(settings.c.name == name))
        connection.execute(settings.insert().values(name=name, value=f"{int(now)} {secrets.token_hex(8)}"))


def noted(connection: Connection) -> dict[str, tuple[int, str]]:
    """Return the tables that are to be written anew, each with the time of its note and the note."""
    if connection.dialect.name != "postgresql":
        return {}  # a backup of PostgreSQL may have brought some
    names = {_PREFIX + table: table for table in metadata.tables}  # of ours, and of no others: they become statements
    rows = connection.execute(sa.select(settings).where(settings.c.name.in_(names)).order_by(settings.c.name))
    return {names[row.name]: (int(row.value.split()[0]), row.value) for row in rows}


def take_note(connection: Connection, table: str, note: str) -> None:
    """Take a note away, unless there is another by now."""
    own = (settings.c.name == _PREFIX + table) & (settings.c.value == note)
    connection.execute(settings.delete().where(own))


def write_anew(database: Database, table: str, seconds: float) -> None:
    """Write a table anew, without its deleted rows; StoragePressure if that takes longer. Not within a transaction."""
    with database.outside() as run:
        run(f"SET lock_timeout = {_LOCK_MILLISECONDS}")
        run(f"SET statement_timeout = {round(1000 * seconds)}")
        try:
            run(f"VACUUM (FULL) {table}")
        finally:
            run("RESET statement_timeout")
            run("RESET lock_timeout")
