"""What the commands for curators share: the address of their server, and their token."""

from __future__ import annotations

import argparse
import os
import re
import time
from collections.abc import Callable
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any

from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.curator import Server

__all__ = ["TOKEN", "add_server", "check_window", "moment", "server_of", "status_lines", "task_of", "waiting"]

TOKEN = "HEDGEROW_CURATOR_TOKEN"
_DAY = 86_400  # seconds
_MOST_TOKEN = 16_384  # characters that are read of a token's file: half of what the service takes as a head; by hand
_LENGTH = re.compile(r"([0-9]{1,4})d")
_SECONDS = re.compile("[0-9]{9,15}")  # since 1970; fewer digits are days whose "d" was forgotten, or a year


def add_server(parser: argparse.ArgumentParser, link: str | None) -> None:
    """Add the link to a task (unless the command has another way to name its server) and where the token is."""
    if link is not None:
        parser.add_argument("url", metavar="URL", help=link)
    parser.add_argument("--token-file", metavar="FILE", help=f"holds the curator's token (default: {TOKEN})")
    parser.add_argument("--insecure", action="store_true", help="allow http to other machines")


def server_of(arguments: argparse.Namespace, base: str) -> Server:
    """Return the server, with the curator's token: never from the command line, which others on a machine see."""
    from hedgerow.curator import Server

    token = os.environ.get(TOKEN, "")
    if arguments.token_file is not None:
        with open(arguments.token_file, encoding="utf-8", errors="replace") as file:
            token = file.read(_MOST_TOKEN).strip()
    if not token:
        raise HedgerowError(f"the curator's token is needed: set {TOKEN}, or name its file with --token-file.")
    return Server(base, token, arguments.insecure, waiting(arguments))


def waiting(arguments: argparse.Namespace) -> Callable[[str], None]:
    """Return what says that a server is waited for."""
    from hedgerow.commands.progress import say

    return lambda text: say(f"hedgerow {arguments.command}: {text}")


def task_of(arguments: argparse.Namespace) -> tuple[Server, str]:
    """Return the server and the task that the link names."""
    from hedgerow.curator import place_of

    place = place_of(arguments.url, arguments.insecure)
    if place is None:
        raise HedgerowError(f"URL must be the link to a task, https://host/join/ID. Got {arguments.url!r} instead.")
    return server_of(arguments, place.base), place.task_id


def moment(text: str) -> int:
    """Read a time: a date (its start, UTC), a date with a time, unix seconds, or days from now.

    >>> moment("2030-01-01"), moment("1893456000")
    (1893456000, 1893456000)
    """
    if _SECONDS.fullmatch(text):
        return int(text)
    if found := _LENGTH.fullmatch(text):
        return int(time.time()) + int(found[1]) * _DAY
    try:
        when = datetime.fromisoformat(text if "-" in text else "")  # 20300131 is as well a number that went wrong
    except ValueError:
        raise argparse.ArgumentTypeError(
            f"expected a date such as 2030-01-31, a time such as 2030-01-31T18:00, or days from now such as 14d. "
            f"Got {text!r} instead."
        ) from None
    return int((when if when.tzinfo else when.replace(tzinfo=UTC)).timestamp())


def check_window(opens: int | None, closes: int | None) -> None:
    """Refuse a window in which nobody could answer, in the words of whoever typed it.

    >>> check_window(None, moment("2020-01-31"))
    Traceback (most recent call last):
    ...
    hedgerow.errors.HedgerowError: --closes is over: 31 January 2020, 00:00 UTC. Give a later time, such as 14d.
    """
    from hedgerow.holder.words import when

    if closes is not None and opens is not None and closes <= opens:
        raise HedgerowError(f"--closes must be after --opens. Got {when(closes)} and {when(opens)}.")
    if closes is not None and closes <= time.time():
        raise HedgerowError(f"--closes is over: {when(closes)}. Give a later time, such as 14d.")


def status_lines(status: dict[str, Any]) -> list[str]:
    """Return a task's state in words."""
    from hedgerow.commands.files import counted
    from hedgerow.holder.words import when
    from hedgerow.tasks.words import plain

    target = status.get("target")
    aim = "" if target is None else f" of {target:,} aimed at"
    if status["max_reports"]:
        aim += f", at most {status['max_reports']:,} are taken"
    lines = [
        f"{plain(status['title']) or status['id'][:12]}: {status['state']}, "
        f"{counted(status['accepted'], 'report')}{aim}",
        f"  opens {when(status['opens'])}, closes {when(status['closes'])}",
        f"  {status['guarantee']}",
    ]
    lines += [f"  refused {n:,}: {code}" for code, n in status["refused"].items()]
    lines += [f"  {s['role']} {s['operator']}: {s['state']}" for s in status.get("servers", [])]
    if status["forgery"] is not None:
        lines.append(f"  {status['forgery']['statement']}")
    if status.get("trimming"):
        lines.append(f"  {status['trimming']}")
    alarms = status["manipulation"]["alarms"]
    lines += [
        f"  ALARM {alarm['event']}: seen {alarm['seen']:,}, expected {alarm['expected']:,.0f}" for alarm in alarms
    ]
    return lines
