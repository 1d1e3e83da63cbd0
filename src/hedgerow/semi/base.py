"""What the estimators of this package share: checks of records, labels and public bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin

from hedgerow.bounds import FeatureSpace, check_label_bounds
from hedgerow.checks import check_epsilon
from hedgerow.estimators.records import (
    column_names,
    declared_categories,
    read_private_labels,
    read_private_records,
    tag_total,
)

__all__ = ["SemiRegressor"]


class SemiRegressor(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor with public bounds; parameters are those of its subclasses."""

    epsilon: float
    label_bounds: Any
    feature_bounds: Any
    ledger: Any
    categories: Any = None
    categorical_features: Any = None

    def _start(self, X: Any, y: Any) -> tuple[Any, npt.NDArray[np.float64], FeatureSpace]:
        """Check everything that is public first, then the records; return records, labels and the schema."""
        check_epsilon(self.epsilon)
        check_label_bounds(self.label_bounds)
        X = self._records(X, reset=True)
        return X, read_private_labels(self, y, X.shape[0], self.label_bounds), self._space(X)

    def _space(self, X: Any) -> FeatureSpace:
        """Return the public schema; nothing but the names of columns is taken from X."""
        listed = declared_categories(X, self.feature_bounds, self.categorical_features, self.categories)
        return FeatureSpace.from_bounds(self.feature_bounds, column_names(X), categories=listed)

    def _records(self, X: Any, *, reset: bool) -> Any:
        return read_private_records(self, X, reset=reset)

    def __sklearn_tags__(self) -> Any:
        return tag_total(super().__sklearn_tags__())
