"""What the estimators of this package share: checks of records, labels and public bounds."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin
from sklearn.utils.validation import column_or_1d, validate_data

from hedgerow.bounds import FeatureSpace, check_label_bounds, check_labels
from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError

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
        if y is None:
            raise HedgerowError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X = self._records(X, reset=True)
        labels = check_labels(column_or_1d(y, warn=True), n=len(X))
        return X, np.asarray(labels, dtype=np.float64), self._space(X)

    def _space(self, X: Any) -> FeatureSpace:
        """Return the public schema; nothing but the names (and given categories) of columns is taken from X."""
        names = [str(c) for c in X.columns] if hasattr(X, "columns") else X.shape[1]
        return FeatureSpace.from_bounds(self.feature_bounds, names, categories=self.categories)

    def _records(self, X: Any, *, reset: bool) -> Any:
        if hasattr(X, "columns") or self.categories:
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X if hasattr(X, "columns") else np.asarray(X)
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.regressor_tags.poor_score = True
        tags.non_deterministic = True
        return tags
