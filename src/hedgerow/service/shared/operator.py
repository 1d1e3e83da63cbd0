"""Who runs this server, and its keys: what tasks that two servers share pin of it."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.aggregate import Server
from hedgerow.errors import HedgerowError
from hedgerow.sealing import KeyPair
from hedgerow.service.audit import write_audit
from hedgerow.service.schema import settings
from hedgerow.tasks.keys import base64url, from_base64url, public_bytes

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ed25519 import Ed25519PrivateKey

__all__ = ["Identity", "read_identity", "set_operator"]

_NAME = "operator"
_KEY = "sealing-key"


@dataclass(frozen=True)
class Identity:
    """Whoever runs this server: its card, for everybody, and its two private keys."""

    card: Server
    signing: Ed25519PrivateKey
    sealing: KeyPair


def _setting(connection: Connection, name: str) -> str | None:
    found: str | None = connection.execute(sa.select(settings.c.value).where(settings.c.name == name)).scalar()
    return found


def read_identity(connection: Connection, signing: Callable[[], Ed25519PrivateKey]) -> Identity | None:
    """Return who runs this server; None until the operator has said so."""
    words = _setting(connection, _NAME)
    key = _setting(connection, _KEY)
    if words is None or key is None:
        return None
    name, origin = json.loads(words)
    sealing = KeyPair.of(from_base64url(key, 32, _KEY))
    private = signing()
    return Identity(Server(name, origin, sealing.public, public_bytes(private)), private, sealing)


def set_operator(connection: Connection, name: str, origin: str, *, now: int, actor: str = "command line") -> None:
    """Say who runs this server and where it is, once; a sealing key is drawn with it. Neither ever changes."""
    made = KeyPair.generate()
    Server(name, origin, made.public, bytes(32))  # refuses words that no card may have
    words = json.dumps([name, origin])
    before = _setting(connection, _NAME)
    if before is not None and before != words:
        raise HedgerowError(
            f"this server says already who runs it: {', '.join(json.loads(before))}. Tasks pin that; make a new "
            "database for another operator."
        )
    if before is None:
        values = [{"name": _NAME, "value": words}, {"name": _KEY, "value": base64url(made.private)}]
        connection.execute(settings.insert(), values)
        write_audit(connection, now, actor, "operator", detail=f"{name} at {origin}")
