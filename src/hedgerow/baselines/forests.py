"""The paper's baselines, each with the budget that its own scheme needs, and the non-private Median forest.

DP-ERT, DP-RF and DP-DF grow all trees on all records, so each tree has ``epsilon / n_estimators``. Their leaves
are counted as in :class:`~hedgerow.DiPriMeForestRegressor`, without borrowing from ancestors.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

from hedgerow.central.base import ForestClassifier, ForestRegressor
from hedgerow.central.forest import Problem
from hedgerow.central.scores import Weights
from hedgerow.types import IntArray

__all__ = [
    "DPDecisionForestClassifier",
    "DPExtraTreesClassifier",
    "DPExtraTreesRegressor",
    "DPRandomForestClassifier",
    "DPRandomForestRegressor",
    "MedianForestClassifier",
    "MedianForestRegressor",
]


class DPExtraTreesRegressor(ForestRegressor):
    """DP-ERT: splits drawn at random without the data, so that the whole budget goes to the leaves.

    Parameters are those of :class:`~hedgerow.DiPriMeForestRegressor`, but for what the scheme fixes.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((500, 2))
    >>> DPExtraTreesRegressor(4.0, label_bounds=(0, 1), feature_bounds=(0, 1), random_state=0).fit(X, X[:, 0]).depth_
    4
    """

    _splits = "random"


class DPExtraTreesClassifier(ForestClassifier):
    """DP-ERT for classes; see :class:`DPExtraTreesRegressor`."""

    _splits = "random"


class DPRandomForestRegressor(ForestRegressor):
    """DP-RF: columns in 5 equal bins, one child a bin, the column chosen by the exponential mechanism."""

    _splits = "kary"
    max_features = 5


class DPRandomForestClassifier(ForestClassifier):
    """DP-RF for classes (Gini impurity); see :class:`DPRandomForestRegressor`."""

    _splits = "kary"
    max_features = 5

    def _problem(self, codes: IntArray) -> Problem:
        return Problem(codes, n_classes=len(self.classes_), weights=Weights(squared=128))


class DPDecisionForestClassifier(DPRandomForestClassifier):
    """DP-DF: trees as in DP-RF, on disjoint records; a leaf releases its winning class only.

    The exponential mechanism picks the winner, scaled by its global sensitivity, 1, for pure privacy (Fletcher and
    Islam use a smooth one).
    """

    partition = True
    _votes = True


@dataclass(kw_only=True, eq=False, repr=False)
class MedianForestRegressor(ForestRegressor):
    """The paper's non-private Median forest: exact medians of 5 columns, the best of them, exact means."""

    epsilon: float = field(default=math.inf, init=False)
    neighbours: str = field(default="add/remove", init=False)
    accounting = "paper"
    selection = "permute_and_flip"
    max_features = 5


@dataclass(kw_only=True, eq=False, repr=False)
class MedianForestClassifier(ForestClassifier):
    """The paper's non-private Median forest, for classes."""

    epsilon: float = field(default=math.inf, init=False)
    neighbours: str = field(default="add/remove", init=False)
    accounting = "paper"
    selection = "permute_and_flip"
    max_features = 5
