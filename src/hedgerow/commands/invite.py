"""``hedgerow invite``: links for further holders of a task."""

from __future__ import annotations

import argparse
from typing import Any

from hedgerow.commands.files import add_command, check_output, report, write_text
from hedgerow.commands.server import add_server, task_of
from hedgerow.errors import HedgerowError

_DESCRIPTION = """\
Make links for further holders of a task that was published with --invitations
or --tokens; each is good for one report. Where reports name the number of their
record, as those of a label task do, each link is for one record.

  hedgerow invite https://town.example/join/ID 200 -o links.txt
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "invite", "links for further holders of a task", _DESCRIPTION)
    add_server(parser, "the link to a task")
    parser.add_argument("count", type=int, metavar="N", help="how many links")
    parser.add_argument(
        "--first-record",
        type=int,
        metavar="K",
        help="where reports name their record: links for the records K, K + 1, ... (default: those that follow)",
    )
    parser.add_argument("-o", "--output", metavar="FILE", help="write the links there")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Make them."""
    if arguments.count < 1:
        raise HedgerowError(f"N must be at least 1. Got {arguments.count} instead.")
    if arguments.first_record is not None and arguments.first_record < 0:
        raise HedgerowError(f"--first-record must be at least 0. Got {arguments.first_record} instead.")
    if arguments.output is not None:
        check_output(arguments, [])
    server, task_id = task_of(arguments)
    links = server.issue_links(task_id, arguments.count, arguments.first_record)
    if arguments.output is not None:
        write_text(arguments.output, "\n".join(links) + "\n", secret=True)
    report(arguments, {"id": task_id, "links": links}, ["one link for each holder, shown once:", *links])
    return 0
