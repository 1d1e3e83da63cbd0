"""Where the service keeps its state: SQLite by default, PostgreSQL by URL.

Both are used in the same way: one thread writes (:mod:`hedgerow.service.writer`), readers see snapshots. The few
statements that move many ids at once are spelled for each, because they take packed bytes instead of one
parameter an id: a single statement runs without Python's lock, beside the event loop.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from hedgerow.errors import HedgerowError
from hedgerow.service.schema import migrate

__all__ = ["KEY", "MARK", "Database", "StorageError", "StoragePressure"]

KEY, MARK = 16, 8
_BUSY_SECONDS = 5.0

_SERIES = "WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n + 1 < :n) "
_SQLITE = {
    "lock": "",
    "existing": _SERIES + "SELECT r.key, r.mark FROM i CROSS JOIN report_ids r "
    f"ON r.task = :task AND r.key = substr(:keys, n*{KEY}+1, {KEY})",
    "insert": _SERIES + "INSERT INTO report_ids "
    f"SELECT :task, substr(:keys, n*{KEY}+1, {KEY}), substr(:marks, n*{MARK}+1, {MARK}) FROM i",
    "keep": "INSERT INTO uploads (task, n, simulation, body) VALUES (:task, :n, :simulation, :body)",
}
_POSTGRES = {
    "lock": " FOR SHARE",
    "existing": "SELECT r.key, r.mark FROM generate_series(0, %(n)s - 1) i JOIN report_ids r "
    f"ON r.task = %(task)s AND r.key = substring(%(keys)b::bytea FROM i*{KEY}+1 FOR {KEY})",
    "insert": "COPY report_ids (task, key, mark) FROM STDIN (FORMAT BINARY)",
    "keep": "INSERT INTO uploads (task, n, simulation, body) VALUES (%(task)s, %(n)s, %(simulation)s, %(body)b)",
}
# A row of PostgreSQL's binary COPY: number of columns, then length and value of each, big-endian.
_COPY = np.dtype(
    [("n", ">i2"), ("a", ">i4"), ("task", ">i4"), ("b", ">i4"), ("key", "u1", KEY), ("c", ">i4"), ("mark", "u1", MARK)]
)
_COPY_HEAD, _COPY_END = b"PGCOPY\n\xff\r\n\0" + bytes(8), b"\xff\xff"


class StorageError(HedgerowError):
    """The database refused: full, read-only or broken. Nothing of the transaction was kept."""


class StoragePressure(StorageError):
    """The database is locked or out of reach for now; the same request may succeed later."""


class Database:
    """Connections to one database, migrated to the current schema.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Database(f"sqlite:///{folder.name}/hedgerow.db") as database, database.read() as connection:
    ...     connection.exec_driver_sql("SELECT count(*) FROM tasks").scalar()
    0
    >>> folder.cleanup()
    """

    def __init__(self, url: str = "sqlite:///hedgerow.db") -> None:
        self.url = _check_url(url)
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self.sql = _SQLITE if self.sqlite else _POSTGRES
        self.engine = self._engine("BEGIN IMMEDIATE", pool_size=1)
        self.readers = self._engine("BEGIN", pool_size=4)
        try:
            with self.write() as connection:
                self.version_before = migrate(connection)
        except BaseException:
            self.close()
            raise

    def _engine(self, begin: str, pool_size: int) -> Engine:
        if not self.sqlite:
            return sa.create_engine(self.url, pool_size=pool_size, max_overflow=pool_size, pool_pre_ping=True)
        arguments = {"check_same_thread": False, "timeout": _BUSY_SECONDS, "isolation_level": None}
        engine = sa.create_engine(self.url, connect_args=arguments, pool_size=pool_size)
        sa.event.listen(engine, "connect", _pragmas)
        sa.event.listen(engine, "begin", lambda connection: connection.exec_driver_sql(begin))
        return engine

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that commits at the end of the block, durably."""
        with _translated(), self.engine.begin() as connection:
            yield connection

    @contextmanager
    def read(self) -> Iterator[Connection]:
        """Open a transaction that sees one snapshot."""
        with _translated(), self.readers.connect() as plain:
            connection = plain if self.sqlite else plain.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                yield connection

    def existing(self, connection: Connection, task: int, keys: list[bytes]) -> dict[bytes, bytes]:
        """Return the marks of those ids that are known."""
        values = {"n": len(keys), "task": task, "keys": b"".join(keys)}
        rows = connection.exec_driver_sql(self.sql["existing"], values) if keys else ()
        return {bytes(key): bytes(mark) for key, mark in rows}

    def insert_ids(self, connection: Connection, task: int, keys: bytes, marks: bytes) -> bool:
        """Add ids in the order of their digests; return False, and add none, if any of them is known or twice here."""
        order = np.argsort(np.frombuffer(keys, dtype=f"S{KEY}"))
        rows = np.empty(len(order), dtype=_COPY)
        rows["key"] = np.frombuffer(keys, dtype=np.uint8).reshape(-1, KEY)[order]
        rows["mark"] = np.frombuffer(marks, dtype=np.uint8).reshape(-1, MARK)[order]
        if not self.sqlite:
            return _copy(connection, task, rows)
        values = {"n": len(order), "task": task, "keys": rows["key"].tobytes(), "marks": rows["mark"].tobytes()}
        try:
            connection.exec_driver_sql(self.sql["insert"], values)
        except sa.exc.IntegrityError:
            return False  # SQLite undoes the statement, not the transaction
        return True

    def keep(self, connection: Connection, task: int, n: int, simulation: bool, body: bytes) -> None:
        """Store payloads that wait for aggregation."""
        values = {"task": task, "n": n, "simulation": simulation, "body": body}
        connection.exec_driver_sql(self.sql["keep"], values)

    def close(self) -> None:
        """Close all connections."""
        self.readers.dispose()
        self.engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _copy(connection: Connection, task: int, rows: Any) -> bool:
    """Send ids to PostgreSQL with COPY, its fastest way in; return False, and undo it, if any is known."""
    for name, value in (("n", 3), ("a", 4), ("task", task), ("b", KEY), ("c", MARK)):
        rows[name] = value
    driver: Any = connection.connection.driver_connection
    data = _COPY_HEAD + rows.tobytes() + _COPY_END
    try:
        with driver.transaction(), driver.cursor() as cursor, cursor.copy(_POSTGRES["insert"]) as copy:
            copy.write(data)
    except Exception as error:
        if getattr(error, "sqlstate", None) == "23505":
            return False
        raise sa.exc.DBAPIError.instance(_POSTGRES["insert"], None, error, _dbapi_error(connection)) from error
    return True


def _dbapi_error(connection: Connection) -> Any:
    return connection.dialect.loaded_dbapi.Error


def _check_url(text: str) -> URL:
    try:
        url = make_url(text)
        url.get_dialect()
    except (ArgumentError, NoSuchModuleError) as error:
        raise HedgerowError(
            f"The 'database' parameter must be a URL such as sqlite:///file.db or "
            f"postgresql+psycopg://user@host/name. Got {text!r} instead."
        ) from error
    except ImportError:
        raise HedgerowError("PostgreSQL needs psycopg: pip install 'hedgerow[postgres]'.") from None
    if url.get_backend_name() not in ("sqlite", "postgresql"):
        raise HedgerowError(f"The 'database' must be SQLite or PostgreSQL. Got {url.get_backend_name()!r} instead.")
    if url.get_backend_name() == "sqlite" and url.database in (None, "", ":memory:"):
        raise HedgerowError("the database must be a file, such as sqlite:///hedgerow.db: memory forgets reports.")
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    return url


def _pragmas(connection: Any, _: object) -> None:
    """Set what a commit means: on the disk (FULL), and what was deleted is overwritten (secure_delete)."""
    # Ids arrive in no order, so nearly every one touches a page of its own: small pages keep the log small.
    for pragma in ("page_size=1024", "journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    for pragma in ("wal_autocheckpoint=16000", "cache_size=-65536"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what drivers raise into our errors."""
    try:
        yield
    except DBAPIError as error:
        text = " ".join(str(error.orig).split())
        if _passing(error, text):
            raise StoragePressure(f"the database is busy or out of reach: {text}") from error
        raise StorageError(f"the database refused to write or read: {text}") from error
    except sa.exc.TimeoutError as error:
        raise StoragePressure("all connections to the database are in use; try again.") from error


def _passing(error: DBAPIError, text: str) -> bool:
    state = getattr(error.orig, "sqlstate", None) or ""
    lost = error.connection_invalidated or (type(error.orig).__name__ == "OperationalError" and "connect" in text)
    # Connection trouble, rollbacks by the server, its shutdown; a lock not to be had, too many connections, a race.
    return lost or "locked" in text or state[:2] in ("08", "40", "57") or state in ("55P03", "53300", "23505")
