"""Signed-in browsers: a random cookie whose digest stands in the database, valid for a working day.

Every server on the database knows it, and signing out ends it on all of them.
"""

from __future__ import annotations

import hashlib
import secrets
from typing import Any

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.audit import write_audit
from hedgerow.service.curators import ENVIRONMENT, Curator, digest_of
from hedgerow.service.schema import curators, sessions

__all__ = ["COOKIE", "LIFETIME", "end_session", "find_session", "form_token", "start_session"]

COOKIE = "hedgerow-session"
LIFETIME = 12 * 3600  # seconds: a day at work; by hand


def start_session(connection: Connection, curator: Curator, now: int, *, environment: bytes | None = None) -> str:
    """Return a new cookie; nothing of the curator's token is in it. Old sessions are cleared away.

    ``environment`` is the digest of the environment's token, whose sessions end with it.
    """
    cookie = secrets.token_urlsafe(32)
    connection.execute(sessions.delete().where(sessions.c.expires <= now))
    digest = _digest(cookie, environment if curator == ENVIRONMENT else None)
    row = {"digest": digest, "curator": curator.number, "expires": now + LIFETIME}
    connection.execute(sessions.insert().values(**row))
    write_audit(connection, now, curator.name, "sign-in")
    return cookie


def _digest(cookie: str, environment: bytes | None) -> bytes:
    """Return what is stored of a cookie; of the environment's, what only a server with the same token can make."""
    return digest_of(cookie) if environment is None else digest_of(f"{environment.hex()}:{cookie}")


def find_session(connection: Connection, cookie: str, now: float, *, environment: bytes | None) -> Curator | None:
    """Return whose session this is; None if it has ended, or its curator was revoked.

    One of the environment's token ends when another token is set: who knows the old one shall be out.
    """
    row = _row(connection, _digest(cookie, environment))
    if environment is not None and row is not None and row.curator == ENVIRONMENT.number:
        return ENVIRONMENT if now < row.expires else None
    row = _row(connection, digest_of(cookie))
    if row is None or now >= row.expires or row.curator == ENVIRONMENT.number:
        return None
    own = (curators.c.number == row.curator) & curators.c.revoked.is_(None)
    found = connection.execute(sa.select(curators).where(own)).first()
    return None if found is None else Curator(found.number, found.name, frozenset(found.scopes.split()))


def _row(connection: Connection, digest: bytes) -> Any:
    return connection.execute(sa.select(sessions).where(sessions.c.digest == digest)).first()


def end_session(
    connection: Connection, cookie: str, curator: Curator, now: int, *, environment: bytes | None = None
) -> None:
    """Sign out."""
    digests = [digest_of(cookie), _digest(cookie, environment)]
    connection.execute(sessions.delete().where(sessions.c.digest.in_(digests)))
    write_audit(connection, now, curator.name, "sign-out")


def form_token(cookie: str) -> str:
    """Return what a form of this session must carry: other sites do not know the cookie, so they cannot make it.

    >>> form_token("a") == form_token("b")
    False
    """
    return hashlib.sha256(f"form:{cookie}".encode()).hexdigest()
