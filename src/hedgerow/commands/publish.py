"""``hedgerow publish``: put a task on a curator's server."""

from __future__ import annotations

import argparse
import os
import tempfile
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import add_command, check_output, read_task, report, write_text
from hedgerow.commands.server import add_server, check_window, moment, server_of
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.tasks.base import Task

_DESCRIPTION = """\
Sign a task on a curator's server and publish it; prints the link for holders.

  hedgerow publish task.json --to https://town.example --purpose "Plan bus lines"
      --curator "Town of X" --closes 14d --invitations 1000 -o links.txt
  hedgerow publish --to https://town.example --purpose ... --curator ... --open
      --draft public.csv --target hours --epsilon 2 --label-bounds 0:80

What follows --draft is what 'hedgerow design' takes (but -o): the task is
designed and published in one go. A published task never changes.

Who may answer is to be said. --invitations prints links, one a person: each is
exchanged for a pass by a blind signature, so that a report proves an invitation
and not whose. --tokens is the same without that exchange: the server could see
which link a report came with; where a report names its record (a label task), it is
what there is, and each link is for one record, 0, 1, 2, ... --open takes reports from anybody, as many as they
like: one person in a hundred who sends forgeries then decides the result.
"""


_WORDS = ("title", "purpose", "curator", "opens", "closes", "max_reports", "target", "groups")


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "publish", "put a task on a curator's server", _DESCRIPTION)
    parser.add_argument("task", nargs="?", help="the task, JSON, as 'hedgerow design' wrote it")
    parser.add_argument("--to", required=True, metavar="URL", help="the address of the server")
    parser.add_argument("--title", help="what is asked, in a line (default: that of the task)")
    parser.add_argument("--purpose", required=True, help="what the answers are for; holders read it")
    parser.add_argument("--curator", required=True, help="who asks; holders read it")
    parser.add_argument("--opens", type=moment, metavar="WHEN", help="a date, a time or days from now (default: now)")
    parser.add_argument("--closes", type=moment, metavar="WHEN", help="likewise (default: 30 days after it opens)")
    parser.add_argument("--max-reports", type=int, metavar="N", help="take no more (default: as many as come)")
    parser.add_argument("--target", type=int, metavar="N", help="how many reports you hope for; the dashboard shows it")
    parser.add_argument(
        "--groups",
        type=int,
        metavar="N",
        help="keep sums by N groups of upload tokens, so that they can be trimmed; with --target or "
        "--max-reports, 16 N reports in each at least",
    )
    who = parser.add_mutually_exclusive_group(required=True)
    who.add_argument("--invitations", type=int, metavar="N", help="one report a link, unlinkable; print N links")
    who.add_argument("--tokens", type=int, metavar="N", help="one report a link, not unlinkable; print N links")
    who.add_argument("--open", action="store_true", help="anybody may send reports, as many as they like")
    parser.add_argument("-o", "--output", metavar="FILE", help="write the link for holders (or links) there")
    add_server(parser, None)
    parser.add_argument("--draft", nargs=argparse.REMAINDER, metavar="...", help="design the task from these")
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Publish."""
    from hedgerow.holder.words import when

    if (arguments.task is None) == (arguments.draft is None):
        raise HedgerowError("name the file of a task, or design one with --draft; one of the two.")
    count = _count(arguments)
    check_window(arguments.opens, arguments.closes)
    if arguments.output is not None:
        check_output(arguments, [arguments.task] if arguments.task else [])
    server = server_of(arguments, arguments.to)
    task = read_task(arguments.task) if arguments.task is not None else _designed(arguments.draft)
    words = {name: getattr(arguments, name) for name in _WORDS}
    passes = arguments.invitations is not None
    notice = server.publish(task, tokens=count > 0, passes=passes, **words)
    link = server.join_url(notice.id)
    links = server.issue_links(notice.id, count) if count else []
    summary = {
        "id": notice.id, "url": link, "opens": notice.opens, "closes": notice.closes, "fingerprint": notice.fingerprint,
        "max_reports": notice.max_reports, "links": links,
    }  # fmt: skip
    if arguments.output is not None:
        write_text(arguments.output, "\n".join(links or [link]) + "\n", secret=bool(links))
    lines = [
        f"published until {when(notice.closes)}; the link for holders:",
        f"  {link}",
        f"signed with the key {notice.fingerprint}: tell it to holders by another way than the server",
    ]
    if links:
        lines = [lines[0].replace("the link for holders", "one link for each holder, shown once"), *links, lines[2]]
    report(arguments, summary, lines)
    return 0


def _count(arguments: argparse.Namespace) -> int:
    """Return how many links to make; 0 for an open task."""
    for name in ("invitations", "tokens"):
        count: int | None = getattr(arguments, name)
        if count is not None and count < 1:
            raise HedgerowError(f"--{name} must be at least 1. Got {count} instead.")
        if count is not None:
            return count
    return 0


def _designed(words: list[str]) -> Task:
    """Design a task, as the command would; what it says goes to standard error."""
    import contextlib
    import io
    import sys

    from hedgerow.commands import design
    from hedgerow.commands.parser import Parser

    parser = Parser(prog="hedgerow publish --draft", allow_abbrev=False)
    design.register(parser.add_subparsers(dest="command", required=True, prog="hedgerow"))  # whose --help there is
    with tempfile.TemporaryDirectory() as folder:
        path = os.path.join(folder, "task.json")
        arguments = parser.parse_args(["design", *words, "-o", path])
        with contextlib.redirect_stdout(io.StringIO()) as said:
            arguments.run(arguments)
        print(said.getvalue().replace(f" -> {path}", ""), end="", file=sys.stderr)  # of a file that nobody will find
        return read_task(path)
