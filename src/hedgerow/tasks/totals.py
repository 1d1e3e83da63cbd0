"""Exact integer sums of reports: any order, any machine, the same bytes."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from typing import TYPE_CHECKING, Self

import numpy as np

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks.reports import Report, Reports
from hedgerow.tasks.tree.encoding import IntArray
from hedgerow.tasks.tree.task import LocalTask

if TYPE_CHECKING:
    from hedgerow.tasks.tree.model import Model

__all__ = ["Aggregate"]

_HEADER = struct.Struct("<4sHBB32sQ")
_MAGIC, _VERSION = b"HDGA", 1


class Aggregate:
    """Totals of the reports to one task.

    Adding is commutative and associative in exact integers: reports may arrive in any order, on any number of
    machines, and ``a + b`` merges partial totals. The curator needs nothing else to build the model.

    Examples
    --------
    >>> from hedgerow.tasks.tree.holder import privatize_many
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1))
    >>> reports = privatize_many(task, [[0.2], [0.7], [0.9]], [0.0, 1.0, 1.0], randomness=1)
    >>> one = Aggregate(task).add(reports)
    >>> two = Aggregate(task).add(reports[2]) + Aggregate(task).add(reports[1]).add(reports[0])
    >>> one.to_bytes() == two.to_bytes()
    True
    """

    def __init__(self, task: LocalTask) -> None:
        self.task = task
        self.n_reports = 0
        self.sums: IntArray = np.zeros(task.encoding.n_sums, dtype=np.int64)
        self.simulation = False

    def add(self, reports: Reports | Report | Iterable[Report]) -> Aggregate:
        """Add reports to the totals; return self."""
        if isinstance(reports, Report):
            reports = [reports]
        if not isinstance(reports, Reports):
            reports = Reports.collect(self.task, list(reports))
        if reports.task.digest != self.task.digest:
            raise FormatError("these reports were made for another task; aggregate them with that task.")
        if len(reports):
            self._include(len(reports), self.task.encoding.sums(reports.payloads), reports.simulation)
        return self

    def _include(self, n: int, sums: IntArray, simulation: bool) -> None:
        if (self.n_reports + n) * self.task.encoding.largest >= 1 << 62:
            raise HedgerowError(f"{self.n_reports + n} reports could overflow the totals; use fewer label steps.")
        self.n_reports += n
        self.sums = self.sums + sums
        self.simulation = self.simulation or simulation

    def __add__(self, other: Aggregate) -> Self:
        if not isinstance(other, type(self)):
            return NotImplemented
        if other.task.digest != self.task.digest:
            raise FormatError("aggregates of different tasks cannot be merged.")
        merged = type(self)(self.task)
        for part in (self, other):
            merged._include(part.n_reports, part.sums, part.simulation)
        return merged

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Aggregate) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def to_bytes(self) -> bytes:
        """Return the totals as bytes; equal totals give equal bytes."""
        head = _HEADER.pack(_MAGIC, _VERSION, int(self.simulation), 0, self.task.digest, self.n_reports)
        return head + self.sums.astype("<i8").tobytes()

    @classmethod
    def from_bytes(cls, task: LocalTask, data: bytes) -> Aggregate:
        """Read totals, refusing other tasks, versions and lengths."""
        expected = _HEADER.size + 8 * task.encoding.n_sums
        if len(data) < _HEADER.size:
            raise FormatError(f"this is not an aggregate: {len(data)} bytes are too few.")
        magic, version, simulation, reserved, digest, n = _HEADER.unpack_from(data)
        if magic != _MAGIC or reserved or simulation > 1:
            raise FormatError("this is not an aggregate: it does not start as one.")
        if version != _VERSION:
            raise FormatError(f"aggregate version {version} is not supported (this is version {_VERSION}).")
        if digest != task.digest:
            raise FormatError("this aggregate belongs to another task.")
        if len(data) != expected:
            raise FormatError(f"an aggregate of this task has {expected} bytes. Got {len(data)} instead.")
        result = cls(task)
        sums = np.frombuffer(data, dtype="<i8", offset=_HEADER.size).astype(np.int64)
        most = n * task.encoding.largest
        if most >= 1 << 62 or any(abs(s) > most for s in sums.tolist()):
            raise FormatError(f"these totals cannot come from {n} reports to this task.")
        result._include(n, sums, bool(simulation))
        return result

    def model(self, *, fallback: str | None = None) -> Model:
        """Return the model that these totals make.

        ``fallback`` says what public labels add, see :class:`Model`; by default nothing with the paper's report
        ("bits": its estimator as printed), a blend by precision with any other.
        """
        if fallback is None:
            fallback = "none" if self.task.response == "bits" else "blend"
        from hedgerow.tasks.tree.model import make_model

        return make_model(self.task, self.n_reports, tuple(self.sums.tolist()), self.simulation, fallback)

    def __repr__(self) -> str:
        note = ", simulation" if self.simulation else ""
        return f"Aggregate({self.n_reports} reports to task {self.task.id[:12]}...{note})"
