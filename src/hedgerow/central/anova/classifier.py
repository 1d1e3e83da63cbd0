"""Private functional ANOVA for classification."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin
from sklearn.utils.multiclass import check_classification_targets
from sklearn.utils.validation import column_or_1d

from hedgerow.central.anova.base import AnovaBase
from hedgerow.errors import BoundsError, HedgerowError

__all__ = ["PrivateAnovaClassifier"]


class PrivateAnovaClassifier(ClassifierMixin, AnovaBase):  # type: ignore[misc]
    """Squared-error classification with :class:`~hedgerow.PrivateAnovaRegressor`'s curves and surfaces.

    Two classes are one output, the label in {0, 1}. More classes are one output each, learnt together: a record's
    residuals are clipped as one vector, so that the noise in each output is the same as for two classes.

    Parameters
    ----------
    epsilon, delta, feature_bounds, categories, interactions, neighbours, missing, callback, random_state, ledger
        As in :class:`~hedgerow.PrivateAnovaRegressor`.
    classes : list, optional
        The public list of classes. Without it the set of labels that occur is taken as public knowledge, and the
        guarantee says so: it then does not hide that a class occurs at all.

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

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        delta: float = 1e-5,
        feature_bounds: Any = None,
        categories: Any = None,
        classes: Any = None,
        interactions: bool = True,
        neighbours: str = "add/remove",
        missing: str = "error",
        callback: Any = None,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.delta = delta
        self.feature_bounds = feature_bounds
        self.categories = categories
        self.classes = classes
        self.interactions = interactions
        self.neighbours = neighbours
        self.missing = missing
        self.callback = callback
        self.random_state = random_state
        self.ledger = ledger

    def fit(self, X: Any, y: Any) -> PrivateAnovaClassifier:
        """Fit on private records; they are used through mechanisms only."""
        if y is None:
            raise HedgerowError(f"{type(self).__name__} requires y to be passed, but the target y is None.")
        X = self._records(X, reset=True)
        codes, note = self._encode(column_or_1d(y, warn=True))
        if len(codes) != len(X):
            raise BoundsError(f"'y' must have one label a record: {len(X)}. Got {len(codes)} instead.")
        k = len(self.classes_)
        outputs = 1 if k <= 2 else k
        on = codes[:, None] == (np.array([1]) if outputs == 1 else np.arange(k))
        offset = 0.5 if outputs == 1 else 1.0 / k
        # The norm of a residual vector at the start: (1 - 1/k, 1/k, ..., 1/k).
        clip = 0.5 if outputs == 1 else float(np.sqrt(1 - offset)) if self.delta else 2 * (1 - offset)
        bounds = ([0.0] * outputs, [1.0] * outputs)
        self._fit(X, on.astype(np.float64), offset, *bounds, tuple(self.classes_.tolist()), clip, note)
        return self

    def _encode(self, y: npt.NDArray[Any]) -> tuple[npt.NDArray[np.int64], str]:
        """Return class positions, and the condition under which the list of classes may be used."""
        if y.dtype.kind == "f" and not np.isfinite(y).all():
            raise BoundsError("Input y contains NaN or infinity; remove or impute such labels first.")
        check_classification_targets(y)
        if self.classes is None:
            self.classes_, codes = np.unique(y, return_inverse=True)
            return codes.astype(np.int64), "provided that the set of classes that occur is public"
        self.classes_ = np.unique(np.asarray(self.classes))
        codes = np.minimum(np.searchsorted(self.classes_, y), len(self.classes_) - 1)
        if (self.classes_[codes] != y).any():
            raise BoundsError(f"'y' has labels outside the public 'classes' {self.classes_.tolist()}; map them first.")
        return codes.astype(np.int64), "provided that the list of classes is public"

    def predict_proba(self, X: Any) -> npt.NDArray[np.float64]:
        """Return the estimated probability of each class; rows sum to 1."""
        self._check_fitted()
        return self.model_.probabilities(self._records(X, reset=False))

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the most probable class."""
        self._check_fitted()
        chosen: npt.NDArray[Any] = self.classes_[self.predict_proba(X).argmax(axis=1)]
        return chosen

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.classifier_tags.poor_score = True
        return tags
