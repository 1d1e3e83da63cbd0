"""Reports of one round: the randomised error of a public model, and in clear what the holder does not call private.

The payload is little-endian bytes::

    4      code: the output of the mechanism
    ...    what is in clear (:mod:`hedgerow.tasks.partly_public.clear`)
"""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.tasks.message import CODES, Message
from hedgerow.tasks.partly_public.clear import check_clear, clear_bytes, clear_width, read_clear
from hedgerow.types import BoolArray, ByteRows, FloatArray, IntArray

if TYPE_CHECKING:
    from hedgerow.tasks.partly_public.residual import ResidualTask

__all__ = ["ResidualMessage", "as_csv", "in_order"]


@dataclass(frozen=True)
class ResidualMessage(Message):
    """An output of the mechanism, and public features; kept, for corrections are learnt from it."""

    task: ResidualTask
    code = CODES["residual"]
    n_sums = 0
    largest = 1

    @property
    def width(self) -> int:
        """Output, mask and features."""
        return 4 + clear_width(self.task)

    def write(self, codes: IntArray, private: BoolArray, Z: FloatArray) -> ByteRows:
        """Return payloads; what is private is not in them."""
        sent = codes.astype("<i4").view(np.uint8).reshape(-1, 4)
        return np.hstack([sent, clear_bytes(self.task, private, Z)])

    def read(self, rows: ByteRows) -> tuple[IntArray, BoolArray, FloatArray]:
        """Return outputs, masks and features (0 where private)."""
        codes = np.ascontiguousarray(rows[:, :4]).view("<i4")[:, 0].astype(np.int64)
        return codes, *read_clear(self.task, rows[:, 4:])

    def validate(self, rows: ByteRows) -> None:
        """Refuse outputs that the mechanism does not have, private features that are sent, and impossible ones."""
        codes, private, Z = self.read(rows)
        low, high = self.task.mechanism.code_range
        if ((codes < low) | (codes > high)).any():
            raise FormatError("a report in the batch is one that no holder of this task could have sent.")
        check_clear(self.task, private, Z)


def in_order(payloads: ByteRows) -> ByteRows:
    """Return messages sorted by their bytes: what is made of them depends neither on ids nor on who came first."""
    if not len(payloads):
        return payloads
    text = np.ascontiguousarray(payloads).view(f"S{payloads.shape[1]}")[:, 0]
    return payloads[np.argsort(text, kind="stable")]


def as_csv(task: ResidualTask, payloads: ByteRows) -> bytes:
    """Return public features, empty where private or missing, and noisy errors, as a table.

    Where groups of private values are told, there is a column for the group that a report names.
    """
    codes, private, Z = task.encoding.read(in_order(payloads))
    columns = task.space.columns
    absent = private[:, : len(columns)].copy()
    for j, column in enumerate(task.space.told, start=len(columns)):
        absent[:, column] |= Z[:, j] == 1
    file = io.StringIO()
    writer = csv.writer(file, lineterminator="\n")
    named: list[tuple[str, ...]] = [()] * len(codes)
    head: tuple[str, ...] = ()
    if task.cells is not None:
        groups = [(" and ".join(leaf.conditions),) for leaf in task.cells.iter_leaves()]
        named = [groups[at] for at in (codes // (task.grid.n_steps + 1)).tolist()]
        head = ("group, noisy",)
    writer.writerow([*task.space.inputs, *head, f"{task.target} minus prediction, noisy"])
    errors = task.noisy_errors(codes).tolist()
    for row, hidden, group, error in zip(Z.tolist(), absent.tolist(), named, errors, strict=True):
        cells = zip(columns, row, hidden, strict=False)
        writer.writerow([*("" if gone else column.decode(value) for column, value, gone in cells), *group, error])
    return file.getvalue().encode()
