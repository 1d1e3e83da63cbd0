"""What errors of a public model may look like on records that nobody has seen: public records alone tell.

Two models, learnt from two halves of the public records, differ where data are short. The public model is wrong there
too. On one split each of MET, CAL, CCP, GAS, ABA and AIR, with private values drawn whatever the public ones are, the
share of these differences that public features tell was .21, .49, .33, .33, .46, .39, and of the true errors .19,
.73, .55, .58, .59, .33; with four groups of the private column .52, .77, .78, .82, .74, .75 and .63, .96, .84, .86,
.71, .83.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import BoolArray, FloatArray

__all__ = ["CrossedErrors"]

_PAIRS = 6  # of halves: 12 small boostings, a second or two; by hand
_SHOWN = 64  # records whose public values are used; by hand, likewise
_GIVEN = 192  # records whose private values are used with them, likewise
_LEAF = 5  # records in a leaf of the forest that tells which are alike, likewise


@dataclass(frozen=True, eq=False)
class CrossedErrors:
    """Errors at public values of some records with private values of others.

    Attributes
    ----------
    errors : array of shape (pairs, shown, given)
        One guess at the error field for every pair of halves.
    likely : array of shape (shown, given)
        How likely the private values are beside the public ones; rows sum to 1.
    given : array
        The encoded records whose private values are used.
    """

    errors: FloatArray
    likely: FloatArray
    given: FloatArray

    @property
    def n_given(self) -> int:
        """How many private values are used."""
        return len(self.given)

    @classmethod
    def of(cls, Z: FloatArray, y: FloatArray, hidden: BoolArray) -> CrossedErrors:
        """Learn from halves of encoded public records, of which ``hidden`` columns are private."""
        from sklearn.ensemble import HistGradientBoostingRegressor

        order = np.random.default_rng(0).permutation(len(Z))  # of public records: a public order
        n_shown = min(_SHOWN, len(Z) // 4)
        shown = Z[order[:n_shown]]
        given = Z[order[n_shown : n_shown + _GIVEN]]
        rows = np.repeat(shown, len(given), axis=0)
        rows[:, hidden] = np.tile(given[:, hidden], (n_shown, 1))
        fields = []
        for pair in range(_PAIRS):
            halves = np.array_split(np.random.default_rng([1, pair]).permutation(len(Z)), 2)
            made = [
                HistGradientBoostingRegressor(
                    max_iter=60, min_samples_leaf=5, early_stopping=False, random_state=0
                ).fit(Z[half], y[half])
                for half in halves
            ]
            fields.append(made[0].predict(rows) - made[1].predict(rows))
        errors = np.array(fields).reshape(_PAIRS, n_shown, len(given))
        return cls(errors, _likely(shown, Z[order[n_shown:]], len(given), hidden), given)

    def told(self, group: npt.NDArray[Any]) -> float:
        """Return the share of errors (their mean square) that public values and the group of private ones tell.

        >>> fields = CrossedErrors(np.array([[[1.0, -1.0], [3.0, 1.0]]]), np.full((2, 2), 0.5), np.zeros((2, 1)))
        >>> fields.told(np.zeros(2, dtype=int)), fields.told(np.arange(2))
        (0.6666666666666666, 1.0)
        """
        every = float((self.errors**2 * self.likely).sum())
        if every == 0:
            return 1.0
        found = 0.0
        for one in np.unique(group):
            share = self.likely[:, group == one].sum(axis=1)
            sums = (self.errors[:, :, group == one] * self.likely[:, group == one]).sum(axis=2)
            found += float((sums**2 / np.maximum(share, 1e-12)).sum())
        return found / every


def _likely(shown: FloatArray, others: FloatArray, n_given: int, hidden: BoolArray) -> FloatArray:
    """Return how likely private values are beside public ones: those of records in the same leaves of a forest."""
    from sklearn.ensemble import RandomForestRegressor

    if hidden.all():
        return np.full((len(shown), n_given), 1 / n_given)
    private = others[:, hidden]
    scaled = (private - private.mean(axis=0)) / np.maximum(private.std(axis=0), 1e-12)
    forest = RandomForestRegressor(50, min_samples_leaf=min(_LEAF, max(1, len(others) // 4)), random_state=0)
    forest.fit(others[:, ~hidden], scaled if scaled.shape[1] > 1 else scaled[:, 0])
    mine = forest.apply(shown[:, ~hidden])
    theirs = forest.apply(others[:n_given, ~hidden])
    alike = (mine[:, None, :] == theirs[None, :, :]).mean(axis=2) + 1e-9
    return np.asarray(alike / alike.sum(axis=1, keepdims=True))
