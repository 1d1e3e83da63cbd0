"""How wrong a prediction is for one record: a number from 0 to 1."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.types import FloatArray

__all__ = ["Losses"]


@dataclass(frozen=True)
class Losses:
    """Losses of numbers within ``bounds``, or of classes (None).

    Examples
    --------
    >>> from sklearn.dummy import DummyRegressor
    >>> model = DummyRegressor(strategy="constant", constant=2.0).fit([[0]], [0])
    >>> Losses((0, 10), "squared").of(model, np.zeros((2, 1)), np.array([2.0, 7.0])).tolist()
    [0.0, 0.25]
    """

    bounds: tuple[float, float] | None
    kind: str

    @property
    def unit(self) -> float:
        """The largest loss, in units of the label."""
        if self.bounds is None:
            return 1.0
        width = self.bounds[1] - self.bounds[0]
        return width if self.kind == "absolute" else width**2

    def of(self, model: Any, X: Any, y: Any) -> FloatArray:
        """Return the loss of each record; whatever a model predicts, it is from 0 to 1."""
        predicted = model.predict(X)
        if self.bounds is None:
            return np.asarray(predicted != y, dtype=np.float64)
        low, high = self.bounds
        numbers = np.nan_to_num(np.asarray(predicted, dtype=np.float64), nan=low, posinf=high, neginf=low)
        apart = np.abs(np.clip(numbers, low, high) - y) / (high - low)
        return np.asarray(np.clip(apart if self.kind == "absolute" else apart**2, 0.0, 1.0))
