"""What the local regression and classification trees share."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.checks import OneOf, Rule, Whole
from hedgerow.estimators.base import PrivateEstimator
from hedgerow.estimators.records import column_names
from hedgerow.given import BoundsLike, CategoriesLike, ColumnsLike
from hedgerow.guarantee import AS_IF_LOCAL
from hedgerow.tasks.tree.simulate import simulate_aggregate
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["LocalTree"]


@dataclass(kw_only=True, eq=False, repr=False)
class LocalTree(PrivateEstimator):
    """Design a task from public records, collect from holders (simulated, exact in law), build the model."""

    rule: str = "auto"
    max_depth: int | str = "auto"
    min_samples_leaf: int | str = "auto"
    response: str = "auto"
    feature_bounds: BoundsLike = None
    categorical_features: ColumnsLike = None
    categories: CategoriesLike = None
    fallback: str = "auto"

    _parameters: ClassVar[dict[str, Rule]] = {
        "rule": OneOf("auto", "max_edge", "cart", "random", "random_max_edge"),
        "max_depth": Whole(0) | OneOf("auto"),
        "min_samples_leaf": Whole() | OneOf("auto"),
        "fallback": OneOf("auto", "blend", "public", "none"),
    }

    def _collect(self, X: Any, y: Any, X_public: Any, y_public: Any, *, observed: bool = False, **label: Any) -> None:
        """Run the protocol on checked records; ``label`` says what the label is (bounds or classes)."""
        source = self._source()
        categories = self._categories
        if X_public is None:
            categories = self._declared_categories(X)
        # What the task does by default is the same through every door.
        fallback = None if self.fallback == "auto" else self.fallback
        task = LocalTask.design(
            X_public,
            y_public,
            epsilon=self.epsilon,
            rule=self.rule,
            max_depth=self.max_depth,
            min_samples_leaf=self.min_samples_leaf,
            response=self.response,
            # The curator counts the reports it gets: how many holders there are is no secret in the local model.
            n_holders=max(1, X.shape[0]),
            feature_bounds=self._feature_bounds,
            categorical_features=None if X_public is None else self.categorical_features,
            categories=categories,
            features=column_names(X),
            blend=None if fallback is None else fallback == "blend",
            random_state=source.child("partition"),
            **label,
        )
        self.task_ = replace(task, observed=observed).following(self.schema)
        booking = self._book(self.task_.guarantee, source)
        self.aggregate_ = simulate_aggregate(self.task_, X, y, source.child("holders"))
        self.model_ = replace(self.aggregate_.model(fallback=fallback), notes=(AS_IF_LOCAL,))
        self.guarantee_ = self.model_.guarantee
        booking.check(self.guarantee_)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Any, Any]:
        """Return ``(low, high)`` for the mean label (or class shares) of each record's leaf, around the prediction."""
        rows = self._rows(X)
        limits: tuple[Any, Any] = self.model_.predict_interval(rows, level)
        return limits

    def reports_interval(self, X: Any, level: float = 0.9) -> tuple[Any, Any]:
        """Return ``(low, high)`` for the mean label (or class shares) of each record's leaf, from reports alone."""
        rows = self._rows(X)
        limits: tuple[Any, Any] = self.model_.reports_interval(rows, level)
        return limits

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the leaf of each record."""
        rows = self._rows(X)
        leaf: npt.NDArray[np.int32] = self.model_.apply(rows)
        return leaf
