"""A holder's report: its bits as two shares, each sealed for one server.

``report id 16 | public share 64 | sealed for the leader 10,032 + 48 | sealed for the helper 64 + 48``, where there are
512 bits of which 8 are set; the id travels in the frame of all reports (:mod:`hedgerow.tasks.reports`).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.aggregate.protocol import LABEL, Protocol
from hedgerow.errors import FormatError
from hedgerow.randomness import Randomness
from hedgerow.sealing import Role, aad_of_input, info_of, seal

__all__ = ["Parts", "share", "split"]


@dataclass(frozen=True)
class Parts:
    """What a report is made of: the share that both servers see, and one sealed part for each."""

    public_share: bytes
    for_leader: bytes
    for_helper: bytes


def share(protocol: Protocol, report_id: bytes, bits: Sequence[int], randomness: Randomness) -> bytes:
    """Return a report without its id: always of the same length.

    Parameters
    ----------
    report_id : bytes
        16 bytes that no other report has; the nonce of the proof.
    bits : sequence of int
        As many zeros and ones as the circuit has; no more ones than it allows.
    randomness : Randomness
        A secure source, but in simulations.
    """
    prio3 = protocol.prio3
    rand = randomness.uint8(prio3.rand_size).tobytes()
    public_share, (leader, helper) = prio3.shard(protocol.context, bits, report_id, rand)
    aad = aad_of_input(protocol.task, report_id, public_share)
    servers = protocol.servers
    for_leader = seal(servers.leader.sealing_key, info_of(LABEL, Role.CLIENT, Role.LEADER), aad, leader)
    for_helper = seal(servers.helper.sealing_key, info_of(LABEL, Role.CLIENT, Role.HELPER), aad, helper)
    return public_share + for_leader + for_helper


def split(protocol: Protocol, payload: bytes) -> Parts:
    """Undo the joining of parts."""
    if len(payload) != protocol.width:
        raise FormatError(f"a report to this task has {protocol.width} bytes. Got {len(payload)} instead.")
    first = protocol.prio3.public_share_size
    second = first + protocol.leader_sealed
    return Parts(payload[:first], payload[first:second], payload[second:])
