"""SecureSumClassifier: class probabilities of a public model, corrected by noisy sums."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from hedgerow.classes import class_codes, class_note
from hedgerow.estimators.base import PrivateClassifier
from hedgerow.estimators.records import take_rows
from hedgerow.features import category_name
from hedgerow.guarantee import AS_IF_SHARED
from hedgerow.local.assisted.design import design_seed
from hedgerow.public.given import is_fitted
from hedgerow.sums.base import SecureSum, groups_of
from hedgerow.tasks.sums.class_model import SumsClassModel

__all__ = ["SecureSumClassifier"]

_INDICATOR = (0.0, 1.0)  # the label of one class: whether a record has it


@dataclass(kw_only=True, eq=False, repr=False)
class SecureSumClassifier(PrivateClassifier, SecureSum):
    """Public class probabilities, corrected by what holders tell two servers, neither of which sees a record.

    Each class is a label in {0, 1} with holders of its own, who are drawn without looking at records (two classes need
    only one), and is learnt as :class:`~hedgerow.SecureSumRegressor` says.

    Parameters
    ----------
    epsilon, delta : float, default=1.0 and 1e-6
        What the release costs each holder.
    classes : list, "public" or "observed"
        The public list of classes, see :class:`~hedgerow.LPDTClassifier`; None takes that of the public labels.
    public_model, feature_bounds, categorical_features, categories, schema, random_state, ledger
        See :class:`~hedgerow.SecureSumRegressor`; the public model is fitted to indicators of classes.

    Attributes
    ----------
    classes_ : array
        Class labels, in the order of the columns of :meth:`predict_proba`.
    model_ : SumsClassModel
        The model; its ``parts`` are one for each class (for two classes, that of the second).
    guarantee_ : Guarantee
        What is promised to each holder.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = np.where(X[:, 0] < 0.5, "low", "high")
    >>> sums = SecureSumClassifier(epsilon=2.0, public_model=Ridge(), random_state=0)
    >>> sums = sums.fit(X[300:], y[300:], X_public=X[:300], y_public=y[:300])
    >>> sums.predict([[0.1, 0.5], [0.9, 0.5]]).tolist()
    ['low', 'high']
    """

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> SecureSumClassifier:
        """Fit on private records and classes, assisted by public ones."""
        rows, codes = self._open(X, y, X_public, y_public)
        source = self._source()
        booking = self._booking(source)
        self._starts_from_public(X_public)
        seed = design_seed(source)
        asked = list(range(len(self.classes_)))[-1:] if len(self.classes_) == 2 else list(range(len(self.classes_)))
        sizes = [len(part) for part in np.array_split(np.arange(len(codes)), len(asked))]
        booking.book()
        holders = groups_of(len(codes), sizes, source.child("classes"))
        public = None if y_public is None else class_codes(self.classes_, y_public)
        parts = []
        for code, own in zip(asked, holders, strict=True):
            known = None if public is None else (public == code).astype(np.float64)
            model = clone(self.public_model) if is_fitted(self.public_model) else self.public_model
            chain = self._chain(X_public, known, len(own), _INDICATOR, seed, rows, model)
            labels = (codes[own] == code).astype(np.float64)
            parts.append(self._ask(chain, take_rows(rows, own), labels, source.child("class", code), booking)[2])
        names = tuple(category_name(c) for c in self.classes_)
        notes = (AS_IF_SHARED, class_note(self._classes))
        self.model_: SumsClassModel = SumsClassModel(names, tuple(parts), notes)
        self.guarantee_ = self.model_.guarantee
        booking.check(self.guarantee_)
        return self

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return class probabilities, columns in the order of ``classes_``."""
        rows = self._rows(X)
        return self.model_.predict_proba(rows)
