"""The kinds of task that the service collects for: how a body is read, what is kept, what is made of it.

========== ============================== ===========================================
kind       kept after aggregation         result
========== ============================== ===========================================
local      integer sums                   model
assisted   integer sums                   model
pilot      integer sums                   totals, which the design of the assisted task reads
semi-first the reports (they grow a tree) reports, and with them the second task
semi-second integer sums                  model
label      record numbers, noisy labels   data set
========== ============================== ===========================================
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError
from hedgerow.service.intake import Upload, keys_of, marks_of
from hedgerow.tasks.labels.task import LabelReports, LabelTask
from hedgerow.tasks.partly_public import CellReports, CellTask, FirstReports, SemiAggregate, SemiTask
from hedgerow.tasks.partly_public.first import MAGIC, SIMULATION, TOKEN, payload_width, read_batch, write_batch
from hedgerow.tasks.reports import HEADER_BYTES, Reports
from hedgerow.tasks.totals import Totals

__all__ = ["Kind", "ReadBatch", "kind_of"]

Rows = npt.NDArray[np.uint8]
_MOST_INVALID = 100


@dataclass(frozen=True)
class ReadBatch:
    """A body as rows: ids (their random part), payloads, and which rows no honest holder could have sent."""

    tokens: list[bytes]
    payloads: Rows
    simulation: npt.NDArray[np.bool_]
    invalid: frozenset[int]

    def __len__(self) -> int:
        return len(self.tokens)


class Kind(ABC):
    """How the service treats one task."""

    retains = False
    """Whether rows are the result, and so are kept instead of being summed and scrubbed."""

    def __init__(self, task: Any) -> None:
        self.task = task

    @property
    @abstractmethod
    def width(self) -> int:
        """Bytes of a payload."""

    @abstractmethod
    def check(self, rows: Rows) -> None:
        """Raise FormatError if any payload is one that no honest holder could have sent."""

    @property
    @abstractmethod
    def code(self) -> int:
        """What the header of a batch calls this kind of message."""

    def read(self, body: bytes) -> ReadBatch:
        """Read a batch in the library's wire format; refuse a wrong frame, note invalid rows."""
        if body[:4] != MAGIC:  # the library also reads a single report without a header; here it is always a batch
            raise FormatError("this is not a batch of reports: it does not start as one.")
        _, rows, simulation = read_batch(self.task.digest, self.code, self.width, body)
        start, n = HEADER_BYTES, len(rows)
        tokens = [body[i : i + TOKEN] for i in range(start, start + n * TOKEN, TOKEN)]
        return ReadBatch(tokens, rows, np.full(n, simulation), frozenset(_invalid(self.check, rows)))

    def upload(self, number: int, batch: ReadBatch, first: int | None, token: bytes | None) -> Upload:
        """Return what the writer stores of a valid batch."""
        flags, data, width = batch.simulation.tobytes(), batch.payloads.tobytes(), batch.payloads.shape[1]
        messages = [flags[i : i + 1] + data[i * width : (i + 1) * width] for i in range(len(flags))]
        keys, marks = keys_of(batch.tokens), marks_of(batch.tokens, messages)
        return Upload(number, keys, marks, batch.payloads, bool(batch.simulation.any()), token=token)

    @property
    def kept_width(self) -> int:
        """Bytes kept of each report."""
        return self.width

    def id_in(self, body: bytes, i: int) -> bytes:
        """Return the 16-byte id of report ``i`` of a body that was read."""
        at = HEADER_BYTES + i * TOKEN
        return bytes(self.task.digest[:4] + body[at : at + TOKEN])


def _invalid(check: Callable[[Rows], None], rows: Rows) -> list[int]:
    """Return the positions of rows that do not pass, by halving; a body with many of them is not worth the search."""
    found: list[int] = []
    todo = [(0, len(rows))]
    while todo:
        start, stop = todo.pop()
        try:
            check(rows[start:stop])
        except FormatError as error:
            if stop - start > 1:
                middle = (start + stop) // 2
                todo += [(middle, stop), (start, middle)]
                continue
            found.append(start)
            if len(found) > _MOST_INVALID:
                raise FormatError(f"more than {_MOST_INVALID} reports are invalid; the first: {error}") from None
    return found


class Summed(Kind):
    """A task whose reports are added up in exact integers."""

    empty: Callable[[Any], Any]

    @abstractmethod
    def batch(self, rows: Rows, simulation: bool) -> Any:
        """Return payloads as the library's batch of reports."""

    def aggregate(self, data: bytes = b"") -> Any:
        """Return stored sums as the library's aggregate; without bytes, an empty one."""
        cls: Any = type(self).empty
        return cls.from_bytes(self.task, data) if data else cls(self.task)


class LocalKind(Summed):
    """One round, model from sums; also assisted tasks, whose frame is the same."""

    empty: Callable[[Any], Any] = Totals

    @property
    def width(self) -> int:
        """Bytes of a payload."""
        return int(self.task.encoding.width)

    @property
    def code(self) -> int:
        """The response's code."""
        return int(self.task.encoding.code)

    def check(self, rows: Rows) -> None:
        """Validate by the encoding."""
        self.task.encoding.validate(rows)

    def batch(self, rows: Rows, simulation: bool) -> Reports:
        """Return a batch; ids play no part in sums."""
        return Reports(self.task, np.zeros((len(rows), TOKEN), dtype=np.uint8), rows, simulation)


class AssistedKind(LocalKind):
    """Model-assisted task."""

    empty = Totals


class PilotKind(LocalKind):
    """Pilot of a model-assisted task."""

    empty = Totals


class FirstKind(Kind):
    """First of two rounds: the reports themselves grow the partition of the second, so they are kept, with ids."""

    task: SemiTask
    retains = True

    @cached_property
    def width(self) -> int:
        """Bytes of a payload."""
        return payload_width(self.task)

    @property
    def code(self) -> int:
        """The first round's code."""
        return 16

    def check(self, rows: Rows) -> None:
        """Validate labels, masks and features."""
        FirstReports._read(self.task, np.zeros((len(rows), TOKEN), dtype=np.uint8), rows, False)

    def upload(self, number: int, batch: ReadBatch, first: int | None, token: bytes | None) -> Upload:
        """Keep ids beside payloads, and a mark of the label that the second round is checked against."""
        upload = super().upload(number, batch, first, token)
        ids = np.frombuffer(b"".join(batch.tokens), dtype=np.uint8).reshape(-1, TOKEN)
        levels = [row[:4].tobytes() for row in batch.payloads]
        upload.rows = np.hstack([ids, batch.payloads])
        upload.also = list(zip(*_label_marks(batch.tokens, levels), strict=True))
        return upload

    @property
    def kept_width(self) -> int:
        """Id and payload."""
        return TOKEN + self.width

    def reports(self, rows: Rows, simulation: bool) -> FirstReports:
        """Return kept rows as a batch, in the order of ids."""
        batch = FirstReports._read(self.task, rows[:, :TOKEN], rows[:, TOKEN:], simulation)
        return FirstReports.concat(self.task, [batch])


def _label_marks(tokens: list[bytes], levels: list[bytes]) -> tuple[list[bytes], list[bytes]]:
    return keys_of(tokens, b"label"), marks_of(tokens, levels, b"label")


class SecondKind(Summed):
    """Second of two rounds."""

    task: CellTask
    empty = SemiAggregate

    @property
    def _cells(self) -> int:
        return (self.task.n_cells + 7) // 8

    @property
    def width(self) -> int:
        """Level, candidates, answer."""
        return 4 + self._cells + (4 if self.task.response == "k_ary" else self._cells)

    @property
    def code(self) -> int:
        """The response's code."""
        return 17 if self.task.response == "k_ary" else 18

    def check(self, rows: Rows) -> None:
        """Validate levels, candidates and answers."""
        self.batch(rows, False)

    def batch(self, rows: Rows, simulation: bool) -> CellReports:
        """Read payloads through the library's frame, which checks them."""
        tokens = np.zeros((len(rows), TOKEN), dtype=np.uint8)
        return CellReports.from_bytes(self.task, write_batch(self.task.digest, self.code, simulation, tokens, rows))

    def upload(self, number: int, batch: ReadBatch, first: int | None, token: bytes | None) -> Upload:
        """Ask the first round for the same id and, unless the cell is certain, the same label."""
        upload = super().upload(number, batch, first, token)
        if first is not None:
            certain = self.batch(batch.payloads, False).sizes() == 1
            keys, marks = _label_marks(batch.tokens, [row[:4].tobytes() for row in batch.payloads])
            upload.first = first, keys, [b"" if sure else mark for sure, mark in zip(certain, marks, strict=True)]
        return upload


class LabelKind(Kind):
    """Noisy labels of public records: delivers a data set, one report a record."""

    task: LabelTask
    retains = True

    @property
    def width(self) -> int:
        """Record number and code."""
        return 12

    @property
    def code(self) -> int:
        """A label."""
        return 1

    def check(self, rows: Rows) -> None:
        """Labels are checked while the frame is read."""

    def read(self, body: bytes) -> ReadBatch:
        """Read a batch of label reports, which has a frame of its own."""
        batch = LabelReports.from_bytes(self.task, body)
        rows = batch.rows
        tokens = [t.tobytes() for t in rows["token"]]
        payloads = np.frombuffer(body, dtype=np.uint8, offset=HEADER_BYTES).reshape(len(rows), -1)[:, 18:]
        simulation = (rows["head"][:, 1] & SIMULATION) != 0
        huge = np.flatnonzero(rows["record"] >= np.uint64(1 << 63))
        return ReadBatch(tokens, payloads, simulation, frozenset(huge.tolist()))

    def upload(self, number: int, batch: ReadBatch, first: int | None, token: bytes | None) -> Upload:
        """Take one report a record."""
        upload = super().upload(number, batch, first, token)
        records = [row[:8].tobytes() for row in batch.payloads]
        upload.also = list(zip(keys_of(records, b"record"), upload.marks, strict=True))
        return upload

    def id_in(self, body: bytes, i: int) -> bytes:
        """Return the id, which stands within each report."""
        at = HEADER_BYTES + i * 30 + 2
        return bytes(body[at : at + 16])

    def dataset(self, rows: Rows) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.float64]]:
        """Return record numbers, rising, and their noisy labels."""
        records = np.ascontiguousarray(rows[:, :8]).view("<u8")[:, 0].astype(np.int64)
        codes = np.ascontiguousarray(rows[:, 8:]).view("<i4")[:, 0]
        order = np.argsort(records, kind="stable")
        return records[order], self.task.labels(codes[order])


_KINDS: dict[str, type[Kind]] = {
    "local": LocalKind,
    "assisted": AssistedKind,
    "pilot": PilotKind,
    "semi-first": FirstKind,
    "semi-second": SecondKind,
    "label": LabelKind,
}


def kind_of(name: str, task: Any) -> Kind:
    """Return how to treat a task of this kind."""
    return _KINDS[name](task)
