"""KRR: every private value and the label are randomised one by one, and an ordinary tree is fitted to the result."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.tree import DecisionTreeRegressor
from sklearn.utils.validation import check_is_fitted

from hedgerow.baselines.label_trees import noisy_labels
from hedgerow.bounds import FeatureSpace
from hedgerow.checks import check_positive
from hedgerow.guarantee import Guarantee, as_if_local
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.semi.base import SemiRegressor
from hedgerow.semi.masks import is_aligned, mask_of
from hedgerow.spending import Booking

__all__ = ["KRRRegressor", "equal_shares"]


def equal_shares(epsilon: float, parts: int) -> float:
    """Return the largest float of which ``parts`` exactly add up to at most ``epsilon``.

    >>> equal_shares(1.0, 2)
    0.5
    >>> Fraction(equal_shares(1.0, 3)) * 3 <= 1
    True
    """
    share = epsilon / parts
    while not math.isinf(share) and Fraction(share) * parts > Fraction(epsilon):
        share = math.nextafter(share, 0.0)
    return share


class KRRRegressor(SemiRegressor):
    """Obfuscate private features by k-ary randomised response over bins, and the label by Laplace noise.

    A holder with m private features spends ``epsilon / (m + 1)`` on each of them and on the label: the budget must be
    divided over the features AND the label (sequential composition). A private value is replaced by the middle of
    the bin that its response names; the tree is scikit-learn's.

    Parameters
    ----------
    epsilon : float, default=1.0
        Budget of one holder.
    label_bounds : (low, high)
        Public range of the label, required.
    feature_bounds : pair, array of shape (2, d) or dict by column
        Public feature ranges, required.
    n_bins : int, default=2
        Bins k of each private feature; a categorical one has its categories.
    max_depth, min_samples_leaf : int
        Of the tree.
    categories : dict, optional
        Public category lists by column.
    random_state : None, int or Randomness, default=None
        None draws from a secure source.
    ledger : Ledger or path, optional
        Where each fit is booked before it draws: what each holder spends (rules: :mod:`hedgerow.spending`).

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((5000, 2)); y = X[:, 1]
    >>> tree = KRRRegressor(8.0, label_bounds=(0, 1), feature_bounds=(0, 1), max_depth=2, random_state=0)
    >>> tree.fit(X, y, private=[True, False]).predict([[0.5, 0.1], [0.5, 0.9]]).round(1).tolist()
    [0.1, 0.9]
    """

    def __init__(
        self,
        epsilon: float = 1.0,
        *,
        label_bounds: Any = None,
        feature_bounds: Any = None,
        n_bins: int = 2,
        max_depth: int = 4,
        min_samples_leaf: int = 10,
        categories: Any = None,
        random_state: Any = None,
        ledger: Any = None,
    ) -> None:
        self.epsilon = epsilon
        self.label_bounds = label_bounds
        self.feature_bounds = feature_bounds
        self.n_bins = n_bins
        self.max_depth = max_depth
        self.min_samples_leaf = min_samples_leaf
        self.categories = categories
        self.random_state = random_state
        self.ledger = ledger

    def fit(self, X: Any, y: Any, private: Any = None) -> KRRRegressor:
        """Fit; ``private`` is as for :class:`HistOfTreeRegressor`."""
        check_positive(self.n_bins, name="n_bins", least=2)
        X, labels, space = self._start(X, y)
        mask = mask_of(private, X.shape[0], len(space))
        source = as_randomness(self.random_state).child("records")
        booking = Booking.of_holders(self, source, protects="private features and label")
        booking.book()
        Z, noisy = self._obfuscate(np.array(space.encode(X), dtype=np.float64), labels, mask, space, source)
        self.space_ = space
        self.tree_ = DecisionTreeRegressor(
            max_depth=self.max_depth, min_samples_leaf=min(self.min_samples_leaf, len(Z)), random_state=0
        ).fit(Z, noisy)
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
                "epsilon is divided equally over a holder's private features and the label",
            ),
        )
        self.guarantee_ = as_if_local(claim)
        booking.check(self.guarantee_)
        return self

    def _obfuscate(
        self,
        Z: npt.NDArray[np.float64],
        y: npt.NDArray[np.float64],
        mask: npt.NDArray[np.bool_],
        space: FeatureSpace,
        source: Randomness,
    ) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """Randomise the private values and all labels; holders with as many private features share a mechanism."""
        noisy, parts = np.empty(len(y)), mask.sum(axis=1) + 1
        for m in np.unique(parts).tolist():
            rows = np.flatnonzero(parts == m)
            share = equal_shares(float(self.epsilon), m)
            noisy[rows] = noisy_labels(y[rows], self.label_bounds, share, source)
            for j in np.flatnonzero(mask[rows].any(axis=0)).tolist():
                own = rows[mask[rows, j]]
                Z[own, j] = self._respond(Z[own, j], j, share, space, source)
        return Z, noisy

    def _respond(
        self, values: npt.NDArray[np.float64], j: int, epsilon: float, space: FeatureSpace, source: Randomness
    ) -> npt.NDArray[np.float64]:
        low, high = float(space.low[j]), float(space.high[j])
        if high <= low:
            return values
        if space.is_categorical[j]:
            k = int(space.n_categories[j])
            return KaryResponse(epsilon, k).randomize(values.astype(np.int64), source).astype(np.float64)
        k = int(self.n_bins)
        bins = np.minimum((values - low) / (high - low) * k, k - 1).astype(np.int64)
        named = KaryResponse(epsilon, k).randomize(bins, source)
        return np.asarray(low + (named + 0.5) * ((high - low) / k), dtype=np.float64)

    def predict(self, X: Any) -> npt.NDArray[np.float64]:
        """Predict labels."""
        check_is_fitted(self)
        Z = self.space_.encode(self._records(X, reset=False))
        low, high = self.label_bounds
        return np.clip(np.asarray(self.tree_.predict(Z), dtype=np.float64), low, high)
