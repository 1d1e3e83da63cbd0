"""KRR: every private value and the label are randomised one by one, and an ordinary tree is fitted to the result."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.baselines.label_trees import NoisyLabelTree, noisy_labels
from hedgerow.checks import Rule, Whole
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.record_laplace import equal_share
from hedgerow.randomness import Randomness
from hedgerow.semi.base import SemiRegressor
from hedgerow.semi.masks import mask_note, mask_of
from hedgerow.space import FeatureSpace

__all__ = ["KRRRegressor"]


@dataclass(kw_only=True, eq=False, repr=False)
class KRRRegressor(NoisyLabelTree):
    """Obfuscate private features by k-ary randomised response over bins, and the label by Laplace noise.

    A holder with m private features spends ``epsilon / (m + 1)`` on each of them and on the label: the budget must be
    divided over the features AND the label (sequential composition). A private value is replaced by the middle of
    the bin that its response names; the tree is scikit-learn's.

    Parameters
    ----------
    n_bins : int, default=2
        Bins k of each private feature; a categorical one has its categories.
    max_depth, min_samples_leaf : int
        Of the tree.
    epsilon, label_bounds, feature_bounds, categories, random_state, ledger
        As in :class:`~hedgerow.HistOfTreeRegressor`.

    Examples
    --------
    >>> import numpy as np
    >>> X = np.random.default_rng(0).random((5000, 2)); y = X[:, 1]
    >>> tree = KRRRegressor(8.0, label_bounds=(0, 1), feature_bounds=(0, 1), max_depth=2, random_state=0)
    >>> tree.fit(X, y, private=[True, False]).predict([[0.5, 0.1], [0.5, 0.9]]).round(1).tolist()
    [0.1, 0.9]
    """

    n_bins: int = 2

    _parameters: ClassVar[dict[str, Rule]] = {"n_bins": Whole(2)}
    _space = SemiRegressor._space  # private features are used, so their ranges are required

    def fit(self, X: Any, y: Any, private: Any = "all") -> KRRRegressor:
        """Fit; ``private`` is as for :class:`HistOfTreeRegressor`."""
        rows, labels, space = self._start(X, y)
        mask = space.spread(mask_of(private, rows.shape[0], space.inputs))
        source = self._source().child("records")
        divided = "epsilon is divided equally over a holder's private features and the label"
        notes = (mask_note(private), "public features are sent in clear", divided)
        claim = self._holders_claim(source, *notes, protects="private features and label")
        self._book(claim, source)
        Z, noisy = self._obfuscate(np.array(space.encode(rows), dtype=np.float64), labels, mask, space, source)
        self.space_ = space
        self._grow(Z, noisy)
        self.guarantee_ = claim
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
        noisy = np.empty(len(y))
        parts = mask.sum(axis=1) + 1
        for m in np.unique(parts).tolist():
            rows = np.flatnonzero(parts == m)
            share = equal_share(float(self.epsilon), m)
            noisy[rows] = noisy_labels(y[rows], self._label_bounds, share, source)
            for j in np.flatnonzero(mask[rows].any(axis=0)).tolist():
                own = rows[mask[rows, j]]
                Z[own, j] = self._respond(Z[own, j], j, share, space, source)
        return Z, noisy

    def _respond(
        self, values: npt.NDArray[np.float64], j: int, epsilon: float, space: FeatureSpace, source: Randomness
    ) -> npt.NDArray[np.float64]:
        low = float(space.low[j])
        high = float(space.high[j])
        if high <= low:
            return values
        if space.is_categorical[j]:
            k = int(space.n_categories[j])
            return KaryResponse(epsilon, k).randomize(values.astype(np.int64), source).astype(np.float64)
        k = int(self.n_bins)
        bins = np.minimum((values - low) / (high - low) * k, k - 1).astype(np.int64)
        named = KaryResponse(epsilon, k).randomize(bins, source)
        return np.asarray(low + (named + 0.5) * ((high - low) / k), dtype=np.float64)
