"""What a holder sends: bits that only both servers together could read, sealed in two parts.

The measurement is a vector of bits of which ``weight`` are set, one in each tree: the holder's leaf, and the sign of
its residual. It leaves the device as shares of Prio3MultihotCountVec (:mod:`hedgerow.vdaf`), one for each server,
sealed for it (:mod:`hedgerow.aggregate.report`).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.sealing import OVERHEAD
from hedgerow.tasks.message import CODES, Message
from hedgerow.types import ByteRows, IntArray
from hedgerow.vdaf import MultihotCountVec, Prio3

__all__ = ["SumsMessage"]


@dataclass(frozen=True)
class SumsMessage(Message):
    """Two sealed shares of a vector of ``length`` bits, at most ``weight`` of them set.

    Examples
    --------
    >>> message = SumsMessage(512, 8)
    >>> message.circuit.chunk, message.width
    (23, 10256)
    """

    length: int
    weight: int

    @cached_property
    def circuit(self) -> MultihotCountVec:
        """What is proved of a vector; the chunk makes proofs shortest: about the root of the number of bits."""
        measured = self.length + self.weight.bit_length()
        return MultihotCountVec(self.length, self.weight, math.isqrt(measured - 1) + 1)

    @property
    def code(self) -> int:
        """Return its number."""
        return CODES["sums"]

    @property
    def width(self) -> int:
        """Return the length of the public share and of both sealed shares."""
        prio3 = Prio3(self.circuit)
        return prio3.public_share_size + prio3.leader_share_size + prio3.helper_share_size + 2 * OVERHEAD

    def validate(self, rows: ByteRows) -> None:
        """Refuse nothing: what is sealed can be judged by the servers only, with the proof."""

    @property
    def n_sums(self) -> int:
        """Return 0: single reports are kept until both servers have verified them."""
        return 0

    @property
    def largest(self) -> int:
        """Return the most that one report adds to a sum."""
        return 1

    def bits(self, positions: IntArray) -> list[int]:
        """Return the vector of one record, from the positions of its set bits."""
        vector = np.zeros(self.length, dtype=np.int64)
        vector[positions] = 1
        return [int(bit) for bit in vector]

    def sums(self, rows: ByteRows) -> IntArray:
        """Refuse: nobody can add up sealed reports alone."""
        raise HedgerowError("reports to a sums task are added up by its two servers; collect from them.")
