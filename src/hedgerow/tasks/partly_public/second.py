r"""Reports of the second round: the label, the candidate cells, and a randomised answer among them.

The payload is little-endian bytes::

    4      the level: that of the first round; the fine one if there is a single candidate; plus the reach
    c      the candidates, one bit a cell
    4 | c  the named cell, or the flipped bits, one a cell
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks.message import CODES, Message
from hedgerow.tasks.partly_public.reach import blocks
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.encoding import Moments, check_padding, pack, unpack
from hedgerow.types import ByteRows, IntArray

if TYPE_CHECKING:
    from hedgerow.tasks.partly_public.cells import CellTask
    from hedgerow.tasks.partly_public.first import FirstReports
    from hedgerow.tasks.totals import Totals

__all__ = ["CellMessage", "CellReports", "moments"]


@dataclass(frozen=True)
class CellMessage(Message):
    r"""The label, the candidates, and an answer among them.

    The estimate of a holder's indicator, ``u = (b - q_k)/(p_k - q_k)`` on its candidates, depends on their number k.
    So totals are kept by k: for r = 0, 1, 2 and each cell j, ``B_rj = sum v**r b_j`` over the reports that support j
    and ``V_rj = sum v**r`` over those with j among their candidates. Bits have the same q for every k: they need two
    blocks only, k = 1 and k = 2 or more.
    """

    task: CellTask

    @property
    def code(self) -> int:
        """By the response."""
        return CODES[f"second round {self.task.response}"]

    @property
    def _bytes(self) -> int:
        return (self.task.n_cells + 7) // 8

    @property
    def width(self) -> int:
        """Level, candidates, answer."""
        return 4 + self._bytes + (4 if self.task.response == "k_ary" else self._bytes)

    @property
    def n_sums(self) -> int:
        """B and V, for three powers of the level and every cell."""
        return 6 * self.task.n_cells

    @property
    def n_blocks(self) -> int:
        """A block for every number of candidates."""
        return self.task.n_cells + 1

    @property
    def largest(self) -> int:
        """The square of the largest level."""
        first = self.task.first
        return max(1, first.grid.n_steps + first.label.coarse.reach) ** 2

    def write(self, levels: IntArray, candidates: npt.NDArray[np.bool_], answer: npt.NDArray[Any]) -> ByteRows:
        """Return payloads; ``answer`` is bits, or the named cell of each."""
        level = (levels + self.task.first.label.coarse.reach).astype("<u4").view(np.uint8).reshape(-1, 4)
        named = self.task.response == "k_ary"
        sent = answer.astype("<u4").view(np.uint8).reshape(-1, 4) if named else pack(answer)
        return np.hstack([level, pack(candidates), sent])

    def read(self, rows: ByteRows) -> tuple[IntArray, ByteRows, npt.NDArray[np.integer]]:
        """Return levels, candidates as packed bits, and answers: packed bits or named cells."""
        reach = self.task.first.label.coarse.reach
        levels = np.ascontiguousarray(rows[:, :4]).view("<u4")[:, 0].astype(np.int64) - reach
        wide = self._bytes
        answer: npt.NDArray[np.integer] = rows[:, 4 + wide :]
        if self.task.response == "k_ary":
            answer = np.ascontiguousarray(answer).view("<u4")[:, 0].astype(np.int64)
        return levels, rows[:, 4 : 4 + wide], answer

    def validate(self, rows: ByteRows) -> None:
        """Refuse labels out of reach, no candidates, and answers outside them."""
        levels, candidates, answer = self.read(rows)
        coarse = self.task.first.label.coarse
        if (levels > coarse.n_steps + coarse.reach).any():
            raise FormatError("a report has a label out of reach; it was not made for this task.")
        check_padding(candidates, self.task.n_cells)
        if not candidates.any(axis=1).all():
            raise FormatError("a report has no candidate cell.")
        if self.task.response == "bits":
            if (answer & ~candidates).any():
                raise FormatError("a report sets a bit outside its candidates.")
            return
        if (answer >= self.task.n_cells).any():
            raise FormatError("a report names a cell that does not exist.")
        byte = candidates[np.arange(len(rows)), answer // 8]
        if not ((byte >> (answer % 8).astype(np.uint8)) & 1).all():
            raise FormatError("a report names a cell that is not one of its candidates.")

    def blocks(self, rows: ByteRows) -> dict[int, IntArray]:
        """Return totals by the number of candidates."""
        total: dict[int, IntArray] = {}
        for part in blocks(len(rows), 2 * self.task.n_cells):
            self._add(total, *self.read(rows[part]))
        return {k: sums.ravel() for k, sums in total.items()}

    def _add(self, total: dict[int, IntArray], levels: IntArray, candidates: ByteRows, answer: Any) -> None:
        cells = self.task.n_cells
        may = unpack(candidates, cells)
        sizes = may.sum(axis=1, dtype=np.int32)
        v = levels.astype(np.float64)
        powers = np.stack([np.ones_like(v), v, v * v])
        if len(v) * self.largest >= 1 << 53:
            raise HedgerowError("the label grid is too fine for exact sums; use fewer label steps.")
        key = np.minimum(sizes, 2) if self.task.response == "bits" else sizes
        for k in np.unique(key).tolist():
            rows = np.flatnonzero(key == k)
            sums = total.setdefault(k, np.zeros((2, 3, cells), dtype=np.int64))
            weights = np.ascontiguousarray(powers[:, rows])
            # float64 products of integers below 2**53 are exact.
            sums[1] += (weights @ may[rows].astype(np.float64)).astype(np.int64)
            if k == 1:
                sums[0] = sums[1]
            elif self.task.response == "bits":
                bits = unpack(answer[rows].astype(np.uint8, copy=False), cells)
                sums[0] += (weights @ bits.astype(np.float64)).astype(np.int64)
            else:
                for r in range(3):
                    sums[0, r] += np.bincount(answer[rows], weights[r], minlength=cells).astype(np.int64)


def moments(task: CellTask, totals: Totals) -> Moments:
    r"""Return the estimates of N and D for each cell, and their covariance.

    .. math:: D_j = \sum_i u_{ij} = \sum_k \frac{B_{0j} - q_k V_{0j}}{p_k - q_k}, \quad
              N_j = \sum_i v_i u_{ij}, \quad
              \sum_i v_i^r u_{ij}^2 = \sum_k \frac{(1 - 2 q_k) B_{rj} + q_k^2 V_{rj}}{(p_k - q_k)^2}

    and the estimate (6), (9) is ``N_j / D_j``.
    """
    first = np.zeros((2, task.n_cells))
    second = np.zeros((3, task.n_cells))
    for k in sorted(totals.blocks):
        p, q = task.probabilities(k)
        support, may = totals.blocks[k].reshape(2, 3, -1).astype(np.float64)
        first += ((support - q * may) / (p - q))[:2]
        second += ((1 - 2 * q) * support + q * q * may) / (p - q) ** 2
    D, N = first
    m = max(totals.n_reports, 1)
    return Moments(N, D, second[2] - N * N / m, second[1] - N * D / m, second[0] - D * D / m)


@dataclass(frozen=True, eq=False, repr=False)
class CellReports(Reports):
    """A batch of second-round reports, with their columns."""

    task: CellTask

    @classmethod
    def of(cls, reports: Reports) -> CellReports:
        """Return reports to a second round with their columns."""
        task: Any = reports.task
        return cls(task, reports.tokens, reports.payloads, reports.simulation, reports.kept)

    @cached_property
    def _columns(self) -> tuple[IntArray, ByteRows, npt.NDArray[np.integer]]:
        return self.task.encoding.read(self.payloads)

    @property
    def levels(self) -> IntArray:
        """Noisy label levels."""
        return self._columns[0]

    @property
    def candidates(self) -> ByteRows:
        """The cells each holder can be in, packed bits of shape (n, ceil(cells / 8))."""
        return self._columns[1]

    @property
    def answer(self) -> npt.NDArray[np.integer]:
        """The randomised answer: packed bits, or named cells."""
        return self._columns[2]

    def sizes(self) -> IntArray:
        """Return the number of candidates of each holder."""
        return np.asarray(unpack(self.candidates, self.task.n_cells).sum(axis=1, dtype=np.int64))

    def check_labels(self, first: FirstReports) -> None:
        """Refuse a label that differs from the first round's: drawing it again spends more than epsilon.

        Holders with a single candidate are exempt: they send the fine label, which the coarse one is part of.
        """
        self.check_levels(first.known_levels())

    def check_levels(self, known: dict[bytes, int]) -> None:
        """Do so for the levels that ids are known with."""
        for token, level, size in zip(self.tokens, self.levels, self.sizes(), strict=True):
            before = known.get(token.tobytes())
            if before is None:
                raise FormatError("a report of the second round has no report of the first.")
            if size > 1 and before != level:
                raise FormatError(
                    f"a holder sent the label level {int(level)} after {before}: it was drawn a second time, "
                    "which costs more than epsilon. Drop the report and repair that device."
                )
