"""``hedgerow fetch``: what a collection gave."""

from __future__ import annotations

import argparse
from typing import Any

from hedgerow.commands.files import add_command, add_output, check_output, output, report
from hedgerow.commands.server import add_server, task_of

_DESCRIPTION = """\
Fetch the model of all reports that were acknowledged so far, as a file that
'hedgerow predict', 'explain' and 'card' read. Of a task that delivers its
reports instead (labels, first of two rounds): --data. Of a task that was published
with --groups, --trim 0.1 leaves out of every sum the tenth of the groups with the
smallest and the tenth with the largest rates.

  hedgerow fetch https://town.example/join/ID -o model.json
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "fetch", "fetch the model of a collection", _DESCRIPTION)
    add_server(parser, "the link to a task")
    kind = parser.add_mutually_exclusive_group()
    kind.add_argument("--data", action="store_true", help="the data set of a label task, or reports of a first round")
    kind.add_argument("--leaves", action="store_true", help="the table of leaves, JSON")
    parser.add_argument(
        "--trim",
        type=float,
        metavar="SHARE",
        help="of the groups, left out at each end; for tasks published with --groups",
    )
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
    body = server.fetch(task_id, what, trim=arguments.trim)
    with output(arguments.output) as file:
        file.write(body)
    lines = [f"{what} -> {arguments.output}"]
    if arguments.trim is not None:
        lines.append(
            f"of totals without {arguments.trim:g} of the groups at each end: intervals are as wide as that makes them"
        )
    report(arguments, {"output": arguments.output, "bytes": len(body), "trim": arguments.trim}, lines)
    return 0
