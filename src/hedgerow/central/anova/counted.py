"""What a first read of private records finds: counts that add up over parts."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.central.anova.quantiles import bin_counts
from hedgerow.central.anova.reading import Reading
from hedgerow.sources import Batch
from hedgerow.types import IntArray

__all__ = ["Counted", "count_batches"]


@dataclass(frozen=True, eq=False)
class Counted:
    """What the first read finds (private): counts, and where there is anything at all.

    Attributes
    ----------
    rows : int
        Number of records.
    bins : array
        How many are in each of the finest bins of each numeric feature.
    labels : list of bool
        Whether each column of labels holds a label.
    columns : array of bool
        Whether each column without a type holds a number; all true where columns have types.
    """

    rows: int
    bins: IntArray
    labels: list[bool]
    columns: npt.NDArray[np.bool_]

    def __add__(self, other: Counted) -> Counted:
        labels = [a or b for a, b in zip(self.labels, other.labels, strict=True)]
        return Counted(self.rows + other.rows, self.bins + other.bins, labels, self.columns | other.columns)


def count_batches(reading: Reading, batches: Iterable[Batch], *, typed: bool) -> Counted:
    """Count records; the sum over parts of them is the count of all."""
    d = len(reading.columns.inputs)
    nothing = np.empty((0, len(reading.space)))
    total = Counted(0, bin_counts(reading.space, nothing), [False] * reading.labels.columns, np.full(d, typed))
    for batch in batches:
        found = reading.encoded(batch)
        held = np.full(d, True) if typed else reading.holds_numbers(batch)
        bins = bin_counts(reading.space, found.Z)
        total += Counted(batch.rows, bins, reading.labels.holds(batch.labels, batch.rows), held)
    return total
