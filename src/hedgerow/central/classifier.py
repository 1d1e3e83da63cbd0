"""DiPriMe forests for classification."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from hedgerow.central.base import ForestBase
from hedgerow.central.forest import Problem
from hedgerow.central.scores import Weights
from hedgerow.classes import class_note
from hedgerow.estimators.records import read_private_classes, tag_total

__all__ = ["DiPriMeForestClassifier"]


class DiPriMeForestClassifier(ClassifierMixin, ForestBase):  # type: ignore[misc]
    """A forest of differentially private trees (DiPriMe), for classification, with a guarantee that is true.

    Splits are chosen by the number of outvoted records and by balance, leaves release noisy class counts. Two
    classes are handled as a label in {0, 1}, in two stages, as in :class:`~hedgerow.DiPriMeForestRegressor`; more
    classes in one stage.

    Parameters
    ----------
    epsilon, feature_bounds, n_estimators, max_depth, max_features, selection, accounting, split_share, partition, \
categorical_features, categories, delta, n_hint, neighbours, n_bins, stages, bounds_share, n_jobs, verbose, \
random_state, ledger
        As in :class:`~hedgerow.DiPriMeForestRegressor`.
    classes : list or "observed"
        The public list of classes, required; labels of other classes count as the first (in sorted order). "observed"
        reads the list off the labels, and the guarantee says so: it then does not hide that a class occurs at all.

    Attributes
    ----------
    classes_ : array
        Class labels.
    guarantee_, model_, depth_, feature_importances_
        As in :class:`~hedgerow.DiPriMeForestRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import DiPriMeForestClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 3)); y = np.where(X[:, 0] < 0.5, "no", "yes")
    >>> forest = DiPriMeForestClassifier(1.0, feature_bounds=(0, 1), classes=["no", "yes"], random_state=0).fit(X, y)
    >>> forest.predict([[0.2, 0.5, 0.5], [0.8, 0.5, 0.5]]).tolist()
    ['no', 'yes']
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        feature_bounds: Any = None,
        n_estimators: int = 10,
        max_depth: Any = "auto",
        max_features: int | None = 5,
        selection: str = "permute_and_flip",
        accounting: str = "strict",
        split_share: float = 0.5,
        partition: bool = True,
        categorical_features: Any = None,
        categories: Any = None,
        classes: Any = None,
        delta: float = 0.0,
        n_hint: int | None = None,
        neighbours: str = "add/remove",
        n_bins: int = 32,
        stages: Any = "auto",
        bounds_share: float = 0.1,
        n_jobs: int | None = None,
        verbose: int = 0,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.feature_bounds = feature_bounds
        self.n_estimators = n_estimators
        self.max_depth = max_depth
        self.max_features = max_features
        self.selection = selection
        self.accounting = accounting
        self.split_share = split_share
        self.partition = partition
        self.categorical_features = categorical_features
        self.categories = categories
        self.classes = classes
        self.delta = delta
        self.n_hint = n_hint
        self.neighbours = neighbours
        self.n_bins = n_bins
        self.stages = stages
        self.bounds_share = bounds_share
        self.n_jobs = n_jobs
        self.verbose = verbose
        self.random_state = random_state
        self.ledger = ledger

    def fit(self, X: Any, y: Any) -> DiPriMeForestClassifier:
        """Fit on private records; they are used through mechanisms only."""
        self._check()
        X = self._records(X, reset=True)
        self.classes_, codes = read_private_classes(self, y, X.shape[0], ordered=True)
        self._fit(X, self._problem(codes), tuple(self.classes_.tolist()), [class_note(self.classes)])
        return self

    def _problem(self, codes: npt.NDArray[np.int64]) -> Problem:
        paper = self.accounting == "paper"
        weights = Weights(squared=128) if paper else Weights(margin=115, balance=13)
        two = len(self.classes_) == 2
        return Problem(
            codes,
            n_classes=0 if two else len(self.classes_),
            weights=weights,
            split_quantile=0.0,
            leaf_quantile=0.0,
            occupancy=(0.2, 0.4),
            rooted=True,
        )

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the probability of each class; rows sum to 1."""
        values = self._values(X)
        if values.shape[1] == 1 and len(self.classes_) == 2:
            return np.column_stack([1 - values, values])
        return np.asarray(values / values.sum(axis=1, keepdims=True))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable class."""
        best = self.predict_proba(X).argmax(axis=1)
        chosen: npt.NDArray[Any] = self.classes_[best]
        return chosen

    def __sklearn_tags__(self) -> Any:
        return tag_total(super().__sklearn_tags__())
