"""The collector's side of a task that two servers share: its key, the servers to name in a task, and the sums."""

from __future__ import annotations

import json
import os
import stat
from pathlib import Path
from typing import Any

from hedgerow.aggregate import Server, Servers, combine
from hedgerow.content import parse
from hedgerow.curator import Server as Address
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.forms import from_base64
from hedgerow.holder.client import Client
from hedgerow.holder.witness import check_agreement
from hedgerow.sealing import KeyPair
from hedgerow.tasks.announcement import Announcement

__all__ = ["card_at", "collect", "generate_key", "load_key", "servers_of"]


def generate_key(path: str | os.PathLike[str]) -> KeyPair:
    """Draw the collector's key and write it to a new file with mode 0600; an existing file is never replaced.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     key = generate_key(os.path.join(folder, "collector.key"))
    ...     load_key(os.path.join(folder, "collector.key")) == key
    True
    """
    key = KeyPair.generate()
    try:
        handle = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        raise HedgerowError(f"{os.fspath(path)} exists; a key is never replaced. Choose another name.") from None
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(key.private.hex() + "\n")
        file.flush()
        os.fsync(file.fileno())
    return key


def load_key(path: str | os.PathLike[str]) -> KeyPair:
    """Read the collector's key; refuse a file that others can read."""
    if os.name == "posix" and stat.S_IMODE(os.stat(path).st_mode) & 0o077:
        raise HedgerowError(f"{os.fspath(path)} can be read by others; run: chmod 600 {os.fspath(path)}")
    try:
        return KeyPair.of(bytes.fromhex(Path(path).read_text(encoding="ascii").strip()))
    except ValueError as error:
        raise FormatError(f"{os.fspath(path)} is not a collector's key: {error}") from None


def servers_of(leader: str, helper: str, collector: KeyPair, client: Client | None = None) -> Servers:
    """Ask two servers who they are, at their own addresses, and return what a task pins of them.

    Both must say the same of the key that they have in common, and be what their addresses say.
    """
    client = client or Client(attempts=3)
    first, ours = _card(client, leader)
    second, theirs = _card(client, helper)
    one = ours.get(second.origin, {}).get("leader")
    two = theirs.get(first.origin, {}).get("helper")
    if one is None or two is None:
        raise HedgerowError("the servers do not know each other; each operator runs: hedgerow serve peers --add URL")
    if one != two:
        raise HedgerowError("the servers do not have one key in common: one of them has an old card of the other.")
    return Servers(first, second, collector.public, from_base64(one))


def card_at(address: str) -> Server:
    """Return the card of the server at an address, as it shows it itself."""
    return _card(Client(attempts=3), address)[0]


def _card(client: Client, address: str) -> tuple[Server, dict[str, Any]]:
    base = Address(address, "").base
    content = parse(client.get(f"{base}/v1/operator"), "operator's card")
    try:
        card = Server.from_dict(content["operator"])
        common = dict(content["verify_key_digests"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"{base} does not say who runs it: {error}") from None
    if card.origin != base:
        raise FormatError(f"{base} says that it is {card.origin}; ask there, or tell its operator.")
    return card, common


def collect(address: Address, task_id: str, key: KeyPair) -> tuple[Announcement, Any]:
    """Close a task at its leader, for ever, and return its announcement and the totals that both servers release.

    Again and again the same: each server draws its noise once.
    """
    notice = address.announcement(task_id)
    protocol = notice.task.protocol
    if protocol is None:
        raise HedgerowError("this task has one server: 'hedgerow fetch' has its model.")
    if key.public != protocol.servers.collector_key:
        raise HedgerowError("this is not the collector's key that the task names; nobody else can read its sums.")
    check_agreement(protocol, address.witnesses(task_id))
    found = json.loads(address.collect(task_id))
    try:
        sealed = [from_base64(found[role]) for role in ("leader", "helper")]
        n = int(found["n"])
        checksum = bytes.fromhex(found["checksum"])
        simulation = bool(found["simulation"])
    except (KeyError, TypeError, ValueError) as error:
        raise FormatError(f"the leader's answer is not a collection: {error}") from None
    sums = combine(protocol, key, n, checksum, *sealed)
    return notice, notice.task.collected(n, sums, simulation)
