"""``hedgerow serve``: the curator's service, and the care of its database."""

from __future__ import annotations

import argparse
import math
import os
import re
import socket
import sys
from typing import Any

from hedgerow.commands.files import add_command, report, write_text
from hedgerow.commands.operators import show_operator, show_peers
from hedgerow.errors import HedgerowError

_DESCRIPTION = """\
Run the curator's service: it publishes signed tasks, takes reports, adds them up
and hands out models. Without a database URL it keeps a file hedgerow.db here.

First run 'hedgerow serve init': it makes the database, which nothing else does,
and prints a curator's token once (none if HEDGEROW_CURATOR_TOKEN is set). The
service speaks HTTP; put a proxy with TLS in front.

  hedgerow serve init                make the database, print a curator's token
  hedgerow serve [--port 8000] [--database URL] [--remember HOURS]
  hedgerow serve curators            list curators; --add NAME [--scopes read,...]
                                     prints a token, --revoke NAME ends one
  hedgerow serve operator --name "Town" --origin https://sums.town.example
                                     who runs this server, for tasks that two
                                     servers share; prints its card
  hedgerow serve peers               servers to share tasks with; --add URL|FILE
  hedgerow serve audit               what curators did, newest first; exit code 1
                                     where the log was changed by other means
  hedgerow serve backup FILE         a consistent copy, while the service runs
  hedgerow serve restore FILE        into an empty database, of either kind
"""
_ACTIONS = ("run", "init", "curators", "operator", "peers", "audit", "backup", "restore")
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
    parser.add_argument("--port", type=_port, default=8000, help="port to listen on (default: 8000)")
    parser.add_argument("--key", metavar="FILE", help="the curator's signing key, PEM (default: in the database)")
    parser.add_argument(
        "--remember",
        type=_hours,
        default=_WEEK,
        metavar="HOURS",
        help="how long after a task was closed a report sent again is still known; 0: forget at once (default: 168)",
    )
    for kind, rate in (("address", 50.0), ("token", 20.0)):
        text = f"requests a second from one {kind}; beyond they are told to wait; 0: no limit (default: {rate:g})"
        parser.add_argument(f"--{kind}-rate", type=_rate, default=rate, metavar="R", help=text)
    parser.add_argument("--name", help="init: how the audit log calls the first curator; operator: the organisation")
    parser.add_argument("--origin", metavar="URL", help="operator: where others find this server, https://host[:port]")
    parser.add_argument(
        "--if-missing",
        action="store_true",
        help="init: do nothing if the database is there already; operator: nor if it is of an earlier version",
    )
    parser.add_argument(
        "--token-file",
        metavar="FILE",
        help="init: write the token there, for its owner only, and do not print it: what a supervisor starts is logged",
    )
    parser.add_argument(
        "--add",
        metavar="NAME|URL",
        help="curators: add one, and print the token once; peers: a server (its address, or a file with its card)",
    )
    parser.add_argument("--revoke", metavar="NAME", help="curators: make the token worthless, and end its sessions")
    parser.add_argument(
        "--scopes",
        metavar="SCOPE,...",
        help="curators: what the token allows: publish, read, close, admin (default: all)",
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


def _port(text: str) -> int:
    """Read a port.

    >>> _port("8000")
    8000
    """
    port = int(text) if re.fullmatch("[0-9]{1,5}", text) else 0
    if not 0 < port < 1 << 16:
        raise argparse.ArgumentTypeError(f"expected a port, 1 to 65535, such as 8000. Got {text!r} instead.")
    return port


def _rate(text: str) -> float:
    """Read a number of requests a second.

    >>> _rate("0"), _rate("2.5")
    (0.0, 2.5)
    """
    try:
        rate = float(text)
    except ValueError:
        rate = math.nan
    if not 0 <= rate < math.inf:
        raise argparse.ArgumentTypeError(f"expected requests a second, such as 50; 0: no limit. Got {text!r} instead.")
    return rate


def run(arguments: argparse.Namespace) -> int:
    """Do what was asked."""
    if (arguments.file is not None) != (arguments.action in ("backup", "restore")):
        raise HedgerowError("backup and restore need a FILE, and nothing else takes one.")
    _check_options(arguments)
    try:
        import hedgerow.service  # noqa: F401
    except ModuleNotFoundError as error:
        raise HedgerowError(f"the service needs {error.name}: pip install 'hedgerow[service]'.") from None
    actions = {
        "run": _serve, "init": _init, "curators": _curators, "audit": _audit, "backup": _backup, "restore": _restore,
        "operator": show_operator, "peers": show_peers,
    }  # fmt: skip
    return actions[arguments.action](arguments)


def _serve(arguments: argparse.Namespace) -> int:
    import uvicorn

    from hedgerow.service import create_app
    from hedgerow.service.connections import limited
    from hedgerow.service.logs import uvicorn_config
    from hedgerow.service.memory import keep_loaded
    from hedgerow.service.service import FINISH_SECONDS
    from hedgerow.service.settings import Settings
    from hedgerow.tasks.keys import load_key

    key = load_key(arguments.key) if arguments.key else None
    settings = Settings(
        remember_seconds=3600 * arguments.remember,
        address_rate=arguments.address_rate,
        token_rate=arguments.token_rate,
        storage=not arguments.no_storage,
    )
    app = create_app(arguments.database, key=key, settings=settings)
    _check_free(arguments.host, arguments.port)
    host = f"[{arguments.host}]" if ":" in arguments.host else arguments.host
    url = f"http://{host}:{arguments.port}"
    print(f"hedgerow serve: listening on {url}, database {app.state.service.database.url!r}", file=sys.stderr)
    keep_loaded()
    # No access log: it would hold addresses. No Server header: nobody needs it.
    uvicorn.run(
        app,
        host=arguments.host,
        port=arguments.port,
        http=limited(settings),
        ws="none",
        log_config=uvicorn_config(),
        access_log=False,
        server_header=False,
        timeout_graceful_shutdown=FINISH_SECONDS,
        backlog=4096,
    )
    return 0


def _check_free(host: str, port: int) -> None:
    """Say in one line why nothing can listen there; uvicorn would say it as a line of its log, and start first."""
    try:
        family, kind, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        with socket.socket(family, kind) as probe:
            if os.name == "posix":  # as uvicorn does: connections that have ended are not in the way
                probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            probe.bind(address)
    except OSError as error:
        raise HedgerowError(
            f"cannot listen on {host}, port {port}: {error.strerror or error}. Choose another --port or --host, or "
            "stop what listens there."
        ) from None


_OWN = {
    "if_missing": ("init", "operator"),
    "token_file": ("init",),
    "name": ("init", "operator"),
    "origin": ("operator",),
    "add": ("curators", "peers"),
    "revoke": ("curators",),
    "scopes": ("curators",),
}


def _check_options(arguments: argparse.Namespace) -> None:
    """Refuse options that the action does not know, instead of ignoring them."""
    for name, actions in _OWN.items():
        if getattr(arguments, name) not in (None, False) and arguments.action not in actions:
            belongs = " and ".join(f"'hedgerow serve {action}'" for action in actions)
            raise HedgerowError(f"--{name.replace('_', '-')} belongs to {belongs}.")
    if arguments.add is not None and arguments.revoke is not None:
        raise HedgerowError("--add and --revoke are two steps; do one after the other.")
    if arguments.scopes is not None and arguments.add is None:
        raise HedgerowError("--scopes belongs to --add; a token's scopes do not change.")


def _init(arguments: argparse.Namespace) -> int:
    import time

    from hedgerow.service.curators import add_curator
    from hedgerow.service.database import Database
    from hedgerow.service.migrate import OlderSchema
    from hedgerow.service.service import Service
    from hedgerow.tasks.keys import base64url, fingerprint, load_key, public_bytes

    try:
        opened = Database(arguments.database, "create")
    except OlderSchema:
        if not arguments.if_missing:
            raise
        return _leave(arguments)  # the server that starts next brings it up to date
    with opened as database:
        if arguments.if_missing and database.version_before:
            return _leave(arguments)
        key = load_key(arguments.key) if arguments.key else None
        public = public_bytes(Service(database, key=key).key)
        token = None
        if not os.environ.get("HEDGEROW_CURATOR_TOKEN"):
            with database.write() as connection:
                token = add_curator(connection, arguments.name or "curator", now=int(time.time()))
                if arguments.token_file is not None:
                    write_text(arguments.token_file, f"{token}\n", secret=True)
    summary = {"token": token, "public_key": base64url(public), "fingerprint": fingerprint(public)}
    said = f"curator's token (shown once): {token}" if token else "curator's token: that of HEDGEROW_CURATOR_TOKEN"
    if token and arguments.token_file is not None:
        summary["token"] = None
        said = f"curator's token: in {arguments.token_file}"
    lines = [
        said,
        f"public key, for holders to trust: {summary['public_key']}",
        f"its fingerprint: {summary['fingerprint']}",
    ]
    report(arguments, summary, lines)
    return 0


def _leave(arguments: argparse.Namespace) -> int:
    report(arguments, {"made": False}, ["the database is there already; nothing was changed."])
    return 0


def _curators(arguments: argparse.Namespace) -> int:
    import time

    from hedgerow.service.curators import SCOPES, add_curator, list_curators, revoke_curator
    from hedgerow.service.database import Database

    now = int(time.time())
    changes = arguments.add is not None or arguments.revoke is not None
    with Database(arguments.database, "change" if changes else "read") as database:
        if arguments.add is not None:
            scopes = list(SCOPES) if arguments.scopes is None else arguments.scopes.split(",")
            with database.write() as connection:
                token = add_curator(connection, arguments.add, scopes, now=now)
            report(arguments, {"name": arguments.add, "token": token}, [f"token (shown once): {token}"])
            return 0
        if arguments.revoke is not None:
            with database.write() as connection:
                revoke_curator(connection, arguments.revoke, now=now)
        with database.read() as connection:
            found = list_curators(connection)
    rows = [{"name": c.name, "scopes": sorted(c.scopes), "created": c.created, "revoked": c.revoked} for c in found]
    lines = [f"{c.name}: {'revoked' if c.revoked else ', '.join(sorted(c.scopes))}" for c in found]
    report(arguments, {"curators": rows}, lines or ["there is no curator; add one with --add NAME."])
    return 0


def _audit(arguments: argparse.Namespace) -> int:
    from dataclasses import asdict
    from datetime import UTC, datetime

    from hedgerow.service.audit import broken_at, read_audit
    from hedgerow.service.database import Database
    from hedgerow.tasks.words import plain

    with Database(arguments.database, "read") as database, database.read() as connection:
        entries = read_audit(connection)
        broken = broken_at(connection)
    lines = [
        plain(
            f"{datetime.fromtimestamp(e.time, UTC):%Y-%m-%d %H:%M:%S}  {e.actor}  {e.action}  {(e.task or '')[:12]}  "
            f"{e.detail}"
        ).rstrip()
        for e in entries
    ]
    end = "the chain of the log holds."
    if broken is not None:
        end = f"row {broken} does not fit the one before: the log was changed by other means."
    report(arguments, {"entries": [asdict(e) for e in entries], "broken_at": broken}, [*lines, end])
    return 0 if broken is None else 1


def _backup(arguments: argparse.Namespace) -> int:
    from hedgerow.service.backup import backup
    from hedgerow.service.database import Database

    with Database(arguments.database, "read") as database:
        counts = backup(database, arguments.file)
    report(arguments, {"output": arguments.file, "rows": counts}, [_said(counts, f"-> {arguments.file}")])
    return 0


def _restore(arguments: argparse.Namespace) -> int:
    from hedgerow.service.backup import check_backup, restore
    from hedgerow.service.database import Database

    check_backup(arguments.file)  # a mistyped path must not leave an empty database behind
    with Database(arguments.database, "create") as database:
        counts = restore(database, arguments.file)
    report(arguments, {"input": arguments.file, "rows": counts}, [_said(counts, f"<- {arguments.file}")])
    return 0


def _said(counts: dict[str, int], where: str) -> str:
    return f"{counts['tasks']} tasks, {sum(counts.values()):,} rows {where}"
