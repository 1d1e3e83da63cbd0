"""Counts with discrete Laplace noise: what leaves and histograms release."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction

import numpy as np
import numpy.typing as npt

from hedgerow.mechanisms.base import IntArray, Law
from hedgerow.mechanisms.selection import dyadic_ratio
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, discrete_laplace

__all__ = ["NeighbouringCounts", "NoisyCounts"]


class NoisyCounts:
    r"""Release counts with discrete Laplace noise.

    .. math:: P(c + k \mid c) = \frac{1-r}{1+r}\, r^{|k|}, \qquad r \ge e^{-\varepsilon/\text{unit}}

    Proof that it is epsilon-DP under add/remove: a record adds ``unit`` in all, to the counts of one leaf (a label
    ``v`` of a grid with G steps adds ``v`` and ``G - v``). Noise is independent, so a likelihood ratio is at most
    ``r**-unit <= e**epsilon``. Empty leaves get noise like all others.

    Examples
    --------
    >>> from hedgerow.randomness import as_randomness
    >>> NoisyCounts(1.0, 1).release(np.array([[0, 5], [9, 1]]), as_randomness(0)).shape
    (2, 2)
    """

    name = "leaf counts"

    def __init__(self, epsilon: float | Fraction, unit: int) -> None:
        self.epsilon, self.unit = epsilon, unit
        self.ratio = dyadic_ratio(epsilon, unit)

    def release(self, counts: IntArray, randomness: Randomness) -> IntArray:
        """Return all counts with independent noise."""
        noise = discrete_laplace(self.ratio, counts.size, randomness)
        return np.asarray(counts + noise.reshape(counts.shape))

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise, in records."""
        r = self.ratio / ONE
        return float(np.sqrt(2 * r) / (1 - r)) / self.unit

    def law(self, count: int, reach: int) -> Law:
        """Return the exact law of one noisy count, clamped to ``-reach .. reach`` (post-processing)."""
        top = reach + abs(count)
        powers = [self.ratio**k << 64 * (top - k) for k in range(top + 1)]
        outputs = range(-reach, reach + 1)
        ends = (-reach, reach)
        return Law(
            tuple(outputs),
            tuple(powers[abs(o - count)] * (ONE if o in ends else ONE - self.ratio) for o in outputs),
        )


@dataclass(frozen=True)
class NeighbouringCounts:
    """The counts of a leaf without and with one record, in the shape that the auditor takes: input 0 or 1."""

    counts: NoisyCounts
    tables: tuple[tuple[int, ...], tuple[int, ...]]
    reach: int = 4
    n_inputs = 2
    name = "leaf counts"

    @property
    def epsilon(self) -> float:
        """The claim."""
        return float(self.counts.epsilon)

    def law(self, value: int) -> Law:
        """Return the joint law of the noisy counts, each clamped to ``-reach .. reach``."""
        joint: list[tuple[tuple[int, ...], int]] = [((), 1)]
        top = max(abs(c) for table in self.tables for c in table)
        for count in self.tables[value]:
            law = self.counts.law(count, self.reach)
            # One denominator for both inputs: laws of smaller counts have fewer factors 2**64.
            scale = 64 * (top - abs(count))
            pairs = list(zip(law.outputs, law.weights, strict=True))
            joint = [((*done, int(str(o))), w * v << scale) for done, w in joint for o, v in pairs]
        return Law(tuple(o for o, _ in joint), tuple(w for _, w in joint))

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Release the counts once for each value (0 or 1), clamped as in the law."""
        table = np.array(self.tables, dtype=np.int64)[np.asarray(values)]
        return np.clip(self.counts.release(table, as_randomness(randomness)), -self.reach, self.reach)
