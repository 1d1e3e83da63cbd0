"""What there is to see of the two servers of a task: who they are, how far they are, and what each can see."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from hedgerow.sealing import Role
from hedgerow.service.shared.state import released_of

if TYPE_CHECKING:
    from hedgerow.service.collection import Collection
    from hedgerow.service.service import Service

__all__ = ["ServerSeen", "servers_seen"]

_SEES = {
    Role.LEADER: (
        "Sees who sends when (network addresses), ids, and which reports were invalid. Of a record: a share that is "
        "random by itself."
    ),
    Role.HELPER: (
        "Sees ids, when the leader forwards them, and which reports were invalid; no network address. Of a record: a "
        "share that is random by itself."
    ),
}


@dataclass(frozen=True)
class ServerSeen:
    """One of the two servers."""

    role: str
    operator: str
    origin: str
    here: bool
    state: str
    sees: str

    def to_dict(self) -> dict[str, object]:
        """Return JSON-ready content."""
        return dict(vars(self))


def servers_seen(service: Service, collection: Collection, added: int, waiting: int) -> list[ServerSeen]:
    """Return both servers of a shared task, as far as this one knows; none of a task with one server."""
    protocol = collection.task.protocol
    if protocol is None:
        return []
    with service.database.read() as connection:
        released = released_of(connection, collection.number)
    identity = service.shared.identity
    found = []
    for role, card in ((Role.LEADER, protocol.servers.leader), (Role.HELPER, protocol.servers.helper)):
        here = identity is not None and identity.card == card
        gone = released is not None and (here or released.other is not None)
        state = f"{added:,} reports verified by both and added up"
        if role is Role.LEADER and here and waiting:
            state += f", {waiting:,} wait for the helper"
        state += "; its noisy share was released, once" if gone else "; nothing was released yet"
        found.append(ServerSeen(role.name.lower(), card.operator, card.origin, here, state, _SEES[role]))
    return found
