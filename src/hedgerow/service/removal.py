"""Delete a task with all that was collected for it; its number and id stay, so that neither is ever used again.

Large tables are deleted in pieces, each in a transaction of its own. From before the first until after the last there
is a mark, and whoever reads what was collected looks for it in the same snapshot (:func:`check_whole`): a part of it
is never given out as the whole. A deletion that was interrupted leaves the mark, and can be asked for again.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.audit import write_audit
from hedgerow.service.database import Database
from hedgerow.service.pages import FORGOTTEN_FROM, note_pages
from hedgerow.service.problems import Problem
from hedgerow.service.schema import (
    YOUNG,
    answers,
    arrivals,
    batches,
    exchanges,
    jobs,
    known,
    partials,
    pass_keys,
    refusals,
    report_ids,
    sealed_segments,
    sealing,
    segments,
    settings,
    targets,
    tasks,
    timeline,
    upload_tokens,
    uploads,
)
from hedgerow.service.writer import Writer

__all__ = ["FORGOTTEN", "check_whole", "remove", "some_of"]

_PURGE = 2_000  # rows deleted in one transaction: uploads wait for it, and rows of ids have 2 kB; by hand
FORGOTTEN: tuple[tuple[sa.Table, sa.Column[Any]], ...] = (
    (report_ids, report_ids.c.first),
    (upload_tokens, upload_tokens.c.digest),
    (exchanges, exchanges.c.blinded),
)
"""What is forgotten of a task some time after it was closed: large tables, with what tells their rows apart."""
_LARGE = (*FORGOTTEN, (sealed_segments, sealed_segments.c.seq))
_SMALL = (arrivals, known, partials, segments, uploads, refusals, jobs, answers, batches, pass_keys, timeline, targets)
# What else a deletion touches and no scrubbing writes anew.
_OTHERS = [table.name for table in (sealed_segments, tasks, *_SMALL) if table not in YOUNG]


def _marked(number: int) -> sa.ColumnElement[bool]:
    """Say which row tells that a task is being deleted."""
    return settings.c.name == f"deleting:{number}"


def check_whole(connection: Connection, number: int) -> None:
    """Refuse to read what was collected for a task that is deleted, in part or as a whole, in this snapshot."""
    deleted = connection.execute(sa.select(tasks.c.deleted).where(tasks.c.number == number)).scalar()
    if deleted is not None:
        raise Problem("task-deleted", "The curator has deleted this task and all that was collected.")
    if connection.execute(sa.select(settings.c.name).where(_marked(number))).first():
        raise Problem("task-deleted", "The curator is deleting it. If that was interrupted, delete it again.")


def some_of(table: sa.Table, key: sa.Column[Any], number: int) -> Callable[[Connection], int]:
    """Return what deletes a piece of a task's rows, and says how many those were."""

    def change(connection: Connection) -> int:
        keys = sa.select(key).where(table.c.task == number).limit(_PURGE)
        return int(connection.execute(table.delete().where((table.c.task == number) & key.in_(keys))).rowcount)

    return change


def remove(database: Database, writer: Writer, task_id: str, now: int, actor: str) -> int:
    """Delete what was collected for a task, then all of it but its number and id; return the number.

    It must be closed, unless it cannot be read: a collection that people take part in does not vanish by one request.
    """

    def begin() -> int:
        with database.write_uploads(keeping=True) as connection:  # between two commits of reports, by whatever server
            row = _may_go(connection, task_id)
            own = tasks.c.number == row.number
            connection.execute(tasks.update().where(own).values(closed=row.closed or now))
            connection.execute(sealing.delete().where(sealing.c.task == row.number))  # nothing is moved from now on
            connection.execute(settings.delete().where(_marked(row.number)))
            connection.execute(settings.insert().values(name=f"deleting:{row.number}", value=str(now)))
            return int(row.number)

    number = writer.call(begin)
    for table, key in _LARGE:
        some = some_of(table, key, number)
        # A piece at a time, so that uploads to other tasks are not held up, and while nobody merges ids: that would
        # bring back what is gone.
        while writer.run_in_turn(some, keeping=True):
            pass

    def end() -> None:
        with database.write_uploads(keeping=True) as connection:
            database.bar_sums(connection)  # another server may be adding up: its sums must not come after this
            # The large ones too: whoever scrubbed or moved what tokens spent meanwhile has put more there.
            for table in (*_SMALL, sealing, *(table for table, _ in _LARGE)):
                connection.execute(table.delete().where(table.c.task == number))
            nothing = {"announcement": "", "deleted": now, "finished": True, "groups": 0, "group_key": None}
            connection.execute(tasks.update().where(tasks.c.number == number).values(**nothing))
            connection.execute(settings.delete().where(_marked(number)))
            write_audit(connection, now, actor, "delete", task=task_id)
            note_pages(connection, (*FORGOTTEN_FROM, *_OTHERS), now)

    writer.call(end)
    return number


def _may_go(connection: Connection, task_id: str) -> Any:
    """Return the row of a task that may be deleted."""
    row = connection.execute(sa.select(tasks).where(tasks.c.id == task_id)).first()
    if row is None:
        raise Problem("task-unknown", "No task with this id was published here; check the address.")
    if row.deleted is not None:
        raise Problem("task-deleted", "It was deleted before.")
    if row.closed is None and _readable(row):
        raise Problem("task-still-open", "Close the task, then delete it.")
    second = (tasks.c.first == row.number) & tasks.c.deleted.is_(None)
    if connection.execute(sa.select(tasks.c.number).where(second)).first():
        raise Problem("task-needed", "Its second round needs it; delete that first.")
    return row


def _readable(row: Any) -> bool:
    from hedgerow.errors import HedgerowError
    from hedgerow.service.collection import Collection

    try:
        Collection.from_row(row)
    except HedgerowError:
        return False
    return True
