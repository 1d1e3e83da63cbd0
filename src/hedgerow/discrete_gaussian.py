"""The discrete Gaussian (Canonne, Kamath, Steinke 2020), drawn exactly: integers only, a law that can be enumerated."""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.randomness import Randomness
from hedgerow.samplers import LazyCdf
from hedgerow.types import IntArray

__all__ = ["WIDEST", "discrete_gaussian", "gaussian_weights"]

WIDEST = 1 << 28
"""Largest ``sigma**2``: a table of thresholds has then 300,000 entries, and takes about a second to make."""

_GUARD = 60  # digits more than asked for: a weight is a product of k**2 roundings, with k below 10**6
_REST = 20  # bits more than asked for, of what is left out on either side


def discrete_gaussian(variance: Fraction, n: int, randomness: Randomness) -> IntArray:
    r"""Draw ``n`` whole numbers of the discrete Gaussian of parameter ``sigma**2 = variance``.

    .. math:: P(k) = e^{-k^2 / 2\sigma^2} \Big/ \sum_{j \in \mathbb Z} e^{-j^2 / 2\sigma^2}

    Privacy (Canonne, Kamath and Steinke 2020, theorem 14): added to every entry of a vector of whole numbers that
    one person moves by at most Delta in Euclidean norm, it is ``Delta**2 / (2 sigma**2)``-zCDP
    (:mod:`hedgerow.mechanisms.zcdp`).

    Thresholds ``P(X <= k)`` are known to any precision, and as many bits are drawn as are needed to decide between them
    (:class:`~hedgerow.samplers.LazyCdf`): no tail is cut off, and no float decides anything.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> noise = discrete_gaussian(Fraction(100), 10_000, SeededRandomness(1))
    >>> bool(abs(noise.mean()) < 0.5), bool(abs(noise.std() - 10) < 0.4)
    (True, True)
    """
    variance = Fraction(variance)
    if not 0 <= variance <= WIDEST:
        raise HedgerowError(f"'variance' must be in 0 .. {WIDEST}. Got {float(variance):g} instead.")
    if variance == 0:
        return np.zeros(n, dtype=np.int64)
    return _law(variance).sample(n, randomness).astype(np.int64)


@lru_cache(maxsize=32)
def _law(variance: Fraction) -> LazyCdf:
    def bounds(bits: int) -> tuple[int, list[int], list[int]]:
        return _thresholds(variance, bits)

    return LazyCdf(bounds)


def _half(variance: Fraction, bits: int) -> list[Decimal]:
    """Return ``e**(-k**2 / 2 sigma**2)`` for ``k = 0, 1, ...``, until all that follow are below ``2**-(bits + 20)``.

    ``q**(k**2)`` by two products a step. What follows a weight w at k is below ``w r / (1 - r)``, ``r = q**(2k+1)``.
    """
    q = (-Decimal(variance.denominator) / (2 * Decimal(variance.numerator))).exp()
    small = Decimal(2) ** -(bits + _REST)
    square = q * q
    weights = [Decimal(1)]
    ratio = q
    while weights[-1] * ratio > small * (1 - ratio):
        weights.append(weights[-1] * ratio)
        ratio *= square
    weights.append(weights[-1] * ratio)
    return weights


def _thresholds(variance: Fraction, bits: int) -> tuple[int, list[int], list[int]]:
    """Return bounds of ``2**bits P(X <= k)`` for ``k = -reach .. reach - 1``, and ``-reach``.

    Both ends are nearer to 0 and 1 than ``2**-bits``, so that a prefix of zeros or ones decides nothing. Errors: of the
    weights left out, below ``2**-(bits + 18)`` of the whole, which is at least 1; of rounding, less than that.
    """
    context = decimal.Context(prec=math.ceil(bits * 0.30103) + _GUARD, Emin=decimal.MIN_EMIN, Emax=decimal.MAX_EMAX)
    with decimal.localcontext(context):
        half = _half(variance, bits)
        weights = half[:0:-1] + half
        cums = list(accumulate(weights))
        whole = cums.pop()
        unit = Decimal(2) ** bits
        slack = Decimal(2) ** -16
        scaled = [cum / whole * unit for cum in cums]
        lows = [max(0, math.floor(value - slack)) for value in scaled]
        return 1 - len(half), lows, [math.ceil(value + slack) for value in scaled]


@lru_cache(maxsize=32)
def gaussian_weights(variance: Fraction, bits: int = 128) -> tuple[int, ...]:
    """Return the law on ``-reach .. reach``, in units of ``2**-bits`` of the weight at 0, rounded.

    >>> gaussian_weights(Fraction(1, 2), bits=8)
    (0, 5, 94, 256, 94, 5, 0)
    """
    with decimal.localcontext(decimal.Context(prec=math.ceil(bits * 0.30103) + _GUARD, Emin=decimal.MIN_EMIN)):
        half = [int((weight * (1 << bits)).to_integral_value()) for weight in _half(variance, bits - _REST)]
    return tuple(half[:0:-1] + half)
