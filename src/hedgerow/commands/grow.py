"""``hedgerow grow``: ``aggregate`` of a first round, by the name of what it makes."""

from __future__ import annotations

import argparse
from typing import Any

from hedgerow.commands import aggregate
from hedgerow.commands.files import add_command, read_task
from hedgerow.errors import HedgerowError

_DESCRIPTION = """\
Grow the partition of the second round from the reports of the first: a tree over
public features, times a histogram over the most protected ones. Publish the
result; holders answer it with 'hedgerow privatize' and their --secrets. It is
what 'hedgerow aggregate' does with the first task.

All of it follows from what was sent, and so costs no privacy.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "grow", "make the second task of two rounds", _DESCRIPTION)
    aggregate.add_arguments(parser)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Add up, if there is something to grow."""
    if read_task(arguments.task).makes != "task":
        raise HedgerowError(f"{arguments.task} is not the first task of two rounds; only that can be grown from.")
    return aggregate.run(arguments)
