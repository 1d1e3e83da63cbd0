"""``hedgerow fetch``: what a collection gave."""

from __future__ import annotations

import argparse
from typing import Any

from hedgerow.commands.files import add_command, add_output, check_output, output, report
from hedgerow.commands.server import add_server, task_of

_DESCRIPTION = """\
Fetch the model of all reports that were acknowledged so far, as a file that
'hedgerow predict', 'explain' and 'card' read. Of a task that delivers its
reports instead (labels, first of two rounds): --data.

  hedgerow fetch https://town.example/join/ID -o model.json
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "fetch", "fetch the model of a collection", _DESCRIPTION)
    add_server(parser, "the link to a task")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--data", action="store_true", help="the data set of a label task, or reports of a first round")
    kind.add_argument("--leaves", action="store_true", help="the table of leaves, JSON")
    add_output(parser, "the model, JSON")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Fetch."""
    what = "model"
    if arguments.data:
        what = "data"
    if arguments.leaves:
        what = "leaves"
    check_output(arguments, [])
    server, task_id = task_of(arguments)
    body = server.fetch(task_id, what)
    with output(arguments.output) as file:
        file.write(body)
    report(arguments, {"output": arguments.output, "bytes": len(body)}, [f"{what} -> {arguments.output}"])
    return 0
