"""Discrete Laplace noise on the label grid: the paper's (4), safe from floating point."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, LocalMechanism
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, discrete_laplace, dyadic_exp
from hedgerow.types import IntArray

__all__ = ["AUDITS", "DiscreteLaplace", "exactly", "in_whole_steps"]


def exactly(ratio: int) -> float:
    """Return the probability that discrete Laplace noise of ratio ``ratio / 2**64`` is 0: ``(1-r)/(1+r)``.

    >>> exactly(ONE // 2)
    0.3333333333333333
    """
    return (ONE - ratio) / (ONE + ratio)


def in_whole_steps(ratio: int) -> str:
    """Return the odds of discrete Laplace noise.

    >>> in_whole_steps(ONE // 2)
    'none with probability 33.3 %, one step up or down with 16.7 % each, and less with every further step'
    """
    none = exactly(ratio)
    near = percent(none * (ratio / ONE))
    return (
        f"none with probability {percent(none)}, one step up or down with {near} each, and less with every further step"
    )


@dataclass(frozen=True)
class DiscreteLaplace(LocalMechanism):
    r"""Add discrete Laplace noise to a level ``0 .. n_steps``.

    .. math:: P(v + k \mid v) = \frac{1-r}{1+r}\, r^{|k|}, \qquad r \ge e^{-\varepsilon / n_{steps}}

    Proof that it is epsilon-DP: moving the input by at most ``n_steps`` moves ``|k|`` by at most ``n_steps``,
    so a likelihood ratio is at most ``r**-n_steps <= e**epsilon``, because the dyadic ``r`` is rounded up.
    Clamping the output to ``-reach .. n_steps + reach`` is post-processing.

    Parameters
    ----------
    epsilon : float
        Privacy budget of one report.
    n_steps : int
        Steps of the label grid; the sensitivity.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> noise = DiscreteLaplace(1.0, 16)
    >>> noise.randomize(np.array([0, 8, 16]), SeededRandomness(0)).tolist()
    [-25, 8, -15]
    >>> round(noise.variance, 1)  # 2 (16/1)**2, nearly
    511.8
    """

    epsilon: float
    n_steps: int
    ratio: int = field(init=False, repr=False)
    reach: int = field(init=False, repr=False)
    name = "discrete Laplace"

    def __post_init__(self) -> None:
        epsilon = check_epsilon(self.epsilon)
        steps = check_positive(self.n_steps, name="n_steps")
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "n_steps", steps)
        ratio = 0
        reach = 0
        if not math.isinf(epsilon) and (ratio := dyadic_exp(Fraction(epsilon) / steps)) < ONE:
            # e**-40 of the mass lies beyond: clamping there changes no mean that anyone could measure.
            reach = math.ceil(40 * steps / epsilon)
        if ratio == ONE or reach >= 1 << 30:
            raise HedgerowError(f"The 'epsilon' parameter is too small for a label. Got {epsilon!r} instead.")
        object.__setattr__(self, "ratio", ratio)
        object.__setattr__(self, "reach", reach)

    @property
    def n_inputs(self) -> int:  # type: ignore[override]
        """Return the number of levels."""
        return self.n_steps + 1

    @property
    def variance(self) -> float:
        """Return the noise variance ``2 r / (1-r)**2`` in squared steps (before clamping)."""
        r = self.ratio / ONE
        return 2 * r / (1 - r) ** 2

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return noisy levels in ``-reach .. n_steps + reach``."""
        levels = self._check(values)
        noisy = discrete_laplace(self.ratio, levels.size, as_randomness(randomness))
        noisy += levels
        return np.clip(noisy, -self.reach, self.n_steps + self.reach, out=noisy)

    def law(self, value: int, *, reach: int | None = None) -> Law:
        """Return exact weights: ``(1-r) r**|k|`` inside and the tail ``r**|k|`` at either end.

        A nearer clamp, ``reach``, keeps the enumeration small and every likelihood ratio as it is: all
        outputs below 0 have the same ratios (``r**(v - v')``) and so have all above ``n_steps``.
        """
        reach = self.reach if reach is None else min(check_positive(reach, name="reach"), self.reach)
        outputs = range(-reach, self.n_steps + reach + 1)
        if reach == 0:
            return Law(tuple(outputs), tuple(int(o == value) for o in outputs))
        m = self.ratio
        top = self.n_steps + reach
        powers = [1]
        for _ in range(top):
            powers.append(powers[-1] * m)
        # All weights over the common denominator (1 + r) * 2**(64 * (top + 1)).
        ends = (outputs[0], outputs[-1])
        return Law(
            tuple(outputs),
            tuple(
                powers[abs(o - value)] * (ONE if o in ends else ONE - m) << 64 * (top - abs(o - value)) for o in outputs
            ),
        )

    def outcomes(self, drawn: npt.NDArray[Any], *, reach: int | None = None) -> list[Hashable]:
        """Return noisy levels, clamped as in the law."""
        near = self.reach if reach is None else reach
        return list(np.clip(drawn, -near, self.n_steps + near).tolist())

    def words(self) -> str:
        """Return the odds of the noise."""
        return f"a level from 0 to {self.n_steps} gets noise in whole steps: {in_whole_steps(self.ratio)}"


AUDITS = (
    Audit(
        "discrete Laplace",
        lambda epsilon: DiscreteLaplace(epsilon, 8),
        (Chance(4, lambda sent: sent == 4), Chance(4, lambda sent: sent == 5)),
        reach=24,
    ),
)
