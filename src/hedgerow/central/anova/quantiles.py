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
from hedgerow.kernels import native
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray, IntArray

__all__ = [
    "CELLS",
    "FINEST",
    "Quantiles",
    "bin_counts",
    "count",
    "count_deviation",
    "estimate",
    "estimate_known",
    "project",
]


CELLS = 255
"""Cells of a numeric feature, of equal estimated mass; one more is for missing values. A code is then one byte."""
# Of the prototype's recipe: see recipe.py for what it was chosen on.
_FIRST = 32  # equal bins, at first
_FURTHER = 16  # parts that a heavy bin is cut into
_MOST = 8  # bins that are cut, at each level
FINEST = _FIRST * _FURTHER**2
"""Equal bins of a feature's range that records are counted in once: every bin of every level is made of these."""
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
    [0, 63, 127, 254, 255]
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

    def codes(self, x: FloatArray) -> npt.NDArray[np.uint8]:
        """Return each value's cell. Comparisons only: a record's cell depends on nothing else."""
        search = getattr(native(), "anova_codes", None)
        if search is None:
            found = np.searchsorted(self.cuts(), x, side="right")
            return np.where(np.isnan(x), CELLS, found).astype(np.uint8)
        out = np.empty(len(x), dtype=np.uint8)
        search(np.ascontiguousarray(x, dtype=np.float64), self.cuts(), out)
        return out

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


def _ends(low: float, high: float) -> FloatArray:
    """Return the ends of the finest bins of a range."""
    return np.linspace(low, high if high > low else low + 1.0, FINEST + 1)


def bin_counts(space: FeatureSpace, Z: FloatArray) -> IntArray:
    """Count encoded records by the finest bins of each numeric feature, missing values last: add up over parts of data.

    A record is in exactly one bin of each feature, whatever it holds: the last bin has its upper end. The bin is found
    by a product and corrected by comparison with the ends, value by value.

    >>> space = FeatureSpace.from_bounds((0, 1), ["x"])
    >>> counts = bin_counts(space, np.array([[0.0], [0.5], [1.0], [np.nan]]))
    >>> counts.shape, np.flatnonzero(counts[0]).tolist()
    ((1, 8193), [0, 4096, 8191, 8192])
    """
    numeric = np.flatnonzero(~space.is_categorical)
    out = np.zeros((numeric.size, FINEST + 1), dtype=np.int64)
    for row, j in zip(out, numeric, strict=True):
        row += np.bincount(_bins(Z[:, j], _ends(float(space.low[j]), float(space.high[j]))), minlength=FINEST + 1)
    return out


def _bins(x: FloatArray, ends: FloatArray) -> IntArray:
    missing = np.isnan(x)
    values = np.where(missing, ends[0], x)
    guess: IntArray = np.clip((values - ends[0]) * (FINEST / (ends[-1] - ends[0])), 0, FINEST - 1).astype(np.int64)
    guess -= (values < ends[guess]) & (guess > 0)
    guess += (values >= ends[guess + 1]) & (guess < FINEST - 1)
    guess[missing] = FINEST
    return guess


class _Column:
    """One feature while it is being refined; bins are runs of the finest ones, by their first and by the last's end."""

    def __init__(self, low: float, high: float, counts: IntArray) -> None:
        self.ends = _ends(low, high)
        self.below = np.concatenate([[0], np.cumsum(counts[:FINEST])])
        self.bounds = np.arange(0, FINEST + 1, FINEST // _FIRST)
        self.mass = np.zeros(_FIRST)

    @property
    def edges(self) -> FloatArray:
        """Ends of the bins."""
        return np.asarray(self.ends[self.bounds])

    def count(self, bounds: IntArray) -> IntArray:
        """Count the records between consecutive bounds."""
        return np.asarray(np.diff(self.below[bounds]))

    def split(self, chosen: IntArray) -> IntArray:
        """Return the bounds of the parts of each chosen bin, which is cut into sixteen."""
        start = self.bounds[chosen]
        width = (self.bounds[chosen + 1] - start) // _FURTHER
        return np.asarray(start[:, None] + width[:, None] * np.arange(_FURTHER + 1))

    def refine(self, chosen: IntArray, cuts: IntArray, counts: FloatArray) -> None:
        """Replace the chosen bins by their parts, whose counts are projected to the bin's mass."""
        bounds = [self.bounds[:1]]
        mass = []
        place = {int(i): row for row, i in enumerate(chosen)}
        for i in range(self.mass.size):
            row = place.get(i)
            bounds.append(self.bounds[i + 1 : i + 2] if row is None else cuts[row][1:])
            mass.append(self.mass[i : i + 1] if row is None else project(counts[row], float(self.mass[i])))
        self.bounds = np.concatenate(bounds)
        self.mass = np.concatenate(mass)


def estimate(
    space: FeatureSpace,
    n: int,
    finest: IntArray,
    purse: Purse,
    share: Fraction,
    levels: int,
    randomness: Randomness,
) -> tuple[dict[int, Quantiles], float]:
    r"""Return the quantiles of all numeric features and a noisy number of records, for a share of the purse.

    ``n`` and ``finest`` are private: the number of records, and what :func:`bin_counts` counted of them.

    Level one counts 32 equal bins of each of the d features (and missing values); each further level cuts the
    heaviest bins, eight at most, into sixteen.

    Proof: given the levels before, the bins are fixed, and a record is in at most one bin of each feature. The counts
    of a level therefore have L1 sensitivity d and squared L2 sensitivity d; each level gets ``share / levels``.
    Without numeric features the number of records is one noisy count, of sensitivity 1. Where that number is public
    (:class:`~.accounting.Purse`), it is taken as it is.
    """
    numeric = np.flatnonzero(~space.is_categorical)
    if not numeric.size:
        return {}, count(n, purse, share, randomness)
    each = purse.release(share / levels, int(numeric.size), _WEIGHT)
    columns = _columns(space, finest)
    counts = _first_counts(columns, finest, each, randomness)
    total = max(_LEAST, float(n) if purse.known_size else float(counts.sum(axis=1).mean()))
    for row, column in zip(counts, columns.values(), strict=True):
        present = project(row, total)[:-1]
        column.mass = present if present.sum() > 0 else np.full(_FIRST, total / _FIRST)
    limit = max(total / 12, 3 * each.deviation / each.weight)
    for _ in range(levels - 1):
        _level(columns, limit, each, randomness)
    return {j: Quantiles(c.edges, c.mass) for j, c in columns.items()}, total


def estimate_known(
    space: FeatureSpace,
    finest: IntArray,
    size: float,
    purse: Purse,
    share: Fraction,
    levels: int,
    randomness: Randomness,
) -> dict[int, Quantiles]:
    """Return the quantiles of all numeric features where a noisy number of records is known; flat ones for no share.

    The counts and their price are those of :func:`estimate`; then each is shrunk by what noise would show
    (:func:`shrunk`): of few records, the coarse shape is left, or none.
    """
    columns = _columns(space, finest)
    for column in columns.values():
        column.mass = np.full(_FIRST, size / _FIRST)
    if columns and share:
        each = purse.release(share / levels, len(columns), _WEIGHT)
        counts = _first_counts(columns, finest, each, randomness)
        deviation = each.deviation / each.weight
        for row, column in zip(counts, columns.values(), strict=True):
            present = project(np.append(shrunk(row[:-1], deviation), row[-1]), size)[:-1]
            column.mass = present if present.sum() > 0 else column.mass
        for _ in range(levels - 1):
            _level(columns, max(size / 12, 3 * deviation), each, randomness)
    return {j: Quantiles(c.edges, c.mass) for j, c in columns.items()}


def shrunk(counts: FloatArray, deviation: float) -> FloatArray:
    """Return noisy counts of 2**k bins with the differences of halves shrunk, level by level, by what noise explains.

    The two halves of a bin differ by ``D``; over the m bins of a level, noise adds ``m v`` to the sum of squares, so
    ``1 - m v / sum D**2`` of it, if positive, is kept (James and Stein's factor): fine levels go before coarse ones.

    >>> shrunk(np.array([30.0, 10.0, 1.0, -1.0]), 0.0).tolist()
    [30.0, 10.0, 1.0, -1.0]
    >>> shrunk(np.array([30.0, 10.0, 1.0, -1.0]), 10.0).round(1).tolist()
    [17.6, 17.4, 2.5, 2.5]
    """
    parts = []
    sums = counts
    while sums.size > 1:
        parts.append(sums[0::2] - sums[1::2])
        sums = sums[0::2] + sums[1::2]
    for level in range(len(parts) - 1, -1, -1):
        noise = 2.0 ** (level + 1) * deviation**2 * parts[level].size
        squares = float(np.square(parts[level]).sum())
        kept = max(0.0, 1 - noise / squares) if squares > 0 else 0.0
        halves = np.stack([sums + kept * parts[level], sums - kept * parts[level]], axis=1)
        sums = halves.ravel() / 2
    return np.asarray(sums)


def count(n: int, purse: Purse, share: Fraction, randomness: Randomness) -> float:
    """Return a noisy number of records, of sensitivity 1, and not below 50: sizes are divided by; exact if public."""
    if purse.known_size:
        return max(_LEAST, float(n))
    release = purse.release(share, 1, _WEIGHT)
    noisy = release.noisy(np.array([release.weight * n]), randomness)
    return max(_LEAST, float(noisy[0]) / release.weight)


def count_deviation(purse: Purse, share: Fraction) -> float:
    """Return the deviation of the noise of a count of sensitivity 1 for a share of the purse."""
    release = purse.release(share, 1, _WEIGHT)
    return release.deviation / release.weight


def _columns(space: FeatureSpace, finest: IntArray) -> dict[int, _Column]:
    numeric = np.flatnonzero(~space.is_categorical)
    ends = ((int(j), float(space.low[j]), float(space.high[j])) for j in numeric)
    return {j: _Column(low, high, row) for (j, low, high), row in zip(ends, finest, strict=True)}


def _first_counts(columns: dict[int, _Column], finest: IntArray, each: Release, randomness: Randomness) -> FloatArray:
    """Return noisy counts of the first bins of each feature, missing values last."""
    raw = [np.append(c.count(c.bounds), row[-1]) for c, row in zip(columns.values(), finest, strict=True)]
    return np.asarray(each.noisy(each.weight * np.stack(raw), randomness) / each.weight)


def _level(columns: dict[int, _Column], limit: float, each: Release, randomness: Randomness) -> None:
    """Refine all features once; a level without heavy bins is not paid for."""
    chosen = {j: _heaviest(c, limit) for j, c in columns.items()}
    cuts = {j: columns[j].split(rows) for j, rows in chosen.items()}
    parts = [columns[j].count(cuts[j]) for j in columns]
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
