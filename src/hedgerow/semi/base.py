"""What regressors share in which holders keep some features private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow.estimators.base import PrivateRegressor
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["SemiRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class SemiRegressor(PrivateRegressor):
    """A regressor over records within public bounds."""

    feature_bounds: Any = None
    categories: Any = None

    def _start(self, X: Any, y: Any) -> tuple[Any, FloatArray, FeatureSpace]:
        """Check everything that is public first; return private records, labels and the schema."""
        rows, labels = self._open(X, y)
        return rows, labels, self._space(rows)
