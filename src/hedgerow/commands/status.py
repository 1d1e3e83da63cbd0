"""``hedgerow status``: what a curator's server has."""

from __future__ import annotations

import argparse
from typing import Any

from hedgerow.commands.files import add_command, report
from hedgerow.commands.server import add_server, server_of, status_lines, task_of

_DESCRIPTION = """\
Show how a collection goes: reports so far, refusals by reason, alarms. With the
address of a server instead of the link to a task: its tasks. The exit code is 1
where there are alarms.

  hedgerow status https://town.example
  hedgerow status https://town.example/join/ID
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "status", "show how a collection goes", _DESCRIPTION)
    add_server(parser, "the link to a task, or the address of a server")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Show."""
    from hedgerow.curator import place_of

    if place_of(arguments.url, arguments.insecure) is None:
        return _list(arguments)
    server, task_id = task_of(arguments)
    status = server.status(task_id)
    report(arguments, status, status_lines(status))
    return 1 if status["manipulation"]["alarms"] else 0


def _list(arguments: argparse.Namespace) -> int:
    from hedgerow.tasks.words import plain

    server = server_of(arguments, arguments.url)
    found = server.tasks()
    lines = [
        f"{'open' if task['open'] else 'shut'}  {plain(task['title']) or task['kind']}  {server.join_url(task['id'])}"
        for task in found
    ]
    report(arguments, {"tasks": found}, lines or ["there is no task yet; 'hedgerow publish' makes one."])
    return 0
