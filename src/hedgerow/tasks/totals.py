"""Exact totals of reports: any order, any machine, the same bytes.

A :class:`Totals` adds whole numbers in blocks (:class:`~hedgerow.tasks.message.Message`); a :class:`KeptRows` keeps the
reports themselves, where these are the result. Both merge by ``+`` and travel as bytes::

    magic HDGA or HDGK, version, simulation, 0, the task's digest, reports, blocks
    each block: its number (4 bytes), whole numbers (8 bytes each)      or, of a KeptRows: ids and payloads, sorted
"""

from __future__ import annotations

import struct
from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.tasks.reports import TOKEN_BYTES, Report, Reports

if TYPE_CHECKING:
    from hedgerow.tasks.base import Task
    from hedgerow.types import ByteRows, IntArray

__all__ = ["Aggregate", "KeptRows", "Totals"]

_HEADER = struct.Struct("<4sHBB32sQI")
_BLOCK = struct.Struct("<I")
_VERSION = 1
_MOST = 1 << 62  # of a sum: far from where 64 bits end


class Totals:
    """Totals of the reports to one task.

    Adding is commutative and associative in exact integers: reports may arrive in any order, on any number of
    machines, and ``a + b`` merges partial totals. The curator needs nothing else to build the model.

    Examples
    --------
    >>> from hedgerow.tasks import LocalTask, privatize_many
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> reports = privatize_many(task, [[0.2], [0.7], [0.9]], [0.0, 1.0, 1.0], randomness=1)
    >>> one = Totals(task).add(reports)
    >>> two = Totals(task).add(reports[2]) + Totals(task).add(reports[1]).add(reports[0])
    >>> one.to_bytes() == two.to_bytes()
    True
    """

    _magic = b"HDGA"

    def __init__(self, task: Task) -> None:
        self.task = task
        self.n_reports = 0
        self.simulation = False
        self.blocks: dict[int, IntArray] = {}

    @staticmethod
    def of(task: Task) -> Totals:
        """Return totals of no reports yet, of the sort that this task has."""
        return KeptRows(task) if task.retains else Totals(task)

    @property
    def sums(self) -> IntArray:
        """The whole numbers of the first block."""
        return self.blocks.get(0, np.zeros(self.task.encoding.n_sums, dtype=np.int64))

    def add(self, reports: Reports | Report | Iterable[Report]) -> Self:
        """Add reports to the totals; return self."""
        if isinstance(reports, Report):
            reports = [reports]
        if not isinstance(reports, Reports):
            reports = Reports.collect(self.task, list(reports))
        if reports.task.digest != self.task.digest:
            raise FormatError("these reports were made for another task; aggregate them with that task.")
        if len(reports):
            self._take(reports)
        return self

    def _take(self, reports: Reports) -> None:
        self.include(len(reports), self.task.encoding.blocks(reports.payloads), reports.simulation)

    def include(self, n: int, blocks: Mapping[int, IntArray], simulation: bool) -> None:
        """Add what ``n`` reports come to."""
        if (self.n_reports + n) * self.task.encoding.largest >= _MOST:
            raise HedgerowError(f"{self.n_reports + n} reports could overflow the totals; use fewer label steps.")
        self.n_reports += n
        self.simulation = self.simulation or simulation
        for key, sums in blocks.items():
            self.blocks[key] = self.blocks[key] + sums if key in self.blocks else np.array(sums, dtype=np.int64)

    def __add__(self, other: Totals) -> Self:
        if not isinstance(other, Totals):
            return NotImplemented
        if other.task.digest != self.task.digest:
            raise FormatError("aggregates of different tasks cannot be merged.")
        merged = type(self)(self.task)
        for part in (self, other):
            merged._merge(part)
        return merged

    def _merge(self, part: Any) -> None:
        self.include(part.n_reports, part.blocks, part.simulation)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Totals) and self.to_bytes() == other.to_bytes()

    __hash__ = None  # type: ignore[assignment]

    def to_bytes(self) -> bytes:
        """Return the totals as bytes; equal totals give equal bytes."""
        keys = sorted(self.blocks)
        body = [_BLOCK.pack(key) + self.blocks[key].astype("<i8").tobytes() for key in keys]
        return self._head(len(keys)) + b"".join(body)

    def _head(self, n_blocks: int) -> bytes:
        digest = self.task.digest
        return _HEADER.pack(self._magic, _VERSION, int(self.simulation), 0, digest, self.n_reports, n_blocks)

    @classmethod
    def from_bytes(cls, task: Task, data: bytes) -> Totals:
        """Read totals, refusing other tasks, versions and lengths."""
        result: Any = cls.of(task)
        if len(data) < _HEADER.size:
            raise FormatError(f"this is not an aggregate: {len(data)} bytes are too few.")
        magic, version, simulation, reserved, digest, n, n_blocks = _HEADER.unpack_from(data)
        if magic != result._magic or reserved or simulation > 1:
            raise FormatError("this is not an aggregate: it does not start as one.")
        if version != _VERSION:
            raise FormatError(f"aggregate version {version} is not supported (this is version {_VERSION}).")
        if digest != task.digest:
            raise FormatError("this aggregate belongs to another task.")
        result._read(data[_HEADER.size :], n, n_blocks, bool(simulation))
        return result  # type: ignore[no-any-return]

    def _read(self, body: bytes, n: int, n_blocks: int, simulation: bool) -> None:
        encoding = self.task.encoding
        size = _BLOCK.size + 8 * encoding.n_sums
        if len(body) != n_blocks * size:
            raise FormatError(f"an aggregate of {n_blocks} blocks is {n_blocks * size} bytes. Got {len(body)} instead.")
        most = n * encoding.largest
        blocks: dict[int, IntArray] = {}
        for at in range(0, len(body), size):
            (key,) = _BLOCK.unpack_from(body, at)
            sums = np.frombuffer(body, dtype="<i8", offset=at + _BLOCK.size, count=encoding.n_sums)
            if key in blocks or key >= encoding.n_blocks:
                raise FormatError("this aggregate has a block that its task cannot have.")
            if most >= _MOST or any(abs(s) > most for s in sums.tolist()):
                raise FormatError(f"these totals cannot come from {n} reports to this task.")
            blocks[key] = sums.astype(np.int64)
        self.include(n, blocks, simulation)

    def model(self, **options: Any) -> Any:
        """Return what these reports make, :meth:`Task.model() <hedgerow.tasks.base.Task.model>`."""
        return self.task.model(self, **options)

    def __repr__(self) -> str:
        note = ", simulation" if self.simulation else ""
        return f"{type(self).__name__}({self.n_reports} reports to task {self.task.id[:12]}...{note})"


class KeptRows(Totals):
    """The reports to one task, sorted by id: any order of merging gives the same bytes."""

    _magic = b"HDGK"

    def __init__(self, task: Task) -> None:
        super().__init__(task)
        self._parts: list[ByteRows] = []

    @property
    def rows(self) -> ByteRows:
        """Ids (their random part) and payloads, in the order of ids."""
        width = TOKEN_BYTES + self.task.encoding.width
        rows = np.concatenate([np.empty((0, width), dtype=np.uint8), *self._parts])
        rows = rows[np.lexsort(rows.T[::-1])]
        self._parts = [rows]
        return rows

    def reports(self) -> Reports:
        """Return the reports."""
        rows = self.rows
        return Reports(self.task, rows[:, :TOKEN_BYTES], rows[:, TOKEN_BYTES:], self.simulation)

    def _take(self, reports: Reports) -> None:
        self._keep(np.hstack([reports.tokens, reports.payloads]), reports.simulation)

    def _merge(self, part: Any) -> None:
        self._keep(part.rows, part.simulation)

    def _keep(self, rows: ByteRows, simulation: bool) -> None:
        self._parts.append(rows)
        self.n_reports += len(rows)
        self.simulation = self.simulation or simulation

    def to_bytes(self) -> bytes:
        """Return the reports as bytes; equal sets of reports give equal bytes."""
        return self._head(0) + self.rows.tobytes()

    def _read(self, body: bytes, n: int, n_blocks: int, simulation: bool) -> None:
        width = TOKEN_BYTES + self.task.encoding.width
        if n_blocks or len(body) != n * width:
            raise FormatError(f"{n} kept reports have {n * width} bytes. Got {len(body)} instead.")
        rows = np.frombuffer(body, dtype=np.uint8).reshape(n, width)
        self.task.encoding.validate(rows[:, TOKEN_BYTES:])
        self._keep(rows, simulation)


Aggregate = Totals
"""The name of totals in the first release of the protocol."""
