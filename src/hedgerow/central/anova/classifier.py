"""Private functional ANOVA for classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.central.anova.base import AnovaBase, Labels
from hedgerow.central.anova.reading import ClassLabels
from hedgerow.classes import class_codes, class_note
from hedgerow.errors import BoundsError
from hedgerow.estimators.base import PrivateClassifier
from hedgerow.estimators.public import check_public
from hedgerow.estimators.records import private_classes
from hedgerow.types import FloatArray

__all__ = ["PrivateAnovaClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class PrivateAnovaClassifier(PrivateClassifier, AnovaBase):
    """Squared-error classification with :class:`~hedgerow.PrivateAnovaRegressor`'s curves and surfaces.

    Two classes are one output, the label in {0, 1}. More classes are one output each, learnt together: a record's
    residuals are clipped as one vector, so that the noise in each output is the same as for two classes.

    Parameters
    ----------
    epsilon, delta, feature_bounds, categories, interactions, neighbours, missing, callback, spool, n_jobs, \
random_state, ledger
        As in :class:`~hedgerow.PrivateAnovaRegressor`.
    classes : list or "observed"
        The public list of classes, required; labels of other classes count as the first of it. "observed"
        reads the list off the labels, and the guarantee says so: it then does not hide that a class occurs at all.
    public_model : "auto", "compact", regressor, fitted PublicModel or None, default="auto"
        As in :class:`~hedgerow.PrivateAnovaRegressor`, for the indicator of each class.

    Attributes
    ----------
    classes_ : array
        Class labels.
    guarantee_, model_, feature_importances_
        As in :class:`~hedgerow.PrivateAnovaRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow import PrivateAnovaClassifier
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((5_000, 3)); y = np.where(X[:, 0] + X[:, 1] < 1, "no", "yes")
    >>> model = PrivateAnovaClassifier(1.0, feature_bounds=(0, 1), classes=["no", "yes"], random_state=0).fit(X, y)
    >>> model.predict([[0.2, 0.2, 0.5], [0.8, 0.9, 0.5]]).tolist()
    ['no', 'yes']
    """

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> PrivateAnovaClassifier:
        """Fit on private records; they are used through mechanisms only. Public ones are for the public model.

        ``X`` may be files, an Arrow dataset or a Dask collection, as for :class:`~hedgerow.PrivateAnovaRegressor`.
        """
        self._check_parameters()
        check_public(X_public, y_public)
        given = self._given(X, y)
        self._check_public_columns(given.sample(), X_public)
        if given.outputs != 1:
            raise BoundsError(f"'y' must be 1-dimensional: pass one column. Got {given.outputs} instead.")
        seen = given.distinct_labels() if isinstance(self._classes, str) and self._classes == "observed" else None
        self.classes_, unknown = private_classes(self, seen, y_public, ordered=True)
        self._check_classes(y_public)
        rule = ClassLabels(self.classes_, unknown)
        k = len(self.classes_)
        outputs = rule.outputs
        offset = 0.5 if outputs == 1 else 1.0 / k
        # The norm of a residual vector at the start: (1 - 1/k, 1/k, ..., 1/k).
        clip = 0.5 if outputs == 1 else float(np.sqrt(1 - offset)) if self.delta else 2 * (1 - offset)
        bounds = ((0.0,) * outputs, (1.0,) * outputs)
        classes = tuple(self.classes_.tolist())
        start = self._start(X_public, self._indicators(y_public, outputs), classes=True)
        self._fit(given, Labels(rule, offset, *bounds, classes, clip, class_note(self._classes)), start)
        return self

    def _indicators(self, y_public: Any, outputs: int) -> list[Any] | None:
        """Return, for each output, whether public records are of its class."""
        if y_public is None:
            return None
        codes = class_codes(self.classes_, y_public)
        k = len(self.classes_)
        return [(codes == code).astype(np.float64) for code in range(k - outputs, k)]

    def predict_proba(self, X: Any) -> FloatArray:
        """Return the estimated probability of each class; rows sum to 1."""
        rows = self._rows(X)
        shares: FloatArray = self.model_.predict_proba(rows)
        return shares
