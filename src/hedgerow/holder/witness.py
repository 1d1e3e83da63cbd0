"""Whether both servers of a task have agreed to it: two countersignatures, by the keys that the signed task pins."""

from __future__ import annotations

import json

from hedgerow.aggregate import Protocol, Server
from hedgerow.content import parse
from hedgerow.errors import FormatError
from hedgerow.sealing import Role
from hedgerow.tasks.keys import ed25519, from_base64url

__all__ = ["check_agreement", "check_helper", "check_leader", "check_witness"]

_SIGNATURE = 64  # bytes, of Ed25519


def check_witness(protocol: Protocol, role: Role, signature: bytes) -> None:
    """Refuse a countersignature that is not of the server that the task pins."""
    from cryptography.exceptions import InvalidSignature

    pinned = protocol.servers.leader if role is Role.LEADER else protocol.servers.helper
    try:
        ed25519().Ed25519PublicKey.from_public_bytes(pinned.signing_key).verify(signature, protocol.statement(role))
    except (InvalidSignature, ValueError):
        raise FormatError(f"the {role.name.lower()} has not countersigned this task. Do not answer it.") from None


def check_leader(protocol: Protocol, base: str) -> None:
    """Refuse to send to any other address than the leader's, as the signed task has it."""
    if base != protocol.servers.leader.origin:
        raise FormatError(f"this task is answered at {protocol.servers.leader.origin}, not at {base}.")


def check_helper(protocol: Protocol, data: bytes) -> None:
    """Refuse a task whose helper is not what the helper's own address says; ``data`` is its card, JSON."""
    helper = protocol.servers.helper
    content = parse(data, "operator's card")
    card = content.get("operator") if isinstance(content, dict) else None
    if Server.from_dict(card) != helper:
        raise FormatError(f"{helper.origin} is another helper than this task says. Do not answer it.")


def check_agreement(protocol: Protocol, data: bytes) -> None:
    """Refuse a task that not both of its servers have countersigned; ``data`` is the leader's answer, JSON."""
    try:
        content = json.loads(data)
        signatures = {role: content[role.name.lower()] for role in (Role.LEADER, Role.HELPER)}
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise FormatError(f"the server does not say who has countersigned this task: {error}") from None
    for role, text in signatures.items():
        check_witness(protocol, role, from_base64url(text, _SIGNATURE, role.name.lower()))
