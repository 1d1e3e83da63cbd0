"""Baselines that add noise to labels and fit an ordinary tree: ParDT and LabelDT."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from hedgerow.bounds import FeatureSpace, LabelGrid, _columns
from hedgerow.guarantee import Guarantee, as_if_local
from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.semi.base import SemiRegressor
from hedgerow.semi.masks import is_aligned, mask_of
from hedgerow.spending import Booking
from hedgerow.values import numbers

_LARGEST = float(np.finfo(np.float32).max)
"""What scikit-learn's trees can hold."""

__all__ = ["LabelTreeRegressor", "PartialTreeRegressor", "noisy_labels"]


def noisy_labels(
    y: npt.NDArray[np.float64], label_bounds: Any, epsilon: float, source: Randomness
) -> npt.NDArray[np.float64]:
    """Return labels clipped to their bounds with discrete Laplace noise of this epsilon, in label units."""
    grid = LabelGrid.for_epsilon(label_bounds, epsilon)
    return grid.values(DiscreteLaplace(epsilon, grid.n_steps).randomize(grid.levels(y, source), source))


class _NoisyLabelTree(SemiRegressor):
    """Fits scikit-learn's tree to noisy labels; predictions are clipped to the public label bounds."""

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        label_bounds: Any = None,
        feature_bounds: Any = None,
        max_depth: int = 4,
        min_samples_leaf: int = 10,
        categories: Any = None,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.label_bounds = label_bounds
        self.feature_bounds = feature_bounds
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.categories = categories
        self.random_state = random_state
        self.ledger = ledger

    def _space(self, X: Any) -> FeatureSpace | None:  # type: ignore[override]
        """Return the schema; without bounds public values are taken as they are, for only public ones are used."""
        return None if self.feature_bounds is None and not self.categories else super()._space(X)

    def _encode(self, X: Any) -> npt.NDArray[np.float64]:
        if self.space_ is not None:
            return np.array(self.space_.encode(X), dtype=np.float64)
        names, columns = _columns(X)
        if names is None or columns is None:
            columns = list(np.asarray(X).T)
        Z = np.column_stack([numbers(column).astype(np.float64) for column in columns])
        return np.clip(Z, -_LARGEST, _LARGEST)

    def _grow(self, Z: npt.NDArray[np.float64], noisy: npt.NDArray[np.float64]) -> None:
        seed = 0  # sklearn only breaks ties with it; the noise never comes from it
        self.tree_ = DecisionTreeRegressor(
            max_depth=self.max_depth, min_samples_leaf=min(self.min_samples_leaf, len(Z)), random_state=seed
        ).fit(Z, noisy)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict labels."""
        check_is_fitted(self)
        Z = self._encode(self._records(X, reset=False))
        low, high = self.label_bounds
        return np.clip(np.asarray(self.tree_.predict(Z), dtype=np.float64), low, high)


class PartialTreeRegressor(_NoisyLabelTree):
    """ParDT: noise on the label, and a tree over what is public; private features are not used at all.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one holder, all of it for the label.
    label_bounds : (low, high)
        Public range of the label, required.
    feature_bounds : pair, array of shape (2, d) or dict by column, optional
        Public feature ranges to clip to; not needed, for private features are not used.
    max_depth, min_samples_leaf : int
        Of the tree.
    categories : dict, optional
        Public category lists by column.
    random_state : None, int or Randomness, default=None
        None draws from a secure source.
    ledger : Ledger or path, optional
        Where each fit is booked before it draws: what each holder spends (rules: :mod:`hedgerow.spending`).

    Notes
    -----
    A value that its holder keeps private is missing to the tree, which sends missing values to one side or the other
    (scikit-learn's rule). Private features never leave the holder: only the noisy label costs anything.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((5000, 2)); y = X[:, 1]
    >>> tree = PartialTreeRegressor(4.0, label_bounds=(0, 1), feature_bounds=(0, 1), max_depth=2, random_state=0)
    >>> tree.fit(X, y, private=[True, False]).predict([[0.5, 0.1], [0.5, 0.9]]).round(1).tolist()
    [0.1, 0.9]
    """

    def fit(self, X: Any, y: Any, private: Any = None) -> PartialTreeRegressor:
        """Fit; ``private`` is as for :class:`HistOfTreeRegressor`."""
        X, labels, self.space_ = self._start(X, y)
        mask = mask_of(private, X.shape[0], X.shape[1])
        source = as_randomness(self.random_state).child("labels")
        booking = Booking.of_holders(self, source, protects="private features and label")
        booking.book()
        noisy = noisy_labels(labels, self.label_bounds, self.epsilon, source)
        Z = np.where(mask, np.nan, self._encode(X))
        Z[:, mask.all(axis=0)] = 0.0  # nobody's value is known: a constant cannot be split on
        self._grow(Z, noisy)
        choice = (
            "the private features are fixed in advance for everybody"
            if is_aligned(private)
            else "each holder's choice of private features is sent in clear, so it must not depend on private values"
        )
        claim = Guarantee(
            epsilon=self.epsilon,
            protects="private features and label",
            trust="local",
            neighbours="replace",
            simulation=source.simulation,
            notes=(
                f"conditional on the mask: {choice}",
                "public features are sent in clear",
                "private ones are not used",
            ),
        )
        self.guarantee_ = as_if_local(claim)
        booking.check(self.guarantee_)
        return self


class LabelTreeRegressor(_NoisyLabelTree):
    """LabelDT: noise on the label, and a tree over all features, none of which is protected.

    Parameters are those of :class:`PartialTreeRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((5000, 2)); y = X[:, 1]
    >>> tree = LabelTreeRegressor(4.0, label_bounds=(0, 1), feature_bounds=(0, 1), max_depth=2, random_state=0)
    >>> tree.fit(X, y).guarantee_.protects
    'label'
    """

    def fit(self, X: Any, y: Any, private: Any = None) -> LabelTreeRegressor:
        """Fit; ``private`` is accepted, checked and not used: only labels are protected."""
        X, labels, self.space_ = self._start(X, y)
        if private is not None:
            mask_of(private, X.shape[0], X.shape[1])
        source = as_randomness(self.random_state).child("labels")
        booking = Booking.of_holders(self, source, protects="label")
        booking.book()
        noisy = noisy_labels(labels, self.label_bounds, self.epsilon, source)
        self._grow(self._encode(X), noisy)
        claim = Guarantee(
            epsilon=self.epsilon,
            protects="label",
            trust="local",
            neighbours="label",
            simulation=source.simulation,
            notes=("all features are sent in clear",),
        )
        self.guarantee_ = as_if_local(claim)
        booking.check(self.guarantee_)
        return self
