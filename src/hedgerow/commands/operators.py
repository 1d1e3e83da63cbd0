"""``hedgerow serve operator`` and ``hedgerow serve peers``: who runs this server, and with whom it shares tasks."""

from __future__ import annotations

import argparse
import time
from typing import TYPE_CHECKING, Any

from hedgerow.commands.files import naming, report
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.aggregate import Server

__all__ = ["show_operator", "show_peers"]


def show_operator(arguments: argparse.Namespace) -> int:
    """Say who runs this server, once; print its card."""
    from hedgerow.service.database import Database
    from hedgerow.service.migrate import OlderSchema
    from hedgerow.service.service import Service
    from hedgerow.service.shared.operator import set_operator

    if (arguments.name is None) != (arguments.origin is None):
        raise HedgerowError("--name and --origin belong together: who runs this server, and where it is.")
    try:
        opened = Database(arguments.database, "change")
    except OlderSchema:
        if not arguments.if_missing:
            raise
        report(arguments, {"card": None}, ["the database is of an earlier version; nothing was changed."])
        return 0  # it was said before, and the server that starts next brings it up to date
    with opened as database:
        if arguments.name is not None:
            with database.write() as connection:
                set_operator(connection, arguments.name, arguments.origin, now=int(time.time()))
        identity = Service(database, key=_key(arguments)).shared.identity
    if identity is None:
        raise HedgerowError("nobody has said who runs this server: --name 'Town' --origin https://sums.town.example")
    card = identity.card
    report(arguments, {"card": card.to_dict()}, [card.to_json()])
    return 0


def _key(arguments: argparse.Namespace) -> Any:
    from hedgerow.tasks.keys import load_key

    return load_key(arguments.key) if arguments.key else None


def show_peers(arguments: argparse.Namespace) -> int:
    """List the servers that tasks are shared with; add one."""
    from hedgerow.service.database import Database
    from hedgerow.service.shared.peers import add_peer, list_peers
    from hedgerow.tasks.keys import fingerprint

    with Database(arguments.database, "read" if arguments.add is None else "change") as database:
        if arguments.add is not None:
            card = _card(arguments.add)
            with database.write() as connection:
                add_peer(connection, card, now=int(time.time()))
        with database.read() as connection:
            found = list_peers(connection)
    lines = [f"{card.operator}: {card.origin}, key {fingerprint(card.signing_key)}" for card in found]
    summary = {"peers": [card.to_dict() for card in found]}
    report(arguments, summary, lines or ["there is no peer; add one with --add URL (or a file with its card)."])
    return 0


def _card(place: str) -> Server:
    """Read the card of a server: from its own address, or from a file that its operator has sent."""
    from hedgerow.aggregate import Server
    from hedgerow.collector import card_at

    if place.startswith(("http://", "https://")):
        return card_at(place)
    with naming(place), open(place, encoding="utf-8") as file:
        return Server.from_json(file.read())
