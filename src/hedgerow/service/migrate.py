"""Bring a database to the current schema, by the steps in ``migrations/versions`` (Alembic).

A step that was released never changes. All steps run in the one transaction that they are given: a database is of one
version or of another, never in between. Alembic is loaded where there is a step to run: a server that starts on a
database of its own version does not need it.
"""

from __future__ import annotations

from functools import cache
from typing import TYPE_CHECKING, Any

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.errors import FormatError
from hedgerow.service.sqlite_file import SchemaChanged, StorageError

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

__all__ = ["STEP", "VERSION", "OlderSchema", "check_step", "check_version", "upgrade"]

VERSION = 12
"""The number of the last step."""
_BEFORE_ALEMBIC = "schema_version"  # the table that told the version until the first step of Alembic
_STEPS = "alembic_version"  # Alembic's own table of the step that was run last
_TURN = "SELECT pg_advisory_xact_lock(7218541)"  # one server at a time
STEP = f"SELECT version_num FROM {_STEPS}"
"""Asks for the last step. On PostgreSQL no step is made until the transaction that asked has ended."""


class OlderSchema(FormatError):
    """The database is of an earlier version; servers of that version may be running."""


@cache
def _scripts() -> ScriptDirectory:
    from alembic.config import Config
    from alembic.script import ScriptDirectory

    config = Config()
    config.set_main_option("script_location", "hedgerow.service:migrations")
    return ScriptDirectory.from_config(config)


def _revision(number: int) -> str:
    return f"{number:04d}"


def version_of(connection: Connection) -> int:
    """Return the version of a database; 0 if it holds none of our tables."""
    names = sa.inspect(connection).get_table_names()
    if _BEFORE_ALEMBIC in names:
        return 1
    if _STEPS not in names:
        return 0
    found = connection.exec_driver_sql(STEP).scalar()
    if found is None:
        return 0
    try:
        return int(found)
    except ValueError:
        raise FormatError("the database belongs to another program; name one of hedgerow's, or a new one.") from None


def check_version(connection: Connection) -> int:
    """Refuse a database that is not of the current version; return the version."""
    found = version_of(connection)
    _refuse_others(found)
    if found != VERSION:
        raise OlderSchema(
            f"the database has schema version {found}, and this needs {VERSION}; start 'hedgerow serve' once, which "
            "brings it up to date, in place of all servers of the version before."
        )
    return found


def check_step(found: Any) -> None:
    """Refuse to write where another program has brought the database to a version of its own in the meantime."""
    if found != _revision(VERSION):
        raise SchemaChanged(
            f"the database was brought to schema version {found} under the running service, which knows {VERSION}. "
            "Nothing more is accepted here: start the service that brought it there in place of this one."
        )


def _refuse_others(found: int) -> None:
    if found == 0:
        raise StorageError("the database holds nothing of hedgerow; check its name, or run 'hedgerow serve init'.")
    if found > VERSION:
        raise FormatError(
            f"the database has schema version {found}, and this program knows {VERSION}; upgrade hedgerow."
        )


def upgrade(connection: Connection, *, create: bool = False) -> int:
    """Bring the database to :data:`VERSION` in one transaction; return the version it had.

    An empty one is refused unless ``create``: a mistyped name must not become a database. One of a newer version is
    refused too: an old program must not write into it.
    """
    if connection.dialect.name == "postgresql":
        connection.exec_driver_sql(_TURN)
    before = version_of(connection)
    if before or not create:
        _refuse_others(before)
    if before == VERSION:
        return before
    if connection.dialect.name == "postgresql" and before > 1:
        connection.exec_driver_sql(f"LOCK TABLE {_STEPS} IN ACCESS EXCLUSIVE MODE")  # after whoever is writing now
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext

    scripts = _scripts()

    def steps(revision: Any, context: Any) -> Any:
        return scripts._upgrade_revs(_revision(VERSION), revision)

    with EnvironmentContext(Config(), scripts) as environment:
        environment.configure(connection=connection, fn=steps, transactional_ddl=True, transaction_per_migration=False)
        if _BEFORE_ALEMBIC in sa.inspect(connection).get_table_names():
            connection.exec_driver_sql(f"DROP TABLE {_BEFORE_ALEMBIC}")
            environment.get_context().stamp(scripts, _revision(1))
        environment.run_migrations()
    return before
