"""What every mechanism is: parameters, a sampler, an exact law, a guarantee.

A mechanism's probabilities are dyadic integers (``numerator / 2**64``) rounded towards more noise, so that

    P(output | v) <= e**epsilon * P(output | v')      for all inputs v, v' and all outputs

holds *exactly* and :mod:`hedgerow.audit` can verify it in integer arithmetic on :meth:`Mechanism.law`.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.randomness import Randomness
from hedgerow.samplers import exp_bounds

__all__ = ["CategoricalMechanism", "Law", "Mechanism", "check_epsilon", "check_positive", "exp_below"]

IntArray = npt.NDArray[np.int64]


def check_epsilon(epsilon: object, *, name: str = "epsilon") -> float:
    """Return a valid privacy budget: a float above 0, ``inf`` allowed (no noise, for study)."""
    if isinstance(epsilon, bool) or not isinstance(epsilon, int | float | np.integer | np.floating | Fraction):
        raise HedgerowError(f"The '{name}' parameter must be a number > 0. Got {epsilon!r} instead.")
    value = float(epsilon)
    if math.isnan(value) or value <= 0:
        raise HedgerowError(f"The '{name}' parameter must be > 0 (inf: no noise). Got {epsilon!r} instead.")
    return value


def check_positive(value: object, *, name: str, least: int = 1) -> int:
    """Return an integer of at least ``least``."""
    if isinstance(value, bool) or not isinstance(value, int | np.integer) or value < least:
        raise HedgerowError(f"The '{name}' parameter must be an int >= {least}. Got {value!r} instead.")
    return int(value)


def exp_below(epsilon: Fraction | float) -> Fraction:
    """Return a rational just below ``e**epsilon``, for a finite epsilon.

    It stops at ``e**200``: 64-bit probabilities cannot tell more, and ``e**epsilon`` has as many digits as
    epsilon is large.
    """
    return exp_bounds(min(Fraction(epsilon), Fraction(200)))[0]


@dataclass(frozen=True)
class Law:
    """A finite distribution with integer weights: ``P(outputs[i]) = weights[i] / sum(weights)``."""

    outputs: tuple[Hashable, ...]
    weights: tuple[int, ...]

    @property
    def total(self) -> int:
        """The common denominator."""
        return sum(self.weights)

    def probability(self, output: Hashable) -> Fraction:
        """Return the exact probability of one output."""
        return Fraction(self.weights[self.outputs.index(output)], self.total)

    def mean(self) -> Fraction:
        """Return the exact mean of numeric outputs."""
        pairs = zip(self.outputs, self.weights, strict=True)
        return Fraction(sum(int(o) * w for o, w in pairs), self.total)  # type: ignore[call-overload]

    def variance(self) -> Fraction:
        """Return the exact variance of numeric outputs."""
        pairs = zip(self.outputs, self.weights, strict=True)
        second = Fraction(sum(int(o) ** 2 * w for o, w in pairs), self.total)  # type: ignore[call-overload]
        return second - self.mean() ** 2


class Mechanism:
    """A randomiser of one holder's value in ``range(n_inputs)``.

    Attributes
    ----------
    epsilon : float
        The claim: no output is more than ``e**epsilon`` times as likely under one input as under another.
    n_inputs : int
        Inputs are the integers ``0 .. n_inputs - 1``.
    """

    name: str
    epsilon: float
    n_inputs: int

    @property
    def guarantee(self) -> Guarantee:
        """The local guarantee of one report."""
        return Guarantee(epsilon=self.epsilon, protects="record", trust="local", neighbours="replace")

    def randomize(self, values: npt.ArrayLike, randomness: Randomness | None = None) -> npt.NDArray[Any]:
        """Randomise every value independently; secure randomness unless a source is given."""
        raise NotImplementedError

    def law(self, value: int) -> Law:
        """Return the exact law of the output given ``value`` (enumerated: small instances only)."""
        raise NotImplementedError

    def _check(self, values: npt.ArrayLike) -> IntArray:
        array = np.asarray(values)
        if array.dtype.kind not in "iu" or array.ndim != 1:
            raise HedgerowError(f"'values' must be a 1-d integer array. Got {array.dtype} {array.shape} instead.")
        if array.size and (array.min() < 0 or array.max() >= self.n_inputs):
            raise HedgerowError(f"'values' must be in 0 .. {self.n_inputs - 1}; clip or encode them first.")
        return array.astype(np.int64, copy=False)


class CategoricalMechanism(Mechanism):
    """A randomiser of a category whose report *supports* some of the categories.

    With ``p = P(v supported | v)`` and ``q = P(w supported | v)`` for ``w != v`` (both dyadic), the number of
    holders of ``w`` is estimated without bias from the number of reports that support it::

        c_hat = (support - n q) / (p - q)
        Var(c_hat) = [c p (1-p) + (n-c) q (1-q)] / (p-q)**2
    """

    @property
    def p(self) -> Fraction:
        """Return the probability that the own category is supported."""
        raise NotImplementedError

    @property
    def q(self) -> Fraction:
        """Return the probability that another given category is supported."""
        raise NotImplementedError

    def _check_informative(self) -> None:
        """Refuse an epsilon so small that rounding to 64 bits leaves nothing of the signal, or inverts it."""
        if self.p <= self.q:
            raise HedgerowError(
                f"The 'epsilon' parameter is too small for {self.n_inputs} categories. Got {self.epsilon!r} instead."
            )

    @property
    def joint(self) -> tuple[Fraction, Fraction]:
        """Return P(two given categories are both supported): one of them the own one, and neither of them.

        Bits that are drawn independently give ``(p q, q**2)``, the default.
        """
        return self.p * self.q, self.q**2

    def support(self, reports: npt.NDArray[Any]) -> IntArray:
        """Return for each category the number of reports that support it."""
        supported: IntArray = np.asarray(reports, dtype=bool).sum(axis=0, dtype=np.int64)
        return supported

    def estimate(self, support: npt.ArrayLike, n: int) -> npt.NDArray[np.float64]:
        """Return unbiased estimates of the numbers of holders in each category."""
        p, q = float(self.p), float(self.q)
        return (np.asarray(support, dtype=np.float64) - n * q) / (p - q)

    def variance(self, n: int, count: npt.ArrayLike = 0.0) -> npt.NDArray[np.float64]:
        """Return the variance of :meth:`estimate` for a category held by ``count`` of ``n`` holders."""
        p, q = float(self.p), float(self.q)
        c = np.asarray(count, dtype=np.float64)
        return (c * p * (1 - p) + (n - c) * q * (1 - q)) / (p - q) ** 2
