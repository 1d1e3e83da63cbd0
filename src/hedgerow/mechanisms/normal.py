"""The normal distribution function to any precision, and Gaussian differential privacy solved with it."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from hedgerow.errors import HedgerowError

__all__ = ["gdp_delta", "gdp_mu", "normal_cdf"]

_LARGEST = 400.0  # a larger epsilon is accounted for as this one: a smaller mu is always true
_STEPS = 1 << 48  # mu is a multiple of 2**-48 of its power of two


@lru_cache(maxsize=32)
def _pi(digits: int) -> Decimal:
    """Return pi by Machin's formula, in integers with ten digits to spare."""
    unit = int(10 ** (digits + 10))

    def arctan_inverse(x: int) -> int:
        term = unit // x
        total = unit // x
        n = 1
        sign = 1
        while term:
            term //= x * x
            n = n + 2
            sign = -sign
            total += sign * (term // n)
        return total

    with decimal.localcontext(decimal.Context(prec=digits + 10)):
        return Decimal(4 * (4 * arctan_inverse(5) - arctan_inverse(239))) / Decimal(unit)


def normal_cdf(x: Fraction, digits: int = 50) -> Decimal:
    r"""Return the standard normal distribution function with an absolute error below ``10**-digits``.

    .. math:: \Phi(x) = \tfrac12 + \varphi(x) \sum_{n \ge 0} \frac{x^{2n+1}}{1 \cdot 3 \cdots (2n+1)}

    For x > 0 all terms are positive, so nothing cancels; from where they halve, the rest is below the last term.

    Examples
    --------
    >>> round(normal_cdf(Fraction(-2)), 20)
    Decimal('0.02275013194817920720')
    """
    with decimal.localcontext(_context(digits + 15)):
        z = abs(Decimal(x.numerator) / Decimal(x.denominator))
        square = z * z
        term = z
        total = z
        n = 1
        small = Decimal(10) ** -(digits + 10)
        while n < 2 * square or term > small:
            n += 2
            term = term * square / n
            total += term
        density = (-square / 2).exp() / (2 * _pi(digits + 15)).sqrt()
        upper = Decimal("0.5") + density * total
        return +(upper if x >= 0 else 1 - upper)


def _context(digits: int) -> decimal.Context:
    return decimal.Context(prec=digits, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def gdp_delta(mu: Fraction, epsilon: float) -> Decimal:
    r"""Return an upper bound, tight to 30 digits, of the delta that mu-GDP needs at epsilon (Dong, Roth, Su 2022).

    .. math:: \delta(\varepsilon) = \Phi(-\varepsilon/\mu + \mu/2) - e^{\varepsilon}\,\Phi(-\varepsilon/\mu - \mu/2)

    Examples
    --------
    >>> round(gdp_delta(Fraction(1), 1.0), 6)
    Decimal('0.126937')
    """
    loss = Fraction(epsilon)
    digits = 40 + math.ceil(0.4343 * epsilon)  # the second term is multiplied by e**epsilon
    with decimal.localcontext(_context(2 * digits)):
        factor = (Decimal(loss.numerator) / Decimal(loss.denominator)).exp()
        near = normal_cdf(-loss / mu + mu / 2, digits)
        far = normal_cdf(-loss / mu - mu / 2, digits)
        return near - factor * far + Decimal(10) ** -35


@lru_cache(maxsize=256)
def gdp_mu(epsilon: float, delta: float) -> Fraction:
    """Return the largest mu (a dyadic number, rounded down) such that mu-GDP implies (epsilon, delta)-DP.

    Every comparison is made on an upper bound of delta to 30 digits, so the claim holds for the number returned.

    Examples
    --------
    >>> [round(float(gdp_mu(e, 1e-5)), 4) for e in (1.0, 2.0, 10.0)]
    [0.2681, 0.5016, 2.0004]
    """
    epsilon = min(float(epsilon), _LARGEST)
    limit = Decimal(float(delta))
    if not 1e-30 <= delta < 1:  # 30 digits of delta are computed
        raise HedgerowError(f"The 'delta' parameter must be 0, or at least 1e-30 and below 1. Got {delta!r} instead.")
    top = Fraction(1)
    while gdp_delta(top, epsilon) <= limit:
        top *= 2
    while gdp_delta(top / 2, epsilon) > limit:
        top /= 2
    low, high = _STEPS // 2, _STEPS  # in units of top / 2**48
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if gdp_delta(top * middle / _STEPS, epsilon) <= limit else (low, middle)
    return top * low / _STEPS
