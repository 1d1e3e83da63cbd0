"""A private median of a numeric column: the exponential mechanism on a fine public grid, in about one sort.

Only the ranks near the middle are weighted. All others share an envelope, and what is drawn from the envelope
is accepted or drawn again, which keeps the law exact.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import CentralMechanism, Law
from hedgerow.mechanisms.selection import dyadic_ratio, loss_of_two
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, LazyCdf, geometric
from hedgerow.types import IntArray

__all__ = ["AUDITS", "PrivateMedian"]

_MOST_RANKS = 1 << 14  # of the exact table; beyond it draws are rejected, with the same law


@dataclass(frozen=True)
class PrivateMedian(CentralMechanism):
    r"""Choose a cut ``c`` in ``1 .. n_cells - 1``; records in cells below ``c`` go left.

    .. math:: P(c) \propto r^{\max(n_L(c),\; n_R(c))}, \qquad r \ge e^{-\varepsilon}

    Proof that it is epsilon-DP under add/remove: a record adds 0 or 1 to the larger side, whatever the cut. The
    cost is thus monotone with sensitivity 1, and the exponential mechanism needs no factor 2
    (:class:`~hedgerow.mechanisms.selection.ExponentialSelection`). The cut points are public.

    Sampling. ``r**s = sum over J >= s of (1-r) r**J``. So draw J with weight ``r**J W_J``, where ``W_J`` counts
    the cuts whose larger side exceeds half by at most J, then one of these cuts uniformly: they are neighbours.

    Parameters
    ----------
    epsilon : float or Fraction
        Budget of one median.
    n_cells : int
        Cells of the public grid over ``[low, high]``.

    Examples
    --------
    >>> x = np.random.default_rng(0).normal(50, 10, 10_000)
    >>> 45 < PrivateMedian(1.0).threshold(x, 0.0, 1000.0, as_randomness(0)) < 55
    True
    """

    epsilon: float | Fraction
    n_cells: int = 1 << 32
    ratio: int = field(init=False, repr=False)
    name = "private median"

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_positive(self.n_cells, name="n_cells", least=2)
        object.__setattr__(self, "ratio", dyadic_ratio(self.epsilon, 1))

    def threshold(self, x: npt.NDArray[Any], low: float, high: float, randomness: Randomness | None = None) -> float:
        """Return a cut of ``[low, high]`` near the median; values outside count as the ends."""
        ordered = np.sort(x)
        scale = self.n_cells / (high - low)

        def cell(rank: IntArray) -> IntArray:
            place = np.floor((ordered[rank].astype(np.float64) - low) * scale)
            return np.clip(place, 0, self.n_cells - 1).astype(np.int64)

        cut = _Ranks(len(ordered), self.n_cells, cell).draw(self, 1, as_randomness(randomness))
        share = float(cut[0]) / self.n_cells
        return low * (1 - share) + high * share

    def choose(self, cells: npt.ArrayLike, n: int = 1, randomness: Randomness | None = None) -> IntArray:
        """Return ``n`` independent cuts for records given as cells ``0 .. n_cells - 1``."""
        ordered = np.sort(self._check(cells))
        return _Ranks(len(ordered), self.n_cells, lambda k: ordered[k]).draw(self, n, as_randomness(randomness))

    def _check(self, cells: npt.ArrayLike) -> IntArray:
        array = np.asarray(cells)
        if array.ndim != 1 or (array.size and array.dtype.kind not in "iu"):
            raise HedgerowError(f"'cells' must be a 1-d integer array. Got {array.dtype} {array.shape} instead.")
        if array.size and (array.min() < 0 or array.max() >= self.n_cells):
            raise HedgerowError(f"'cells' must be in 0 .. {self.n_cells - 1}; clip them first.")
        return array.astype(np.int64, copy=False)

    def sample(self, given: Sequence[int], n: int, randomness: Randomness | None = None) -> IntArray:
        """Return ``n`` cuts of one column of cells."""
        return self.choose(given, n, randomness)

    def law(self, given: Sequence[int]) -> Law:
        """Return the exact law of the cut of a column of cells (small grids only)."""
        cuts = range(1, self.n_cells)
        costs = []
        for cut in cuts:
            left = sum(1 for c in given if c < cut)
            costs.append(max(left, len(given) - left))
        least = min(costs)
        most = max(costs)
        return Law(tuple(cuts), tuple(self.ratio ** (c - least) << 64 * (most - c) for c in costs))

    def words(self) -> str:
        """Return the odds of the worse of two cuts."""
        worse = Fraction(self.ratio, ONE + self.ratio)
        return (
            "a cut near the median is chosen, the more even the likelier: of two, one of which leaves one record more "
            f"on its larger side, that one is chosen with probability {percent(worse)}"
        )


class _Ranks:
    """The ordered cells of ``n`` records, read only where needed."""

    def __init__(self, n: int, n_cells: int, cell: Any) -> None:
        self.n = n
        self.n_cells = n_cells
        self.cell = cell
        self.half = n - n // 2
        self.last = n // 2  # from this J on every cut is allowed

    def cuts(self, excess: IntArray) -> tuple[IntArray, IntArray]:
        """Return the first allowed cut and how many there are, where the larger side exceeds half by <= J."""
        if self.n == 0:
            return np.ones_like(excess), np.full_like(excess, self.n_cells - 1)
        most = np.minimum(self.half + excess, self.n)  # most records allowed on a side
        least = self.n - most
        low = np.where(least > 0, self.cell(np.maximum(least - 1, 0)) + 1, 1)
        high = np.where(most < self.n, self.cell(np.minimum(most, self.n - 1)), self.n_cells - 1)
        return low, np.maximum(high - low + 1, 0)

    def first(self) -> int:
        """Return the least J that allows a cut (W grows with J: bisection, unless an even cut is there, as mostly)."""
        if self._allows(0):
            return 0
        low = 1
        high = self.last
        while low < high:
            middle = (low + high) // 2
            if self._allows(middle):
                high = middle
            else:
                low = middle + 1
        return low

    def _allows(self, excess: int) -> bool:
        """Return whether :meth:`cuts` has any for one J: the cells of the two ranks at the ends are all it takes."""
        most = self.half + excess
        if most >= self.n:  # all records may be on one side
            return True
        below, above = self.cell(np.array([self.n - most - 1, most]))
        return bool(below < above)

    def draw(self, median: PrivateMedian, n: int, randomness: Randomness) -> IntArray:
        """Return ``n`` independent cuts."""
        start = self.first()
        if median.ratio == 0:
            return self._uniform(np.full(n, start), randomness)
        width = min(math.ceil((math.log(self.n_cells) + 12) / float(median.epsilon)), _MOST_RANKS)
        end = min(start + width, self.last)
        _, counts = self.cuts(np.arange(start, end))
        # The last component is the envelope of all J >= end; where end is the last J it is the truth.
        law = _component_cdf(median.ratio, counts.tolist(), self.n_cells - 1)
        excess = np.empty(n, dtype=np.int64)
        left = np.arange(n)
        while left.size:
            drawn = start + law.sample(left.size, randomness).astype(np.int64)
            kept = np.ones(left.size, dtype=bool)
            if end < self.last and (beyond := np.flatnonzero(drawn == end)).size:
                far = np.minimum(end + geometric(median.ratio, beyond.size, randomness), self.last)
                kept[beyond] = randomness.integers(self.n_cells - 1, beyond.size) < self.cuts(far)[1]
                drawn[beyond] = far
            excess[left[kept]] = drawn[kept]
            left = left[~kept]
        return self._uniform(excess, randomness)

    def _uniform(self, excess: IntArray, randomness: Randomness) -> IntArray:
        low, count = self.cuts(excess)
        for size in np.unique(count).tolist():
            rows = np.flatnonzero(count == size)
            low[rows] += randomness.integers(size, rows.size)
        return low


def _component_cdf(ratio: int, counts: list[int], envelope: int) -> LazyCdf:
    """Return the law of ``k``: weight ``(1-r) r**k W_k`` for ``k < len(counts)``, ``r**len(counts) M`` for the rest.

    Powers are fixed-point integers, rounded down in one list and up in the other, so that the thresholds are
    known between two integers at any precision.
    """

    def bounds(bits: int) -> tuple[int, list[int], list[int]]:
        precision = bits + 192
        sums: list[list[int]] = []
        for up in (0, 1):
            power = 1 << precision
            total = 0
            cumulative = []
            for count in counts:
                total += power * count * ((1 << 64) - ratio)
                cumulative.append(total)
                power = -(-power * ratio >> 64) if up else power * ratio >> 64
            cumulative.append(total + (power * envelope << 64))
            sums.append(cumulative)
        low, high = sums
        lows = [(c << bits) // high[-1] for c in low[:-1]]
        highs = [min(-(-(c << bits) // low[-1]), 1 << bits) for c in high[:-1]]
        return 0, lows, highs

    return LazyCdf(bounds)


def _hardly_ever(median: PrivateMedian) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Return a column, and the same with a record that makes the worse of two cuts worse, and the better one no worse.

    Cells 0 and 1 hold ``b + 1`` and ``b`` records, then one more in cell 1. Cut 1 has ``b + 1`` on its larger side both
    times; cut 2 has all, ``2 b + 1`` and then one more. The loss is ``epsilon - log((1 + r**b) / (1 + r**(b + 1)))``:
    with ``b = 22 / epsilon`` all of epsilon but a share of e**-22, or 3e-10.
    """
    b = 1 if median.ratio == 0 else math.ceil(22 / median.epsilon)
    column = (0,) * (b + 1) + (1,) * b
    return column, (*column, 1)


AUDITS = (
    Audit(
        "private median",
        lambda epsilon: PrivateMedian(epsilon, 3),
        (Chance((0, 1), lambda cut: cut == 2),),
        inputs=_hardly_ever,
        pair=lambda median: ((0,), (0, 1)),  # two cuts alike; then the second leaves one record more on a side
        loss=loss_of_two,
        outside=((3,), (-1,), (0.5,), ("0",), ((0, 1),)),
    ),
)
