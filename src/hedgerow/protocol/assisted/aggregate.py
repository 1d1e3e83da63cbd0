"""Exact integer sums of the messages to an assisted task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.protocol.aggregate import Aggregate
from hedgerow.protocol.assisted.task import AssistedTask

if TYPE_CHECKING:
    from hedgerow.protocol.assisted.model import AssistedModel

__all__ = ["AssistedAggregate"]


class AssistedAggregate(Aggregate):
    """Totals of the reports to one assisted task; adds, merges and travels as :class:`~hedgerow.Aggregate` does."""

    def __init__(self, task: AssistedTask) -> None:
        self.task = cast("Any", task)
        self.n_reports = 0
        self.sums = np.zeros(task.encoding.n_sums, dtype=np.int64)
        self.simulation = False

    def __add__(self, other: Aggregate) -> AssistedAggregate:
        if not isinstance(other, AssistedAggregate):
            return NotImplemented
        if other.task.digest != self.task.digest:
            raise FormatError("aggregates of different tasks cannot be merged.")
        merged = AssistedAggregate(cast("Any", self.task))
        for part in (self, other):
            merged._include(part.n_reports, part.sums, part.simulation)
        return merged

    def model(self, **options: Any) -> AssistedModel:  # type: ignore[override]
        """Return the model that these totals make."""
        from hedgerow.protocol.assisted.model import AssistedModel

        task = cast("AssistedTask", self.task)
        return AssistedModel(task, self.n_reports, tuple(self.sums.tolist()), self.simulation, **options)
