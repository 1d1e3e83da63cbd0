"""``hedgerow serve``: the curator's service, and the care of its database."""

from __future__ import annotations

import argparse
import math
import os
import sys
from typing import Any

from hedgerow.commands.files import add_command, report
from hedgerow.errors import HedgerowError

_DESCRIPTION = """\
Run the curator's service: it publishes signed tasks, takes reports, adds them up
and hands out models. Without a database URL it keeps a file hedgerow.db here.

First run 'hedgerow serve init', which prints a curator's token once. Or set
HEDGEROW_CURATOR_TOKEN. The service speaks HTTP; put a proxy with TLS in front.

  hedgerow serve [--port 8000] [--database URL] [--remember HOURS]
  hedgerow serve init                make the database, print a curator's token
  hedgerow serve backup FILE         a consistent copy, while the service runs
  hedgerow serve restore FILE        into an empty database, of either kind
"""
_ACTIONS = ("run", "init", "backup", "restore")
DEFAULT = "sqlite:///hedgerow.db"
_WEEK = 168.0  # hours: 7 * 24


def register(subparsers: Any) -> None:
    """Add the command."""
    parser = add_command(subparsers, "serve", "collect reports: the curator's service", _DESCRIPTION)
    parser.add_argument("action", nargs="?", choices=_ACTIONS, default="run", help="what to do (default: run)")
    parser.add_argument("file", nargs="?", help="the file of backup and restore")
    parser.add_argument(
        "--database",
        default=os.environ.get("HEDGEROW_DATABASE", DEFAULT),
        metavar="URL",
        help=f"sqlite:///FILE or postgresql+psycopg://USER@HOST/NAME (default: HEDGEROW_DATABASE or {DEFAULT})",
    )
    parser.add_argument("--host", default="127.0.0.1", help="address to listen on (default: 127.0.0.1)")
    parser.add_argument("--port", type=int, default=8000, help="port to listen on (default: 8000)")
    parser.add_argument("--key", metavar="FILE", help="the curator's signing key, PEM (default: in the database)")
    parser.add_argument(
        "--remember",
        type=_hours,
        default=_WEEK,
        metavar="HOURS",
        help="how long after a task was closed a report sent again is still known; 0: forget at once (default: 168)",
    )
    parser.add_argument("--no-storage", action="store_true", help=argparse.SUPPRESS)
    parser.set_defaults(run=run)


def _hours(text: str) -> float:
    """Read a duration.

    >>> _hours("0"), _hours("1.5")
    (0.0, 1.5)
    """
    try:
        hours = float(text)
    except ValueError:
        hours = math.nan
    if not 0 <= hours * 3600 < math.inf:
        raise argparse.ArgumentTypeError(
            f"expected a number of hours of at least 0, such as 24; 0 forgets at once. Got {text!r} instead."
        )
    return hours


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked."""
    if (arguments.file is not None) != (arguments.action in ("backup", "restore")):
        raise HedgerowError("backup and restore need a FILE, and nothing else takes one.")
    try:
        import hedgerow.service  # noqa: F401
    except ModuleNotFoundError as error:
        raise HedgerowError(f"the service needs {error.name}: pip install 'hedgerow[service]'.") from None
    actions = {"run": _serve, "init": _init, "backup": _backup, "restore": _restore}
    return actions[arguments.action](arguments)


def _serve(arguments: argparse.Namespace) -> int:
    import uvicorn

    from hedgerow.service import create_app
    from hedgerow.service.logs import uvicorn_config
    from hedgerow.service.settings import Settings
    from hedgerow.tasks.keys import load_key

    key = load_key(arguments.key) if arguments.key else None
    settings = Settings(remember_seconds=3600 * arguments.remember, storage=not arguments.no_storage)
    app = create_app(arguments.database, key=key, settings=settings)
    url = f"http://{arguments.host}:{arguments.port}"
    print(f"hedgerow serve: listening on {url}, database {app.state.service.database.url!r}", file=sys.stderr)
    # No access log: it would hold addresses. No Server header: nobody needs it.
    uvicorn.run(
        app,
        host=arguments.host,
        port=arguments.port,
        log_config=uvicorn_config(),
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=30,
        backlog=4096,
    )
    return 0


def _init(arguments: argparse.Namespace) -> int:
    from hedgerow.service.database import Database
    from hedgerow.service.service import Service
    from hedgerow.tasks.keys import base64url, fingerprint, load_key, public_bytes

    with Database(arguments.database) as database:
        key = load_key(arguments.key) if arguments.key else None
        service = Service(database, key=key)
        public = public_bytes(service.key)
        token = service.add_curator()
    summary = {"token": token, "public_key": base64url(public), "fingerprint": fingerprint(public)}
    lines = [
        f"curator's token (shown once): {token}",
        f"public key, for holders to trust: {summary['public_key']}",
        f"its fingerprint: {summary['fingerprint']}",
    ]
    report(arguments, summary, lines)
    return 0


def _backup(arguments: argparse.Namespace) -> int:
    from hedgerow.service.backup import backup
    from hedgerow.service.database import Database

    with Database(arguments.database) as database:
        counts = backup(database, arguments.file)
    report(arguments, {"output": arguments.file, "rows": counts}, [_said(counts, f"-> {arguments.file}")])
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    from hedgerow.service.backup import restore
    from hedgerow.service.database import Database

    with Database(arguments.database) as database:
        counts = restore(database, arguments.file)
    report(arguments, {"input": arguments.file, "rows": counts}, [_said(counts, f"<- {arguments.file}")])
    return 0


def _said(counts: dict[str, int], where: str) -> str:
    return f"{counts['tasks']} tasks, {sum(counts.values()):,} rows {where}"
