"""DiPriMe forests for classification."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from hedgerow.central.base import ForestClassifier
from hedgerow.central.diprime import DiPriMe

__all__ = ["DiPriMeForestClassifier"]


@dataclass(kw_only=True, eq=False, repr=False)
class DiPriMeForestClassifier(ForestClassifier, DiPriMe):
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
        The public list of classes, required; labels of other classes count as the first of it. "observed"
        reads the list off the labels, and the guarantee says so: it then does not hide that a class occurs at all.
    public_model : "auto", "compact", regressor, fitted PublicModel or None, default="auto"
        As in :class:`~hedgerow.DiPriMeForestRegressor`, for the indicator of each class. Of more than two classes the
        forest predicts the classes themselves, with the public shares as features, and the two are mixed.

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

    def fit(self, X: Any, y: Any, X_public: Any = None, y_public: Any = None) -> DiPriMeForestClassifier:
        """Fit on private records; they are used through mechanisms only. Public ones are for the public model."""
        self._learn(X, y, X_public, y_public)
        return self
