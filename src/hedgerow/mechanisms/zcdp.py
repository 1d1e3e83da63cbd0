"""Zero-concentrated differential privacy: what a rho is worth as (epsilon, delta), and which rho such a pair allows.

A mechanism is rho-zCDP if the Renyi divergence of every order ``alpha > 1`` between neighbours is at most ``rho alpha``
(Bun and Steinke 2016). The rho of several releases about the same people add up.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache

from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError

__all__ = ["gaussian_variance", "zcdp_delta", "zcdp_rho"]

_DIGITS = 40  # of every bound; what rounding does to them is far below the slack
_SLACK = Decimal(10) ** -25  # of log delta: far above the roundings of five operations on numbers below 10**6
_NEAR = 1e-9  # of the log of an order: every order is true, and near the best delta hardly changes
_LARGEST = 400.0  # a larger epsilon is accounted for as this one: a smaller rho is always true
_STEPS = 1 << 40  # rho is a multiple of 2**-40 of its power of two


def zcdp_delta(rho: Fraction, epsilon: float) -> float:
    r"""Return the delta that rho-zCDP implies at epsilon, rounded up (Canonne, Kamath and Steinke 2020, corollary 13).

    .. math:: \delta = \inf_{\alpha > 1} \frac{e^{(\alpha - 1)(\alpha\rho - \varepsilon)}}{\alpha - 1}
                       \Bigl(1 - \frac1\alpha\Bigr)^{\alpha}

    Every alpha gives a true bound: the best is looked for in floats, and its bound is computed in decimals.

    Examples
    --------
    >>> round(zcdp_delta(Fraction(1, 32), 1.0), 8)
    1.225e-05
    """
    rho = Fraction(rho)
    if rho < 0:
        raise HedgerowError(f"'rho' must not be negative. Got {float(rho):g} instead.")
    epsilon = check_epsilon(epsilon)
    if rho == 0 or math.isinf(epsilon):
        return 0.0
    with decimal.localcontext(decimal.Context(prec=_DIGITS, Emin=decimal.MIN_EMIN)):
        bound = (_log_delta(rho, epsilon, _best_order(float(rho), epsilon)) + _SLACK).exp()
        return min(1.0, math.nextafter(float(bound), math.inf))


def _log_delta(rho: Fraction, epsilon: float, alpha: float) -> Decimal:
    """Return ``(a - 1)(a rho - epsilon + log(1 - 1/a)) - log a``."""
    a = Decimal(alpha)
    r = Decimal(rho.numerator) / Decimal(rho.denominator)
    return (a - 1) * (a * r - Decimal(epsilon) + (1 - 1 / a).ln()) - a.ln()


def _best_order(rho: float, epsilon: float) -> float:
    """Return the alpha of the least delta, nearly: by ternary search on the log of ``alpha - 1``."""

    def log_delta(log: float) -> float:
        less = math.exp(log)
        return less * ((1 + less) * rho - epsilon - math.log1p(1 / less)) - math.log1p(less)

    # Beyond twice epsilon / rho the first term is positive and grows; far below 1 delta is no better than at 1.
    low = -20.0
    high = math.log(2 * (epsilon + 1) / rho + 2)
    while high - low > _NEAR:
        first = low + (high - low) / 3
        second = high - (high - low) / 3
        if log_delta(first) < log_delta(second):
            high = second
        else:
            low = first
    return 1 + math.exp(low)


@lru_cache(maxsize=256)
def zcdp_rho(epsilon: float, delta: float) -> Fraction:
    """Return the largest rho, rounded down, that implies (epsilon, delta).

    Examples
    --------
    >>> round(float(zcdp_rho(1.0, 1e-6)), 4)
    0.0244
    """
    epsilon = min(check_epsilon(epsilon), _LARGEST)
    if not 0 < delta < 1:
        raise HedgerowError(f"The 'delta' parameter must be above 0 and below 1. Got {delta!r} instead.")
    low = Fraction(0)
    high = Fraction(1)
    while zcdp_delta(high, epsilon) <= delta:
        low = high
        high = 2 * high
    while low == 0:
        if zcdp_delta(high / 2, epsilon) <= delta:
            low = high / 2
        else:
            high = high / 2
    step = high / _STEPS
    while high - low > step:
        middle = low + (high - low) // (2 * step) * step
        if middle == low:
            break
        if zcdp_delta(middle, epsilon) <= delta:
            low = middle
        else:
            high = middle
    return low


def gaussian_variance(squared: int, epsilon: float, delta: float) -> Fraction:
    """Return the least ``sigma**2`` of the discrete Gaussian for whole numbers of this squared Euclidean sensitivity.

    ``rho = Delta**2 / (2 sigma**2)`` solved for ``sigma**2``, exactly.

    Examples
    --------
    >>> [round(math.sqrt(gaussian_variance(16, epsilon, 1e-6)), 1) for epsilon in (0.5, 1.0, 2.0, 4.0)]
    [34.7, 18.1, 9.5, 5.1]
    """
    if squared < 1:
        raise HedgerowError(f"'squared' must be at least 1. Got {squared!r} instead.")
    if math.isinf(epsilon):
        return Fraction(0)
    return Fraction(squared) / (2 * zcdp_rho(epsilon, delta))
