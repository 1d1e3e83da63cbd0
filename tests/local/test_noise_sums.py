"""Sums of n discrete Laplace noises, drawn at once. False alarms: below 1e-6 a test (same_law: 1e-7 a call)."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow import noise_sums
from hedgerow.noise_sums import laplace_sum, negative_binomial
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE, discrete_laplace, dyadic_exp


def negative_binomial_law(n, r, most):
    law = {k: math.comb(n + k - 1, k) * (1 - r) ** n * r**k for k in range(most)}
    law[most] = 1 - sum(law.values())
    return law


def laplace_sum_law(n, r, most):
    """The exact law of a sum of n discrete Laplace variables, ends merged, by convolution."""
    one = np.array([(1 - r) / (1 + r) * r ** abs(k) for k in range(-400, 401)])
    total = np.array([1.0])
    for _ in range(n):
        total = np.convolve(total, one)
    middle = len(total) // 2
    law = {k: total[middle + k] for k in range(-most, most + 1)}
    tail = (1 - sum(law.values())) / 2
    law[most], law[-most] = law[most] + tail, law[-most] + tail
    return law


@pytest.mark.parametrize(("n", "ratio"), [(1, 0.5), (2, 0.9), (7, 0.3), (40, 0.8), (1000, 0.01)])
def test_negative_binomial_has_its_law(n, ratio, same_law):
    numerator = int(ratio * ONE)
    most = int(n * ratio / (1 - ratio) + 12 * math.sqrt(n * ratio) / (1 - ratio)) + 2
    draws = negative_binomial(n, numerator, 40_000, SeededRandomness(3))
    same_law(np.minimum(draws, most).tolist(), negative_binomial_law(n, numerator / ONE, most))


@pytest.mark.parametrize("n", [1, 3, 10])
def test_laplace_sum_has_the_law_of_a_sum(n, same_law):
    numerator = dyadic_exp(Fraction(1, 4))
    most = 60
    law = laplace_sum_law(n, numerator / ONE, most)
    draws = laplace_sum(n, numerator, 40_000, SeededRandomness(1))
    same_law(np.clip(draws, -most, most).tolist(), law)
    one_by_one = discrete_laplace(numerator, 20_000 * n, SeededRandomness(2)).reshape(-1, n).sum(axis=1)
    same_law(np.clip(one_by_one, -most, most).tolist(), law)


def test_law_test_notices_ten_percent_less_noise(same_law):
    numerator, weaker = dyadic_exp(Fraction(1, 4)), dyadic_exp(Fraction(11, 40))
    draws = laplace_sum(10, weaker, 40_000, SeededRandomness(1))
    with pytest.raises(AssertionError):
        same_law(np.clip(draws, -60, 60).tolist(), laplace_sum_law(10, numerator / ONE, 60))


def test_parts_and_single_draws_have_the_same_law(monkeypatch, same_law):
    """A number of holders beyond the widest table is cut into parts; very wide noise is drawn one by one."""
    numerator, n, most = int(0.5 * ONE), 13, 60
    law = negative_binomial_law(n, 0.5, most)
    for part in (4, 0):
        monkeypatch.setattr(noise_sums, "_longest_part", lambda _, part=part: part)
        draws = negative_binomial(n, numerator, 5_000, SeededRandomness(part))
        same_law(np.minimum(draws, most).tolist(), law)


def test_tables_stay_small_and_wide_noise_needs_none():
    for epsilon in (10.0, 1.0, 0.1, 1e-3, 1e-6):
        numerator = dyadic_exp(Fraction(epsilon))
        m, r = noise_sums._longest_part(numerator), numerator / ONE
        assert 24 * math.sqrt(m * r) / (1 - r) <= 1 << 17
    assert noise_sums._longest_part(ONE - (1 << 14)) == 0


def test_a_million_holders_have_the_right_spread():
    """Variance n 2r/(1-r)^2; for 4,000 near-normal draws 8 deviations of the estimate: a chance below 1e-14."""
    numerator, n = dyadic_exp(Fraction(1, 2)), 10**6
    r = numerator / ONE
    draws = laplace_sum(n, numerator, 4000, SeededRandomness(0))
    expected = n * 2 * r / (1 - r) ** 2
    assert abs(draws.var() / expected - 1) < 8 * math.sqrt(2 / 4000)
    assert abs(draws.mean()) < 8 * math.sqrt(expected / 4000)


def test_nothing_to_add():
    source = SeededRandomness(0)
    assert negative_binomial(0, ONE // 2, 3, source).tolist() == [0, 0, 0]
    assert laplace_sum(5, 0, 2, source).tolist() == [0, 0]
    assert laplace_sum(5, ONE // 2, 0, source).tolist() == []
    with pytest.raises(ValueError, match="'n'"):
        negative_binomial(-1, ONE // 2, 1, source)


@pytest.mark.parametrize(
    ("n", "ratio"), [(1, Fraction(1, 2)), (3, Fraction(9, 10)), (50, Fraction(1, 3)), (400, Fraction(7, 8))]
)
@pytest.mark.parametrize("bits", [64, 128])
def test_thresholds_enclose_the_exact_law(n, ratio, bits):
    """Every threshold against P(NB <= k) in exact fractions; what is left out is nearer to 0 or 1 than 2**-bits."""
    numerator = int(ratio * ONE)
    r = Fraction(numerator, ONE)
    first, lows, highs = noise_sums._cdf(n, numerator)._bounds(bits)
    term, total, k = (1 - r) ** n, Fraction(0), 0
    while k < first:
        total += term
        term *= r * Fraction(n + k, k + 1)
        k += 1
    assert total * 2**bits < 1
    step = max(1, len(lows) // 60)
    for i, (low, high) in enumerate(zip(lows, highs, strict=True)):
        total += term
        if i % step == 0 or i == len(lows) - 1:
            assert low <= total * 2**bits <= high and high - low <= 2
            total, term = _shorter(total, bits), _shorter(term, bits)
        term *= r * Fraction(n + k, k + 1)
        k += 1
    assert (1 - total) * 2**bits < 1


def _shorter(value, bits):
    """Round to 400 bits more than are compared, so that fractions stay short."""
    scale = 1 << (bits + 400)
    return Fraction(round(value * scale), scale)
