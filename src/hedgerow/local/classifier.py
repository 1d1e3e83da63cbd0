"""LPDT for classes: each holder reports (leaf, class) through the categorical mechanism with the least variance."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow.bounds import category_name
from hedgerow.classes import OBSERVED, class_note
from hedgerow.errors import HedgerowError
from hedgerow.estimators.records import read_private_classes
from hedgerow.local.tree import LocalTree
from hedgerow.tasks.tree.model import ClassModel

__all__ = ["LPDTClassifier"]


class LPDTClassifier(LocalTree, ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Locally private decision tree classification with public data.

    As :class:`~hedgerow.LPDTRegressor`, with one categorical report of (leaf, class) a holder and the whole epsilon.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one holder's report about the whole record.
    classes : list, "public" or "observed"
        The public list of classes; labels of other classes count as the first. "public", and None where there are
        public labels: those of the public labels. "observed": those of the private labels; it is then not protected
        that a class occurs, and the guarantee, the task and the model say so. Without public labels one is required.
    rule, max_depth, min_samples_leaf, response : see :class:`~hedgerow.LPDTRegressor`
        ``response`` is one of "auto", "unary", "k_ary", "subset".
    feature_bounds, categorical_features, categories, fallback, random_state, ledger
        See :class:`~hedgerow.LPDTRegressor`.

    Attributes
    ----------
    classes_ : array
        Class labels, in the order of the columns of :meth:`predict_proba`.
    task_, model_, guarantee_ : see :class:`~hedgerow.LPDTRegressor`

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = np.where(X[:, 0] < 0.5, "low", "high")
    >>> tree = LPDTClassifier(epsilon=2.0, random_state=0)
    >>> tree = tree.fit(X[1000:], y[1000:], X_public=X[:1000], y_public=y[:1000])
    >>> tree.predict([[0.1, 0.5], [0.9, 0.5]]).tolist()
    ['low', 'high']
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        classes: Any = None,
        rule: str = "auto",
        max_depth: int | str = "auto",
        min_samples_leaf: int | str = "auto",
        response: str = "auto",
        feature_bounds: Any = None,
        categorical_features: Any = None,
        categories: Any = None,
        fallback: str = "auto",
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.classes = classes
        self.rule = rule
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.response = response
        self.feature_bounds = feature_bounds
        self.categorical_features = categorical_features
        self.categories = categories
        self.fallback = fallback
        self.random_state = random_state
        self.ledger = ledger

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> LPDTClassifier:
        """Fit on private records and classes, with a partition from public ones."""
        X = self._records(X, reset=True)
        self.classes_, codes = read_private_classes(self, y, X.shape[0], y_public)
        names = np.array([category_name(c) for c in self.classes_])
        if len(names) < 2:
            raise HedgerowError(f"'classes' must name at least 2 classes. Got {len(names)} class instead.")
        observed = class_note(self.classes) == OBSERVED
        self._collect(X, names[codes], X_public, y_public, classes=names.tolist(), observed=observed)
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return class probabilities, columns in the order of ``classes_``."""
        check_is_fitted(self)
        assert isinstance(self.model_, ClassModel)
        return self.model_.predict_proba(self._records(X, reset=False))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most likely class."""
        proba = self.predict_proba(X)
        best: npt.NDArray[Any] = self.classes_[proba.argmax(axis=1)]
        return best
