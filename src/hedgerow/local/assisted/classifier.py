"""AssistedForestClassifier: class probabilities of a public model, corrected under local privacy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from hedgerow.classes import class_codes, class_note
from hedgerow.estimators.base import PrivateClassifier
from hedgerow.estimators.records import take_rows
from hedgerow.guarantee import AS_IF_LOCAL
from hedgerow.local.assisted.base import AssistedForest
from hedgerow.local.assisted.design import design_assisted, design_without_public
from hedgerow.public.given import is_fitted
from hedgerow.spending import Booking

__all__ = ["AssistedForestClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class AssistedForestClassifier(PrivateClassifier, AssistedForest):
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
    public_model, n_trees, feature_bounds, categorical_features, categories, random_state, ledger
        See :class:`~hedgerow.AssistedForestRegressor`; the public model is fitted to indicators of
        classes.

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
    >>> forest = AssistedForestClassifier(epsilon=2.0, public_model=Ridge(), random_state=0)
    >>> forest = forest.fit(X[300:], y[300:], X_public=X[:300], y_public=y[:300])
    >>> forest.predict([[0.1, 0.5], [0.9, 0.5]]).tolist()
    ['low', 'high']
    """

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> AssistedForestClassifier:
        """Fit on private records and classes, assisted by public ones."""
        rows, codes = self._open(X, y, X_public, y_public, least=2)
        public = self._starts_from_public(X_public)
        source = self._source()
        asked = self.classes_[1:] if len(self.classes_) == 2 else self.classes_
        # Which class a holder answers about is drawn without looking at its record.
        first, n = len(self.classes_) - len(asked), len(codes)
        drawn = source.child("class").integers(len(asked), n)
        notes = (AS_IF_LOCAL, class_note(self.classes))
        booking = Booking.of(self, self._holders_claim(source), source)
        self.models_ = []
        for k in range(len(asked)):
            own = np.flatnonzero(drawn == k)
            if public:
                share = max(1, n // len(asked))
                task = self._task(X_public, y_public, first + k, share, source.child("design", k))
            else:
                task = design_without_public(self._space(rows), epsilon=self.epsilon, label_bounds=(0.0, 1.0))
            booking.book()  # all classes under one key: each holder answers about one of them
            is_it = (codes[own] == first + k).astype(float)
            holders = task.simulate(take_rows(rows, own), is_it, source.child("holders", k))
            self.models_.append(replace(holders.model(), notes=notes))
        self.guarantee_ = replace(self.models_[0].guarantee, simulation=source.simulation)
        booking.check(self.guarantee_)
        return self

    def _task(self, X_public: Any, y_public: Any, k: int, n_holders: int, source: Any) -> Any:
        return design_assisted(
            X_public,
            (class_codes(self.classes_, y_public) == k).astype(float),
            epsilon=self.epsilon,
            label_bounds=(0.0, 1.0),
            n_holders=n_holders,
            public_model=clone(self.public_model) if is_fitted(self.public_model) else self.public_model,
            n_trees=self.n_trees,
            random_state=int(source.integers(2**31 - 1, 1)[0]),
            **self._schema(),
        )

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return class probabilities, columns in the order of ``classes_``."""
        rows = self._rows(X)
        shares = np.column_stack([model.predict(rows) for model in self.models_])
        if len(self.classes_) == 2:
            return np.column_stack([1 - shares, shares])
        total = shares.sum(axis=1, keepdims=True)
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1.0 / shares.shape[1])
