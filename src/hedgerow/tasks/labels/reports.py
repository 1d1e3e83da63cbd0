"""Reports of labels: the public number of a record, and the randomised output.

The payload is little-endian bytes::

    8      record: the public number of the record that the label belongs to
    4      code: the randomised output
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError, FormatError, HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.tasks.message import CODES, Message
from hedgerow.tasks.reports import Reports
from hedgerow.types import ByteRows, IntArray

if TYPE_CHECKING:
    from hedgerow.tasks.labels.task import LabelTask

__all__ = ["LabelMessage", "LabelReports", "record_number"]

_MOST = 1 << 63  # record numbers are counted in 63 bits


@dataclass(frozen=True)
class LabelMessage(Message):
    """A record's number in clear, and an output of the mechanism in ``low .. high``; kept, for a learner reads it."""

    low: int
    high: int
    code = CODES["label"]
    width = 12
    n_sums = 0
    largest = 1

    def write(self, records: IntArray, codes: IntArray) -> ByteRows:
        """Return payloads."""
        number = records.astype("<u8").view(np.uint8).reshape(-1, 8)
        return np.hstack([number, codes.astype("<i4").view(np.uint8).reshape(-1, 4)])

    def read(self, rows: ByteRows) -> tuple[Any, IntArray]:
        """Return numbers of records and outputs."""
        records = np.ascontiguousarray(rows[:, :8]).view("<u8")[:, 0]
        return records, np.ascontiguousarray(rows[:, 8:]).view("<i4")[:, 0].astype(np.int64)

    def validate(self, rows: ByteRows) -> None:
        """Refuse outputs that the mechanism does not have, and numbers too large to be one."""
        records, codes = self.read(rows)
        if ((codes < self.low) | (codes > self.high)).any() or (records >= np.uint64(_MOST)).any():
            raise FormatError("a report in the batch is one that no holder of this task could have sent.")


def record_number(record: object) -> int:
    """Return the public number of a record; it is sent in clear, so that an error about it tells nothing."""
    number = record.get("record") if isinstance(record, Mapping) else None
    if isinstance(number, str) and number.isascii() and number.isdecimal():
        number = int(number)
    if isinstance(number, np.integer):
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < _MOST:
        raise BoundsError(f"'record' must be the public number of your record, a whole number. Got {number!r} instead.")
    return number


@dataclass(frozen=True, eq=False, repr=False)
class LabelReports(Reports):
    """A batch of reports to one label task, with their columns."""

    task: LabelTask

    @classmethod
    def of(cls, reports: Reports) -> LabelReports:
        """Return reports to a label task with their columns."""
        task: Any = reports.task
        return cls(task, reports.tokens, reports.payloads, reports.simulation)

    @property
    def records(self) -> IntArray:
        """Numbers of the records."""
        return np.asarray(self.task.encoding.read(self.payloads)[0].astype(np.int64))

    @property
    def codes(self) -> IntArray:
        """Outputs of the mechanism."""
        return self.task.encoding.read(self.payloads)[1]

    @property
    def guarantee(self) -> Guarantee:
        """What the reports protect."""
        return replace(self.task.guarantee, simulation=self.simulation)

    def __add__(self, other: LabelReports) -> LabelReports:
        return LabelReports.concat([self, other])

    def dataset(self, n_records: int | None = None) -> tuple[IntArray, npt.NDArray[Any]]:
        """Return record numbers, rising, and their noisy labels (classes by name); a report sent twice counts once.

        A record with two different reports is refused: its holder has spent epsilon twice.
        """
        rows = np.unique(np.hstack([self.tokens, self.payloads]), axis=0)
        records, codes = self.task.encoding.read(rows[:, self.tokens.shape[1] :])
        order = np.argsort(records, kind="stable")
        record = records[order].astype(np.int64)
        if (record[1:] == record[:-1]).any():
            raise HedgerowError("a record has two different reports; ask its holder which one counts.")
        if n_records is not None and record.size and int(record[-1]) >= n_records:
            raise HedgerowError(f"a report names record {int(record[-1])}, but there are {n_records} records.")
        return record, self.task.labels(codes[order])
