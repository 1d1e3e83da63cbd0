"""Discrete Gaussian noise on the label grid, with a delta that is computed from the very law it is drawn from."""

from __future__ import annotations

import decimal
import math
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import cached_property, lru_cache
from itertools import accumulate

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.forms import Budget
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import Law, exp_below
from hedgerow.mechanisms.level import AdditiveNoise
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import LazyCdf
from hedgerow.types import IntArray

__all__ = ["AUDITS", "GaussianNoise", "exact_delta"]

_BITS = 80  # of the largest weight; what is smaller than 2**-80 of it is cut off, and delta counts that
_WIDEST = 1e5  # steps of a sigma that is looked for: its law has two million weights
_SCALE = 128  # bits after the point of e**epsilon, rounded down: 48 more than weights have


@dataclass(frozen=True)
class GaussianNoise(AdditiveNoise):
    r"""Add Gaussian noise in whole steps: (epsilon, delta)-DP, and not epsilon-DP for any epsilon.

    .. math:: P(v + k \mid v) = w_k / \sum_j w_j, \qquad w_k = \lfloor 2^{80} e^{-k^2 / 2\sigma^2} \rceil

    with integer weights, which are the law itself, not an approximation of it.

    Proof that it is (epsilon, delta)-DP: the best event for telling inputs ``d`` steps apart is
    ``{k : w_k > e**epsilon w_{k-d}}``, whose excess is ``sum_k max(0, w_k - e**epsilon w_{k-d}) / sum w``;
    sigma is raised until the largest of these over ``d = 1 .. n_steps``, computed in integers with a lower
    bound of ``e**epsilon``, is at most delta (:func:`exact_delta`). No formula for the continuous Gaussian,
    and none that needs ``epsilon <= 1``, is relied upon.

    Parameters
    ----------
    epsilon : float
        Privacy budget of one label.
    n_steps : int
        Steps of the label grid; the sensitivity.
    delta : float
        Claimed with epsilon, above 0 and below 1.
    sigma : float, optional
        Width in steps; by default the least that satisfies the claim. Refused if it does not satisfy it.

    Examples
    --------
    >>> noise = GaussianNoise(1.0, 16, 1e-4)
    >>> round(noise.sigma / 16, 2)
    3.19
    >>> bool(exact_delta(noise.weights, 16, 1.0) <= Fraction(1e-4))
    True
    """

    epsilon: Budget
    n_steps: int
    delta: float = 1e-6
    sigma: float = 0.0
    weights: tuple[int, ...] = field(init=False, repr=False, compare=False)
    name = "discrete Gaussian"
    kind = "gaussian"

    def __post_init__(self) -> None:
        epsilon = check_epsilon(self.epsilon)
        delta = float(self.delta)
        steps = check_positive(self.n_steps, name="n_steps")
        if not 0 < delta < 1:
            raise HedgerowError(f"The 'delta' parameter must be above 0 and below 1. Got {self.delta!r} instead.")
        for name, value in (("epsilon", epsilon), ("delta", delta), ("n_steps", steps)):
            object.__setattr__(self, name, value)
        sigma = float(self.sigma)
        if math.isinf(epsilon):
            sigma = 0.0
        elif sigma == 0.0:
            sigma = _calibrated(epsilon, delta, steps)
        elif not 0 < sigma < 10 * _WIDEST or exact_delta(_weights(sigma), steps, epsilon) > Fraction(delta):
            raise HedgerowError(f"The 'sigma' parameter does not satisfy the claim. Got {self.sigma!r} instead.")
        object.__setattr__(self, "sigma", sigma)
        object.__setattr__(self, "weights", _weights(sigma))

    @property
    def reach(self) -> int:  # type: ignore[override]
        """Return the largest noise that is ever drawn."""
        return len(self.weights) // 2

    @cached_property
    def variance(self) -> float:
        """Return the noise variance in squared steps, exactly that of the weights."""
        r = self.reach
        return float(Fraction(sum((k - r) ** 2 * w for k, w in enumerate(self.weights)), sum(self.weights)))

    @cached_property
    def _cdf(self) -> LazyCdf:
        below = list(accumulate(self.weights))
        total = below.pop()

        def bounds(bits: int) -> tuple[int, list[int], list[int]]:
            return 0, [(b << bits) // total for b in below], [-((-b << bits) // total) for b in below]

        return LazyCdf(bounds)

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> IntArray:
        """Return noisy levels."""
        levels = self._check(values)
        if self.reach == 0:
            return levels.copy()
        noise = self._cdf.sample(levels.size, as_randomness(randomness))
        return levels + noise - self.reach

    def law(self, value: int) -> Law:
        """Return the exact law."""
        return Law(tuple(range(value - self.reach, value + self.reach + 1)), self.weights)

    def words(self) -> str:
        """Return the width of the noise, and the odds that there is none."""
        none = Fraction(self.weights[self.reach], sum(self.weights))
        return (
            f"a level from 0 to {self.n_steps} gets Gaussian noise in whole steps, with a standard deviation of "
            f"{math.sqrt(self.variance):.3g} of them: none with probability {percent(none)}"
        )


@lru_cache(maxsize=64)
def _weights(sigma: float) -> tuple[int, ...]:
    """Return ``round(2**80 e**(-k**2 / (2 sigma**2)))`` for ``k = -reach .. reach``, all positive.

    ``q**(k**2)`` by two products a step, in decimals: the same integers on every machine.
    """
    if sigma == 0:
        return (1,)
    with decimal.localcontext(decimal.Context(prec=60)):
        q = (-1 / (2 * Decimal(sigma) ** 2)).exp()
        power = Decimal(1 << _BITS)
        factor = q
        square = q * q
        half = []
        while power > Decimal("0.5"):
            half.append(int(power.to_integral_value(rounding=decimal.ROUND_HALF_UP)))
            power = power * factor
            factor = factor * square
    return tuple(half[:0:-1] + half)


def exact_delta(weights: tuple[int, ...], n_steps: int, epsilon: float) -> Fraction:
    r"""Return an upper bound of delta, tight to 38 digits, for noise with these integer weights.

    .. math:: \delta = \max_{1 \le d \le n} \sum_k \max(0, w_k - e^\varepsilon w_{k-d}) / \sum_k w_k
    """
    if n_steps >= len(weights):  # inputs that far apart have no output in common; a task may claim any number of steps
        return Fraction(1)
    bound = math.floor(exp_below(epsilon) * (1 << _SCALE))  # from below: delta can only come out larger
    worst = 0
    for d in range(1, n_steps + 1):
        shifted = (0,) * d + weights
        excess = sum(
            (w << _SCALE) - bound * other
            for w, other in zip(weights, shifted, strict=False)
            if w << _SCALE > bound * other
        )
        worst = max(worst, excess)
    return Fraction(worst, sum(weights) << _SCALE)


@lru_cache(maxsize=256)
def _calibrated(epsilon: float, delta: float, steps: int) -> float:
    """Return the least sigma, found in floats and then raised until the exact delta fits."""
    low = 0.0
    high = float(steps)
    while _float_delta(high, steps, epsilon) > delta:
        low = high
        high = 2 * high
        if high > _WIDEST:
            raise HedgerowError(f"The 'epsilon' parameter is too small for delta={delta:g}. Got {epsilon!r} instead.")
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        low, high = (middle, high) if _float_delta(middle, steps, epsilon) > delta else (low, middle)
    growth = 1e-8
    while exact_delta(_weights(high), steps, epsilon) > Fraction(delta):
        high = high * (1 + growth)
        growth = 2 * growth
    return high


def _float_delta(sigma: float, steps: int, epsilon: float) -> float:
    """Return delta for inputs ``steps`` apart, in floats."""
    reach = math.ceil(11 * sigma) + 1
    k = np.arange(-reach, reach + 1 + steps, dtype=np.float64)
    p = np.where(k <= reach, np.exp(-(k**2) / (2 * sigma**2)), 0.0)
    p /= p.sum()
    other = np.concatenate([np.zeros(steps), p[: p.size - steps]])
    return float(np.maximum(p - math.exp(min(epsilon, 200.0)) * other, 0.0).sum())


AUDITS = (
    Audit(
        "discrete Gaussian",
        lambda epsilon: GaussianNoise(epsilon, 4, delta=0.1),
        (Chance(2, lambda sent: sent == 2),),
    ),
)
