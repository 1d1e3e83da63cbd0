"""Private functional ANOVA for classification."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import ClassifierMixin

from hedgerow.central.anova.base import AnovaBase
from hedgerow.classes import class_note
from hedgerow.estimators.records import read_private_classes, tag_total

__all__ = ["PrivateAnovaClassifier"]


class PrivateAnovaClassifier(ClassifierMixin, AnovaBase):  # type: ignore[misc]
    """Squared-error classification with :class:`~hedgerow.PrivateAnovaRegressor`'s curves and surfaces.

    Two classes are one output, the label in {0, 1}. More classes are one output each, learnt together: a record's
    residuals are clipped as one vector, so that the noise in each output is the same as for two classes.

    Parameters
    ----------
    epsilon, delta, feature_bounds, categories, interactions, neighbours, missing, callback, random_state, ledger
        As in :class:`~hedgerow.PrivateAnovaRegressor`.
    classes : list or "observed"
        The public list of classes, required; labels of other classes count as the first (in sorted order). "observed"
        reads the list off the labels, and the guarantee says so: it then does not hide that a class occurs at all.

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
        missing: str = "middle",
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
        X = self._records(X, reset=True)
        self.classes_, codes = read_private_classes(self, y, X.shape[0], ordered=True)
        note = class_note(self.classes)
        k = len(self.classes_)
        outputs = 1 if k <= 2 else k
        on = codes[:, None] == (np.array([1]) if outputs == 1 else np.arange(k))
        offset = 0.5 if outputs == 1 else 1.0 / k
        # The norm of a residual vector at the start: (1 - 1/k, 1/k, ..., 1/k).
        clip = 0.5 if outputs == 1 else float(np.sqrt(1 - offset)) if self.delta else 2 * (1 - offset)
        bounds = ([0.0] * outputs, [1.0] * outputs)
        self._fit(X, on.astype(np.float64), offset, *bounds, tuple(self.classes_.tolist()), clip, note)
        return self

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
        return tag_total(super().__sklearn_tags__())
