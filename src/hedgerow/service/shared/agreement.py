"""How two servers agree to serve a task: each checks what the signed task pins of it, and countersigns."""

from __future__ import annotations

import json

from sqlalchemy import Connection

from hedgerow.aggregate import Party, Protocol
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.sealing import Role
from hedgerow.service.problems import Problem
from hedgerow.service.schema import batches
from hedgerow.service.shared.operator import Identity
from hedgerow.tasks.base import Task
from hedgerow.tasks.keys import base64url, from_base64url

__all__ = ["checked", "countersigned", "keep_agreement", "protocol_of"]


def protocol_of(task: Task) -> Protocol:
    """Return the rules of a shared task; one that names no servers is for simulations."""
    if task.protocol is None:
        raise Problem("invalid-request", "The task names no servers: it is for simulation only.")
    return task.protocol


def checked(protocol: Protocol, role: Role, identity: Identity | None) -> Party:
    """Return this server's part in a task, if the task pins this very server in this role."""
    if identity is None:
        raise Problem("not-shared", "Say who runs this server first: hedgerow serve operator --name ... --origin ...")
    pinned = protocol.servers.leader if role is Role.LEADER else protocol.servers.helper
    if pinned != identity.card:
        raise Problem(
            "not-shared", f"The task names another {role.name.lower()} than this server, or other keys of it."
        )
    try:
        return Party(protocol, role, identity.sealing)
    except FormatError as error:
        raise Problem("not-shared", str(error)) from None


def countersigned(protocol: Protocol, role: Role, identity: Identity) -> bytes:
    """Return this server's signature under the task and its own part in it."""
    return identity.signing.sign(protocol.statement(role))


def keep_agreement(connection: Connection, number: int, role: Role, leader: bytes, helper: bytes) -> None:
    """Store this server's part in a task, with both countersignatures."""
    values = {"task": number, "role": int(role), "leader": leader, "helper": helper, "simulation": False}
    connection.execute(batches.insert().values(**values))


def to_message(announcement: str, leader: bytes) -> bytes:
    """Return what the leader sends to the helper: the signed task, and its own countersignature."""
    return json.dumps({"announcement": announcement, "leader": base64url(leader)}).encode()


def from_message(body: bytes) -> tuple[str, bytes]:
    """Read what the leader has sent."""
    try:
        content = json.loads(body)
        announcement = content["announcement"]
        signature = from_base64url(content["leader"], 64, "leader")
    except (ValueError, KeyError, TypeError, RecursionError, HedgerowError) as error:
        raise Problem("invalid-request", f"This is not a task to share: {error}") from None
    if not isinstance(announcement, str):
        raise Problem("invalid-request", "This is not a task to share.")
    return announcement, signature
