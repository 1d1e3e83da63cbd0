r"""The sum of n holders' discrete Laplace noises in one draw, exact in law.

A discrete Laplace variable is the difference of two geometric ones, and n geometric variables of ratio r sum to a
negative binomial,

.. math:: P(\mathrm{NB}(n, r) = k) = \binom{n+k-1}{k} (1-r)^n r^k,

so the noise that n reports leave in a total is ``NB(n, r) - NB'(n, r)``, whatever n is. Whoever simulates many
holders needs two draws for each total instead of n.
"""

from __future__ import annotations

import decimal
import math
from decimal import Decimal
from functools import lru_cache

import numpy as np

from hedgerow.checks import check_positive
from hedgerow.randomness import Randomness
from hedgerow.samplers import ONE, LazyCdf, geometric
from hedgerow.types import IntArray

__all__ = ["laplace_sum", "negative_binomial"]


_WIDEST_TABLE = 1 << 17  # entries: 1 MB of thresholds of 8 bytes


def negative_binomial(n: int, numerator: int, size: int, randomness: Randomness) -> IntArray:
    """``size`` draws of the sum of ``n`` geometric variables of ratio ``r = numerator / 2**64``.

    Negative binomials add up, so a large ``n`` is cut into parts whose table has at most ``2**17`` entries, and
    noise too wide for any table is drawn as ``n`` geometric variables.

    >>> from hedgerow.randomness import SeededRandomness
    >>> draws = negative_binomial(1000, ONE // 2, 2000, SeededRandomness(0))
    >>> bool(abs(draws.mean() - 1000) < 5) and bool(abs(draws.var() - 2000) < 300)
    True
    """
    check_positive(n, name="n", least=0)
    if n == 0 or numerator == 0 or size == 0:
        return np.zeros(size, dtype=np.int64)
    part = min(n, _longest_part(numerator))
    if part == 0:
        return _one_by_one(n, numerator, size, randomness)
    out = np.zeros(size, dtype=np.int64)
    for m, times in ((part, n // part), (n % part, 1)):
        if m:
            cdf = _cdf(m, numerator)
            for _ in range(times):
                out += cdf.sample(size, randomness)
    return out


def laplace_sum(n: int, numerator: int, size: int, randomness: Randomness) -> IntArray:
    """``size`` draws of the sum of ``n`` discrete Laplace variables of ratio ``numerator / 2**64``.

    >>> from hedgerow.randomness import SeededRandomness
    >>> draws = laplace_sum(100, ONE // 2, 2000, SeededRandomness(0))  # variance 100 * 2 r / (1-r)**2 = 400
    >>> bool(abs(draws.mean()) < 3) and bool(abs(draws.var() - 400) < 60)
    True
    """
    up = negative_binomial(n, numerator, size, randomness)
    return up - negative_binomial(n, numerator, size, randomness)


def _longest_part(numerator: int) -> int:
    """Return the most variables whose sum has a table of at most ``2**17`` entries: 24 deviations wide."""
    r = numerator / ONE
    if 1 - r < 2.0**-40:
        return 0
    return int((_WIDEST_TABLE * (1 - r) / 24) ** 2 / r)


def _one_by_one(n: int, numerator: int, size: int, randomness: Randomness) -> IntArray:
    """Draw and add all ``n`` variables of every sum, a block at a time."""
    out = np.zeros(size, dtype=np.int64)
    for i in range(size):
        for start in range(0, n, 1 << 20):
            out[i] += geometric(numerator, min(1 << 20, n - start), randomness).sum()
    return out


@lru_cache(maxsize=64)
def _cdf(n: int, numerator: int) -> LazyCdf:
    """Negative binomial law, from the mode outwards until terms fall below the precision."""

    def bounds(bits: int) -> tuple[int, list[int], list[int]]:
        # 25 digits beyond the bits: rounding errs by less than 1e6 units in the last place over 2**17 terms.
        context = decimal.Context(prec=math.ceil(bits * 0.30103) + 25, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)
        with decimal.localcontext(context):
            r = Decimal(numerator) / Decimal(ONE)
            tiny = Decimal(10) ** (10 - context.prec)
            mode = (n - 1) * numerator // (ONE - numerator)
            up, above = _walk_up(n, r, mode, tiny)
            down, below, first = _walk_down(n, r, mode, tiny)
            terms = down[::-1] + up
            whole = sum(terms)
            total = Decimal(0)
            values = []
            for term in terms:
                total += term
                values.append(total / whole)
            error = (above + below) / whole + tiny * (len(terms) + 10)
            unit = Decimal(1 << bits)
            lows = [max(0, math.floor((v - error) * unit)) for v in values]
            highs = [max(0, math.ceil((v + error) * unit)) for v in values]
            return first, lows, highs

    return LazyCdf(bounds)


def _walk_up(n: int, r: Decimal, mode: int, tiny: Decimal) -> tuple[list[Decimal], Decimal]:
    """Return terms from the mode upwards (the mode's is 1) and a bound of the rest: a geometric series."""
    terms = [Decimal(1)]
    k = mode
    ratio = Decimal(0)
    while True:
        ratio = r * (n + k) / (k + 1)
        if terms[-1] <= tiny * (1 - ratio):
            return terms, terms[-1] * ratio / (1 - ratio)
        terms.append(terms[-1] * ratio)
        k += 1


def _walk_down(n: int, r: Decimal, mode: int, tiny: Decimal) -> tuple[list[Decimal], Decimal, int]:
    """Return terms below the mode, downwards, a bound of the rest, and the value of the last one."""
    terms: list[Decimal] = []
    k = mode
    term = Decimal(1)
    while k > 0:
        ratio = k / (r * (n + k - 1))
        if ratio < 1 and term <= tiny * (1 - ratio):
            return terms, term * ratio / (1 - ratio), k
        term *= ratio
        terms.append(term)
        k -= 1
    return terms, Decimal(0), k
