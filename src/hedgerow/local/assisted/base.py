"""What estimators share that correct a public model."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hedgerow.checks import Rule, Whole
from hedgerow.errors import HedgerowError
from hedgerow.estimators.base import PrivateEstimator
from hedgerow.estimators.records import column_names
from hedgerow.given import BoundsLike, CategoriesLike, ColumnsLike, EstimatorLike
from hedgerow.public.given import PUBLIC_MODEL, required_with
from hedgerow.space import FeatureSpace

__all__ = ["AssistedForest", "CorrectsPublic"]


@dataclass(kw_only=True, eq=False, repr=False)
class CorrectsPublic(PrivateEstimator):
    """A public model, and corrections to it."""

    public_model: EstimatorLike = "auto"
    feature_bounds: BoundsLike = None
    categorical_features: ColumnsLike = None
    categories: CategoriesLike = None

    _parameters: ClassVar[dict[str, Rule]] = {"public_model": PUBLIC_MODEL}

    def _starts_from_public(self, X_public: Any) -> bool:
        """Return whether there is a public model to start from; refuse half of what it needs."""
        automatic = isinstance(self.public_model, str) and self.public_model == "auto"
        if X_public is None and self.public_model is not None and not automatic:
            raise HedgerowError(required_with(self.public_model))
        if X_public is not None and self.public_model is None:
            raise HedgerowError("'X_public' is for a public model: pass public_model='auto', or leave 'X_public' out.")
        return X_public is not None

    def _schema(self) -> dict[str, Any]:
        return {
            "feature_bounds": self._feature_bounds,
            "categorical_features": self.categorical_features,
            "categories": self._categories,
        }

    def _space(self, X: Any) -> FeatureSpace:
        """Return a schema for records that nothing is asked about but their label."""
        widest = np.finfo(np.float64).max
        bounds = self._feature_bounds
        if bounds is None:
            bounds = (-widest, widest)
        return FeatureSpace.from_bounds(bounds, column_names(X), categories=self._declared_categories(X))


@dataclass(kw_only=True, eq=False, repr=False)
class AssistedForest(CorrectsPublic):
    """A public model, and trees of corrections to it."""

    n_trees: int = 8

    _parameters: ClassVar[dict[str, Rule]] = {"n_trees": Whole()}
