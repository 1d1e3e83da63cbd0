"""Sums of people's bits with discrete Gaussian noise, priced by the law itself rather than by a bound.

What a server of the aggregate model releases: each person sets at most ``weight`` bits of a vector, the vectors are
added up, and every sum gets noise. zCDP would price this too (:mod:`hedgerow.mechanisms.zcdp`), with 7 % more noise.
"""

from __future__ import annotations

import decimal
import math
from collections.abc import Hashable
from dataclasses import dataclass, field
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.discrete_gaussian import WIDEST, discrete_gaussian, gaussian_weights
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import CentralMechanism, Law
from hedgerow.mechanisms.normal import gdp_mu
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.types import IntArray

__all__ = ["AUDITS", "BitSums", "flips_delta", "flips_variance"]

_BITS = 96  # of a normalised law: errors are counted, and are far below any delta that is asked for
_DIGITS = 60  # of decimals; their roundings are far below the slack
_SLACK = Fraction(1, 1 << 90)  # added to every delta: above all roundings of decimals
_WIDE = 16  # sigma**2 from which 10 e**(-pi**2 sigma**2) is below e**-150, and so below 2**-200
_LARGEST = 400.0  # a larger epsilon is accounted for as this one: more noise is always true
_FINE = 1 << 28  # sigma**2 is found to one part in this, and rounded up


@lru_cache(maxsize=256)
def flips_delta(variance: Fraction, flips: int, epsilon: float) -> Fraction:
    r"""Return the least delta at epsilon, from above, if one person flips at most ``flips`` bits of those summed.

    The log-likelihood ratio of a noisy vector x under the sums and under sums that differ by d, with m entries +-1, is
    ``(m - 2 S) / 2 sigma**2``, where S, the sum of the noise at those entries, up to signs, is a sum of m discrete
    Gaussians; hence

    .. math:: \delta(\varepsilon) = \sum_s P(S = s) \max\bigl(0, 1 - e^{\varepsilon - (m - 2 s) / 2\sigma^2}\bigr).

    Fewer flips cost less: leaving out an entry is post-processing. The law of S is computed in integers; its distance
    from the true one is bounded and added (the summand is between 0 and 1).

    Examples
    --------
    >>> round(float(flips_delta(Fraction(286), 16, 1.0)), 9)
    9.84e-07
    """
    law, error = _sum_of(variance, flips)
    reach = len(law) // 2
    with decimal.localcontext(decimal.Context(prec=_DIGITS, Emin=decimal.MIN_EMIN)):
        twice = 2 * Decimal(variance.numerator) / Decimal(variance.denominator)
        total = Decimal(0)
        step = (2 / twice).exp()
        factor = (Decimal(min(epsilon, _LARGEST)) - (flips + 2 * Decimal(reach)) / twice).exp()
        for weight in law:
            if factor >= 1:
                break
            total += weight * (1 - factor)
            factor *= step
        found = Fraction(total) / sum(law)
    return min(Fraction(1), found + error + _SLACK)


@lru_cache(maxsize=64)
def _sum_of(variance: Fraction, n: int) -> tuple[list[int], Fraction]:
    r"""Return weights of the sum of n discrete Gaussians, and a bound of the total variation from the true law.

    A wide one is taken for a discrete Gaussian of n times the variance. Proof that no probability then differs by more
    than a factor :math:`e^\tau`, :math:`\tau \le 10 n e^{-\pi^2\sigma^2}`, which is below ``n e**-150``: for X and Y
    with parameters :math:`\sigma_1^2` and :math:`\sigma_2^2`, completing the square gives

    .. math:: P(X + Y = z) \propto e^{-z^2 / 2(\sigma_1^2 + \sigma_2^2)}
              \sum_{x \in \mathbb Z} e^{-(x - \mu_z)^2 / 2 r^2}, \qquad
              \frac1{r^2} = \frac1{\sigma_1^2} + \frac1{\sigma_2^2},

    and by Poisson's summation formula the last sum is :math:`\sqrt{2\pi} r` times a number within
    :math:`1 \pm \eta`, :math:`\eta = 2 \sum_{k \ge 1} e^{-2\pi^2 r^2 k^2}`, whatever :math:`\mu_z` is. So the law is
    that of a discrete Gaussian of the added parameters up to a factor :math:`(1 + \eta)/(1 - \eta) \le e^{3\eta}` (for
    :math:`\eta \le 1/2`) either way. One more summand at a time: the factor of the sum so far is not made larger by
    adding an independent variable, and the k-th step has :math:`r^2 = \sigma^2 k/(k+1) \ge \sigma^2/2`, so that
    :math:`\eta \le 3 e^{-\pi^2\sigma^2}`. (Kairouz, Liu and Steinke 2021, theorem 9, is this with other constants.) A
    narrow one is added up in integers.
    """
    if variance >= _WIDE:
        whole = list(gaussian_weights(n * variance, _BITS))
        return whole, Fraction(2 * len(whole) + n, 1 << _BITS)
    weights = list(gaussian_weights(variance, _BITS))
    # Half a unit a weight, and on either side tails below a unit; the whole is at least 2**96 units.
    base = (weights, Fraction(2 * len(weights), 1 << _BITS))
    out: tuple[list[int], Fraction] | None = None
    while n:
        if n & 1:
            out = base if out is None else _convolved(out, base)
        n >>= 1
        if n:
            base = _convolved(base, base)
    assert out is not None
    return out


def _convolved(one: tuple[list[int], Fraction], other: tuple[list[int], Fraction]) -> tuple[list[int], Fraction]:
    """Return the law of a sum: errors add up, and so does what rounding to 96 bits changes.

    Polynomials are multiplied as whole numbers, with room for every coefficient.
    """
    size = (2 * (_BITS + 1) + max(len(one[0]), len(other[0])).bit_length()) // 8 + 1
    packed = [int.from_bytes(b"".join(w.to_bytes(size, "little") for w in law), "little") for law, _ in (one, other)]
    length = len(one[0]) + len(other[0]) - 1
    raw = (packed[0] * packed[1]).to_bytes(length * size, "little")
    terms = [int.from_bytes(raw[i : i + size], "little") for i in range(0, len(raw), size)]
    shift = max(0, max(terms).bit_length() - _BITS)
    kept = [term >> shift for term in terms]
    lost = Fraction(length << shift, sum(terms))
    while kept[0] == 0 and kept[-1] == 0:
        kept = kept[1:-1]
    return kept, one[1] + other[1] + lost


@lru_cache(maxsize=256)
def flips_variance(flips: int, epsilon: float, delta: float) -> Fraction:
    """Return the least ``sigma**2`` that is (epsilon, delta)-DP for so many flips, to one part in 2**28.

    Examples
    --------
    >>> [round(math.sqrt(flips_variance(16, epsilon, 1e-6)), 1) for epsilon in (0.5, 1.0, 2.0, 4.0)]
    [32.2, 16.9, 8.9, 4.8]
    """
    epsilon = check_epsilon(epsilon)
    flips = check_positive(flips, name="flips")
    if not 0 < delta < 1:
        raise HedgerowError(f"The 'delta' parameter must be above 0 and below 1. Got {delta!r} instead.")
    if math.isinf(epsilon):
        return Fraction(0)
    # Near the variance of the continuous Gaussian; from there to both sides.
    guess = Fraction(flips) / gdp_mu(epsilon, delta) ** 2
    if guess * flips > WIDEST:
        raise HedgerowError(f"The 'epsilon' parameter is too small for delta={delta:g}. Got {epsilon!r} instead.")
    step = Fraction(1, 1 << max(0, _FINE.bit_length() - 1 - math.floor(math.log2(guess))))
    high = math.ceil(guess / step) * step
    spread = Fraction(1, 1000)
    while flips_delta(high, flips, epsilon) > Fraction(delta):
        high = math.ceil(high * (1 + spread) / step) * step
        spread = 2 * spread
    low = high * (1 - Fraction(1, 100)) // step * step
    while low > 0 and flips_delta(low, flips, epsilon) <= Fraction(delta):
        high = low
        low = low / 2 // step * step
    while high - low > step:
        middle = (low + high) / 2 // step * step
        if flips_delta(middle, flips, epsilon) <= Fraction(delta):
            high = middle
        else:
            low = middle
    return high


@dataclass(frozen=True)
class BitSums(CentralMechanism):
    """Noisy sums of vectors of which each person gives one, with at most ``weight`` bits set.

    Proof that it is (epsilon, delta)-DP: a person who is replaced by another flips at most ``2 weight`` bits, so that
    the two sums differ by 1 in at most so many entries; :func:`flips_delta` is the least delta for that, and
    :func:`flips_variance` the noise at which it is at most the one that is claimed. Who takes part is not hidden.

    Parameters
    ----------
    epsilon, delta : float
        The claim.
    weight : int
        Bits that a person may set.
    length : int
        Bits of a vector.

    Examples
    --------
    >>> sums = BitSums(1.0, 1e-6, weight=8, length=512)
    >>> round(math.sqrt(sums.variance), 1)
    16.9
    """

    epsilon: float
    delta: float = 1e-6
    weight: int = 1
    length: int = 2
    variance: Fraction = field(init=False, repr=False)
    name = "noisy sums of bits"
    neighbours = "replace"

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        weight = check_positive(self.weight, name="weight")
        length = check_positive(self.length, name="length")
        if weight > length:
            raise HedgerowError(f"'weight' must be at most length={length}. Got {weight} instead.")
        object.__setattr__(self, "variance", flips_variance(min(2 * weight, length), self.epsilon, self.delta))

    @property
    def reach(self) -> int:
        """Sums of an audit are clamped to it, in the law and in what was drawn: one in e**40 would lie beyond."""
        return math.ceil(9 * math.sqrt(self.variance)) + 1

    def noise(self, n: int, randomness: Randomness | None = None) -> IntArray:
        """Return the noise of ``n`` releases: a row of ``length`` numbers each."""
        drawn = discrete_gaussian(self.variance, n * self.length, as_randomness(randomness))
        return drawn.reshape(n, self.length)

    def sample(self, given: tuple[int, ...], n: int, randomness: Randomness | None = None) -> IntArray:
        """Return ``n`` releases of sums."""
        whole = isinstance(given, tuple) and all(type(value) is int for value in given)
        if not whole or len(given) != self.length:
            raise HedgerowError(
                f"sums must be a tuple of {self.length} whole numbers. Got {type(given).__name__} instead."
            )
        return np.array(given, dtype=np.int64) + self.noise(n, randomness)

    def law(self, given: tuple[int, ...]) -> Law:
        """Return the law of a release of few sums, to 128 bits, each clamped to ``-reach .. reach``."""
        reach = self.reach
        weights = gaussian_weights(self.variance) if self.variance else (1,)
        beyond = len(weights) // 2
        each = []
        for value in given:
            cells = dict.fromkeys(range(-reach, reach + 1), 0)
            for k, weight in enumerate(weights, value - beyond):
                cells[min(max(k, -reach), reach)] += weight
            each.append(cells)
        outputs = tuple(product(*each))
        return Law(outputs, tuple(math.prod(map(dict.__getitem__, each, output)) for output in outputs))

    def outcomes(self, drawn: npt.NDArray[Any]) -> list[Hashable]:
        """Return releases, clamped as in the law."""
        return [tuple(row) for row in np.clip(drawn, -self.reach, self.reach).tolist()]

    def words(self) -> str:
        """Return the width of the noise, and the odds that there is none."""
        weights = gaussian_weights(self.variance) if self.variance else (1,)
        none = percent(Fraction(weights[len(weights) // 2], sum(weights)))
        return (
            f"each of {self.length} sums gets Gaussian noise in whole steps, with a standard deviation of "
            f"{math.sqrt(self.variance):.3g} of them: none with probability {none}"
        )


AUDITS = (
    Audit(
        "noisy sums of bits",
        lambda epsilon: BitSums(epsilon, delta=0.3),
        (Chance((0, 0), lambda sums: sums[0] == 0),),
        inputs=lambda sums: ((0, 1), (1, 0)),
        outside=((0,), (0, 0.5), [0, 0], 1, (True, 0)),
    ),
)
