"""When reports came: counts of crowds, by stretches of whole hours.

A thief of the database must not learn when somebody's report came. So a count is written at full hours only, and only
if at least :data:`CROWD` reports have come since the last one; else the stretch goes on for another hour. What has come
since then has no row: it is the difference to the sums, which have their number of reports anyway. No row says which
reports were counted, and the sums are not kept by the hour. Reports are counted, not people: who sends most of a crowd
himself learns of the few others that they came in that hour.
"""

from __future__ import annotations

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.problems import Problem
from hedgerow.service.schema import partials, targets, timeline

__all__ = [
    "CROWD",
    "HOUR",
    "MOST_TARGET",
    "check_target",
    "hour_ended",
    "mark",
    "marks_of",
    "target_of",
    "write_target",
]

HOUR = 3600
"""Seconds: stretches end at full hours."""
CROWD = 20
"""Reports of a stretch, at least; by hand: twice what offices of statistics commonly ask of a cell of a table."""
MOST_TARGET = 10**12
"""Reports: a hundred times all people, so that whoever mistypes is told so."""
_LATE = 360.0  # seconds after the hour within which reports are still called those of before; by hand


def hour_ended(before: int | None, now: float) -> int | None:
    """Return the full hour that has just ended, if it was another one when one looked last; None else.

    Whoever looks late (because the server stood still) does not mark that hour: what came after it would be counted
    as before, and the next stretch would be shorter than an hour.

    >>> hour_ended(7100, 7201.0), hour_ended(7201, 7300.0), hour_ended(7100, 9000.0), hour_ended(None, 7201.0)
    (7200, None, None, None)
    """
    full = int(now // HOUR) * HOUR
    if before is None or before >= full or now - full > _LATE:
        return None
    return full


def mark(connection: Connection, until: int) -> int:
    """Write the counts of the stretches that end at a full hour; return how many tasks have one.

    In a transaction of :meth:`Database.write_uploads`: another server, or the deletion of a task, waits.
    """
    total = sa.func.coalesce(sa.func.sum(timeline.c.n), 0)
    last = sa.func.coalesce(sa.func.max(timeline.c.until), 0)
    own = partials.outerjoin(timeline, timeline.c.task == partials.c.task)
    query = sa.select(partials.c.task, partials.c.n, total, last).select_from(own)
    rows = []
    for task, n, counted, latest in connection.execute(query.group_by(partials.c.task, partials.c.n)).all():
        new = int(n) - int(counted)
        if new >= CROWD and latest < until:
            rows.append({"task": task, "until": until, "n": new})
    if rows:
        connection.execute(timeline.insert(), rows)
    return len(rows)


def marks_of(connection: Connection, task: int) -> tuple[tuple[int, int], ...]:
    """Return the ends of a task's stretches with their counts, in order."""
    query = sa.select(timeline.c.until, timeline.c.n).where(timeline.c.task == task).order_by(timeline.c.until)
    return tuple((int(until), int(n)) for until, n in connection.execute(query))


def check_target(n: int | None) -> int | None:
    """Return a number of reports to hope for, or None; refuse what nobody can hope for.

    >>> check_target(12_000)
    12000
    """
    if n is not None and not 1 <= n <= MOST_TARGET:
        raise Problem("invalid-request", f"A target is a number of reports, 1 to {MOST_TARGET:,}, or nothing.")
    return n


def target_of(connection: Connection, task: int) -> int | None:
    """Return how many reports are hoped for, if somebody has said so."""
    found = connection.execute(sa.select(targets.c.n).where(targets.c.task == task)).scalar()
    return None if found is None else int(found)


def write_target(connection: Connection, task: int, n: int | None) -> None:
    """Say how many reports are hoped for; None to say nothing."""
    connection.execute(targets.delete().where(targets.c.task == task))
    if n is not None:
        connection.execute(targets.insert().values(task=task, n=n))
