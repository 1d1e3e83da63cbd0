"""Integer-only samplers with exact laws.

No probability is ever a float. A sampler compares random bits with thresholds that are known to any
precision: 16 bits decide almost always, a further 48 where the first 16 are not enough, and 64 more at a time
in the vanishing rest. The result has *exactly* the stated law, which audits can enumerate.

The parameters of mechanisms are *dyadic*: integers over ``2**64``, rounded towards more noise, so that the
claim ``ratio <= e**epsilon`` can be verified in exact arithmetic (:func:`exp_at_least`).
"""

from __future__ import annotations

import decimal
import math
from bisect import bisect_right
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from functools import lru_cache
from itertools import accumulate
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.kernels import native
from hedgerow.randomness import Randomness
from hedgerow.types import IntArray

__all__ = [
    "ONE",
    "LazyCdf",
    "bernoulli",
    "bernoulli_exp",
    "binomial",
    "dyadic_exp",
    "exp_at_least",
    "exp_bounds",
    "geometric",
    "discrete_laplace",
]

ONE = 1 << 64
"""The common denominator of dyadic probabilities: ``p = numerator / ONE``."""

BoundsOf = Callable[[int], "tuple[int, list[int], list[int]]"]


def _context(bits: int, guard: int = 50) -> decimal.Context:
    return decimal.Context(prec=math.ceil(bits * 0.30103) + guard, Emax=decimal.MAX_EMAX, Emin=decimal.MIN_EMIN)


def exp_bounds(x: Fraction, bits: int = 192) -> tuple[Fraction, Fraction]:
    """Return rationals ``low <= e**x <= high`` that agree to about ``bits`` bits.

    ``Decimal.exp`` is correctly rounded; the bound allows a thousand units in its last place.

    >>> low, high = exp_bounds(Fraction(1))
    >>> float(low), float(high), low < high
    (2.718281828459045, 2.718281828459045, True)
    """
    with decimal.localcontext(_context(bits)) as context:
        quotient = Decimal(x.numerator) / Decimal(x.denominator)
        value = Fraction(quotient.exp())
        slack = Fraction(1000 * (1 + abs(math.ceil(x)))) / 10**context.prec
    return value * (1 - slack), value * (1 + slack)


def exp_at_least(ratio: Fraction, x: Fraction) -> bool:
    """Decide ``ratio <= e**x`` exactly (precision is doubled until the bounds are on one side)."""
    if ratio == 1 or x == 0:  # the only rational points on the curve
        return ratio <= 1 if x == 0 else x >= 0
    # A huge x needs no e**x (of as many digits): ratio < 2**size <= 2**x < e**x.
    if x > 0 and ratio.numerator.bit_length() - ratio.denominator.bit_length() + 1 <= x:
        return True
    bits = 192
    while True:
        low, high = exp_bounds(x, bits)
        if ratio <= low:
            return True
        if ratio >= high:
            return False
        bits *= 2


def dyadic_exp(x: Fraction) -> int:
    """Return ``ceil(2**64 e**-x)`` for ``x >= 0``: the dyadic number just above ``e**-x``."""
    if x < 0:
        raise HedgerowError(f"'x' must not be negative. Got {x} instead.")
    if x > 64:  # 0 < e**-x < 2**-64, and a huge x would cost as many digits
        return 1
    _, high = exp_bounds(-x)
    return min(math.ceil(high * ONE), ONE)


_FEW = 1 << 14  # draws up to which a table does not pay


class LazyCdf:
    """Inverse transform with lazily drawn bits: exact for thresholds known to any precision.

    For thresholds ``c_1 <= c_2 <= ...`` in [0, 1] and ``U`` uniform, ``sample`` returns
    ``offset + #{i : c_i <= U}``. With a 64-bit prefix ``u`` of U, ``c <= U`` is certain once
    ``u >= ceil(2^64 c)`` and impossible while ``u < floor(2^64 c)``; between the two, more bits are drawn.

    Parameters
    ----------
    bounds : callable
        ``bounds(bits)`` returns ``(offset, lows, highs)`` with ``low <= 2**bits * c <= high`` (integers) for
        consecutive thresholds; thresholds left out are nearer to 0 or 1 than ``2**-bits``.

    Examples
    --------
    >>> from hedgerow.randomness import SeededRandomness
    >>> half = LazyCdf(lambda bits: (0, [1 << bits - 1], [1 << bits - 1]))
    >>> int(half.sample(1000, SeededRandomness(0)).sum())
    498
    """

    def __init__(self, bounds: BoundsOf) -> None:
        self._bounds = bounds
        self._offset, lows, highs = bounds(64)
        self._low = np.array([v for v in lows if v < ONE], dtype=np.uint64)
        # high - 1, compared with "<": so that high = 2**64 fits (then no 64 bits are ever enough).
        self._below_high = np.array([max(0, min(v, ONE) - 1) for v in highs[: len(self._low)]], dtype=np.uint64)
        self._drawn = 0
        self._table: npt.NDArray[np.int32] | None = None

    def sample(self, n: int, randomness: Randomness) -> npt.NDArray[np.int32]:
        """Draw ``n`` values."""
        first = randomness.uint16(n)
        out, unsure = self._lookup(first)
        if unsure.size:
            out[unsure] = self._second(first[unsure], randomness)
        if self._offset:
            out += np.int32(self._offset)
        return out

    def add(self, out: IntArray, rows: IntArray, randomness: Randomness) -> None:
        """Add :meth:`sample` to these rows of a matrix."""
        width = out.shape[1]
        kernels = native()
        if kernels is None or not out.flags.c_contiguous or self._drawn + rows.size * width <= _FEW:
            out[rows] += self.sample(rows.size * width, randomness).reshape(-1, width)
            return
        first = randomness.uint16(rows.size * width)
        self.drawn(first.size)
        unsure = np.empty(first.size + 1, dtype=np.int64)
        n = kernels.add_law(out, width, rows, first, self._table, self._offset, unsure)
        if n:
            row, column = np.divmod(unsure[:n], width)
            out[rows[row], column] += self._second(first[unsure[:n]], randomness) + self._offset

    def _lookup(self, first: npt.NDArray[np.uint16]) -> tuple[npt.NDArray[np.int32], IntArray]:
        """Return the count of thresholds for each 16-bit prefix, and where the prefix leaves it open."""
        self.drawn(first.size)
        if self._table is None:
            out = self._count(first)
        elif (kernels := native()) is not None:
            out = np.empty(first.size, dtype=np.int32)
            unsure = np.empty(first.size + 1, dtype=np.int64)
            return out, unsure[: kernels.take(first, self._table, out, unsure)]
        else:
            out = self._table.take(first)
        return out, np.flatnonzero(out < 0)

    def drawn(self, n: int) -> None:
        """Take note of ``n`` draws: after many, a table pays."""
        self._drawn += n
        if self._table is None and self._drawn > _FEW:
            self._table = self._tabulate()

    def finish(self, first: npt.NDArray[np.uint16], randomness: Randomness) -> IntArray:
        """Return the values for 16-bit prefixes that were drawn, drawing more bits where they are needed."""
        out = (self._count(first) if self._table is None else self._table.take(first)).astype(np.int64)
        unsure = np.flatnonzero(out < 0)
        if unsure.size:
            out[unsure] = self._second(first[unsure], randomness)
        return out + self._offset

    def table(self, dtype: npt.DTypeLike) -> npt.NDArray[Any]:
        """Return the value of every 16-bit prefix, -1 where it is left open."""
        table = self._tabulate()
        table[table >= 0] += self._offset
        return table.astype(dtype)

    def keys(self, digit: int) -> tuple[npt.NDArray[np.uint64], npt.NDArray[np.uint64]]:
        """Return the lower bounds, and the upper ones less one, to 60 bits, with four bits before them."""
        four = np.uint64(4)
        head = np.uint64(digit << 60)
        return head | (self._low >> four), head | (self._below_high >> four)

    @property
    def offset(self) -> int:
        """The least value."""
        return self._offset

    def resolve(self, u: int, randomness: Randomness) -> int:
        """Return the value for a 64-bit prefix that leaves it open."""
        return self._resolve(u, randomness) + self._offset

    def _tabulate(self) -> npt.NDArray[np.int32]:
        """Return :meth:`_count` of all 16-bit prefixes: runs between thresholds, open where a threshold lies."""
        lows, highs = ((part >> np.uint64(48)).astype(np.intp) for part in (self._low, self._below_high))
        runs = np.diff(highs, prepend=-1, append=(1 << 16) - 1)
        table = np.repeat(np.arange(runs.size, dtype=np.int32), runs)
        for beyond in range(int((highs - lows).max(initial=0)) + 1):
            table[np.minimum(lows + beyond, highs)] = -1
        return table

    def _count(self, first: npt.NDArray[np.uint16]) -> npt.NDArray[np.int32]:
        """Return the count of thresholds at or below a 16-bit prefix, -1 where the prefix leaves it open."""
        least = first.astype(np.uint64) << np.uint64(48)
        most = least | np.uint64((1 << 48) - 1)
        sure = np.searchsorted(self._below_high, least, side="left")
        possible = np.searchsorted(self._low, most, side="right")
        return np.where(sure == possible, sure, -1).astype(np.int32)

    def _second(self, first: npt.NDArray[np.uint16], randomness: Randomness) -> IntArray:
        u = (first.astype(np.uint64) << np.uint64(48)) | (randomness.uint64(first.size) >> np.uint64(16))
        sure, unsure = _search(self._low, self._below_high, u)
        for i in unsure:
            sure[i] = self._resolve(int(u[i]), randomness)
        return sure

    def _resolve(self, u: int, randomness: Randomness) -> int:
        bits = 64
        while True:
            bits += 64
            u = (u << 64) | randomness.bits(64)
            offset, lows, highs = self._bounds(bits)
            sure = bisect_right(highs, u)
            possible = bisect_right(lows, u)
            if sure == possible:
                return offset + sure - self._offset


def _search(
    low: npt.NDArray[np.uint64], below_high: npt.NDArray[np.uint64], u: npt.NDArray[np.uint64]
) -> tuple[IntArray, IntArray]:
    """Return how many thresholds certainly lie at or below each ``u``, and where more of them may."""
    if (kernels := native()) is not None:
        sure = np.empty(u.size, dtype=np.int64)
        open_ = np.empty(u.size + 1, dtype=np.int64)
        return sure, open_[: kernels.search(low, below_high, u, sure, open_)]
    sure = np.searchsorted(below_high, u, side="left").astype(np.int64, copy=False)
    return sure, np.flatnonzero(sure != np.searchsorted(low, u, side="right"))


def _scaled(values: list[Decimal], bits: int, error: Decimal) -> tuple[list[int], list[int]]:
    """Return integer bounds of ``2**bits * value`` given an absolute error bound on every value."""
    unit = Decimal(1 << bits)
    lows = [max(0, math.floor((v - error) * unit)) for v in values]
    highs = [max(0, math.ceil((v + error) * unit)) for v in values]
    return lows, highs


def bernoulli(numerator: int, n: int, randomness: Randomness) -> npt.NDArray[np.bool_]:
    """``n`` independent bits, each 1 with probability exactly ``numerator / 2**64``."""
    if not 0 <= numerator <= ONE:
        raise HedgerowError(f"'numerator' must be in 0 .. 2**64. Got {numerator!r} instead.")
    if numerator in (0, ONE):
        return np.full(n, numerator == ONE)
    head = np.uint8(numerator >> 56)
    tail = np.uint64(numerator & ((1 << 56) - 1))
    first = randomness.uint8(n)
    out = first < head
    unsure = np.flatnonzero(first == head)
    if unsure.size:
        out[unsure] = (randomness.uint64(unsure.size) >> np.uint64(8)) < tail
    return out


def bernoulli_exp(x: Fraction, n: int, randomness: Randomness) -> npt.NDArray[np.bool_]:
    """``n`` independent bits with ``P(1) = e**-x`` exactly, for a rational ``x >= 0``."""
    if x < 0:
        raise HedgerowError(f"'x' must not be negative. Got {x} instead.")
    if x == 0:
        return np.ones(n, dtype=bool)
    ones: npt.NDArray[np.bool_] = _exp_cdf(Fraction(x)).sample(n, randomness) == 0
    return ones


@lru_cache(maxsize=256)
def _exp_cdf(x: Fraction) -> LazyCdf:
    def bounds(bits: int) -> tuple[int, list[int], list[int]]:
        low, high = exp_bounds(-x, bits + 64)
        return 0, [math.floor(low * (1 << bits))], [math.ceil(high * (1 << bits))]

    return LazyCdf(bounds)


_DIGIT = 256  # values of a table of a digit: 8 bits of a geometric
_RARELY = -8  # log2 of the chance to leave a table, up to which it needs no further digit: 1 draw in 256
_WIDEST = ONE - (1 << 14)
"""Largest ratio drawn from, ``1 - 2**-50``: beyond it a magnitude could leave 63 bits."""


def _check_ratio(numerator: int) -> None:
    if not 0 <= numerator <= _WIDEST:
        raise HedgerowError(
            f"'numerator' must be in 0 .. 2**64 - 2**14 (noise up to 2**50 wide). Got {numerator!r} instead."
        )


@lru_cache(maxsize=1024)
def _geometric_cdf(numerator: int, exponent: int, truncated: bool) -> LazyCdf:
    """Geometric law of ratio ``r = (numerator/2**64)**exponent``: thresholds ``P(G < k) = 1 - r**k``.

    ``truncated`` conditions on ``G < 256``; otherwise the last cell is "256 or more".
    """

    def bounds(bits: int) -> tuple[int, list[int], list[int]]:
        with decimal.localcontext(_context(bits, guard=90)) as context:
            r = (Decimal(numerator) / Decimal(ONE)) ** exponent
            power = Decimal(1)
            values = []
            for _ in range(_DIGIT):
                power *= r
                values.append(1 - power)
            if truncated:
                whole = values.pop()
                values = [v / whole for v in values]
            return 0, *_scaled(values, bits, Decimal(10) ** (40 - context.prec))

    return LazyCdf(bounds)


def geometric(numerator: int, n: int, randomness: Randomness, *, exponent: int = 1) -> IntArray:
    """``n`` draws of ``P(G = k) = (1 - r) r**k`` with ``r = (numerator / 2**64) ** exponent``.

    The base-256 digits of a geometric are independent: the low one is geometric conditioned on ``< 256``,
    the rest is geometric with ratio ``r**256``. When the high part is rarely needed (``r**256 < 2**-8``) one
    table is used and whatever lands beyond it starts afresh from there (a geometric has no memory).
    """
    _check_ratio(numerator)
    if numerator == 0:
        return np.zeros(n, dtype=np.int64)
    if exponent * _DIGIT * math.log2(numerator / ONE) < _RARELY:
        out = _geometric_cdf(numerator, exponent, False).sample(n, randomness).astype(np.int64)
        beyond = np.flatnonzero(out == _DIGIT)
        if beyond.size:
            out[beyond] += geometric(numerator, beyond.size, randomness, exponent=exponent)
        return out
    low = _geometric_cdf(numerator, exponent, True).sample(n, randomness)
    high = geometric(numerator, n, randomness, exponent=exponent * _DIGIT)
    high *= _DIGIT
    high += low
    return high


@lru_cache(maxsize=256)
def _laplace_cdf(numerator: int) -> LazyCdf:
    """Two-sided law on ``-255 .. 255``, the rest in end cells: ``P(X <= k)`` for ``k = -256 .. 255``."""

    def bounds(bits: int) -> tuple[int, list[int], list[int]]:
        with decimal.localcontext(_context(bits, guard=90)) as context:
            r = Decimal(numerator) / Decimal(ONE)
            tails = []
            power = r / (1 + r)
            for _ in range(_DIGIT):
                tails.append(power)  # P(X >= k) = r**k / (1 + r) for k = 1 .. 256
                power *= r
            values = tails[::-1] + [1 - t for t in tails]
            return 0, *_scaled(values, bits, Decimal(10) ** (40 - context.prec))

    return LazyCdf(bounds)


def discrete_laplace(numerator: int, n: int, randomness: Randomness) -> IntArray:
    """``n`` draws of ``P(X = k) = (1 - r)/(1 + r) * r**|k|`` with ``r = numerator / 2**64``.

    Narrow noise comes from one two-sided table, wide noise as a sign and a geometric magnitude ("minus zero"
    is drawn again); both are exact.

    >>> from hedgerow.randomness import SeededRandomness
    >>> noise = discrete_laplace(dyadic_exp(Fraction(1, 10)), 10_000, SeededRandomness(1))
    >>> bool(abs(noise.mean()) < 1) and bool(abs(noise.var() - 200) < 20)
    True
    """
    _check_ratio(numerator)
    if numerator == 0:
        return np.zeros(n, dtype=np.int64)
    if _DIGIT * math.log2(numerator / ONE) < _RARELY:
        return _narrow_laplace(numerator, n, randomness)
    negative = np.unpackbits(randomness.uint8((n + 7) // 8), count=n).view(bool)
    out = geometric(numerator, n, randomness)
    again = np.flatnonzero(negative & (out == 0))
    np.negative(out, out=out, where=negative)
    if again.size:
        out[again] = discrete_laplace(numerator, again.size, randomness)
    return out


def _narrow_laplace(numerator: int, n: int, randomness: Randomness) -> IntArray:
    out = _laplace_cdf(numerator).sample(n, randomness).astype(np.int64)
    out -= _DIGIT
    _lengthen(out, numerator, randomness)
    return out


def _lengthen(out: IntArray, numerator: int, randomness: Randomness) -> None:
    """Go on from the end cells of the table: a geometric has no memory."""
    beyond = np.flatnonzero((out == -_DIGIT) | (out == _DIGIT))
    if beyond.size:
        extra = geometric(numerator, beyond.size, randomness)
        out[beyond] += np.where(out[beyond] > 0, extra, -extra)


@lru_cache(maxsize=512)
def _binomial_cdf(n: int, numerator: int) -> LazyCdf:
    """Binomial law of ``n`` trials: thresholds ``P(X <= k)``, from the mode outwards."""

    def bounds(bits: int) -> tuple[int, list[int], list[int]]:
        return _binomial_bounds(n, numerator, bits)

    return LazyCdf(bounds)


_GUARD = 64  # bits more than asked for: the error, about the square of the terms, is below a unit up to 2**31 terms


def _binomial_bounds(n: int, numerator: int, bits: int) -> tuple[int, list[int], list[int]]:
    """Bound ``2**bits P(X <= k)`` in fixed-point integers; the term at the mode is ``2**(bits + 64)``.

    Away from the mode terms fall, so a term that is rounded down in every step is too small by less than the
    number of steps, and what is left out by less than a geometric series. With E the sum of all these errors,
    ``cum / (whole + E) <= P(X <= k) <= (cum + E) / whole``, and the two differ by at most ``2 E / whole``.
    """
    odds = numerator
    against = ONE - numerator
    mode = min(n, (n + 1) * numerator // ONE)
    top = 1 << (bits + _GUARD)
    up, above = _falling(top, bits, ((odds * (n - k), against * (k + 1)) for k in range(mode, n)))
    down, below = _falling(top, bits, ((against * k, odds * (n - k + 1)) for k in range(mode, 0, -1)))
    terms = [*reversed(down), top, *up]
    whole = sum(terms)
    error = above + below
    if 2 * error << bits > whole:
        raise HedgerowError(f"a binomial of {n} trials is too wide for {bits} bits.")
    first = mode - len(down)
    last = mode + len(up)
    if last == n:
        terms.pop()  # P(X <= n) is 1: not a threshold
    if first > 0:  # stands for all that were left out: a prefix of zeros must not decide
        terms.insert(0, 0)
        first -= 1
    lows = [(cum << bits) // (whole + error) for cum in accumulate(terms)]
    return first, lows, [low + 2 for low in lows]


def _falling(term: int, bits: int, ratios: Iterator[tuple[int, int]]) -> tuple[list[int], int]:
    """Multiply ``term`` by falling ratios ``a / b <= 1``, rounding down, until the rest is below ``2**-bits / 1024``.

    Returns the terms and a bound of the sum of all errors: of rounding, and of the terms left out.
    """
    limit = term >> (bits + 10)
    out = list[int]()
    for a, b in ratios:
        if term * a <= limit * (b - a):  # what follows is below term * r / (1 - r), with r = a / b
            steps = len(out)
            return out, steps * (steps + 1) + limit + steps * a // (b - a) + 1
        term = term * a // b
        out.append(term)
    return out, len(out) * (len(out) + 1)


class _HexDigit:
    """Binomials of ``a * unit`` trials for digits ``a = 0 .. 15``: sixteen tables, one look-up each.

    Where 16 bits leave a value open, 60 bits are looked up among the thresholds of all digits at once (the digit
    goes before them), and in the vanishing rest the digit's own :class:`LazyCdf` goes on.
    """

    def __init__(self, unit: int, numerator: int) -> None:
        self._laws = [_binomial_cdf(a * unit, numerator) for a in range(1, 16)]
        tables = [np.zeros(1 << 16, dtype=np.int16), *(law.table(np.int16) for law in self._laws)]
        self._table = np.concatenate(tables)
        by_twelve_bits = self._table.reshape(-1, 16)
        same = by_twelve_bits.min(axis=1) == by_twelve_bits.max(axis=1)
        self._coarse = np.where(same, by_twelve_bits[:, 0], np.int16(-1))
        keys = [law.keys(a) for a, law in enumerate(self._laws, 1)]
        self._low, self._below_high = (np.concatenate(part) for part in zip(*keys, strict=True))
        # Value = position among all thresholds - thresholds of lower digits + offset of the law.
        starts = np.cumsum([0, *(len(low) for low, _ in keys)])[:-1]
        self._shift = np.array([0, *(law.offset for law in self._laws)]) - np.array([0, *starts])

    def sample(self, digit: IntArray, randomness: Randomness) -> npt.NDArray[np.int16]:
        """Draw one value for each digit."""
        first = randomness.uint16(digit.size)
        index = digit << 16
        index |= first
        out = self._table.take(index)
        unsure = np.flatnonzero(out < 0)
        if unsure.size:
            out[unsure] = self._finish(digit[unsure], first[unsure], randomness)
        return out

    def add(self, out: IntArray, rows: IntArray | None, trials: IntArray, shift: int, randomness: Randomness) -> None:
        """Add :meth:`sample` of a digit of ``trials``, repeated along each row, to these rows (or all) of a matrix.

        Needs the compiled kernels.
        """
        width = out.shape[1]
        n_rows = len(out) if rows is None else len(rows)
        first = randomness.uint16(n_rows * width)
        unsure = np.empty(first.size + 1, dtype=np.int64)
        index = _ALL if rows is None else rows
        n = native().add_digits(out, width, index, trials, shift, first, self._table, self._coarse, unsure)
        if n:
            row, column = np.divmod(unsure[:n], width)
            row = row if rows is None else rows[row]
            out[row, column] += self._finish((trials[row] >> shift) & 15, first[unsure[:n]], randomness)

    def _finish(self, digit: IntArray, first: npt.NDArray[np.uint16], randomness: Randomness) -> IntArray:
        u = (first.astype(np.uint64) << np.uint64(48)) | (randomness.uint64(first.size) >> np.uint64(16))
        key = (digit.astype(np.uint64) << np.uint64(60)) | (u >> np.uint64(4))
        sure, unsure = _search(self._low, self._below_high, key)
        values: IntArray = sure + self._shift[digit]
        for i in unsure:
            values[i] = self._laws[digit[i] - 1].resolve(int(u[i]), randomness)
        return values


_ALL = np.empty(0, dtype=np.int64)  # stands for all rows, in the compiled kernels
_hex_digit = lru_cache(maxsize=12)(_HexDigit)
_HEX_BITS = 12  # of counts that have tables: three digits of 15 tables of 128 kB
_MANY = 1 << 15  # draws from which the tables pay; by hand


def binomial(trials: npt.NDArray[np.integer], numerator: int, randomness: Randomness) -> IntArray:
    """Binomial counts with ``p = numerator / 2**64``, one for each entry of ``trials``.

    Binomials add up: ``N`` is cut into its bits, ``N = sum of 2**k``, and one exact table for each power of two
    serves every ``N``. For many entries the low twelve bits are cut into three hexadecimal digits, with a table for
    each value of a digit: fewer look-ups, and fewer random bytes. In a matrix what the entries of a row have in
    common is cut only once.

    >>> from hedgerow.randomness import SeededRandomness
    >>> binomial(np.array([0, 5, 1000]), ONE // 2, SeededRandomness(0)).tolist()
    [0, 2, 486]
    """
    counts = np.asarray(trials, dtype=np.int64)
    if counts.size and counts.min() < 0:
        raise HedgerowError("'trials' must not be negative.")
    if not 0 <= numerator <= ONE:
        raise HedgerowError(f"'numerator' must be in 0 .. 2**64. Got {numerator!r} instead.")
    if numerator in (0, ONE):
        return counts * (numerator == ONE)
    out = np.zeros(counts.shape, dtype=np.int64)
    if counts.ndim == 2 and counts.size >= _MANY:
        # As much of each row as leaves one hexadecimal digit, if it can be, and has few digits itself.
        common = np.minimum(counts.max(axis=1) & ~15, counts.min(axis=1))
        _add_binomials(out, common, numerator, randomness)
        counts = counts - common[:, None]
    _add_binomials(out.reshape(-1, 1), counts.ravel(), numerator, randomness)
    return out


def _add_binomials(out: IntArray, trials: IntArray, numerator: int, randomness: Randomness) -> None:
    """Add binomial draws to a matrix: as many as a row is long for each entry of ``trials``."""
    length = int(trials.max(initial=0)).bit_length()
    start = 0
    if out.size >= _MANY:
        for start in range(0, min(length, _HEX_BITS), 4):
            _add_digit(out, trials, start, _hex_digit(1 << start, numerator), randomness)
        start = _HEX_BITS
    for k in range(start, length):
        rows = np.flatnonzero((trials >> k) & 1)
        _binomial_cdf(1 << k, numerator).add(out, rows, randomness)


def _add_digit(out: IntArray, trials: IntArray, shift: int, law: _HexDigit, randomness: Randomness) -> None:
    """Add draws for one digit of each row; rows where it is zero are left alone, unless they are few."""
    kernels = native()
    if kernels is not None and out.flags.c_contiguous:
        trials, nonzero = np.ascontiguousarray(trials), np.empty(len(trials) + 1, dtype=np.int64)
        n = kernels.digits(trials, shift, nonzero)
        if n:
            law.add(out, nonzero[:n] if 4 * n < 3 * len(trials) else None, trials, shift, randomness)
        return
    digit = (trials >> shift) & 15
    rows: Any = slice(None)
    if 4 * np.count_nonzero(digit) < 3 * digit.size:
        rows = np.flatnonzero(digit)
        digit = digit[rows]
    width = out.shape[1]
    drawn = law.sample(digit if width == 1 else np.repeat(digit, width), randomness)
    out[rows] += drawn.reshape(-1, width)
