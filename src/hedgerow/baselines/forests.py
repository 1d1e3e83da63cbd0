"""The paper's baselines, each with the budget that its own scheme needs, and the non-private Median forest.

DP-ERT, DP-RF and DP-DF grow all trees on all records, so each tree has ``epsilon / n_estimators``. Their leaves
are counted as in :class:`~hedgerow.DiPriMeForestRegressor`, without borrowing from ancestors.
"""

from __future__ import annotations

import math
from typing import Any

from hedgerow.central.classifier import DiPriMeForestClassifier
from hedgerow.central.forest import Problem
from hedgerow.central.regressor import DiPriMeForestRegressor
from hedgerow.central.scores import Weights

__all__ = [
    "DPDecisionForestClassifier",
    "DPExtraTreesClassifier",
    "DPExtraTreesRegressor",
    "DPRandomForestClassifier",
    "DPRandomForestRegressor",
    "MedianForestClassifier",
    "MedianForestRegressor",
]


class _Shared:
    """Parameters that DiPriMe forests have and a baseline does not, at the values it uses."""

    max_features: int | None = None
    selection = "exponential"
    accounting = "strict"
    split_share = 0.5
    partition = False
    delta = 0.0
    stages = 1
    bounds_share = 0.1
    n_bins = 5
    verbose = 0


class DPExtraTreesRegressor(_Shared, DiPriMeForestRegressor):
    """DP-ERT: splits drawn at random without the data, so that the whole budget goes to the leaves.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((500, 2))
    >>> DPExtraTreesRegressor(4.0, label_bounds=(0, 1), feature_bounds=(0, 1), random_state=0).fit(X, X[:, 0]).depth_
    4
    """

    _splits = "random"

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        label_bounds: Any = None,
        feature_bounds: Any = None,
        n_estimators: int = 10,
        max_depth: Any = "auto",
        categorical_features: Any = None,
        categories: Any = None,
        n_hint: int | None = None,
        neighbours: str = "add/remove",
        n_jobs: int | None = None,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.label_bounds = label_bounds
        self.feature_bounds = feature_bounds
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.categorical_features = categorical_features
        self.categories = categories
        self.n_hint = n_hint
        self.neighbours = neighbours
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.ledger = ledger


class DPExtraTreesClassifier(_Shared, DiPriMeForestClassifier):
    """DP-ERT for classes; see :class:`DPExtraTreesRegressor`."""

    _splits = "random"

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        feature_bounds: Any = None,
        n_estimators: int = 10,
        max_depth: Any = "auto",
        categorical_features: Any = None,
        categories: Any = None,
        classes: Any = None,
        n_hint: int | None = None,
        neighbours: str = "add/remove",
        n_jobs: int | None = None,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.feature_bounds = feature_bounds
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.categorical_features = categorical_features
        self.categories = categories
        self.classes = classes
        self.n_hint = n_hint
        self.neighbours = neighbours
        self.n_jobs = n_jobs
        self.random_state = random_state
        self.ledger = ledger


class DPRandomForestRegressor(DPExtraTreesRegressor):
    """DP-RF: columns in 5 equal bins, one child a bin, the column chosen by the exponential mechanism."""

    _splits = "kary"
    max_features = 5


class DPRandomForestClassifier(DPExtraTreesClassifier):
    """DP-RF for classes (Gini impurity); see :class:`DPRandomForestRegressor`."""

    _splits = "kary"
    max_features = 5

    def _problem(self, codes: Any) -> Problem:
        return Problem(codes, n_classes=len(self.classes_), weights=Weights(squared=128))


class DPDecisionForestClassifier(DPRandomForestClassifier):
    """DP-DF: trees as in DP-RF, on disjoint records; a leaf releases its winning class only.

    The exponential mechanism picks the winner, scaled by its global sensitivity, 1, for pure privacy (Fletcher and
    Islam use a smooth one).
    """

    partition = True
    _votes = True


class MedianForestRegressor(DPExtraTreesRegressor):
    """The paper's non-private Median forest: exact medians of 5 columns, the best of them, exact means."""

    _splits = "private"
    accounting = "paper"
    selection = "permute_and_flip"
    max_features = 5

    def __init__(
        self,
        *,
        label_bounds: Any = None,
        feature_bounds: Any = None,
        n_estimators: int = 10,
        max_depth: Any = "auto",
        categorical_features: Any = None,
        categories: Any = None,
        n_hint: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        super().__init__(
            math.inf,
            label_bounds=label_bounds,
            feature_bounds=feature_bounds,
            n_estimators=n_estimators,
            max_depth=max_depth,
            categorical_features=categorical_features,
            categories=categories,
            n_hint=n_hint,
            n_jobs=n_jobs,
            random_state=random_state,
            ledger=ledger,
        )


class MedianForestClassifier(DPExtraTreesClassifier):
    """The paper's non-private Median forest, for classes."""

    _splits = "private"
    accounting = "paper"
    selection = "permute_and_flip"
    max_features = 5

    def __init__(
        self,
        *,
        feature_bounds: Any = None,
        n_estimators: int = 10,
        max_depth: Any = "auto",
        categorical_features: Any = None,
        categories: Any = None,
        classes: Any = None,
        n_hint: int | None = None,
        n_jobs: int | None = None,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        super().__init__(
            math.inf,
            feature_bounds=feature_bounds,
            n_estimators=n_estimators,
            max_depth=max_depth,
            categorical_features=categorical_features,
            categories=categories,
            classes=classes,
            n_hint=n_hint,
            n_jobs=n_jobs,
            random_state=random_state,
            ledger=ledger,
        )
