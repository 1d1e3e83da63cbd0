"""Tables of a new database, made by the statements that Alembic once made of its steps: tests need many databases."""

import sqlalchemy as sa

from hedgerow.service import migrate

_statements = {}


def upgrade(connection, *, create=False):
    """Do what ``migrate.upgrade`` does, without Alembic where a database of this kind was made before."""
    kind = connection.dialect.name
    if not create or kind not in _statements:
        return _upgrade_and_note(connection, create)
    if kind == "postgresql":
        connection.exec_driver_sql(migrate._TURN)
    if migrate.version_of(connection):
        return migrate.upgrade(connection)
    for statement, parameters in _statements[kind]:
        connection.exec_driver_sql(statement, parameters or None)
    return 0


def _upgrade_and_note(connection, create):
    seen = []

    def note(connection, cursor, statement, parameters, context, executemany):
        if not statement.lstrip().upper().startswith(("SELECT", "PRAGMA")):
            seen.append((statement, parameters))

    sa.event.listen(connection, "before_cursor_execute", note)
    try:
        before = migrate.upgrade(connection, create=create)
    finally:
        sa.event.remove(connection, "before_cursor_execute", note)
    if before == 0:
        _statements[connection.dialect.name] = seen
    return before
