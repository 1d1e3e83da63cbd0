"""Writes anew what uploads have touched, so that a database at rest tells no more than its rows.

An upload writes the digest of an id, the use of a token and a payload in one transaction, and a database remembers
that: PostgreSQL stamps every row with its transaction (``xmin``), keeps rows in the order of arrival (``ctid``) and
deleted ones until a vacuum, and their bytes longer; SQLite keeps all of it in its write-ahead log. After aggregation
the payload is gone from the tables, and from nowhere else.

So one transaction merges what has arrived into what is known, one row a task, sorted by digests. Those are digests of
random ids and tokens: their order tells nothing, and what is written is a function of the *set* of ids and of that of
tokens, whatever came first and with what. On PostgreSQL the transaction writes all other young tables
(:data:`hedgerow.service.schema.YOUNG`) anew too, and empties the old ones by giving them new files. SQLite overwrites
what is deleted (``secure_delete``); after the transaction its write-ahead log is cut to nothing (:func:`settle`).
Uploads wait for the tables to be written anew, and on PostgreSQL not for the merging before that.

What is rewritten stays small: a task with :data:`SEALED` ids or more hands them, and its spent tokens, over to tables
that are written in such batches only (:mod:`hedgerow.service.sealing`). There a transaction tells the crowd that
somebody came with, and no more.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.database import Database, StoragePressure
from hedgerow.service.drivers import by_driver
from hedgerow.service.ids import KEY, MARK, pack_ids
from hedgerow.service.known import SERVER, arrivals_after, known_row, pack_tokens, unpack_tokens
from hedgerow.service.schema import YOUNG, arrivals, exchanges, known
from hedgerow.service.sealing import set_aside

__all__ = ["SEALED", "merged", "prepare", "scrub", "settle"]

SEALED = 1 << 16
"""Ids of one task that are moved together: 1.5 MB to rewrite until then, and a crowd that nobody is found in."""

_PAGE = 16  # commits read at once: half a megabyte where they are large; by hand
_SMALL = 1 << 20  # bytes of a table that is written anew without a question; by hand


@dataclass(frozen=True)
class _Crowd:
    """What has arrived for a task: the row of ``known`` with it, how many arrivals, and the last of each server."""

    row: dict[str, Any]
    n: int
    last: dict[int, int]


def scrub(database: Database, connection: Connection, rest: Callable[[], None] = lambda: None) -> float:
    """Merge arrivals and write the young tables anew, in a transaction of :meth:`Database.write_large`.

    PostgreSQL merges beside uploads: these wait for the rest only, and what they bring meanwhile stays where it is
    until the next time. Until then ``rest`` is called after each piece of work. Return the moment from which on they
    waited.
    """
    tasks = connection.execute(sa.select(arrivals.c.task).distinct()).scalars().all()
    crowds = [_merge(database, connection, task, rest) for task in tasks]
    database.flush()
    database.bar_sums(connection)  # they have tables for some time; uploads go on while it waits for them
    start = time.monotonic()
    exchanged = database.exchanged
    database.exchanged = database.known.undone = False  # whatever comes after this is seen, or says so again
    try:
        database.alone(connection)
        _replace(database, connection, crowds, exchanged)
    except BaseException:
        database.exchanged = database.known.undone = True
        raise
    return start


def _merge(database: Database, connection: Connection, task: int, rest: Callable[[], None]) -> _Crowd:
    """Put what has arrived for a task to what is known of it; seal that if it is much."""
    arrived = _arrived(connection, task, rest)
    row = _with(connection, task, arrived)
    rest()
    if database.sqlite:
        connection.execute(arrivals.delete().where(arrivals.c.task == task))  # first: what follows is written over it
    n = len(row["ids"]) // (KEY + MARK)
    if n >= SEALED:
        set_aside(database, connection, task, row["sealed"], row["ids"], row["tokens"], rest)
        row.update(ids=b"", tokens=b"", sealed=row["sealed"] + n)
    return _Crowd(row, len(arrived), {seq >> SERVER: seq for seq, _, _ in arrived})


def _replace(database: Database, connection: Connection, crowds: list[_Crowd], exchanged: bool) -> None:
    """Write what is known now, and nothing of how it came to be; whatever came too late for the crowds stays."""
    merged_ones = ", ".join(str(crowd.row["task"]) for crowd in crowds)
    own = [f"({arrivals_after(crowd.row['task'], crowd.last)})" for crowd in crowds]
    later = " OR ".join([f"task NOT IN ({merged_ones})", *own]) if crowds else "true"
    for crowd in crowds:
        connection.execute(known.delete().where(known.c.task == crowd.row["task"]))
        connection.execute(known.insert().values(**crowd.row))
    connection.exec_driver_sql(
        f"UPDATE partials SET scrubbed = revision WHERE task NOT IN (SELECT task FROM arrivals WHERE {later})"
    )
    if not database.sqlite:
        gone = connection.exec_driver_sql(f"SELECT count(*) FROM arrivals WHERE NOT ({later})").scalar_one()
        if gone != sum(crowd.n for crowd in crowds):
            raise StoragePressure("ids were forgotten while others were merged.")
        _rewrite(connection, YOUNG, later)
    elif exchanged:
        _sort_exchanges(connection)


def merged(connection: Connection, task: int) -> dict[str, Any]:
    """Return the row of ``known`` with all that has arrived for a task."""
    return _with(connection, task, _arrived(connection, task))


def _with(connection: Connection, task: int, arrived: list[Any]) -> dict[str, Any]:
    old = connection.execute(sa.select(known).where(known.c.task == task)).first()
    before = old or known_row(task)
    return {
        "task": task,
        "version": before.version + 1,
        "sealed": before.sealed,
        "ids": pack_ids([before.ids, *(ids for _, ids, _ in arrived)]),
        "tokens": pack_tokens(unpack_tokens(before.tokens, *(tokens for _, _, tokens in arrived))),
    }


def _arrived(connection: Connection, task: int, rest: Callable[[], None] = lambda: None) -> list[Any]:
    """Return the number, packed ids and tokens of each commit, in the order of the numbers.

    Of each server these are all up to the last: whoever commits meanwhile has a larger number than it had before.
    """
    found: list[Any] = []
    more: list[Any] = [()]
    while more:
        last = found[-1][0] if found else 0
        query = (
            f"SELECT seq, ids, tokens FROM arrivals WHERE task = {task:d} AND seq > {last:d} ORDER BY seq LIMIT {_PAGE}"
        )
        more = list(by_driver(connection, query, binary=True))
        found += more
        rest()
    return found


def _rewrite(connection: Connection, tables: Sequence[sa.Table], later: str) -> None:
    """Give tables of PostgreSQL new files, with their rows in the order of their keys, and arrivals that are ``later``.

    All statements go in one message: uploads wait, and each journey to the server would be as long as some of them.
    """
    sizes = ", ".join(f"pg_relation_size('{table.name}')" for table in tables)
    found = connection.exec_driver_sql(f"SELECT {sizes}").one()
    written = [table for table, size in zip(tables, found, strict=True) if size]  # the others: by nobody since then
    if found[-1] > _SMALL and tables[-1] is exchanges and _of_one_transaction(connection):
        written.remove(exchanges)
    statements = [statement for table in written for statement in _anew(table, later if table is arrivals else "true")]
    if statements:
        connection.exec_driver_sql("; ".join(statements))


def _of_one_transaction(connection: Connection) -> bool:
    """Whether one wrote all exchanges: the last scrubbing that wrote them anew. There may be many, and few are new."""
    query = "SELECT count(*) FROM (SELECT DISTINCT xmin::text FROM exchanges LIMIT 2) AS found"
    return int(connection.exec_driver_sql(query).scalar_one()) < 2


def _sort_exchanges(connection: Connection) -> None:
    """Write exchanges anew by their keys: in a page of SQLite rows lie in the order in which they came."""
    keys = ", ".join(column.name for column in exchanges.primary_key.columns)
    for statement in (
        "CREATE TEMP TABLE kept_exchanges AS SELECT * FROM exchanges",
        "DELETE FROM exchanges",
        f"INSERT INTO exchanges SELECT * FROM kept_exchanges ORDER BY {keys}",
        "DROP TABLE kept_exchanges",
    ):
        connection.exec_driver_sql(statement)


def _anew(table: sa.Table, kept_ones: str) -> list[str]:
    """Set the rows of a table aside, give it a new file, and put them back in the order of their keys."""
    name = table.name
    kept = f"kept_{name}"
    columns = ", ".join(column.name for column in table.columns)
    keys = ", ".join(column.name for column in table.primary_key.columns)
    return [
        # With the storage of its columns: to try and compress payloads took most of the time.
        f"CREATE TEMP TABLE IF NOT EXISTS {kept} (LIKE {name} INCLUDING STORAGE) ON COMMIT DELETE ROWS",
        f"INSERT INTO {kept} SELECT {columns} FROM {name} WHERE {kept_ones}",
        f"TRUNCATE {name}",
        f"INSERT INTO {name} ({columns}) SELECT {columns} FROM {kept} ORDER BY {keys}",
    ]


def prepare(database: Database) -> None:
    """Copy SQLite's write-ahead log back beside uploads, so that those need not wait for it in :func:`settle`.

    It waits for nobody, and leaves what readers or a copy under way still need.
    """
    if database.sqlite:
        with database.outside(beside=True) as run:
            run("PRAGMA wal_checkpoint(PASSIVE)")


def settle(database: Database) -> None:
    """Leave nothing of what was overwritten in SQLite's write-ahead log; not within a transaction."""
    if not database.sqlite:
        return
    with database.outside() as run:
        run("PRAGMA busy_timeout = 100")  # wait no longer for readers: uploads wait here too
        try:
            busy = run("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]
        finally:
            run(f"PRAGMA busy_timeout = {database.busy_milliseconds}")
    if busy:
        raise StoragePressure("a reader keeps the write-ahead log from being cut.")
