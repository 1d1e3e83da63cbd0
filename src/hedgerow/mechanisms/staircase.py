"""Staircase noise on the label grid: the additive noise of least variance for a given epsilon."""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from fractions import Fraction
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.forms import Budget
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.level import AdditiveNoise
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, LazyCdf, dyadic_exp, geometric
from hedgerow.types import FloatArray, IntArray

__all__ = ["AUDITS", "StaircaseNoise"]


@dataclass(frozen=True)
class StaircaseNoise(AdditiveNoise):
    r"""Add noise whose probability falls by ``b`` once every ``n_steps``: Geng and Viswanath's staircase.

    .. math:: P(v + k \mid v) \propto b^{\lfloor (|k| + \Delta - r) / \Delta \rfloor},
              \qquad \Delta = n_{steps}, \quad b \ge e^{-\varepsilon}

    so each stair is ``Delta`` wide but for the first, of ``r`` on either side.

    Proof that it is epsilon-DP: a change of the input by at most ``Delta`` changes ``|k|`` by at most
    ``Delta``, hence the exponent by at most 1 and the likelihood by at most ``1/b <= e**epsilon``, because
    the dyadic ``b`` is rounded up. Clamping the output is post-processing.

    Sampler: ``|k| = Delta G + U`` with G geometric of ratio ``b`` and U in ``0 .. Delta-1`` of weight 1 below
    ``r`` and ``b`` from there on; a fair sign, and "minus zero" is drawn again. (A published sampler mixes the
    two parts of U with other weights; a test shows that the auditor catches it.)

    Parameters
    ----------
    epsilon : float
        Privacy budget of one label.
    n_steps : int
        Steps of the label grid; the sensitivity.
    stair : int, optional
        ``r`` in ``1 .. n_steps``; by default the one of least variance.

    Examples
    --------
    >>> from hedgerow.mechanisms import DiscreteLaplace
    >>> noise = StaircaseNoise(4.0, 64)
    >>> noise.stair, round(noise.variance / DiscreteLaplace(4.0, 64).variance, 2)
    (13, 0.52)
    """

    epsilon: Budget
    n_steps: int
    stair: int = 0
    ratio: int = field(init=False, repr=False)
    reach: int = field(init=False, repr=False)
    name = "staircase noise"
    kind = "staircase"

    def __post_init__(self) -> None:
        epsilon = check_epsilon(self.epsilon)
        steps = check_positive(self.n_steps, name="n_steps")
        object.__setattr__(self, "epsilon", epsilon)
        object.__setattr__(self, "n_steps", steps)
        ratio = 0
        reach = 0
        if not math.isinf(epsilon):
            ratio = dyadic_exp(Fraction(epsilon))
            reach = steps * math.ceil(40 / epsilon + 2)
        if ratio == ONE or reach >= 1 << 30:
            raise HedgerowError(f"The 'epsilon' parameter is too small for a label. Got {epsilon!r} instead.")
        object.__setattr__(self, "ratio", ratio)
        object.__setattr__(self, "reach", reach)
        stair = self.stair or (1 if ratio == 0 else _best_stair(ratio / ONE, steps))
        if not 1 <= check_positive(stair, name="stair") <= steps:
            raise HedgerowError(f"The 'stair' parameter must be in 1 .. {steps}. Got {self.stair!r} instead.")
        object.__setattr__(self, "stair", int(stair))

    @property
    def variance(self) -> float:
        """Return the noise variance in squared steps, in closed form (before clamping)."""
        if self.ratio == 0 and self.stair == 1:
            return 0.0
        return float(_variance(self.ratio / ONE, self.n_steps, np.array([self.stair]))[0])

    @cached_property
    def _offset(self) -> LazyCdf:
        """Return the law of U: thresholds ``P(U < j)``, exact rationals."""
        heights = [ONE] * self.stair + [self.ratio] * (self.n_steps - self.stair)
        below = np.cumsum(np.array(heights, dtype=object))
        total = int(below[-1])

        def bounds(bits: int) -> tuple[int, list[int], list[int]]:
            scaled = [int(w) << bits for w in below[:-1]]
            return 0, [s // total for s in scaled], [-(-s // total) for s in scaled]

        return LazyCdf(bounds)

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return noisy levels in ``-reach .. n_steps + reach``."""
        levels = self._check(values)
        if self.ratio == 0 and self.stair == 1:
            return levels.copy()
        noisy = self._noise(levels.size, as_randomness(randomness))
        noisy += levels
        return np.clip(noisy, -self.reach, self.n_steps + self.reach, out=noisy)

    def _noise(self, n: int, source: Randomness) -> IntArray:
        negative = np.unpackbits(source.uint8((n + 7) // 8), count=n).view(bool)
        out = geometric(self.ratio, n, source)
        out *= self.n_steps
        out += self._offset.sample(n, source)
        again = np.flatnonzero(negative & (out == 0))
        np.negative(out, out=out, where=negative)
        if again.size:
            out[again] = self._noise(again.size, source)
        return out

    def law(self, value: int, *, reach: int | None = None) -> Law:
        """Return exact weights, the tails gathered at ``-reach`` and ``n_steps + reach``.

        A nearer clamp keeps the enumeration small; with ``reach >= 2 n_steps`` every ratio that occurs at all
        still occurs inside.
        """
        reach = self.reach if reach is None else min(check_positive(reach, name="reach"), self.reach)
        outputs = range(-reach, self.n_steps + reach + 1)
        if self.ratio == 0 and self.stair == 1:
            return Law(tuple(outputs), tuple(int(o == value) for o in outputs))
        top = (self.n_steps + reach + self.n_steps) // self.n_steps + 1
        # Over the common denominator 2**(64 top), times (1 - b) to keep the tails whole.
        powers = [self.ratio**e << 64 * (top - e) for e in range(top + 1)]
        ends = (outputs[0], outputs[-1])
        weights = [
            self._tail(abs(o - value), powers)
            if o in ends
            else powers[self._exponent(abs(o - value))] * (ONE - self.ratio)
            for o in outputs
        ]
        return Law(tuple(outputs), tuple(weights))

    def outcomes(self, drawn: npt.NDArray[Any], *, reach: int | None = None) -> list[Hashable]:
        """Return noisy levels, clamped as in the law."""
        near = self.reach if reach is None else reach
        return list(np.clip(drawn, -near, self.n_steps + near).tolist())

    def words(self) -> str:
        r"""Return the odds that there is no noise: 1 over :math:`2 (r + b (\Delta - r)) / (1 - b) - 1`."""
        b = Fraction(self.ratio, ONE)
        half = (self.stair + b * (self.n_steps - self.stair)) / (1 - b)
        return (
            f"a level from 0 to {self.n_steps} gets noise in whole steps: none with probability "
            f"{percent(1 / (2 * half - 1))}, less than {self.stair} up or down with as much each, and less with every "
            f"{self.n_steps} further"
        )

    def _exponent(self, k: int) -> int:
        return (k + self.n_steps - self.stair) // self.n_steps

    def _tail(self, k: int, powers: list[int]) -> int:
        """Return the weight of noise ``>= k > 0``: the rest of this stair, and all further whole ones."""
        e = self._exponent(k)
        rest = self.stair + e * self.n_steps - k
        return rest * powers[e] * (ONE - self.ratio) + self.n_steps * (powers[e] * self.ratio)


def _variance(b: float, steps: int, stair: npt.NDArray[Any]) -> FloatArray:
    r"""Return the variance for each ``r``, with :math:`E G = b/(1-b)` and :math:`E G^2 = b(1+b)/(1-b)^2`.

    On the half line ``|k| = Delta G + U``; joining the two halves at 0 only divides by the mass that remains.
    """
    r = stair.astype(np.float64)
    d = float(steps)
    mass = r + b * (d - r)
    first = (_powers(r, 1) + b * (_powers(d, 1) - _powers(r, 1))) / mass
    second = (_powers(r, 2) + b * (_powers(d, 2) - _powers(r, 2))) / mass
    geo1 = b / (1 - b)
    geo2 = b * (1 + b) / (1 - b) ** 2
    square = d * d * geo2 + 2 * d * geo1 * first + second
    zero = (1 - b) / mass  # P(|k| = 0) on the half line; counted once, not twice
    value: FloatArray = 2 * square / (2 - zero)
    return value


def _powers(n: Any, power: int) -> Any:
    """Return the sum of ``j**power`` for ``j`` below ``n``."""
    return n * (n - 1) / 2 if power == 1 else (n - 1) * n * (2 * n - 1) / 6


def _best_stair(b: float, steps: int) -> int:
    stairs = np.arange(1, steps + 1)
    return int(stairs[np.argmin(_variance(b, steps, stairs))])


AUDITS = (
    Audit(
        "staircase noise", lambda epsilon: StaircaseNoise(epsilon, 4), (Chance(2, lambda sent: sent == 2),), reach=12
    ),
)
