"""The two servers of a sums task: who runs them, where they are, and the keys that everything is sealed for."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Annotated
from urllib.parse import urlsplit

from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.forms import Form, from_base64, to_base64

__all__ = ["KEY_BYTES", "Key", "Server", "Servers"]

KEY_BYTES = 32
"""Bytes of a key of X25519 or Ed25519, and of a SHA-256."""
_LONGEST = 200  # characters of a name or an address: a page shows both
_HOST = re.compile(r"[a-z0-9.-]+|\[[0-9a-f:]+\]")  # of a URL, as every browser writes it

Key = Annotated[bytes, Form(to_base64, from_base64)]
"""A public key, or a digest."""


def _check_keys(**keys: bytes) -> None:
    for name, key in keys.items():
        if not isinstance(key, bytes) or len(key) != KEY_BYTES:
            raise FormatError(f"{name!r} must be {KEY_BYTES} bytes.")


def _is_origin(text: str) -> bool:
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        return False
    host = parts.netloc if port is None else parts.netloc.removesuffix(f":{port}")
    alone = text == f"{parts.scheme}://{parts.netloc}"  # no path, query or fragment, nor capitals in the scheme
    return alone and parts.scheme in ("http", "https") and _HOST.fullmatch(host) is not None


@dataclass(frozen=True)
class Server(Content, what="server"):
    """One of the two servers.

    Attributes
    ----------
    operator : str
        The organisation that runs it, in words for people.
    origin : str
        Scheme, host and port; nothing else.
    sealing_key : bytes
        Of X25519: shares are sealed for it (:mod:`hedgerow.sealing`).
    signing_key : bytes
        Of Ed25519: by it the operator countersigns the task, and the other server knows this one.
    """

    operator: str
    origin: str
    sealing_key: Key
    signing_key: Key

    def __post_init__(self) -> None:
        _check_keys(sealing_key=self.sealing_key, signing_key=self.signing_key)
        printable = self.operator.isprintable() and self.operator.strip() == self.operator != ""
        if not printable or len(self.operator) > _LONGEST:
            raise FormatError(f"'operator' must be a name of 1 .. {_LONGEST} printable characters.")
        if len(self.origin) > _LONGEST or not _is_origin(self.origin):
            raise FormatError("'origin' must be like https://host or https://host:port, in small letters.")


@dataclass(frozen=True)
class Servers(Content, what="servers"):
    """Both servers of a task, and the keys of its collection.

    Attributes
    ----------
    leader, helper : Server
        Run by different organisations: no name, origin or key of the one may be that of the other.
    collector_key : bytes
        Of X25519: both servers seal their noisy sums for it.
    verify_key_digest : bytes
        SHA-256 of the key that both servers verify reports by: it is fixed before the first report.

    Examples
    --------
    >>> keys = [bytes([k]) * 32 for k in range(6)]
    >>> leader = Server("North", "https://north.example", keys[0], keys[1])
    >>> helper = Server("South", "https://south.example:8443", keys[2], keys[3])
    >>> Servers(leader, helper, keys[4], keys[5]).helper.origin
    'https://south.example:8443'
    >>> Servers(leader, leader, keys[4], keys[5])
    Traceback (most recent call last):
    ...
    hedgerow.errors.FormatError: leader and helper must be two: they have one 'operator'.
    """

    leader: Server
    helper: Server
    collector_key: Key
    verify_key_digest: Key

    @property
    def one_machine(self) -> bool:
        """Whether both servers are plainly of one operator, on one host: a demonstration, which protects nobody.

        Two hosts do not make two organisations: who runs the servers, no program can know.
        """
        hosts = [urlsplit(server.origin).hostname or "" for server in (self.leader, self.helper)]
        loopback = [host in ("localhost", "::1") or host.startswith("127.") for host in hosts]
        return hosts[0] == hosts[1] or all(loopback)

    def __post_init__(self) -> None:
        _check_keys(collector_key=self.collector_key, verify_key_digest=self.verify_key_digest)
        for name in ("operator", "origin", "sealing_key", "signing_key"):
            if getattr(self.leader, name) == getattr(self.helper, name):
                raise FormatError(f"leader and helper must be two: they have one {name!r}.")
        if self.collector_key in (self.leader.sealing_key, self.helper.sealing_key):
            raise FormatError("'collector_key' must be another key than those that shares are sealed for.")
