"""Exact integer sums of the messages to an assisted task."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.totals import Aggregate

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.model import AssistedModel

__all__ = ["AssistedAggregate"]


class AssistedAggregate(Aggregate):
    """Totals of the reports to one assisted task; adds, merges and travels as :class:`~hedgerow.Aggregate` does."""

    def __init__(self, task: AssistedTask) -> None:
        super().__init__(cast("Any", task))

    def model(self, **options: Any) -> AssistedModel:  # type: ignore[override]
        """Return the model that these totals make."""
        from hedgerow.tasks.assisted.model import AssistedModel

        task = cast("AssistedTask", self.task)
        return AssistedModel(task, self.n_reports, tuple(self.sums.tolist()), self.simulation, **options)
