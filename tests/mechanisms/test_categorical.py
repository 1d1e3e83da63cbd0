"""Randomisers of a category: their closed forms are those of the law, and estimates are unbiased."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms import BitVectorResponse, KaryResponse, SubsetSelection, UnaryEncoding
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE

CATEGORICAL = [BitVectorResponse, UnaryEncoding, KaryResponse, SubsetSelection]
SMALL = [
    *[make(epsilon, 4) for make in CATEGORICAL for epsilon in (0.1, 1.0, 4.0)],
    *[SubsetSelection(1.0, 5, size) for size in (1, 2, 3, 4)],
    *[KaryResponse(1.0, k) for k in (1, 2)],
    *[make(1.0, k) for make in (BitVectorResponse, UnaryEncoding) for k in (1, 2)],
]
small = pytest.mark.parametrize("mechanism", SMALL, ids=repr)
kinds = pytest.mark.parametrize("make", CATEGORICAL)


def supports(mechanism, output, category):
    if isinstance(mechanism, SubsetSelection):
        return category in output
    return output == category if isinstance(mechanism, KaryResponse) else bool(output[category])


def mass(mechanism, value, *categories):
    """The exact probability that all of the categories are supported."""
    law = mechanism.law(value)
    pairs = zip(law.outputs, law.weights, strict=True)
    weight = sum(w for o, w in pairs if all(supports(mechanism, o, c) for c in categories))
    return Fraction(weight, law.total)


@pytest.mark.parametrize("mechanism", SMALL[12:], ids=repr)
def test_sampler_follows_the_law_at_the_edges_too(mechanism, probabilities, same_law):
    """One and two categories, sets of all sizes; false alarm 1e-7 for each of two inputs."""
    for value in {0, mechanism.n_inputs - 1}:
        reports = mechanism.randomize(np.full(20_000, value), SeededRandomness(value))
        same_law(mechanism.outcomes(reports), probabilities(mechanism.law(value)))


@small
def test_p_q_and_joint_are_those_of_the_law(mechanism):
    k = mechanism.n_inputs
    for value in range(k):
        for one in range(k):
            expected = mechanism.p if one == value else mechanism.q
            assert mass(mechanism, value, one) == expected
            for two in range(one):
                assert mass(mechanism, value, one, two) == mechanism.joint[0 if value in (one, two) else 1]


@small
def test_estimate_is_unbiased_and_its_variance_exact(mechanism):
    # One report supports w with p or q, so (1 - q)/(p - q) and -q/(p - q) are its two estimates.
    p, q = mechanism.p, mechanism.q
    for value in range(mechanism.n_inputs):
        for category in range(mechanism.n_inputs):
            chance = mass(mechanism, value, category)
            own = int(value == category)
            yes, no = (1 - q) / (p - q), -q / (p - q)
            assert chance * yes + (1 - chance) * no == own
            variance = chance * yes**2 + (1 - chance) * no**2 - own
            assert mechanism.variance(1, own) == pytest.approx(float(variance), rel=1e-9)
    assert mechanism.estimate([1, 0], 1) == pytest.approx([float(yes), float(no)], rel=1e-9)


@kinds
def test_estimates_of_a_population(make):
    mechanism, counts = make(1.5, 6), np.array([4000, 0, 1000, 3000, 10, 1990])
    n = counts.sum()
    reports = mechanism.randomize(np.repeat(np.arange(6), counts), SeededRandomness(1))
    error = mechanism.estimate(mechanism.support(reports), n) - counts
    # 5.7 standard deviations, six categories: false alarm below 1e-7.
    assert (np.abs(error) < 5.7 * np.sqrt(mechanism.variance(n, counts))).all()


@kinds
def test_variance_of_a_simulation(make):
    mechanism, counts, runs = make(1.0, 3), np.array([30, 50, 20]), 4000
    reports = mechanism.randomize(np.tile(np.repeat(np.arange(3), counts), runs), SeededRandomness(2))
    estimates = [mechanism.estimate(mechanism.support(r), 100) for r in np.split(reports, runs)]
    expected = mechanism.variance(100, counts)
    # A variance of 4000 nearly normal values has relative deviation sqrt(2/4000); 5.6 of them: 1e-7 in all.
    assert (np.abs(np.var(estimates, axis=0) / expected - 1) < 5.6 * math.sqrt(2 / runs)).all()


@kinds
def test_huge_epsilon_is_quick_and_still_noise(make):
    mechanism = make(1e300, 4)
    assert mechanism.epsilon == 1e300
    parameters = vars(mechanism).keys() & {"flip", "rare", "truth", "hold"}
    assert getattr(mechanism, parameters.pop()) in (1, ONE - 1)


@kinds
@pytest.mark.parametrize("epsilon", [1e-20, 5e-324])
def test_epsilon_too_small_for_64_bits_is_refused(make, epsilon):
    with pytest.raises(HedgerowError, match="'epsilon' parameter is too small"):
        make(epsilon, 3)


@kinds
@pytest.mark.parametrize("size", [0, -3, 2.5, True, "4"])
def test_bad_size_is_named(make, size):
    with pytest.raises(HedgerowError, match="'n_inputs' parameter must be an int"):
        make(1.0, size)
