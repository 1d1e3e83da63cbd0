"""Intervals of central models: the known noise of what was released, and nothing else. No new look at any record."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.tasks.intervals import Ends, cut
from hedgerow.tasks.models import check_level
from hedgerow.types import FloatArray

__all__ = ["NoiseIntervals"]


class NoiseIntervals:
    """Intervals for what such a model predicts on average over its noise.

    Each model says what else is averaged over. That it errs on average, because its trees are coarse or its curves
    smooth, is not covered.
    """

    classes: Any

    def predict(self, X: Any) -> Any:
        """Predict labels."""
        raise NotImplementedError

    def _reach(self, X: Any, level: float) -> FloatArray:
        """Return half the width of the interval of each prediction, from released numbers alone."""
        raise NotImplementedError

    def _value_bounds(self) -> tuple[Any, Any]:
        raise NotImplementedError

    @property
    def has_intervals(self) -> bool:
        """Whether numbers are predicted; a class has a probability."""
        return self.classes is None

    def predict_interval(self, X: Any, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for what such a model predicts on average, around the prediction."""
        if not self.has_intervals:
            raise HedgerowError("a model of classes has no intervals; use predict_proba.")
        half = self._reach(X, check_level(level))
        point = np.asarray(self.predict(X))
        return cut((point - half, point + half), self._value_bounds())

    def reports_interval(self, X: Any, level: float = 0.9) -> Ends:
        """Return the same: no public records take part."""
        return self.predict_interval(X, level)

    def predict_label_interval(self, X: Any, level: float = 0.9) -> Ends:
        """Refuse: what was released does not tell how labels spread."""
        raise HedgerowError("this model does not tell how labels spread; use predict_interval.")
