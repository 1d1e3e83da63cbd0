"""Keeps the ids of tasks that have many: sorted runs, one for each large scrubbing, merged when they are many.

A scrubbing writes its crowd of ids as one run (:func:`set_aside`), packed and sorted: that is as cheap as to write any
bytes, whereas a row for each id costs a page for each. To look one up takes a look into every run, so there must be
few: when a level has :data:`_FAN` of them, they become one run of the next level (:func:`merge_piece`), piece by piece
in the order of digests, so that uploads wait for some milliseconds only. What tokens spent goes the same way, piece by
piece, to the tokens themselves (:func:`move_piece`).

What the database remembers of a run is which crowd an id was in, and of a piece which range its digest is in. Nothing
depends on what came first, or with what. A piece is in one place or in the other, whatever crashes.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.database import RUNS, Database
from hedgerow.service.ids import KEY, MARK, sorted_rows, unpacked
from hedgerow.service.known import pack_tokens, unpack_tokens
from hedgerow.service.schema import LEVEL, known, report_ids, sealing

__all__ = ["merge_piece", "move_piece", "set_aside", "unfinished"]

_TOKENS = 2048  # in a piece: some milliseconds, as long as a commit of uploads; by hand
_MERGED = 1 << 14  # ids in a piece: the same; by hand
_FAN = 16  # runs of a level: a look into each takes microseconds, and each level writes every id once more; by hand


def set_aside(
    database: Database,
    connection: Connection,
    task: int,
    before: int,
    ids: bytes,
    tokens: bytes,
    rest: Callable[[], None] = lambda: None,
) -> None:
    """Seal sorted ids, and cut spent tokens into pieces; ``before`` ids were sealed before. ``rest`` now and then.

    The number of a piece is that of ids before its first token: pieces of later scrubbings have larger numbers.
    """
    database.seal(connection, task, before, ids, rest)
    spent = list(unpack_tokens(tokens).items())
    rows = [
        {"task": task, "piece": before + start, "tokens": pack_tokens(dict(spent[start : start + _TOKENS]))}
        for start in range(0, len(spent), _TOKENS)
    ]
    if rows:
        connection.execute(sealing.insert(), rows)


def unfinished(connection: Connection) -> bool:
    """Whether there is anything to move or to merge."""
    if connection.execute(sa.select(sealing.c.task).limit(1)).first() is not None:
        return True
    return _next_merge(connection) is not None


def move_piece(connection: Connection) -> bool:
    """Move the first piece of spent tokens, in a transaction of :meth:`Database.write_uploads`; whether there was one.

    Others that look for spent tokens do so in such transactions too, and ask which pieces are left.
    """
    row = connection.execute(sa.select(sealing).order_by(sealing.c.task, sealing.c.piece).limit(1)).first()
    if row is None:
        return False
    spent = [{"task": row.task, "digest": digest, "n": n} for digest, n in unpack_tokens(row.tokens).items()]
    connection.execute(_TAKE_OFF, spent)
    connection.execute(sealing.delete().where((sealing.c.task == row.task) & (sealing.c.piece == row.piece)))
    return True


# A pass is good for one report, and has no row until now.
_TAKE_OFF = sa.text(
    "INSERT INTO upload_tokens (task, digest, remaining) VALUES (:task, :digest, 1 - :n) "
    "ON CONFLICT (task, digest) DO UPDATE SET remaining = upload_tokens.remaining - :n"
).bindparams(sa.bindparam("digest", type_=sa.LargeBinary), sa.bindparam("n", type_=sa.BigInteger))


def merge_piece(database: Database, connection: Connection) -> bool:
    """Merge the next piece of runs, in a transaction of :meth:`Database.write_large`; return whether there was one.

    Uploads need not wait for it: one statement looks into all runs, and sees them before or after.
    Of every run the ids below a bound go to the merged run. A row across the bound is cut there.
    """
    found = _next_merge(connection)
    if found is None:
        return False
    task, target, runs = found
    bound = _bound(database, connection, task, runs)
    own = (report_ids.c.task == task) & report_ids.c.run.in_(runs)
    if bound is not None:
        own &= report_ids.c.first < bound
    rows = connection.execute(sa.select(report_ids.c.run, report_ids.c.ids).where(own)).all()
    connection.execute(report_ids.delete().where(own))
    merged = sorted_rows(unpacked(b"".join(row.ids for row in rows))).tobytes()
    end = len(merged) if bound is None else _below(merged, bound)
    database.seal(connection, task, target, merged[:end])
    for row in rows:
        rest = b"" if bound is None else row.ids[_below(row.ids, bound) :]
        if rest:
            database.seal(connection, task, row.run, rest)
    return True


def _next_merge(connection: Connection) -> tuple[int, int, list[int]] | None:
    """Return a task, the number of a run to be, and those that it is made of; None if no task has too many.

    Runs of a level that are not newer than the newest of the next are what is left of a merge under way.
    """
    for task in connection.execute(sa.select(known.c.task).where(known.c.sealed > 0)).scalars().all():
        runs = connection.execute(_RUNS, {"task": task}).scalars().all()
        for level in range(0, max(runs, default=0) + 1, LEVEL):
            own = [run - level for run in runs if level <= run < level + LEVEL]
            newest = max((run - level - LEVEL for run in runs if level + LEVEL <= run < level + 2 * LEVEL), default=-1)
            left = [run for run in own if run <= newest]
            if left:
                return task, level + LEVEL + newest, [level + run for run in left]
            if len(own) >= _FAN:
                return task, level + LEVEL + max(own), [level + run for run in own]
    return None


def _bound(database: Database, connection: Connection, task: int, runs: list[int]) -> bytes | None:
    """Return a key such that some thousand ids of these runs are below, and no run has more than its share of them."""
    rows = max(1, _MERGED * (KEY + MARK) // database.row // len(runs))
    firsts = [
        sa.select(report_ids.c.first)
        .where(report_ids.c.task == task, report_ids.c.run == run)
        .order_by(report_ids.c.first)
        .offset(rows)
        .limit(1)
        .subquery()
        for run in runs
    ]
    found = connection.execute(sa.union_all(*(sa.select(first.c.first) for first in firsts))).scalars().all()
    return min(map(bytes, found), default=None)


def _below(ids: bytes, bound: bytes) -> int:
    """Return how many bytes of sorted ids are of keys below a bound."""
    size = KEY + MARK
    return size * bisect_left(range(len(ids) // size), bound, key=lambda i: ids[size * i : size * i + KEY])


_RUNS = sa.text(f"WITH RECURSIVE {RUNS} SELECT run FROM runs WHERE run IS NOT NULL")
