"""Binomials of many cells: bounds in integers, and tables of hexadecimal digits, against exact rationals."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import samplers
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE, binomial

P = int(0.3775 * ONE)


def exact_cdf(n, numerator):
    """Numerators of P(X <= k), k = 0 .. n - 1, over ``2**(64 n)``."""
    other, weight, total, out = ONE - numerator, (ONE - numerator) ** n, 0, []
    for k in range(n):
        total += weight
        out.append(total)
        weight = weight * (n - k) * numerator // ((k + 1) * other)  # exact: the next weight is an integer
    return out


@pytest.mark.parametrize("bits", [64, 128, 320])
@pytest.mark.parametrize(
    ("n", "numerator"), [(1, P), (15, P), (240, P), (700, ONE // 2), (700, 3 << 40), (700, ONE - 9), (300, 1), (3, 1)]
)
def test_bounds_enclose_the_exact_thresholds(n, numerator, bits):
    first, lows, highs = samplers._binomial_bounds(n, numerator, bits)
    scale, cdf = 64 * n, exact_cdf(n, numerator)
    for k, (low, high) in enumerate(zip(lows, highs, strict=True), first):
        assert low << scale <= cdf[k] << bits <= high << scale
    # What is left out is nearer to an end than 2**-bits, and a prefix at that end is left open.
    if first > 0:
        assert cdf[first - 1] << bits < 1 << scale and lows[0] == 0
    last = first + len(lows) - 1
    if last < n - 1:
        assert ((1 << scale) - cdf[last + 1]) << bits < 1 << scale and highs[-1] > (1 << bits) - 1 >= lows[-1]


def test_bounds_of_many_trials_enclose_the_exact_thresholds():
    n = 15 << 8
    first, lows, highs = samplers._binomial_bounds(n, P, 64)
    scale, cdf = 64 * n, exact_cdf(n, P)
    for i in range(0, len(lows), 7):
        assert lows[i] << scale <= cdf[first + i] << 64 <= highs[i] << scale


@pytest.mark.parametrize("unit", [1, 16, 256])
@pytest.mark.parametrize("numerator", [P, ONE // 2, 1 << 40, ONE - 5])
def test_a_hexadecimal_digit_draws_what_its_laws_draw(unit, numerator):
    # The same bytes in the same order must give the same values as the law of each digit, which is tested by itself.
    digits = samplers._HexDigit(unit, numerator)
    for a in range(1, 16):
        law = samplers._binomial_cdf.__wrapped__(a * unit, numerator)
        expected = law.sample(30_000, SeededRandomness(a))
        assert np.array_equal(digits.sample(np.full(30_000, a), SeededRandomness(a)), expected)
    assert not digits.sample(np.zeros(100, dtype=np.int64), SeededRandomness(0)).any()


@pytest.mark.parametrize("a", [1, 7, 15])
def test_prefixes_on_the_thresholds_of_a_digit_are_resolved_exactly(a, script):
    unit, n = 16, 16 * a
    digits, thresholds = samplers._HexDigit(unit, P), [Fraction(c, 1 << (64 * n)) for c in exact_cdf(n, P)]
    deep = 0
    for c in thresholds[::5]:
        whole = math.floor(c * (1 << 128))
        for step in (-1, 0, 1, -1 << 64, 1 << 64, -1 << 68, 1 << 68):
            u = min(max(whole + step, 0), (1 << 128) - 1)
            first, rest, word = u >> 112, (u >> 64) & ((1 << 48) - 1), u & (ONE - 1)
            parts = [first.to_bytes(2, "little"), (rest << 16 | 0xBEEF).to_bytes(8, "little"), word.to_bytes(8, "big")]
            source = script(*parts, (1 << 63).to_bytes(8, "big"))
            value = int(digits.sample(np.array([a]), source)[0])
            used = {24: 16, 16: 64, 8: 128, 0: 192}[len(source.left)]
            full = (u << 64) | (1 << 63)
            prefix = full >> (192 - used)
            assert value == 0 or thresholds[value - 1] <= Fraction(prefix, 1 << used)
            assert value == n or Fraction(prefix + 1, 1 << used) <= thresholds[value]
            deep += used > 64
    assert deep, "the deep path was never taken"


def law_of(n, p):
    return {k: math.comb(n, k) * p**k * (1 - p) ** (n - k) for k in range(n + 1)}


def test_large_matrices_have_the_binomial_law_in_every_cell(same_law):
    # Rows share most of their trials; cells of a row differ. 5 * 1e-7 false alarms.
    trials = np.repeat(np.array([[0], [3], [40], [700]]), 40_000, axis=1)
    trials[2, ::2] += 17
    drawn = binomial(trials, P, SeededRandomness(1))
    p = P / ONE
    assert (drawn[0] == 0).all()
    for cells, n in ((drawn[1], 3), (drawn[2, 1::2], 40), (drawn[2, ::2], 57), (drawn[3], 700)):
        same_law(cells.tolist(), law_of(n, p))
    # Neighbouring cells are independent, although their rows were cut together: the sum of two is binomial.
    same_law((drawn[2, ::2] + drawn[2, 1::2]).tolist(), law_of(97, p))


@pytest.mark.parametrize("n", [15, 16, 255, 4095, 4096, 100_000, 9_999_999])
def test_moments_across_the_digits(n):
    # Mean and variance within 6 standard errors: 4e-9 false alarms.
    size, p = 1 << 16, P / ONE
    drawn = binomial(np.full((4, size // 4), n), P, SeededRandomness(n)).ravel()
    variance = n * p * (1 - p)
    assert abs(drawn.mean() - n * p) < 6 * math.sqrt(variance / size)
    fourth = 3 * variance**2 + variance
    assert abs(((drawn - n * p) ** 2).mean() - variance) < 6 * math.sqrt(fourth / size)


def test_shapes_and_dtypes_are_kept():
    for shape in [(70_000,), (10, 7000), (7, 100, 100), (70_000, 1), (1, 70_000), (0, 5)]:
        trials = np.random.default_rng(0).integers(0, 5000, shape)
        drawn = binomial(trials, P, SeededRandomness(0))
        assert drawn.shape == shape and drawn.dtype == np.int64
        assert ((drawn >= 0) & (drawn <= trials)).all()
