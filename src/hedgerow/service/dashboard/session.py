"""Signed-in browsers: a random cookie whose digest stands in the database, valid for a working day.

Every server on the database knows it, and signing out ends it on all of them.
"""

from __future__ import annotations

import hashlib
import secrets

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.service.audit import write_audit
from hedgerow.service.curators import ENVIRONMENT, Curator, digest_of
from hedgerow.service.schema import curators, sessions

__all__ = ["COOKIE", "LIFETIME", "end_session", "find_session", "form_token", "start_session"]

COOKIE = "hedgerow-session"
LIFETIME = 12 * 3600  # seconds: a day at work; by hand


def start_session(connection: Connection, curator: Curator, now: int) -> str:
    """Return a new cookie; nothing of the curator's token is in it. Old sessions are cleared away."""
    cookie = secrets.token_urlsafe(32)
    connection.execute(sessions.delete().where(sessions.c.expires <= now))
    row = {"digest": digest_of(cookie), "curator": curator.number, "expires": now + LIFETIME}
    connection.execute(sessions.insert().values(**row))
    write_audit(connection, now, curator.name, "sign-in")
    return cookie


def find_session(connection: Connection, cookie: str, now: float, *, environment: bool) -> Curator | None:
    """Return whose session this is; None if it has ended, or its curator was revoked.

    ``environment`` tells whether a token of the environment is still set.
    """
    row = connection.execute(sa.select(sessions).where(sessions.c.digest == digest_of(cookie))).first()
    if row is None or now >= row.expires:
        return None
    if row.curator == ENVIRONMENT.number:
        return ENVIRONMENT if environment else None
    own = (curators.c.number == row.curator) & curators.c.revoked.is_(None)
    found = connection.execute(sa.select(curators).where(own)).first()
    return None if found is None else Curator(found.number, found.name, frozenset(found.scopes.split()))


def end_session(connection: Connection, cookie: str, curator: Curator, now: int) -> None:
    """Sign out."""
    connection.execute(sessions.delete().where(sessions.c.digest == digest_of(cookie)))
    write_audit(connection, now, curator.name, "sign-out")


def form_token(cookie: str) -> str:
    """Return what a form of this session must carry: other sites do not know the cookie, so they cannot make it.

    >>> form_token("a") == form_token("b")
    False
    """
    return hashlib.sha256(f"form:{cookie}".encode()).hexdigest()
