"""AssistedForestClassifier: class probabilities of a public model, corrected under local privacy."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from hedgerow.checks import check_epsilon
from hedgerow.classes import class_codes, class_note
from hedgerow.errors import HedgerowError
from hedgerow.estimators.records import read_private_classes, tag_total
from hedgerow.guarantee import AS_IF_LOCAL
from hedgerow.local.assisted.design import design_assisted, design_without_public
from hedgerow.local.assisted.regressor import AssistedForestRegressor
from hedgerow.local.records import take_rows
from hedgerow.randomness import as_randomness
from hedgerow.spending import Booking

__all__ = ["AssistedForestClassifier"]


class AssistedForestClassifier(ClassifierMixin, BaseEstimator):  # type: ignore[misc]
    """Public class probabilities, and corrections from one private report a holder.

    Each class is a label in {0, 1} with an assisted task of its own (two classes need only one). A holder draws one
    class at random, without looking at its record, and answers the task of that class with the whole epsilon: one
    message, as for :class:`~hedgerow.AssistedForestRegressor`.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one holder's report about the whole record.
    classes : list, "public" or "observed"
        The public list of classes, see :class:`~hedgerow.LPDTClassifier`; None takes that of the public labels.
    base, n_trees, feature_bounds, categorical_features, categories, random_state, ledger
        See :class:`~hedgerow.AssistedForestRegressor`; ``base`` is fitted to indicators of classes.

    Attributes
    ----------
    classes_ : array
        Class labels, in the order of the columns of :meth:`predict_proba`.
    models_ : list of AssistedModel
        One for each class; for two classes, that of the second.
    guarantee_ : Guarantee
        What is promised to each holder.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = np.where(X[:, 0] < 0.5, "low", "high")
    >>> forest = AssistedForestClassifier(epsilon=2.0, base=Ridge(), random_state=0)
    >>> forest = forest.fit(X[300:], y[300:], X_public=X[:300], y_public=y[:300])
    >>> forest.predict([[0.1, 0.5], [0.9, 0.5]]).tolist()
    ['low', 'high']
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        classes: Any = None,
        base: Any = "auto",
        n_trees: int = 8,
        feature_bounds: Any = None,
        categorical_features: Any = None,
        categories: Any = None,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.classes = classes
        self.base = base
        self.n_trees = n_trees
        self.feature_bounds = feature_bounds
        self.categorical_features = categorical_features
        self.categories = categories
        self.random_state = random_state
        self.ledger = ledger

    _records = AssistedForestRegressor._records
    _space = AssistedForestRegressor._space

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> AssistedForestClassifier:
        """Fit on private records and classes, assisted by public ones."""
        check_epsilon(self.epsilon)
        if (X_public is None) != (y_public is None):
            raise HedgerowError("'X_public' and 'y_public' go together: pass both, or neither.")
        X = self._records(X, reset=True)
        self.classes_, codes = read_private_classes(self, y, X.shape[0], y_public)
        if len(self.classes_) < 2:
            raise HedgerowError(f"'classes' must name at least 2 classes. Got {len(self.classes_)} class instead.")
        source = as_randomness(self.random_state)
        asked = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        # Which class a holder answers about is drawn without looking at its record.
        first, n = len(self.classes_) - len(asked), len(codes)
        drawn = source.child("class").integers(len(asked), n)
        notes = (AS_IF_LOCAL, class_note(self.classes))
        booking = Booking.of_holders(self, source)
        self.models_ = []
        for k in range(len(asked)):
            rows = np.flatnonzero(drawn == k)
            task = self._task(X, X_public, y_public, first + k, max(1, n // len(asked)), source.child("design", k))
            booking.book()  # all classes under one key: each holder answers about one of them
            own = (codes[rows] == first + k).astype(float)
            holders = task.simulate(take_rows(X, rows), own, source.child("holders", k))
            self.models_.append(replace(holders.model(), notes=notes))
        self.guarantee_ = replace(self.models_[0].guarantee, simulation=source.simulation)
        booking.check(self.guarantee_)
        return self

    def _task(self, X: Any, X_public: Any, y_public: Any, k: int, n_holders: int, source: Any) -> Any:
        options: dict[str, Any] = {"epsilon": self.epsilon, "label_bounds": (0.0, 1.0)}
        if X_public is None:
            return design_without_public(self._space(X), **options)
        return design_assisted(
            X_public, (class_codes(self.classes_, y_public) == k).astype(float), n_holders=n_holders, base=self.base,
            n_trees=self.n_trees, random_state=int(source.integers(2**31 - 1, 1)[0]),
            feature_bounds=self.feature_bounds, categorical_features=self.categorical_features,
            categories=self.categories, **options,
        )  # fmt: skip

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return class probabilities, columns in the order of ``classes_``."""
        check_is_fitted(self)
        X = self._records(X, reset=False)
        shares = np.column_stack([model.predict(X) for model in self.models_])
        if len(self.classes_) == 2:
            return np.column_stack([1 - shares, shares])
        total = shares.sum(axis=1, keepdims=True)
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1.0 / shares.shape[1])

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Predict the most likely class."""
        proba = self.predict_proba(X)
        best: npt.NDArray[Any] = self.classes_[proba.argmax(axis=1)]
        return best

    def __sklearn_tags__(self) -> Any:
        return tag_total(super().__sklearn_tags__())
