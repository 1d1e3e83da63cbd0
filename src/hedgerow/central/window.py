"""A noisy histogram of the labels: how many there are, and in which window most of them lie."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.central.accounting import Amount
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.randomness import Randomness

__all__ = ["NoisyHistogram", "release_histogram"]


@dataclass(frozen=True)
class NoisyHistogram:
    """Counts of labels in equal cells of ``[low, high]``, with noise; a record is in one cell.

    Examples
    --------
    >>> cells = NoisyHistogram(np.array([0, 1, 90, 9, 0, 0, 0, 0]), 0.0, 8.0, math.inf)
    >>> cells.window(0.02), cells.n
    ((2.0, 4.0), 100.0)
    """

    counts: npt.NDArray[np.int64]
    low: float
    high: float
    epsilon: Amount

    @property
    def n(self) -> float:
        """The noisy number of records, at least 1."""
        return max(float(self.counts.sum()), 1.0)

    def window(self, quantile: float) -> tuple[float, float]:
        """Return cell edges outside which less than about ``quantile`` of the labels lies on either side.

        A tail ends where its noisy mass exceeds the quantile by the width of the noise. When there are so few
        records that noise could decide, the window is the whole range.
        """
        bins = len(self.counts)
        scale = 0.0 if math.isinf(self.epsilon) else 1 / float(self.epsilon)
        if self.n < 4 * math.sqrt(bins) * scale:
            return self.low, self.high
        limit = quantile * self.n + scale
        below, above = ((np.cumsum(c) > limit) for c in (self.counts, self.counts[::-1]))
        if not below.any() or not above.any():
            return self.low, self.high
        step = (self.high - self.low) / bins
        left = self.low + int(below.argmax()) * step
        right = self.high - int(above.argmax()) * step
        return (left, right) if right - left > 0.5 * step else (self.low, self.high)


def release_histogram(
    values: npt.NDArray[np.float64], low: float, high: float, bins: int, epsilon: Amount, randomness: Randomness
) -> NoisyHistogram:
    """Count values in cells (those outside in the end cells) and add noise; costs epsilon under add/remove."""
    place = np.floor((np.clip(values, low, high) - low) * (bins / (high - low)))
    counts = np.bincount(np.clip(place, 0, bins - 1).astype(np.int64), minlength=bins)
    return NoisyHistogram(NoisyCounts(epsilon, 1).release(counts, randomness), low, high, epsilon)
