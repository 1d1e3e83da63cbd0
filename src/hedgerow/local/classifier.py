"""LPDT for classes: each holder reports (leaf, class) through the categorical mechanism with the least variance."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from hedgerow.checks import OneOf, Rule
from hedgerow.classes import OBSERVED, class_note
from hedgerow.estimators.base import PrivateClassifier
from hedgerow.features import category_name
from hedgerow.local.tree import LocalTree

__all__ = ["LPDTClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class LPDTClassifier(PrivateClassifier, LocalTree):
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

    _parameters: ClassVar[dict[str, Rule]] = {"response": OneOf("auto", "unary", "k_ary", "subset")}

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> LPDTClassifier:
        """Fit on private records and classes, with a partition from public ones."""
        rows, codes = self._open(X, y, X_public, y_public)
        names = np.array([category_name(c) for c in self.classes_])
        observed = class_note(self._classes) == OBSERVED
        self._collect(rows, names[codes], X_public, y_public, classes=names.tolist(), observed=observed)
        return self
