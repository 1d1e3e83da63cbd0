"""What the local regression and classification trees share."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils.validation import check_is_fitted

from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError
from hedgerow.estimators.records import column_names, declared_categories, read_private_records, tag_total
from hedgerow.guarantee import AS_IF_LOCAL, Guarantee
from hedgerow.randomness import as_randomness
from hedgerow.spending import Booking
from hedgerow.tasks.totals import Aggregate
from hedgerow.tasks.tree.model import TreeModel
from hedgerow.tasks.tree.simulate import simulate_aggregate
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["LocalTree"]


class LocalTree:
    """Design a task from public records, collect from holders (simulated, exact in law), build the model."""

    epsilon: float
    rule: str
    max_depth: int | str
    min_samples_leaf: int | str
    response: str
    feature_bounds: Any
    categorical_features: Any
    categories: Any
    fallback: str
    random_state: Any
    ledger: Any
    task_: LocalTask
    aggregate_: Aggregate
    model_: TreeModel
    guarantee_: Guarantee

    def _collect(self, X: Any, y: Any, X_public: Any, y_public: Any, *, observed: bool = False, **label: Any) -> None:
        """Run the protocol on checked records; ``label`` says what the label is (bounds or classes)."""
        check_epsilon(self.epsilon)
        source = as_randomness(self.random_state)
        if X_public is not None and y_public is None:
            raise HedgerowError("'y_public' is required with 'X_public': the labels of the public records.")
        listed = None
        if X_public is None:
            listed = declared_categories(X, self.feature_bounds, self.categorical_features, self.categories)
        # The paper's report by name means the paper's estimator, unless something else was asked for.
        fallback = self.fallback if self.fallback != "auto" else "none" if self.response == "bits" else "blend"
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
            feature_bounds=self.feature_bounds,
            categorical_features=None if X_public is None else self.categorical_features,
            categories=self.categories if listed is None else listed,
            features=column_names(X),
            blend=fallback == "blend",
            random_state=source.child("partition"),
            **label,
        )
        self.task_ = replace(task, observed=observed)
        booking = Booking.of_holders(self, source)
        booking.book()
        self.aggregate_ = simulate_aggregate(self.task_, X, y, source.child("holders"))
        self.model_ = replace(self.aggregate_.model(fallback=fallback), notes=(AS_IF_LOCAL,))
        self.guarantee_ = self.model_.guarantee
        booking.check(self.guarantee_)

    def _records(self, X: Any, *, reset: bool) -> Any:
        """Check the shape of records; whatever is in them, they are read by the public rule."""
        return read_private_records(self, X, reset=reset)

    def predict_interval(self, X: Any, level: float = 0.9) -> tuple[Any, Any]:
        """Return ``(low, high)`` for the mean label (or class shares) of each record's leaf, from reports alone."""
        check_is_fitted(self)
        return self.model_.predict_interval(self._records(X, reset=False), level)

    def apply(self, X: Any) -> npt.NDArray[np.int32]:
        """Return the leaf of each record."""
        check_is_fitted(self)
        leaf: npt.NDArray[np.int32] = self.model_.apply(self._records(X, reset=False))
        return leaf

    def __sklearn_tags__(self) -> Any:
        return tag_total(super().__sklearn_tags__())  # type: ignore[misc]
