"""Exact integer sums of second-round reports: any order, any machine, the same bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.model import SemiModel
from hedgerow.tasks.partly_public.reach import blocks
from hedgerow.tasks.partly_public.second import CellReports
from hedgerow.tasks.tree.encoding import Moments, unpack

__all__ = ["SemiAggregate"]

_HEADER = struct.Struct("<4sHBB32sQI")
_MAGIC, _VERSION = b"HDGC", 1
IntArray = npt.NDArray[np.int64]


class SemiAggregate:
    r"""Totals of the reports to one cell task.

    The estimate of a holder's indicator, ``u = (b - q_k)/(p_k - q_k)`` on its candidates, depends on their number k.
    So totals are kept by k: for r = 0, 1, 2 and each cell j, ``B_rj = sum v**r b_j`` over the reports that support j
    and ``V_rj = sum v**r`` over those with j among their candidates. Then, summing over k,

    .. math:: D_j = \sum_i u_{ij} = \sum_k \frac{B_{0j} - q_k V_{0j}}{p_k - q_k}, \quad
              N_j = \sum_i v_i u_{ij}, \quad
              \sum_i v_i^r u_{ij}^2 = \sum_k \frac{(1 - 2 q_k) B_{rj} + q_k^2 V_{rj}}{(p_k - q_k)^2}

    and the estimate (6), (9) is ``N_j / D_j``. Bits have the same q for every k: they need two classes only.
    """

    def __init__(self, task: CellTask) -> None:
        self.task, self.n_reports, self.simulation = task, 0, False
        self.classes: dict[int, IntArray] = {}

    def add(self, reports: CellReports | Iterable[CellReports]) -> SemiAggregate:
        """Add reports, or batches of them, to the totals; return self."""
        for batch in [reports] if isinstance(reports, CellReports) else reports:
            if batch.task.digest != self.task.digest:
                raise FormatError("these reports were made for another task; aggregate them with that task.")
            largest = max(1, self.task.first.grid.n_steps + self.task.first.label.coarse.reach) ** 2
            if (self.n_reports + len(batch)) * largest >= 1 << 62:
                raise HedgerowError(f"{self.n_reports + len(batch)} reports could overflow the totals.")
            for part in blocks(len(batch), 2 * self.task.n_cells):
                self._add_block(batch, part, largest)
            self.n_reports += len(batch)
            self.simulation = self.simulation or batch.simulation
        return self

    def _add_block(self, batch: CellReports, part: slice, largest: int) -> None:
        cells = self.task.n_cells
        may = unpack(batch.candidates[part], cells)
        sizes = may.sum(axis=1, dtype=np.int64)
        v = batch.levels[part].astype(np.float64)
        powers = np.stack([np.ones_like(v), v, v * v])
        if len(v) * largest >= 1 << 53:
            raise HedgerowError("the label grid is too fine for exact sums; use fewer label steps.")
        key = np.minimum(sizes, 2) if self.task.response == "bits" else sizes
        for k in np.unique(key).tolist():
            rows = np.flatnonzero(key == k)
            total = self.classes.setdefault(k, np.zeros((2, 3, cells), dtype=np.int64))
            weights = np.ascontiguousarray(powers[:, rows])
            # float64 products of integers below 2**53 are exact.
            total[1] += (weights @ may[rows].astype(np.float64)).astype(np.int64)
            if k == 1:
                total[0] = total[1]
            elif self.task.response == "bits":
                bits = unpack(batch.answer[part][rows].astype(np.uint8, copy=False), cells)
                total[0] += (weights @ bits.astype(np.float64)).astype(np.int64)
            else:
                named = batch.answer[part][rows]
                for r in range(3):
                    total[0, r] += np.bincount(named, weights[r], minlength=cells).astype(np.int64)

    def __add__(self, other: SemiAggregate) -> SemiAggregate:
        if not isinstance(other, SemiAggregate):
            return NotImplemented
        if other.task.digest != self.task.digest:
            raise FormatError("aggregates of different tasks cannot be merged.")
        merged = SemiAggregate(self.task)
        for part in (self, other):
            merged.n_reports += part.n_reports
            merged.simulation = merged.simulation or part.simulation
            for k, total in part.classes.items():
                merged.classes[k] = merged.classes[k] + total if k in merged.classes else total.copy()
        return merged

    def __eq__(self, other: object) -> bool:
        return isinstance(other, SemiAggregate) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def to_bytes(self) -> bytes:
        """Return the totals as bytes; equal totals give equal bytes."""
        flags = int(self.simulation)
        parts = [_HEADER.pack(_MAGIC, _VERSION, flags, 0, self.task.digest, self.n_reports, len(self.classes))]
        for k in sorted(self.classes):
            parts += [k.to_bytes(4, "little"), self.classes[k].astype("<i8").tobytes()]
        return b"".join(parts)

    @classmethod
    def from_bytes(cls, task: CellTask, data: bytes) -> SemiAggregate:
        """Read totals, refusing other tasks, versions and lengths."""
        if len(data) < _HEADER.size or data[:4] != _MAGIC:
            raise FormatError("this is not an aggregate of cell reports.")
        _, version, simulation, reserved, digest, n, n_classes = _HEADER.unpack_from(data)
        size = 4 + 8 * 6 * task.n_cells
        if version != _VERSION or reserved or simulation > 1:
            raise FormatError(f"this aggregate is damaged or not of version {_VERSION}.")
        if digest != task.digest:
            raise FormatError("this aggregate belongs to another task.")
        if len(data) != _HEADER.size + n_classes * size:
            raise FormatError("this aggregate is truncated or oversized.")
        result = cls(task)
        result.n_reports, result.simulation = n, bool(simulation)
        for i in range(n_classes):
            at = _HEADER.size + i * size
            k = int.from_bytes(data[at : at + 4], "little")
            total = np.frombuffer(data, dtype="<i8", offset=at + 4, count=6 * task.n_cells)
            if k in result.classes or not 1 <= k <= task.n_cells:
                raise FormatError("this aggregate has a class that its task cannot have.")
            result.classes[k] = total.reshape(2, 3, -1).astype(np.int64)
        return result

    def moments(self) -> Moments:
        """Return the estimates of N and D for each cell, and their covariance."""
        first = np.zeros((2, self.task.n_cells))
        second = np.zeros((3, self.task.n_cells))
        for k in sorted(self.classes):
            p, q = self.task.probabilities(k)
            support, may = self.classes[k].astype(np.float64)
            first += ((support - q * may) / (p - q))[:2]
            second += ((1 - 2 * q) * support + q * q * may) / (p - q) ** 2
        D, N, m = first[0], first[1], max(self.n_reports, 1)
        return Moments(N, D, second[2] - N * N / m, second[1] - N * D / m, second[0] - D * D / m)

    def model(self, *, shrink: float = 1.0) -> SemiModel:
        """Return the model that these totals make; see :class:`SemiModel` for ``shrink``."""
        return SemiModel.of(self.task, self.n_reports, self.moments(), self.simulation, shrink)

    def __repr__(self) -> str:
        note = ", simulation" if self.simulation else ""
        return f"SemiAggregate({self.n_reports} reports to task {self.task.id[:12]}...{note})"
