"""Who may do what: curators by name, each with a token and scopes, listed and revoked in the database."""

from __future__ import annotations

import hashlib
import hmac
import secrets
import unicodedata
from collections.abc import Iterable
from dataclasses import dataclass

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.errors import HedgerowError
from hedgerow.service.audit import write_audit
from hedgerow.service.schema import curators, sessions

__all__ = [
    "ENVIRONMENT",
    "SCOPES",
    "Curator",
    "add_curator",
    "check_token",
    "digest_of",
    "find_curator",
    "list_curators",
    "revoke_curator",
]

SCOPES = {
    "publish": "publish tasks and issue upload tokens",
    "read": "see states, models and data sets",
    "close": "close tasks",
    "admin": "delete tasks, read the audit log",
}
"""What a token may allow."""
_OTHERS = ("environment", "command line", "leader")
"""How the log calls who is not in the table of curators."""
_NAME = 100  # characters of a curator's name; by hand
# A token of the environment is chosen by people. 16 random hexadecimal digits have 64 bits: at 20 guesses a second
# (guesses.py) half of them take 1.5e10 years. Fewer than six different ones among them have a chance of 3.2e-5.
_LENGTH = 16
_DIFFERENT = 6


@dataclass(frozen=True)
class Curator:
    """Somebody with a token.

    Attributes
    ----------
    number : int
        In the database; 0 for the token of the environment.
    name : str
        How the audit log calls them.
    scopes : frozenset of str
        Some of :data:`SCOPES`.
    """

    number: int
    name: str
    scopes: frozenset[str]
    created: int = 0
    revoked: int | None = None

    def may(self, scope: str) -> bool:
        """Whether the token allows this."""
        return scope in self.scopes


ENVIRONMENT = Curator(0, "environment", frozenset(SCOPES))
"""Whoever has the token of ``HEDGEROW_CURATOR_TOKEN``."""


def digest_of(token: str) -> bytes:
    """Return what is stored of a secret token (they have 256 random bits, so a plain digest is enough)."""
    return hashlib.sha256(token.encode()).digest()


def check_token(token: str) -> str:
    """Refuse a token that can be guessed.

    >>> check_token("x")
    Traceback (most recent call last):
    ...
    hedgerow.errors.HedgerowError: the curator's token can be guessed: it has 1 characters, 1 of them different. Use ...
    """
    if len(token) < _LENGTH or len(set(token)) < _DIFFERENT:
        raise HedgerowError(
            f"the curator's token can be guessed: it has {len(token)} characters, {len(set(token))} of them different. "
            "Use one that 'hedgerow serve init' prints, or that Python's secrets.token_urlsafe() gives."
        )
    return token


def _scopes(wanted: Iterable[str]) -> str:
    chosen = sorted(set(wanted))
    if unknown := [scope for scope in chosen if scope not in SCOPES]:
        raise HedgerowError(f"'scopes' must be among {list(SCOPES)}. Got {unknown} instead.")
    if not chosen:
        raise HedgerowError(f"'scopes' must name at least one of {list(SCOPES)}.")
    return " ".join(chosen)


def add_curator(
    connection: Connection, name: str, scopes: Iterable[str] = tuple(SCOPES), *, now: int, actor: str = "command line"
) -> str:
    """Make a curator; return the token, which is shown once: only its digest is kept."""
    plain = unicodedata.normalize("NFKC", name) == name == name.strip() and name.isprintable()
    if not plain or not 0 < len(name) <= _NAME or name.lower().startswith(_OTHERS):
        raise HedgerowError(
            f"'name' must be 1 to {_NAME} printable characters, without spaces at its ends, and not begin as the log "
            f"calls others ({', '.join(_OTHERS)}). Got {name!r} instead."
        )
    if connection.execute(sa.select(curators.c.number).where(curators.c.name == name)).first():
        raise HedgerowError(f"there is, or was, a curator {name!r}; the log must tell them apart: choose another name.")
    token = "hc_" + secrets.token_urlsafe(32)
    allowed = _scopes(scopes)
    connection.execute(curators.insert().values(name=name, digest=digest_of(token), scopes=allowed, created=now))
    write_audit(connection, now, actor, "curator-added", detail=f"{name}: {allowed}")
    return token


def _read(row: sa.Row[tuple[object, ...]]) -> Curator:
    found = row._mapping
    return Curator(
        found["number"], found["name"], frozenset(found["scopes"].split()), found["created"], found["revoked"]
    )


def list_curators(connection: Connection) -> list[Curator]:
    """Return all curators, revoked ones too, in the order in which they were added."""
    return [_read(row) for row in connection.execute(sa.select(curators).order_by(curators.c.number))]


def find_curator(connection: Connection, token: str) -> Curator | None:
    """Return whose token this is; None if it is nobody's, or was revoked."""
    digest = digest_of(token)
    row = connection.execute(sa.select(curators).where(curators.c.digest == digest)).first()
    if row is None or not hmac.compare_digest(bytes(row.digest), digest) or row.revoked is not None:
        return None
    return _read(row)


def revoke_curator(connection: Connection, name: str, *, now: int, actor: str = "command line") -> None:
    """Make a token worthless, and end its sessions, on every server at once."""
    row = connection.execute(sa.select(curators).where(curators.c.name == name)).first()
    if row is None:
        raise HedgerowError(f"there is no curator {name!r}; 'hedgerow serve curators' lists them.")
    if row.revoked is not None:
        raise HedgerowError(f"the token of {name!r} was revoked before.")
    connection.execute(curators.update().where(curators.c.number == row.number).values(revoked=now))
    connection.execute(sessions.delete().where(sessions.c.curator == row.number))
    write_audit(connection, now, actor, "curator-revoked", detail=name)
