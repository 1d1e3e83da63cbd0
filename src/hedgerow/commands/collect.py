"""``hedgerow collect``: the sums of a task that two servers share, which only the collector can read."""

from __future__ import annotations

import argparse
from typing import Any

from hedgerow.commands.files import add_command, check_output, report, write_text
from hedgerow.commands.progress import Progress
from hedgerow.commands.server import add_server, server_of
from hedgerow.errors import HedgerowError

_DESCRIPTION = """\
Two servers of different organisations add up reports that neither can read.

  hedgerow collect key collector.key              draw the collector's key, once
  hedgerow collect servers https://sums.town.example https://sums.club.example
      --key collector.key -o servers.json         leader and helper, for a task
  hedgerow collect sums https://sums.town.example/join/ID --key collector.key
      -o model.json [--sums sums.json]            close the task, get the model

'sums' closes the task for ever. Each server checks that both have the same
reports and enough of them, adds its own noise once, and seals its share for the
collector's key. The same command again gives the same sums.
"""


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "collect", "collect sums from two servers that see no record", _DESCRIPTION)
    parser.add_argument("what", choices=("key", "servers", "sums"), help="what to do")
    parser.add_argument("places", nargs="+", metavar="FILE|URL", help="key: a new file; servers: two; sums: a task")
    parser.add_argument("--key", metavar="FILE", help="the collector's key")
    parser.add_argument("-o", "--output", metavar="FILE", help="servers: what a task pins; sums: the model")
    parser.add_argument("--sums", metavar="FILE", help="sums: the noisy sums themselves, JSON")
    add_server(parser, None)
    parser.set_defaults(run=run)


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked."""
    _check(arguments)
    actions = {"key": _key, "servers": _servers, "sums": _sums}
    return actions[arguments.what](arguments)


def _check(arguments: argparse.Namespace) -> None:
    """Refuse options that the action does not know, and wrong numbers of places."""
    wanted = {"key": 1, "servers": 2, "sums": 1}[arguments.what]
    if len(arguments.places) != wanted:
        raise HedgerowError(f"'hedgerow collect {arguments.what}' takes {wanted} FILE or URL, not more, not fewer.")
    if arguments.sums is not None and arguments.what != "sums":
        raise HedgerowError("--sums belongs to 'hedgerow collect sums'.")
    if arguments.what == "key" and (arguments.key or arguments.output):
        raise HedgerowError("'hedgerow collect key FILE' takes neither --key nor -o.")
    if arguments.what != "key" and not (arguments.key and arguments.output):
        raise HedgerowError(f"'hedgerow collect {arguments.what}' needs --key and -o.")


def _key(arguments: argparse.Namespace) -> int:
    from hedgerow.collector import generate_key

    (path,) = arguments.places
    key = generate_key(path)
    lines = [f"the collector's key -> {path} (keep it: nobody else can read the sums)", f"public: {key.public.hex()}"]
    report(arguments, {"output": path, "public": key.public.hex()}, lines)
    return 0


def _servers(arguments: argparse.Namespace) -> int:
    from hedgerow.collector import load_key, servers_of

    check_output(arguments, [arguments.key])
    leader, helper = arguments.places
    found = servers_of(leader, helper, load_key(arguments.key))
    write_text(arguments.output, found.to_json())
    lines = [
        f"leader: {found.leader.operator}, {found.leader.origin}",
        f"helper: {found.helper.operator}, {found.helper.origin}",
        f"-> {arguments.output}",
    ]
    report(arguments, {"output": arguments.output, "servers": found.to_dict()}, lines)
    return 0


def _sums(arguments: argparse.Namespace) -> int:
    from hedgerow.collector import collect, load_key
    from hedgerow.curator import place_of

    check_output(arguments, [arguments.key])
    (url,) = arguments.places
    place = place_of(url, arguments.insecure)
    if place is None:
        raise HedgerowError(f"'hedgerow collect sums' takes the link to a task, https://host/join/ID. Got {url!r}.")
    with Progress("collecting"):
        notice, totals = collect(server_of(arguments, place.base), place.task_id, load_key(arguments.key))
    if arguments.sums is not None:
        write_text(arguments.sums, totals.to_json())
    model = notice.task.model(totals)
    write_text(arguments.output, model.to_json())
    summary = {"output": arguments.output, "sums": arguments.sums, "n_reports": totals.n_reports}
    lines = [f"{totals.n_reports:,} reports, the noise of both servers -> {arguments.output}"]
    report(arguments, summary, lines)
    return 0
