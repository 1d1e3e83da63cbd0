"""Reports of the first round: a noisy label, the mask, and the public features.

The payload is little-endian bytes::

    4      noisy level, plus the reach of its noise
    m      the mask, one bit a column (masks="personal" only)
    8 d    the features as float64, 0 where private (public columns only under a policy; none if hidden)

A report's random id is the same in both rounds, so that a curator can see that the label is the same.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.tasks.message import CODES, Message
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.encoding import check_padding, pack, unpack
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
        mask = (len(self.task.space) + 7) // 8 if self.task.masks == "personal" else 0
        return 4 + mask + 8 * int(_sent(self.task).sum())

    def validate(self, rows: ByteRows) -> None:
        """Refuse labels out of reach, private features that are sent, and features outside their ranges."""
        levels, private, Z = self.read(rows)
        coarse = self.task.label.coarse
        if (levels > coarse.n_steps + coarse.reach).any():
            raise FormatError("a report has a label out of reach; it was not made for this task.")
        _check_features(self.task, Z, private)

    def write(self, levels: IntArray, private: BoolArray, Z: FloatArray) -> ByteRows:
        """Return payloads; what is private is not in them."""
        parts = [(levels + self.task.label.coarse.reach).astype("<u4").view(np.uint8).reshape(-1, 4)]
        if self.task.masks == "personal":
            parts.append(pack(private))
        sent = np.where(private, 0.0, Z)[:, _sent(self.task)] + 0.0  # no -0.0
        parts.append(np.ascontiguousarray(sent, dtype="<f8").view(np.uint8).reshape(len(levels), 8 * sent.shape[1]))
        return np.hstack(parts)

    def read(self, rows: ByteRows) -> tuple[IntArray, BoolArray, FloatArray]:
        """Return levels, masks and features (0 where private)."""
        task = self.task
        d = len(task.space)
        n = len(rows)
        levels = np.ascontiguousarray(rows[:, :4]).view("<u4")[:, 0].astype(np.int64) - task.label.coarse.reach
        at = 4
        if task.masks == "personal":
            at += (d + 7) // 8
            check_padding(rows[:, 4:at], d)
            private = unpack(rows[:, 4:at], d).astype(bool)
        else:
            private = task.effective(None, n)
        sent = _sent(task)
        Z = np.zeros((n, d))
        Z[:, sent] = np.ascontiguousarray(rows[:, at:]).view("<f8").reshape(n, int(sent.sum()))
        return levels, private, Z


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


def _sent(task: SemiTask) -> BoolArray:
    if task.masks == "personal":
        return np.ones(len(task.space), dtype=bool)
    return ~task.policy if task.masks == "policy" else np.zeros(len(task.space), dtype=bool)


def _check_features(task: SemiTask, Z: FloatArray, private: BoolArray) -> None:
    space = task.space
    if (space.spread(private[:, : len(space.columns)]) != private).any():
        raise FormatError("a report says of a private value whether it is missing, or hides it of a public one.")
    if not np.isfinite(Z).all() or (Z[private] != 0).any():
        raise FormatError("a report has a feature that is not finite, or one that its mask calls private.")
    inside = private | ((space.low <= Z) & (space.high >= Z))
    whole = private | ~space.is_categorical | (np.floor(Z) == Z)
    if not (inside & whole).all():
        raise FormatError("a report has a feature outside the public ranges; it was not made for this task.")
