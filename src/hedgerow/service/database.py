"""Where the service keeps its state: SQLite by default, PostgreSQL by URL.

Both are used in the same way: one thread writes (:mod:`hedgerow.service.writer`), readers see snapshots. The few
statements that move packed ids are spelled for each: they take bytes instead of one parameter an id, and run
without Python's lock, beside the event loop.

A database is made on purpose (``hedgerow serve init``) and never by a mistyped path, and what is acknowledged is in
the very file that the path names: a file that was removed or replaced under a running server is noticed
(:mod:`hedgerow.service.sqlite_file`). A PostgreSQL server that does not answer is given up after a while
(:mod:`hedgerow.service.postgres`).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Literal

import sqlalchemy as sa
from sqlalchemy import Connection, Engine
from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, NoSuchModuleError

from hedgerow.errors import HedgerowError
from hedgerow.service.drivers import answers_of, by_driver
from hedgerow.service.ids import KEY, MARK, Ids
from hedgerow.service.known import Known, Met
from hedgerow.service.migrate import STEP, check_step, check_version, upgrade, version_of
from hedgerow.service.postgres import patient, postgres_engine
from hedgerow.service.schema import YOUNG
from hedgerow.service.sqlite_file import Overtaken, SqliteFile, StorageError, StoragePressure

__all__ = ["RUNS", "Body", "Database", "Mode", "StorageError", "StoragePressure"]

Mode = Literal["use", "create", "change", "read"]
"""Serve from one that was made before, make one if there is none, change its rows, or only look."""
_BUSY_SECONDS = 5.0  # that SQLite waits for a lock, its own default in Python
# PostgreSQL makes uploads queue behind whoever waits for a table alone; nobody notices a tenth of a second.
_ALONE_MILLISECONDS = 100
_ADDING_MILLISECONDS = 2_000  # uploads do not queue behind whoever waits for sums to be made; by hand

_ID = KEY + MARK
# Bytes of a row of packed ids: about a page of SQLite, and as much as PostgreSQL keeps in one piece.
_SQLITE_ROW = 160 * _ID
_POSTGRES_ROW = 80 * _ID
# Rows sealed by one statement, half a megabyte or less: Python keeps SQLite's statements with the last values that they
# had, megabytes of ids after a large batch, and PostgreSQL has a core to itself while it is at one; by hand.
_PIECE = 128
_SERIES = "WITH RECURSIVE i(n) AS (SELECT 0 UNION ALL SELECT n + 1 FROM i WHERE n + 1 < :n)"
# The runs of a task, by a look for each: there are few, and many rows in each.
RUNS = (
    "runs(run) AS (SELECT min(run) FROM report_ids WHERE task = :task UNION ALL "
    "SELECT (SELECT min(r.run) FROM report_ids r WHERE r.task = :task AND r.run > runs.run) FROM runs "
    "WHERE runs.run IS NOT NULL)"
)
# In every run the one row that a key would be in. A row may hold it between two ids: whoever reads it looks again.
_SQLITE = {
    "sealed": f"{_SERIES}, {RUNS} SELECT r.ids FROM i CROSS JOIN runs CROSS JOIN report_ids r "
    "ON r.task = :task AND r.run = runs.run AND r.first = (SELECT max(first) FROM report_ids "
    f"WHERE task = :task AND run = runs.run AND first <= substr(:keys, n*{KEY}+1, {KEY})) "
    f"WHERE instr(r.ids, substr(:keys, n*{KEY}+1, {KEY})) > 0",
    # Or rollback: else SQLite keeps all pages that it changes as they were, in memory, to undo this statement alone.
    "seal": f"{_SERIES} INSERT OR ROLLBACK INTO report_ids SELECT :task, :run, "
    f"substr(:ids, n*{_SQLITE_ROW}+1, {KEY}), substr(:ids, n*{_SQLITE_ROW}+1, {_SQLITE_ROW}) FROM i",
    "arrive": "INSERT INTO arrivals (task, ids, tokens) VALUES (:task, :ids, :tokens) RETURNING seq",
    "keep": "INSERT INTO uploads (task, n, simulation, body) VALUES (:task, :n, :simulation, :body)",
}
_POSTGRES = {
    "sealed": f"WITH RECURSIVE {RUNS.replace(':task', '%(task)s')} SELECT r.ids FROM generate_series(0, %(n)s - 1) i "
    f"CROSS JOIN LATERAL (SELECT substring(%(keys)b::bytea FROM i*{KEY}+1 FOR {KEY}) AS key) k CROSS JOIN runs "
    "CROSS JOIN LATERAL (SELECT ids FROM report_ids WHERE task = %(task)s AND run = runs.run AND first <= k.key "
    "ORDER BY first DESC LIMIT 1) r WHERE position(k.key IN r.ids) > 0",
    "seal": "INSERT INTO report_ids SELECT %(task)s, %(run)s, "
    f"substring(%(ids)b::bytea FROM i*{_POSTGRES_ROW}+1 FOR {KEY}), "
    f"substring(%(ids)b::bytea FROM i*{_POSTGRES_ROW}+1 FOR {_POSTGRES_ROW}) FROM generate_series(0, %(n)s - 1) i",
    "arrive": "INSERT INTO arrivals (seq, task, ids, tokens) VALUES (%(seq)s, %(task)s, %(ids)b, %(tokens)b) "
    "RETURNING seq",
    "keep": "INSERT INTO uploads (task, n, simulation, body) VALUES (%(task)s, %(n)s, %(simulation)s, %(body)b)",
}
# Both at once: each statement is a journey to the server and back, during which other uploads wait.
_POSTGRES["arrive and keep"] = f"WITH kept AS ({_POSTGRES['keep']}) {_POSTGRES['arrive']}"
_YOUNG = ", ".join(table.name for table in YOUNG)
# Locks of PostgreSQL, in the order in which they are taken. (7218541 is that of steps of the schema, 7218543 that of
# the audit log.) Who merges ids, scrubs or forgets is alone with that, uploads beside it. Whoever scrubs waits for
# those that add up, and for those that write before their turn, and they for him: they have tables by then. Last comes
# the turn itself.
_KEEPING = "SELECT pg_advisory_xact_lock(7218545)"
_KEEPING_NOW = "SELECT pg_try_advisory_xact_lock(7218545)"
_WRITING = "SELECT pg_advisory_xact_lock_shared(7218546)"
_NOT_WRITING = "SELECT pg_advisory_xact_lock(7218546)"
_TURN = "SELECT pg_advisory_xact_lock(7218542)"
# Other servers have their turn while this one's commit goes to the disk: PostgreSQL keeps the lock until a commit is
# durable, so this one is not, and what follows it in the same message is: an empty note in the log. The log is flushed
# in its order, and nobody is told anything before the message is answered; so whatever a transaction wrote or saw,
# a commit of another server that was still on its way too, is on the disk by then.
_UNFLUSHED = "SET LOCAL synchronous_commit = off"
_FLUSH = "SELECT pg_logical_emit_message(true, 'hedgerow', '')"
# Whoever adds up shares a lock that whoever deletes a task has alone. A lock of rows would be seen in the pages.
_ADDING = "SELECT pg_advisory_xact_lock_shared(7218544)"
_NOT_ADDING = "SELECT pg_advisory_xact_lock(7218544)"
_SUMS = 7218547  # and the number of a task


@dataclass(frozen=True)
class Body:
    """Payloads of ``n`` reports, one after the other."""

    n: int
    simulation: bool
    data: bytes


class Database:
    """Connections to one database, of the current schema.

    Parameters
    ----------
    url : str
        ``sqlite:///file.db`` or ``postgresql+psycopg://user@host/name``.
    mode : {"use", "create", "change", "read"}
        "use" needs a database that was made before, and brings an older one up to date: it is for servers. All others
        refuse an older one, whose servers may be running: "create" makes one where there is none, "change" changes
        rows, "read" nothing.

    Examples
    --------
    >>> import tempfile
    >>> folder = tempfile.TemporaryDirectory()
    >>> with Database(f"sqlite:///{folder.name}/hedgerow.db", "create") as database, database.read() as connection:
    ...     connection.exec_driver_sql("SELECT count(*) FROM tasks").scalar()
    0
    >>> folder.cleanup()
    """

    def __init__(self, url: str = "sqlite:///hedgerow.db", mode: Mode = "use") -> None:
        self.url = _check_url(url)
        self.mode = mode
        self.sqlite = self.url.get_backend_name() == "sqlite"
        self.sql = _SQLITE if self.sqlite else _POSTGRES
        self.row = _SQLITE_ROW if self.sqlite else _POSTGRES_ROW
        self.file = SqliteFile(str(self.url.database), mode) if self.sqlite else None
        # One for reports; PostgreSQL adds them up and scrubs by another meanwhile, and flushes by a third.
        self.engine = self._engine("BEGIN" if mode == "read" else "BEGIN IMMEDIATE", pool_size=1 if self.sqlite else 3)
        self.readers = self._engine("BEGIN", pool_size=4, snapshots=True)
        self.known = Known(self)
        self._step = ""  # what asks for the last step of the schema, once it is certain that there is one
        self.exchanged = True  # whether invitations may have been exchanged, by this process, since the last scrubbing
        try:
            if self.file is not None:
                self.file.identify()
            with self.write() as connection:
                self.version_before = self._prepare(connection)
            self._step = STEP
        except BaseException:
            self.close()
            raise

    def _prepare(self, connection: Connection) -> int:
        """Make the tables, bring them up to date, or see that they are; return the version before."""
        if self.mode in ("read", "change") or (self.mode == "create" and version_of(connection)):
            return check_version(connection)
        return upgrade(connection, create=self.mode == "create")

    def _engine(self, begin: str, pool_size: int, snapshots: bool = False) -> Engine:
        if self.file is None:
            return postgres_engine(self.url, pool_size, read_only=self.mode == "read", snapshots=snapshots)
        engine = sa.create_engine(
            self.url, creator=self.file.connector(_BUSY_SECONDS), poolclass=sa.pool.QueuePool, pool_size=pool_size
        )
        if self.mode != "read":
            sa.event.listen(engine, "connect", _pragmas)
        if snapshots:
            sa.event.listen(engine, "connect", _small_cache)
        sa.event.listen(engine, "begin", lambda connection: by_driver(connection, begin))
        return engine

    @property
    def busy_milliseconds(self) -> int:
        """How long SQLite waits for a lock."""
        return round(1000 * _BUSY_SECONDS)

    @contextmanager
    def write(self) -> Iterator[Connection]:
        """Open a transaction that commits at the end of the block, durably, in the file that the path names."""
        with self._writing() as connection:
            yield connection

    @contextmanager
    def _writing(self, turn: str = "", asked: tuple[str, ...] = ()) -> Iterator[Connection]:
        """Open a transaction; PostgreSQL gets ``turn`` and what is ``asked`` after BEGIN, on the same journey.

        Servers of two versions may meet at one database: nothing is written into tables of another version.
        """
        with _translated(), self.engine.connect() as plain:
            connection = plain.execution_options(turn=turn, first=self._step, asked=asked)
            with connection.begin():
                if self._step:
                    check_step(_first_of(by_driver(connection, STEP)) if self.sqlite else connection.info["first"])
                yield connection
        if self.file is not None:
            self.file.check()  # after the commit: what a removed file took is not acknowledged

    @contextmanager
    def write_uploads(self, numbers: Sequence[int] = (), *, keeping: bool = False) -> Iterator[Connection]:
        """Open a transaction of the one process that takes reports at this moment.

        Whoever has it may look for known ids and add new ones: nobody else does so, or scrubs, in between; with
        ``keeping`` nobody merges ids either. Where it is said which tasks will be asked for, PostgreSQL is asked on the
        journey on which the transaction begins.
        """
        asked = self.known.questions(numbers) if numbers and not self.sqlite else ()
        turn = f"{_UNFLUSHED}; {_KEEPING}; {_TURN}" if keeping else f"{_UNFLUSHED}; {_TURN}"
        with self._settled(), self._writing(turn, asked) as connection:
            if asked:
                self.known.hear(numbers, connection.info["asked"])
            yield connection
            if not self.sqlite:
                _commit(connection)

    @contextmanager
    def write_before_turn(self) -> Iterator[Connection]:
        """Open a transaction of PostgreSQL that takes its turn at the end of the block, for as long as a commit takes.

        The block decides by what is in memory (:meth:`Known.at_hand`) and writes. In the turn, nothing that others did
        since may change that: Met if it might, and nothing was written. So servers write beside each other.
        """
        with self._settled(), self._writing(f"{_UNFLUSHED}; {_WRITING}") as connection:
            yield connection
            heads, new = answers_of(by_driver(connection, "; ".join((_TURN, *self.known.again()))))[1:]
            self.known.confirm(heads, new)
            _commit(connection)

    @contextmanager
    def _settled(self) -> Iterator[None]:
        """Let what is known follow what became of the transaction in the block."""
        try:
            yield
        except Met:
            self.known.undo()
            raise
        except BaseException:
            self.known.settle(committed=False)
            raise
        self.known.settle(committed=True)

    @contextmanager
    def write_sums(self, task: int, *, alone: bool = False) -> Iterator[Connection]:
        """Open a transaction that makes sums of a task's payloads; Overtaken if the task was deleted.

        It is not deleted in between either: what is written here would outlive it. With ``alone`` also if another
        server of PostgreSQL has such a transaction open: both would add up the same, one of them in vain.
        """
        free = f"pg_try_advisory_xact_lock({_SUMS}, {task:d})" if alone and not self.sqlite else "true"
        there = f"SELECT deleted IS NULL, {free} FROM tasks WHERE number = {task:d}"
        with self._writing(_ADDING, (there,)) as connection:
            found = [list(connection.exec_driver_sql(there))] if self.sqlite else connection.info["asked"]
            if not found[0] or not found[0][0][0]:
                raise Overtaken("the task was deleted.")
            if not found[0][0][1]:
                raise Overtaken("another server adds up.")
            yield connection

    def bar_sums(self, connection: Connection) -> None:
        """Let nobody make sums until the transaction has ended, and see what those made who were at it."""
        if not self.sqlite:
            by_driver(connection, f"SET LOCAL lock_timeout = {_ADDING_MILLISECONDS}; {_NOT_ADDING}")

    @contextmanager
    def write_large(self, *, wait: bool = True) -> Iterator[Connection | None]:
        """Open a transaction that alone merges ids, scrubs or forgets; uploads go on beside it, but for SQLite.

        None, without ``wait``, if another server has one open.
        """
        with self.write() as connection:
            taken = True
            if not self.sqlite:
                taken = _first_of(by_driver(connection, _KEEPING if wait else _KEEPING_NOW)) is not False
            yield connection if taken else None

    def alone(self, connection: Connection) -> None:
        """Let a transaction have the young tables for itself from now on; StoragePressure if somebody is in the way."""
        if not self.sqlite:
            found = (f"SET LOCAL lock_timeout = {_ALONE_MILLISECONDS}", _NOT_WRITING, _TURN)
            by_driver(connection, "; ".join((*found, f"LOCK TABLE {_YOUNG} IN ACCESS EXCLUSIVE MODE")))

    def flush(self) -> None:
        """Bring to the disk what open transactions have written to PostgreSQL's log, so that commits have less to."""
        if not self.sqlite:
            with self.write() as connection:
                by_driver(connection, _FLUSH)

    @contextmanager
    def read(self, *, young: bool = True) -> Iterator[Connection]:
        """Open a transaction that sees one snapshot; who reads no ``young`` tables lets them be scrubbed meanwhile."""
        if self.file is not None:
            self.file.check()
        with _translated(), self.readers.connect() as plain:
            connection = plain if self.sqlite else plain.execution_options(isolation_level="REPEATABLE READ")
            with connection.begin():
                if young and not self.sqlite:
                    # PostgreSQL's TRUNCATE does not keep to snapshots: who began before it would find a table empty.
                    # A lock that is taken before the snapshot makes it wait.
                    connection.exec_driver_sql(f"LOCK TABLE {_YOUNG} IN ACCESS SHARE MODE")
                yield connection

    @contextmanager
    def outside(self, *, beside: bool = False) -> Iterator[Callable[[str], list[Any]]]:
        """Lend a function that runs statements outside of any transaction, for those that need that.

        ``beside`` those that write: with another connection than theirs.
        """
        with _translated():
            borrowed = (self.readers if beside else self.engine).raw_connection()
            driver: Any = borrowed.driver_connection

            def run(statement: str) -> list[Any]:
                try:
                    with patient(driver):
                        cursor = driver.execute(statement)
                        return cursor.fetchall() if cursor.description else []
                except self.engine.dialect.loaded_dbapi.Error as error:
                    raise sa.exc.DBAPIError.instance(
                        statement, None, error, self.engine.dialect.loaded_dbapi.Error, dialect=self.engine.dialect
                    ) from error

            try:
                yield run
            finally:
                borrowed.close()

    def sealed(self, connection: Connection, task: int, keys: list[bytes]) -> dict[bytes, bytes]:
        """Return the marks of those ids that are among the sealed ones."""
        values = {"n": len(keys), "task": task, "keys": b"".join(keys)}
        rows = connection.exec_driver_sql(self.sql["sealed"], values).scalars() if keys else ()
        return Ids(b"".join(map(bytes, rows))).find(keys)

    def seal(
        self, connection: Connection, task: int, run: int, ids: bytes, rest: Callable[[], None] = lambda: None
    ) -> None:
        """Add packed and sorted ids to the sealed ones, as a run or a part of it; ``rest`` after each piece."""
        step = _PIECE * self.row
        for start in range(0, len(ids), step):
            piece = ids[start : start + step]
            values = {"n": -(-len(piece) // self.row), "task": task, "run": run, "ids": piece}
            connection.exec_driver_sql(self.sql["seal"], values)
            rest()

    def ask(self, connection: Connection, *queries: str) -> list[list[Any]]:
        """Return the rows of some queries without parameters; PostgreSQL answers all of them on one journey."""
        if self.sqlite:
            return [by_driver(connection, query).fetchall() for query in queries]
        return answers_of(by_driver(connection, "; ".join(queries)))

    def arrive(self, connection: Connection, task: int, ids: bytes, tokens: bytes, body: Body | None = None) -> int:
        """Store packed ids and spent tokens of a commit, and payloads that came with them; return its number."""
        values: dict[str, Any] = {"task": task, "ids": ids, "tokens": tokens}
        if not self.sqlite:
            values["seq"] = self.known.number(connection)
        if body is None or self.sqlite:
            if body is not None:
                self.keep(connection, task, body)
            return int(_first_of(by_driver(connection, self.sql["arrive"], values)))
        values |= {"n": body.n, "simulation": body.simulation, "body": body.data}
        return int(_first_of(by_driver(connection, self.sql["arrive and keep"], values)))

    def keep(self, connection: Connection, task: int, body: Body) -> None:
        """Store payloads that wait for aggregation."""
        values = {"task": task, "n": body.n, "simulation": body.simulation, "body": body.data}
        by_driver(connection, self.sql["keep"], values)

    def close(self) -> None:
        """Close all connections."""
        self.readers.dispose()
        self.engine.dispose()

    def __enter__(self) -> Database:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


def _commit(connection: Connection) -> None:
    """End a turn on PostgreSQL, and wait until all that it wrote or saw is on the disk."""
    by_driver(connection, f"COMMIT; {_FLUSH}")  # the engine finds nothing left to commit


def _first_of(cursor: Any) -> Any:
    """Return the first value of the first row; None if there is no row."""
    row = cursor.fetchone()
    return None if row is None else row[0]


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
    if url.get_backend_name() == "sqlite" and url.query:
        raise HedgerowError(f"the 'database' of SQLite takes no options. Got {dict(url.query)!r}; leave them out.")
    if url.drivername == "postgresql":
        url = url.set(drivername="postgresql+psycopg")
    return url


def _pragmas(connection: Any, _: object) -> None:
    """Set what a commit means: on the disk (FULL), and what was deleted is overwritten (secure_delete)."""
    # Ids are written packed, many pages at a time: with smaller pages most of the time went into writing each of them
    # (1 kB: twice as long to scrub; one of 8 kB fits rows badly). A file that was made with others keeps them.
    for pragma in ("page_size=4096", "journal_mode=WAL", "synchronous=FULL", "secure_delete=ON"):
        connection.execute(f"PRAGMA {pragma}").fetchall()
    # What is only of the moment (sorting, rewriting) stays off the disk. The cache is small: ids arrive in no order, so
    # that a large one fills with pages that are not needed again; the system's own cache has them too. Whoever scrubs
    # copies the log back, and does so beside uploads; where nobody does, the commit that brings it to 64 MB; by hand.
    for pragma in ("wal_autocheckpoint=16000", "cache_size=-4096", "temp_store=MEMORY"):
        connection.execute(f"PRAGMA {pragma}").fetchall()


def _small_cache(connection: Any, _: object) -> None:
    """Let readers keep little: there are several, they read what is new to them, and the system's cache has it too."""
    connection.execute("PRAGMA cache_size=-512").fetchall()  # kilobytes, by hand


@contextmanager
def _translated() -> Iterator[None]:
    """Turn what drivers raise into our errors."""
    try:
        yield
    except DBAPIError as error:
        # The first line only: those below may quote a key of a row.
        text = str(error.orig).partition("\n")[0]
        if _passing(error, text):
            raise StoragePressure(f"the database is busy or out of reach: {text}") from error
        raise StorageError(f"the database refused to write or read: {text}") from error
    except sa.exc.TimeoutError as error:
        raise StoragePressure("all connections to the database are in use; try again.") from error


def _passing(error: DBAPIError, text: str) -> bool:
    state = getattr(error.orig, "sqlstate", None) or ""
    operational = any(kind.__name__ == "OperationalError" for kind in type(error.orig).__mro__)
    lost = error.connection_invalidated or (operational and "connect" in text)
    # Connection trouble, rollbacks by the server, its shutdown; a lock not to be had, too many connections, a race.
    return lost or "locked" in text or state[:2] in ("08", "40", "57") or state in ("55P03", "53300", "23505")
