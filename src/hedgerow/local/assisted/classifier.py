"""AssistedForestClassifier: class probabilities of a public model, corrected under local privacy."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.classes import OBSERVED, class_note
from hedgerow.estimators.base import PrivateClassifier
from hedgerow.features import category_name
from hedgerow.guarantee import AS_IF_LOCAL
from hedgerow.local.assisted.base import AssistedForest
from hedgerow.local.assisted.class_design import design_assisted_classes, design_classes_without_public
from hedgerow.local.assisted.design import design_seed
from hedgerow.spending import Booking
from hedgerow.tasks.assisted.class_model import AssistedClassModel
from hedgerow.tasks.assisted.class_task import AssistedClassTask

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
    task_ : AssistedClassTask
        What holders were asked.
    model_ : AssistedClassModel
        The model; its ``parts`` are one for each class (for two classes, that of the second).
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
        rows, codes = self._open(X, y, X_public, y_public)
        source = self._source()
        self.task_ = self._design(rows, X_public, y_public, len(codes), source).following(self.schema)
        booking = Booking.of(self, self._holders_claim(source), source)
        booking.book()
        names = np.array([category_name(c) for c in self.classes_])
        self.aggregate_ = self.task_.simulate(rows, names[codes], source.child("holders"))
        notes = (AS_IF_LOCAL, class_note(self._classes))
        self.model_: AssistedClassModel = replace(self.aggregate_.model(), notes=notes)
        self.guarantee_ = self.model_.guarantee
        booking.check(self.guarantee_)
        return self

    def _design(self, rows: Any, X_public: Any, y_public: Any, n_holders: int, source: Any) -> AssistedClassTask:
        observed = class_note(self._classes) == OBSERVED
        if not self._starts_from_public(X_public):
            space = self._space(rows)
            return design_classes_without_public(space, self.classes_, epsilon=self.epsilon, observed=observed)
        return design_assisted_classes(
            X_public,
            y_public,
            epsilon=self.epsilon,
            n_holders=n_holders,
            classes=self.classes_,
            observed=observed,
            public_model=self.public_model,
            n_trees=self.n_trees,
            random_state=design_seed(source),
            **self._schema(),
        )

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return class probabilities, columns in the order of ``classes_``."""
        rows = self._rows(X)
        return self.model_.predict_proba(rows)
