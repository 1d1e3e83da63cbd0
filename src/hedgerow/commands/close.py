"""``hedgerow close``: end a collection."""

from __future__ import annotations

import argparse
from typing import Any

from hedgerow.commands.files import add_command, report
from hedgerow.commands.server import add_server, status_lines, task_of

_DESCRIPTION = """\
Take no more reports for a task, for ever. With --delete, delete a closed task
and everything that was collected for it.

  hedgerow close https://town.example/join/ID
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "close", "end a collection", _DESCRIPTION)
    add_server(parser, "the link to a task")
    parser.add_argument("--delete", action="store_true", help="delete the closed task, and all that was collected")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Close, or delete."""
    server, task_id = task_of(arguments)
    if arguments.delete:
        overwritten = server.delete(task_id)
        lines = ["deleted, with everything that was collected for it."]
        lines += [] if overwritten else ["The database is busy: the server overwrites it on the disk a little later."]
        report(arguments, {"id": task_id, "deleted": True, "overwritten": overwritten}, lines)
        return 0
    status = server.close(task_id)
    report(arguments, status, status_lines(status))
    return 0
