"""What the baselines without public data share: numeric records, scaled to the unit box by their public bounds."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.errors import BoundsError
from hedgerow.estimators.base import PrivateRegressor
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["BoxedRegressor", "unit"]


@dataclass(kw_only=True, eq=False, repr=False)
class BoxedRegressor(PrivateRegressor):
    """A regressor whose holders send one report about a record in a box."""

    feature_bounds: Any = None

    _NOTE = "one report a person; every further report spends epsilon again"

    def _open_box(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Set ``space_`` from public bounds; return scaled records, and labels."""
        rows, labels = self._open(X, y)
        self.space_ = self._space(rows)
        if self.space_.is_categorical.any():
            text = [
                name for name, is_text in zip(self.space_.names, self.space_.is_categorical, strict=True) if is_text
            ]
            raise BoundsError(f"{type(self).__name__} takes numbers only: leave the columns {text} of 'schema' out.")
        return unit(self.space_, rows), labels

    def _unit(self, X: Any) -> FloatArray:
        """Return records to predict for, scaled."""
        rows = self._rows(X)
        return unit(self.space_, rows)


def unit(space: FeatureSpace, rows: Any) -> FloatArray:
    """Clip numeric records to their public ranges and scale these to [0, 1]; a constant column becomes 0."""
    low = space.low
    high = space.high
    width = np.where(high > low, high - low, 1.0)
    scaled: FloatArray = np.clip((np.asarray(space.encode(rows), dtype=np.float64) - low) / width, 0.0, 1.0)
    return scaled
