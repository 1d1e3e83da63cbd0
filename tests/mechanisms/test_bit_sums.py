import math
from fractions import Fraction
from itertools import product

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms import bit_sums
from hedgerow.mechanisms.bit_sums import BitSums, flips_delta, flips_variance
from hedgerow.mechanisms.normal import gdp_delta, gdp_mu
from hedgerow.mechanisms.zcdp import gaussian_variance
from hedgerow.randomness import SeededRandomness


def brute(variance, flips, epsilon):
    """Delta by going through all noisy vectors, in floats."""
    reach = math.ceil(10 * math.sqrt(variance)) + 2
    k = np.arange(-reach, reach + 1)
    p = np.exp(-(k**2) / (2 * float(variance)))
    p /= p.sum()
    moved = np.concatenate([[0.0], p[:-1]])
    one, other = np.ones(1), np.ones(1)
    for _ in range(flips):
        one, other = np.multiply.outer(one, p).ravel(), np.multiply.outer(other, moved).ravel()
    return float(np.maximum(one - math.exp(epsilon) * other, 0).sum())


@pytest.mark.parametrize("variance", [Fraction(1, 4), Fraction(1), Fraction(9, 2), Fraction(20)])
@pytest.mark.parametrize("flips", [1, 2, 3])
def test_delta_is_that_of_all_noisy_vectors(variance, flips):
    for epsilon in (0.01, 0.5, 2.0):
        assert float(flips_delta(variance, flips, epsilon)) == pytest.approx(brute(variance, flips, epsilon), rel=1e-9)


@pytest.mark.parametrize("flips", [2, 5, 16])
@pytest.mark.parametrize("variance", [Fraction(16), Fraction(40), Fraction(100)])
def test_wide_sums_are_those_of_integers(flips, variance, monkeypatch):
    epsilon = 2.5 * math.sqrt(flips / variance)
    wide = flips_delta(variance, flips, epsilon)
    monkeypatch.setattr(bit_sums, "_WIDE", math.inf)
    integers = flips_delta.__wrapped__(variance, flips, epsilon)
    bit_sums._sum_of.cache_clear()
    exact = flips_delta.__wrapped__(variance, flips, epsilon)
    bit_sums._sum_of.cache_clear()
    assert integers == wide  # from the cache
    assert abs(exact / wide - 1) < Fraction(1, 10**15)


def test_more_flips_and_less_noise_cost_more():
    deltas = [flips_delta(Fraction(20), flips, 1.0) for flips in range(1, 17)]
    assert deltas == sorted(set(deltas))
    assert flips_delta(Fraction(19), 16, 1.0) > deltas[-1] > flips_delta(Fraction(20), 16, 1.1)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_noise_is_that_of_the_continuous_gaussian_and_less_than_zcdp_asks_for(epsilon):
    variance = flips_variance(16, epsilon, 1e-6)
    assert (
        flips_delta(variance, 16, epsilon) <= Fraction(1e-6) < flips_delta(variance * Fraction(999, 1000), 16, epsilon)
    )
    assert math.sqrt(variance) == pytest.approx(4 / gdp_mu(epsilon, 1e-6), rel=1e-3)
    assert float(flips_delta(variance, 16, epsilon)) == pytest.approx(
        float(gdp_delta(Fraction(4) / Fraction(math.sqrt(variance)), epsilon)), rel=5e-3
    )
    assert 1.05 < math.sqrt(gaussian_variance(16, epsilon, 1e-6) / variance) < 1.09


def test_a_replaced_person_flips_twice_the_weight():
    """By enumeration: all pairs of vectors of at most so many bits."""
    for length, weight in [(4, 1), (5, 2), (3, 2), (2, 2), (1, 1)]:
        vectors = [v for v in product((0, 1), repeat=length) if sum(v) <= weight]
        flips = max(sum(a != b for a, b in zip(v, w, strict=True)) for v in vectors for w in vectors)
        assert flips == min(2 * weight, length)
        mechanism = BitSums(1.0, 1e-3, weight=weight, length=length)
        assert mechanism.variance == flips_variance(flips, 1.0, 1e-3)


def test_the_design_of_eight_trees_has_sensitivity_four():
    mechanism = BitSums(1.0, 1e-6, weight=8, length=512)
    assert mechanism.variance == flips_variance(16, 1.0, 1e-6)
    assert round(math.sqrt(mechanism.variance), 1) == 16.9


def test_each_sum_gets_noise_of_its_own():
    mechanism = BitSums(1.0, 1e-6, weight=8, length=512)
    noise = mechanism.noise(200, SeededRandomness(0)).astype(float)
    assert noise.shape == (200, 512)
    # Means of 102,400 squares, and of products of neighbours: within 8 deviations (1e-14).
    wide = float(mechanism.variance)
    assert abs((noise**2).mean() / wide - 1) < 8 * math.sqrt(2 / noise.size)
    assert abs((noise[:, 1:] * noise[:, :-1]).mean() / wide) < 8 / math.sqrt(noise.size)
    assert BitSums(math.inf, 1e-6).noise(2).tolist() == [[0, 0], [0, 0]]


def test_what_cannot_be_is_refused():
    for call in (
        lambda: BitSums(1.0, 0.0),
        lambda: BitSums(1.0, 1.0),
        lambda: BitSums(1.0, 1e-6, weight=3, length=2),
        lambda: BitSums(1.0, 1e-6, weight=0),
        lambda: flips_variance(0, 1.0, 1e-6),
        lambda: flips_variance(2, 1e-7, 1e-6),
    ):
        with pytest.raises(HedgerowError):
            call()
