"""Passes: an invitation is exchanged for a signature on a message that the service does not see.

The service knows which invitations were exchanged, and which passes were used; not which pass came of which invitation
(:mod:`hedgerow.blind`). What it could compare are the times of the two requests and the addresses that they came from,
neither of which it writes down.
"""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

import sqlalchemy as sa
from sqlalchemy import Connection

from hedgerow.blind import PREFIX, PublicKey, Signer
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.service.curators import digest_of
from hedgerow.service.problems import Problem
from hedgerow.service.schema import exchanges, pass_keys, tasks, upload_tokens
from hedgerow.tasks.keys import from_base64url
from hedgerow.tasks.passes import PASS, message_of

if TYPE_CHECKING:
    from hedgerow.service.collection import Collection
    from hedgerow.service.database import Database
    from hedgerow.service.writer import Writer

__all__ = ["check_pass", "exchange", "new_key", "public_key"]


def public_key(database: Database, task_id: str) -> bytes | None:
    """Return the modulus of a published task's passes."""
    query = sa.select(pass_keys.c.key).join(tasks, tasks.c.number == pass_keys.c.task).where(tasks.c.id == task_id)
    with database.read() as connection:
        found = connection.execute(query).scalar()
    return None if found is None else Signer.of(found).public.to_bytes()


def new_key() -> tuple[bytes, bytes]:
    """Draw the key of a task's passes; return it, and its modulus."""
    made = Signer.generate()
    return made, Signer.of(made).public.to_bytes()


def exchange(database: Database, writer: Writer, collection: Collection, invitation: str, blinded: bytes) -> bytes:
    """Sign a blinded message against an invitation; the same message again gets the same signature."""
    with database.read() as connection:
        der = connection.execute(sa.select(pass_keys.c.key).where(pass_keys.c.task == collection.number)).scalar()
    if der is None:
        raise Problem("not-available", "This task takes no passes.")
    signer = Signer.of(der)
    try:
        signed = signer.sign(blinded)  # before it is booked: what cannot be signed costs no invitation
    except HedgerowError as error:
        raise Problem("invalid-request", str(error)) from None
    digest = hashlib.sha256(blinded).digest()
    row: dict[str, bytes | int] = {
        "task": collection.number,
        "invitation": digest_of(invitation),
        "blinded": digest,
    }

    def change(connection: Connection) -> str:
        database.exchanged = True
        return _book(connection, row)

    refused = writer.run_in_turn(change)  # by no two servers at once
    if refused:
        raise Problem(refused)
    return signed


def _book(connection: Connection, row: dict[str, bytes | int]) -> str:
    """Take one off an invitation, unless this very message was signed before; return why it cannot be done."""
    closed = connection.execute(sa.select(tasks.c.closed).where(tasks.c.number == row["task"])).scalar()
    if closed is not None:
        return "task-closed"
    own = (upload_tokens.c.task == row["task"]) & (upload_tokens.c.digest == row["invitation"])
    most = connection.execute(sa.select(upload_tokens.c.remaining).where(own)).scalar()
    if most is None:
        return "token-unknown"
    mine = (exchanges.c.task == row["task"]) & (exchanges.c.invitation == row["invitation"])
    before = connection.execute(sa.select(exchanges.c.blinded).where(mine)).scalars().all()
    if row["blinded"] in [bytes(each) for each in before]:
        return ""
    if len(before) >= most:
        return "token-spent"
    connection.execute(exchanges.insert().values(**row))
    return ""


def check_pass(collection: Collection, token: str) -> None:
    """Refuse what is not a pass of this task; whether it was used before is asked in the transaction."""
    key = PublicKey.from_bytes(collection.announcement.pass_key)
    try:
        data = from_base64url(token.removeprefix(PASS), PREFIX + key.size, "pass")
    except FormatError:
        raise Problem("token-unknown", "This task takes passes: exchange the invitation for one first.") from None
    if not token.startswith(PASS) or not key.holds(message_of(collection.id), data[:PREFIX], data[PREFIX:]):
        raise Problem("token-unknown", "This is no pass of this task.")
