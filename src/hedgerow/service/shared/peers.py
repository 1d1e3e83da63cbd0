"""The other server: known by its operator's key, which signs every message and every answer.

``key 32 | signature 64 | body``, where the signature is Ed25519 over a label, the path and the body; of an answer, over
the request too. TLS is needed beside it, for secrecy: ids are in it.
"""

from __future__ import annotations

import hashlib
import urllib.request
from typing import Any
from urllib.parse import urlsplit

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.aggregate import Server
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.holder.client import Client, is_loopback
from hedgerow.service.audit import write_audit
from hedgerow.service.openapi import PEER
from hedgerow.service.schema import peers
from hedgerow.service.shared.operator import Identity
from hedgerow.tasks.keys import ed25519, fingerprint, public_bytes

__all__ = ["Caller", "add_peer", "find_peer", "list_peers", "opened", "signed"]

_KEY = 32  # bytes of an Ed25519 public key
_SIGNATURE = 64  # bytes of its signature
_LABEL = b"hedgerow/peer/1\n"


def add_peer(connection: Connection, card: Server, *, now: int, actor: str = "command line") -> None:
    """Share tasks with this server from now on; its card never changes."""
    before = find_peer(connection, card.signing_key)
    if before is not None and before != card:
        raise HedgerowError(f"the operator with the key {fingerprint(card.signing_key)} has another card already.")
    if before is None:
        values = {"signing_key": card.signing_key, "card": card.to_json(), "created": now}
        connection.execute(peers.insert().values(**values))
        write_audit(connection, now, actor, "peer-added", detail=f"{card.operator} at {card.origin}")


def list_peers(connection: Connection) -> list[Server]:
    """Return all servers that tasks may be shared with."""
    return [Server.from_json(card) for card in connection.execute(sa.select(peers.c.card)).scalars()]


def find_peer(connection: Connection, signing_key: bytes) -> Server | None:
    """Return the server of an operator's key."""
    card = connection.execute(sa.select(peers.c.card).where(peers.c.signing_key == signing_key)).scalar()
    return None if card is None else Server.from_json(card)


def _covered(path: str, body: bytes, request: bytes = b"") -> bytes:
    digests = hashlib.sha256(body).digest() + hashlib.sha256(request).digest()
    return _LABEL + path.encode() + b"\n" + digests


def signed(identity: Identity, path: str, body: bytes, request: bytes = b"") -> bytes:
    """Return a body with the key and signature of whoever runs this server."""
    key = public_bytes(identity.signing)
    return key + identity.signing.sign(_covered(path, body, request)) + body


def opened(data: bytes, path: str, key: bytes, request: bytes = b"") -> bytes:
    """Return the body of a message that was signed with this key; refuse any other."""
    from cryptography.exceptions import InvalidSignature

    body = data[_KEY + _SIGNATURE :]
    if len(data) < _KEY + _SIGNATURE or data[:_KEY] != key:
        raise FormatError("a message between servers is not signed by the operator that the task names.")
    try:
        verifying = ed25519().Ed25519PublicKey.from_public_bytes(key)
        verifying.verify(data[_KEY : _KEY + _SIGNATURE], _covered(path, body, request))
    except InvalidSignature:
        raise FormatError("the signature of a message between servers does not hold.") from None
    return body


class Caller:
    """Asks another server; once, for who asks comes again by itself."""

    def __init__(self, client: Client | None = None) -> None:
        self._client = client or Client(attempts=1, timeout=60.0)

    def ask(self, identity: Identity, other: Server, path: str, body: bytes) -> bytes:
        """Send a signed message and return the body of the signed answer."""
        parts = urlsplit(other.origin)
        if parts.scheme == "http" and not is_loopback(parts.hostname or ""):
            raise HedgerowError(f"{other.origin} is not https: ids of reports would be seen on the way.")
        request = signed(identity, path, body)
        answer = self._send(other.origin + path, request)
        return opened(answer, path, other.signing_key, request)

    def _send(self, url: str, data: bytes) -> Any:
        headers = {"Content-Type": PEER, "Accept": PEER}
        return self._client.ask(urllib.request.Request(url, data=data, headers=headers, method="POST"))
