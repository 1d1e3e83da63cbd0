"""Privately estimated quantiles of every numeric feature, and the cells that records fall in."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Annotated

import numpy as np
import numpy.typing as npt

from hedgerow.arrays import listed
from hedgerow.central.anova.accounting import Purse, Release
from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray, IntArray

__all__ = ["CELLS", "Quantiles", "estimate", "project"]


CELLS = 2048
"""Cells of a numeric feature, of equal estimated mass; one more is for missing values."""
# Of the prototype's recipe: see recipe.py for what it was chosen on.
_FIRST = 32  # equal bins, at first
_FURTHER = 16  # parts that a heavy bin is cut into
_MOST = 8  # bins that are cut, at each level
_MIX = 0.03  # of the uniform law in the estimate: it then rises everywhere, whatever noise did to the counts
_WINSOR = 0.02  # of the estimated law on either side, beyond which the linear function is flat
_LEAST = 50.0  # records, at least, whatever noise says: sizes are divided by
_WEIGHT = 256  # least number of levels of one count


@dataclass(frozen=True, eq=False)
class Quantiles(Content, what="quantiles"):
    """The released distribution of one numeric feature: mass between consecutive edges.

    Examples
    --------
    >>> flat = Quantiles(np.array([0.0, 1.0]), np.array([1.0]))
    >>> flat.codes(np.array([0.0, 0.25, 0.5, 1.0, np.nan])).tolist()
    [0, 512, 1024, 2047, 2048]
    """

    edges: Annotated[FloatArray, listed("<f8")]
    mass: Annotated[FloatArray, listed("<f8")]

    def _check_read(self) -> None:
        if self.mass.size != self.edges.size - 1 or (np.diff(self.edges) < 0).any():
            raise FormatError("quantiles: 'edges' must rise and enclose each 'mass'.")

    def _knots(self) -> tuple[FloatArray, FloatArray]:
        share = np.maximum(self.mass, 0.0) / max(float(self.mass.sum()), 1e-300)
        width = np.diff(self.edges) / max(float(self.edges[-1] - self.edges[0]), 1e-300)
        cdf = np.concatenate([[0.0], np.cumsum((1 - _MIX) * share + _MIX * width)])
        return self.edges, cdf / cdf[-1]

    def inverse(self, u: FloatArray) -> FloatArray:
        """Return the values at levels ``u`` of the estimate, mixed with 3 % of the uniform law."""
        edges, cdf = self._knots()
        return np.interp(u, cdf, edges)

    def cuts(self) -> FloatArray:
        """Return where cells begin, but for the first; a value is in the cell of the last cut that it reaches."""
        return np.maximum.accumulate(self.inverse(np.arange(1, CELLS) / CELLS))

    def codes(self, x: FloatArray) -> npt.NDArray[np.int32]:
        """Return each value's cell. Comparisons only: a record's cell depends on nothing else."""
        out = np.searchsorted(self.cuts(), x, side="right")
        return np.where(np.isnan(x), CELLS, out).astype(np.int32)

    def linear(self) -> FloatArray:
        """Return the value of every cell, winsorised at 2 % and scaled to [-1, 1]; 0 for missing values."""
        low, high = self.inverse(np.array([_WINSOR, 1 - _WINSOR]))
        middle = self.inverse((np.arange(CELLS) + 0.5) / CELLS)
        scaled = 2 * (np.clip(middle, low, high) - low) / max(high - low, 1e-300) - 1
        return np.append(scaled, 0.0)


def project(noisy: FloatArray, mass: float) -> FloatArray:
    """Return the nearest non-negative vector with the given sum.

    >>> project(np.array([3.0, -1.0, 2.0]), 3.0).tolist()
    [2.0, 0.0, 1.0]
    """
    ordered = np.sort(noisy)[::-1]
    over = (np.cumsum(ordered) - mass) / np.arange(1, noisy.size + 1)
    last = int(np.flatnonzero(ordered > over)[-1]) if (ordered > over).any() else 0
    return np.asarray(np.maximum(noisy - over[last], 0.0))


class _Column:
    """One feature while it is being refined."""

    def __init__(self, low: float, high: float) -> None:
        high = high if high > low else low + 1.0
        self.edges = np.linspace(low, high, _FIRST + 1)
        self.mass = np.zeros(_FIRST)

    def split(self, chosen: IntArray) -> FloatArray:
        """Return the inner edges of the chosen bins, each cut into sixteen."""
        parts = [np.linspace(self.edges[i], self.edges[i + 1], _FURTHER + 1) for i in chosen]
        return np.array(parts).reshape(len(chosen), _FURTHER + 1)

    def refine(self, chosen: IntArray, cuts: FloatArray, counts: FloatArray) -> None:
        """Replace the chosen bins by their parts, whose counts are projected to the bin's mass."""
        edges = [self.edges[:1]]
        mass = []
        place = {int(i): row for row, i in enumerate(chosen)}
        for i in range(self.mass.size):
            row = place.get(i)
            edges.append(self.edges[i + 1 : i + 2] if row is None else cuts[row][1:])
            mass.append(self.mass[i : i + 1] if row is None else project(counts[row], float(self.mass[i])))
        self.edges = np.concatenate(edges)
        self.mass = np.concatenate(mass)


def _count(x: FloatArray, edges: FloatArray) -> IntArray:
    """Count values by bin; the last bin holds its upper end, and missing values come last."""
    missing = np.isnan(x)
    place = np.clip(np.searchsorted(edges, x[~missing], side="right") - 1, 0, edges.size - 2)
    return np.append(np.bincount(place, minlength=edges.size - 1), missing.sum()).astype(np.int64)


def estimate(
    space: FeatureSpace, Z: FloatArray, purse: Purse, share: Fraction, levels: int, randomness: Randomness
) -> tuple[dict[int, Quantiles], float]:
    r"""Return the quantiles of all numeric features and a noisy number of records, for a share of the purse.

    Level one counts 32 equal bins of each of the d features (and missing values); each further level cuts the
    heaviest bins, eight at most, into sixteen.

    Proof: given the levels before, the bins are fixed, and a record is in at most one bin of each feature. The counts
    of a level therefore have L1 sensitivity d and squared L2 sensitivity d; each level gets ``share / levels``.
    Without numeric features the number of records is one noisy count, of sensitivity 1.
    """
    numeric = np.flatnonzero(~space.is_categorical)
    if not numeric.size:
        release = purse.release(share, 1, _WEIGHT)
        noisy = release.noisy(np.array([release.weight * len(Z)]), randomness)
        return {}, max(_LEAST, float(noisy[0]) / release.weight)
    each = purse.release(share / levels, int(numeric.size), _WEIGHT)
    columns = {int(j): _Column(float(space.low[j]), float(space.high[j])) for j in numeric}
    raw = np.stack([_count(Z[:, j], c.edges) for j, c in columns.items()])
    counts = each.noisy(each.weight * raw, randomness) / each.weight
    total = max(_LEAST, float(counts.sum(axis=1).mean()))
    for row, column in zip(counts, columns.values(), strict=True):
        present = project(row, total)[:-1]
        column.mass = present if present.sum() > 0 else np.full(_FIRST, total / _FIRST)
    limit = max(total / 12, 3 * each.deviation / each.weight)
    for _ in range(levels - 1):
        _level(Z, columns, limit, each, randomness)
    return {j: Quantiles(c.edges, c.mass) for j, c in columns.items()}, total


def _level(Z: FloatArray, columns: dict[int, _Column], limit: float, each: Release, randomness: Randomness) -> None:
    """Refine all features once; a level without heavy bins is not paid for."""
    chosen = {j: _heaviest(c, limit) for j, c in columns.items()}
    cuts = {j: columns[j].split(rows) for j, rows in chosen.items()}
    parts: list[IntArray] = [_inside(Z[:, j], cuts[j], columns[j].edges[-1]) for j in columns]
    flat = np.concatenate([p.ravel() for p in parts]) if parts else np.zeros(0, dtype=np.int64)
    if not flat.size:
        return
    noisy = each.noisy(each.weight * flat, randomness) / each.weight
    start = 0
    for (j, column), part in zip(columns.items(), parts, strict=True):
        column.refine(chosen[j], cuts[j], noisy[start : start + part.size].reshape(part.shape))
        start += part.size


def _heaviest(column: _Column, limit: float) -> IntArray:
    heavy = np.flatnonzero((column.mass > limit) & (np.diff(column.edges) > 0))
    return np.sort(heavy[np.argsort(-column.mass[heavy], kind="stable")[:_MOST]])


def _inside(x: FloatArray, cuts: FloatArray, top: float) -> IntArray:
    """Count the values in each part ``[a, b)`` of each chosen bin (the topmost includes b): one part at most."""
    order = np.sort(x[~np.isnan(x)])
    ends = np.where(cuts == top, np.inf, cuts)
    ends[:, :-1] = cuts[:, :-1]
    counts = np.diff(np.searchsorted(order, ends.ravel(), side="left").reshape(ends.shape), axis=1)
    return counts.astype(np.int64)
