"""What the baselines without public data share: records scaled to the unit box by their public bounds.

Categories of a schema are numbers here: their places in the list, whose order the schema keeps.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.estimators.base import PrivateRegressor
from hedgerow.given import BoundsLike
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["BoxedRegressor", "unit"]


@dataclass(kw_only=True, eq=False, repr=False)
class BoxedRegressor(PrivateRegressor):
    """A regressor whose holders send one report about a record in a box."""

    feature_bounds: BoundsLike = None

    _NOTE = "one report a person; every further report spends epsilon again"

    def _open_box(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Set ``space_`` from public bounds; return scaled records, and labels."""
        rows, labels = self._open(X, y)
        self.space_ = self._space(rows)
        return unit(self.space_, rows), labels

    def _unit(self, X: Any) -> FloatArray:
        """Return records to predict for, scaled."""
        rows = self._rows(X)
        return unit(self.space_, rows)


def unit(space: FeatureSpace, rows: Any) -> FloatArray:
    """Clip records to their public ranges and scale these to [0, 1]; a constant column becomes 0."""
    low = space.low
    high = space.high
    width = np.where(high > low, high - low, 1.0)
    scaled: FloatArray = np.clip((np.asarray(space.encode(rows), dtype=np.float64) - low) / width, 0.0, 1.0)
    return scaled
