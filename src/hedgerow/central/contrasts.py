"""Differences of numeric features that public records show to go together, as features of their own."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.features import NumericFeature
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["Contrast", "contrasts_of"]

# By hand on CAL, GAS, CCP (epsilon 1), AIR, RED and ABA (epsilon 10; four or five splits, two of GAS; 400 public
# records). With pairs above .6 only AIR and RED close less of the gap (.39 and .13, for .47 and .16) and CAL more (.50
# for .48), with as many as there are features, or with sums too, no set but CAL or CCP .02 more. Privacy does not rest
# on them.
_PARTS = 2  # features for each contrast
_LEAST = 0.3  # correlation of ranks
_MIDDLE = (0.1, 0.9)  # quantiles of public records, whose distance is a feature's unit
_FEWEST = 20  # public records: of fewer a correlation of .3 says nothing


@dataclass(frozen=True)
class Contrast(Content, what="contrast"):
    """What two columns differ by: ``a x_i + b x_j``, a number like others.

    Where two features go together, products of their functions are far from orthogonal, and what tells records apart
    lies across the two: a coast that runs diagonally, say, or rooms for each household.

    Attributes
    ----------
    columns : (int, int)
        i and j.
    factors : (float, float)
        a and b.

    Examples
    --------
    >>> Contrast((0, 1), (1.0, -0.5)).values(np.array([[2.0, 2.0], [1.0, np.nan]])).tolist()
    [1.0, nan]
    """

    columns: tuple[int, int]
    factors: tuple[float, float]

    def _check_read(self) -> None:
        if not all(math.isfinite(a) and a for a in self.factors) or self.columns[0] == self.columns[1]:
            raise FormatError("contrast: it needs two columns, and factors that are not 0.")

    def check(self, space: FeatureSpace) -> None:
        """Refuse columns that are not there, or hold no numbers."""
        numeric = {j for j, f in enumerate(space.columns) if isinstance(f, NumericFeature)}
        if not set(self.columns) <= numeric or not all(map(math.isfinite, self._range(space))):
            raise FormatError("contrast: its columns must be numeric ones of the records.")

    def values(self, Z: FloatArray) -> FloatArray:
        """Return the difference of encoded records, by each record alone; missing where one of the two is."""
        i, j = self.columns
        a, b = self.factors
        return np.asarray(Z[:, i] * a + Z[:, j] * b)

    def _range(self, space: FeatureSpace) -> tuple[float, float]:
        ends = []
        for j, factor in zip(self.columns, self.factors, strict=True):
            column = space.columns[j]
            assert isinstance(column, NumericFeature)
            ends.append(sorted((column.low * factor, column.high * factor)))
        return ends[0][0] + ends[1][0], ends[0][1] + ends[1][1]

    def feature(self, space: FeatureSpace, taken: Sequence[str]) -> NumericFeature:
        """Return it as a feature, with a name that is not taken; its range follows from theirs."""
        name = " against ".join(space.columns[j].name for j in self.columns)
        while name in taken:
            name += "'"
        return NumericFeature(name, *self._range(space))


def contrasts_of(space: FeatureSpace, records: FloatArray | None) -> tuple[Contrast, ...]:
    """Return contrasts of the pairs whose ranks go together most in public records: for d features, d/2 at most.

    Each feature is measured by the distance of the quantiles .1 and .9; those without one are left out. Everything is
    public.

    >>> rng = np.random.default_rng(0)
    >>> x = rng.random((100, 3))
    >>> x[:, 2] = 1 - 0.5 * x[:, 0] + 0.05 * x[:, 1]
    >>> [(c.columns, c.factors[0] * c.factors[1] > 0) for c in contrasts_of(FeatureSpace.from_bounds((0, 1), "abc"), x)]
    [((0, 2), True)]
    """
    if records is None or len(records) < _FEWEST:
        return ()
    low, high = np.quantile(records, _MIDDLE, axis=0)
    usable = [j for j, f in enumerate(space.columns) if isinstance(f, NumericFeature) and high[j] > low[j]]
    if len(usable) < _PARTS:
        return ()
    ranks = np.argsort(np.argsort(records[:, usable], axis=0, kind="stable"), axis=0, kind="stable")
    together = np.atleast_2d(np.corrcoef(ranks.T))
    pairs = [(i, j) for i in range(len(usable)) for j in range(i + 1, len(usable)) if abs(together[i, j]) >= _LEAST]
    pairs.sort(key=lambda pair: -abs(together[pair]))
    out = []
    for i, j in pairs[: len(usable) // _PARTS]:
        first, second = usable[i], usable[j]
        sign = 1.0 if together[i, j] < 0 else -1.0
        factors = (1 / float(high[first] - low[first]), sign / float(high[second] - low[second]))
        out.append(Contrast((first, second), factors))
    return tuple(out)
