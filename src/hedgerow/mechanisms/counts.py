"""Counts with discrete Laplace noise: what leaves and histograms release."""

from __future__ import annotations

import itertools
import math
from collections.abc import Hashable, Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import CentralMechanism, Law
from hedgerow.mechanisms.laplace import in_whole_steps
from hedgerow.mechanisms.selection import dyadic_ratio
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, discrete_laplace
from hedgerow.types import IntArray

__all__ = ["AUDITS", "NoisyCounts"]


@dataclass(frozen=True)
class NoisyCounts(CentralMechanism):
    r"""Release counts with discrete Laplace noise.

    .. math:: P(c + k \mid c) = \frac{1-r}{1+r}\, r^{|k|}, \qquad r \ge e^{-\varepsilon/\text{unit}}

    Proof that it is epsilon-DP under add/remove: a record adds ``unit`` in all, to the counts of one leaf (a label
    ``v`` of a grid with G steps adds ``v`` and ``G - v``). Noise is independent, so a likelihood ratio is at most
    ``r**-unit <= e**epsilon``. Empty leaves get noise like all others.

    Parameters
    ----------
    epsilon : float or Fraction
        Budget of all counts together.
    unit : int
        What one record adds to them, in all.

    Examples
    --------
    >>> from hedgerow.randomness import as_randomness
    >>> NoisyCounts(1.0, 1).release(np.array([[0, 5], [9, 1]]), as_randomness(0)).shape
    (2, 2)
    """

    epsilon: float | Fraction
    unit: int
    ratio: int = field(init=False, repr=False)
    name = "leaf counts"

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        object.__setattr__(self, "ratio", dyadic_ratio(self.epsilon, self.unit))

    def release(self, counts: IntArray, randomness: Randomness) -> IntArray:
        """Return all counts with independent noise."""
        noise = discrete_laplace(self.ratio, counts.size, randomness)
        return np.asarray(counts + noise.reshape(counts.shape))

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise, in records."""
        r = self.ratio / ONE
        return float(np.sqrt(2 * r) / (1 - r)) / self.unit

    def sample(self, given: Sequence[int], n: int, randomness: Randomness | None = None) -> IntArray:
        """Release the same counts ``n`` times."""
        counts = np.asarray(given)
        if counts.ndim != 1 or counts.dtype.kind not in "iu":
            raise HedgerowError(f"counts must be whole numbers. Got {counts.dtype} of shape {counts.shape} instead.")
        return self.release(np.tile(counts, (n, 1)), as_randomness(randomness))

    def law(self, given: Sequence[int], *, reach: int = 4) -> Law:
        """Return the exact joint law of noisy counts, each clamped to ``-reach .. reach`` (post-processing)."""
        laws = [self._one(count, reach) for count in given]
        outputs = itertools.product(range(-reach, reach + 1), repeat=len(laws))
        return Law(tuple(outputs), tuple(map(math.prod, itertools.product(*laws))))

    def _one(self, count: int, reach: int) -> list[int]:
        """Return the weights of one noisy count: ``(1-r) r**|k|`` inside, the tails ``r**|k|`` at either end."""
        top = reach + abs(count)
        powers = [self.ratio**k << 64 * (top - k) for k in range(top + 1)]
        ends = (-reach, reach)
        return [powers[abs(o - count)] * (ONE if o in ends else ONE - self.ratio) for o in range(-reach, reach + 1)]

    def outcomes(self, drawn: npt.NDArray[Any], *, reach: int = 4) -> list[Hashable]:
        """Return noisy counts, clamped as in the law."""
        return super().outcomes(np.clip(drawn, -reach, reach))

    def words(self) -> str:
        """Return the odds of the noise."""
        return f"every count gets noise in whole steps: {in_whole_steps(self.ratio)}"


AUDITS = (
    Audit(
        "leaf counts",
        lambda epsilon: NoisyCounts(epsilon, 2),
        (Chance((0, 1), lambda noisy: noisy[0] == 0), Chance((0, 1), lambda noisy: noisy[0] == 1)),
        inputs=lambda counts: ((0, 1), (1, 2)),  # a label in the middle of two steps adds 1 to both counts
        outside=((0.5, 0.5), ("0",), ((0, 1),)),
        reach=4,
    ),
)
