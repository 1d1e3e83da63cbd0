"""Reports of the first round: a noisy label, the mask, and the public features.

The payload is little-endian bytes::

    4      noisy level, plus the reach of its noise
    ...    what is in clear (:mod:`hedgerow.tasks.partly_public.clear`)

A report's random id is the same in both rounds, so that a curator can see that the label is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.tasks.message import CODES, Message
from hedgerow.tasks.partly_public.clear import check_clear, clear_bytes, clear_width, read_clear
from hedgerow.tasks.reports import Reports
from hedgerow.types import BoolArray, ByteRows, FloatArray, IntArray

if TYPE_CHECKING:
    from hedgerow.tasks.partly_public.task import SemiTask

__all__ = ["FirstMessage", "FirstReports"]


@dataclass(frozen=True)
class FirstMessage(Message):
    """A noisy level, and in clear what the holder does not call private; kept, for a tree is grown from it."""

    task: SemiTask
    code = CODES["first round"]
    n_sums = 0
    largest = 1

    @property
    def width(self) -> int:
        """Level, mask and features."""
        return 4 + clear_width(self.task)

    def validate(self, rows: ByteRows) -> None:
        """Refuse labels out of reach, private features that are sent, and features outside their ranges."""
        levels, private, Z = self.read(rows)
        coarse = self.task.label.coarse
        if (levels > coarse.n_steps + coarse.reach).any():
            raise FormatError("a report has a label out of reach; it was not made for this task.")
        check_clear(self.task, private, Z)

    def write(self, levels: IntArray, private: BoolArray, Z: FloatArray) -> ByteRows:
        """Return payloads; what is private is not in them."""
        level = (levels + self.task.label.coarse.reach).astype("<u4").view(np.uint8).reshape(-1, 4)
        return np.hstack([level, clear_bytes(self.task, private, Z)])

    def read(self, rows: ByteRows) -> tuple[IntArray, BoolArray, FloatArray]:
        """Return levels, masks and features (0 where private)."""
        reach = self.task.label.coarse.reach
        levels = np.ascontiguousarray(rows[:, :4]).view("<u4")[:, 0].astype(np.int64) - reach
        return levels, *read_clear(self.task, rows[:, 4:])


@dataclass(frozen=True, eq=False, repr=False)
class FirstReports(Reports):
    """A batch of first-round reports, whose columns a curator grows a tree from."""

    task: SemiTask

    @classmethod
    def of(cls, reports: Reports) -> FirstReports:
        """Return reports to a first round with their columns."""
        task: Any = reports.task
        return cls(task, reports.tokens, reports.payloads, reports.simulation, reports.kept)

    @cached_property
    def _columns(self) -> tuple[IntArray, BoolArray, FloatArray]:
        return self.task.encoding.read(self.payloads)

    @property
    def levels(self) -> IntArray:
        """Noisy label levels."""
        return self._columns[0]

    @property
    def private(self) -> BoolArray:
        """The masks, of shape (n, d)."""
        return self._columns[1]

    @property
    def Z(self) -> FloatArray:
        """Encoded features of shape (n, d), NaN where private."""
        return np.where(self.private, np.nan, self._columns[2])

    def known_levels(self) -> dict[bytes, int]:
        """Return the noisy level that each id was sent with."""
        return {token.tobytes(): int(level) for token, level in zip(self.tokens, self.levels, strict=True)}
