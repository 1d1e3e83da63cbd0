"""What every mechanism promises: its law, its sampler and its closed forms are one and the same."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms import BitVectorResponse, DiscreteLaplace, KaryResponse, SubsetSelection, UnaryEncoding
from hedgerow.randomness import SecureRandomness, SeededRandomness
from hedgerow.samplers import ONE

CATEGORICAL = [BitVectorResponse, UnaryEncoding, KaryResponse, SubsetSelection]
EPSILONS = [0.001, 0.1, 1.0, 3.0, 10.0]
SMALL = [
    *[make(epsilon, 4) for make in CATEGORICAL for epsilon in (0.1, 1.0, 4.0)],
    *[SubsetSelection(1.0, 5, size) for size in (1, 2, 3, 4)],
    *[KaryResponse(1.0, k) for k in (1, 2)],
    *[make(1.0, k) for make in (BitVectorResponse, UnaryEncoding) for k in (1, 2)],
    *[DiscreteLaplace(epsilon, 3) for epsilon in (0.5, 2.0, 9.0)],
    DiscreteLaplace(40.0, 1),
]
small = pytest.mark.parametrize("mechanism", SMALL, ids=repr)
categorical = pytest.mark.parametrize("mechanism", [m for m in SMALL if not isinstance(m, DiscreteLaplace)], ids=repr)


def as_outputs(mechanism, reports):
    """Reports in the form that the law uses."""
    if isinstance(mechanism, SubsetSelection):
        return [tuple(np.flatnonzero(row).tolist()) for row in reports]
    if reports.ndim == 2:
        return [tuple(row) for row in reports.astype(int).tolist()]
    return reports.tolist()


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


@small
def test_law_is_a_law_with_one_total(mechanism):
    laws = [mechanism.law(v) for v in range(mechanism.n_inputs)]
    for law in laws:
        assert len(law.outputs) == len(law.weights) == len(set(law.outputs))
        assert all(isinstance(w, int) and w >= 0 for w in law.weights)
        assert law.total == sum(law.weights) > 0
        assert law.outputs == laws[0].outputs and law.total == laws[0].total


@small
def test_sampler_follows_the_law(mechanism, probabilities, same_law):
    for value in {0, mechanism.n_inputs - 1}:
        reports = mechanism.randomize(np.full(40_000, value), SeededRandomness(value))
        same_law(as_outputs(mechanism, reports), probabilities(mechanism.law(value)))  # false alarm 1e-7


@categorical
def test_p_q_and_joint_are_those_of_the_law(mechanism):
    k = mechanism.n_inputs
    for value in range(k):
        for one in range(k):
            expected = mechanism.p if one == value else mechanism.q
            assert mass(mechanism, value, one) == expected
            for two in range(one):
                assert mass(mechanism, value, one, two) == mechanism.joint[0 if value in (one, two) else 1]


@categorical
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


@pytest.mark.parametrize("make", CATEGORICAL)
def test_estimates_of_a_population(make):
    mechanism, counts = make(1.5, 6), np.array([4000, 0, 1000, 3000, 10, 1990])
    n = counts.sum()
    reports = mechanism.randomize(np.repeat(np.arange(6), counts), SeededRandomness(1))
    error = mechanism.estimate(mechanism.support(reports), n) - counts
    # 5.7 standard deviations, six categories: false alarm below 1e-7.
    assert (np.abs(error) < 5.7 * np.sqrt(mechanism.variance(n, counts))).all()


@pytest.mark.parametrize("make", CATEGORICAL)
def test_variance_of_a_simulation(make):
    mechanism, counts, runs = make(1.0, 3), np.array([30, 50, 20]), 4000
    reports = mechanism.randomize(np.tile(np.repeat(np.arange(3), counts), runs), SeededRandomness(2))
    estimates = [mechanism.estimate(mechanism.support(r), 100) for r in np.split(reports, runs)]
    expected = mechanism.variance(100, counts)
    # A variance of 4000 nearly normal values has relative deviation sqrt(2/4000); 5.6 of them: 1e-7 in all.
    assert (np.abs(np.var(estimates, axis=0) / expected - 1) < 5.6 * math.sqrt(2 / runs)).all()


@pytest.mark.parametrize("make", CATEGORICAL)
@pytest.mark.parametrize("epsilon", EPSILONS)
def test_noise_is_the_least_that_64_bits_allow(make, epsilon):
    # One step less noise (a dyadic parameter moved by 2**-64) would break the claim: see the exact audits.
    mechanism = make(epsilon, 4)
    p, q, e = float(mechanism.p), float(mechanism.q), math.exp(epsilon)
    if make is KaryResponse:
        expected = e / (e + 3), 1 / (e + 3)
    elif make is SubsetSelection:
        s = mechanism.size
        hold = s * e / (s * e + 4 - s)
        expected = hold, (s - hold) / 3
    elif make is UnaryEncoding:
        expected = 0.5, 1 / (1 + e)
    else:
        expected = math.sqrt(e) / (1 + math.sqrt(e)), 1 / (1 + math.sqrt(e))
    assert (p, q) == pytest.approx(expected, rel=1e-12)


def test_bit_vectors_are_the_papers():
    # Appendix D.1 prints the flip probability twice; a bit is KEPT with e**(eps/2) / (1 + e**(eps/2)).
    kept = float(BitVectorResponse(2.0, 3).p)
    assert kept == pytest.approx(math.e / (1 + math.e), rel=1e-15)


@pytest.mark.parametrize("make", [*CATEGORICAL, DiscreteLaplace])
def test_infinite_epsilon_is_the_truth(make):
    mechanism = make(math.inf, 4)
    values = np.arange(mechanism.n_inputs)
    reports = mechanism.randomize(values, SeededRandomness(0))
    outputs = as_outputs(mechanism, reports)
    for value, output in zip(values.tolist(), outputs, strict=True):
        assert mechanism.law(value).probability(output) == 1
    if make is not DiscreteLaplace and make is not SubsetSelection:
        assert (mechanism.p, mechanism.q) == (1, 0)
    assert mechanism.guarantee.epsilon == math.inf


@pytest.mark.parametrize("make", [*CATEGORICAL, DiscreteLaplace])
def test_huge_epsilon_is_quick_and_still_noise(make):
    mechanism = make(1e300, 4)
    assert mechanism.epsilon == 1e300
    parameters = vars(mechanism).keys() & {"flip", "rare", "truth", "hold", "ratio"}
    assert getattr(mechanism, parameters.pop()) in (1, ONE - 1)


@pytest.mark.parametrize("make", [*CATEGORICAL, DiscreteLaplace])
@pytest.mark.parametrize("epsilon", [1e-20, 5e-324])
def test_epsilon_too_small_for_64_bits_is_refused(make, epsilon):
    with pytest.raises(HedgerowError, match="'epsilon' parameter is too small"):
        make(epsilon, 3)


@pytest.mark.parametrize("make", [*CATEGORICAL, DiscreteLaplace])
@pytest.mark.parametrize("epsilon", [0, -1, math.nan, "1", True, None])
def test_bad_epsilon_is_named(make, epsilon):
    with pytest.raises(HedgerowError, match="'epsilon' parameter must be"):
        make(epsilon, 4)


@pytest.mark.parametrize("make", [*CATEGORICAL, DiscreteLaplace])
@pytest.mark.parametrize("size", [0, -3, 2.5, True, "4"])
def test_bad_size_is_named(make, size):
    with pytest.raises(HedgerowError, match=r"'n_(inputs|steps)' parameter must be an int"):
        make(1.0, size)


@pytest.mark.parametrize("size", [-1, 4, 5, 1.5])
def test_bad_subset_size_is_named(size):
    with pytest.raises(HedgerowError, match="'size' parameter"):
        SubsetSelection(1.0, 4, size)


@small
@pytest.mark.parametrize("values", [[-1], [99], [0.0], [[0]], 0, [True], ["0"]])
def test_bad_values_are_refused(mechanism, values):
    with pytest.raises(HedgerowError, match="'values' must be"):
        mechanism.randomize(values, SeededRandomness(0))


@small
def test_no_values_no_reports(mechanism):
    assert len(mechanism.randomize(np.array([], dtype=int), SeededRandomness(0))) == 0


@small
def test_input_is_left_alone_and_noise_is_fresh(mechanism):
    values = np.zeros(300, dtype=np.int64)
    first = mechanism.randomize(values)
    assert (values == 0).all() and first is not values
    assert np.array_equal(
        mechanism.randomize(values, SeededRandomness(3)), mechanism.randomize(values, SeededRandomness(3))
    )
    spread = len(set(as_outputs(mechanism, first)))
    if spread > 1 and mechanism.epsilon < 5:
        source = SecureRandomness()
        assert not np.array_equal(mechanism.randomize(values, source), mechanism.randomize(values, source))


@small
def test_guarantee_and_value_object(mechanism):
    claim = mechanism.guarantee
    assert isinstance(claim, Guarantee)
    assert (claim.epsilon, claim.delta, claim.trust, claim.neighbours) == (mechanism.epsilon, 0, "local", "replace")
    arguments = [mechanism.epsilon, getattr(mechanism, "n_steps", mechanism.n_inputs)]
    if isinstance(mechanism, SubsetSelection):
        arguments.append(mechanism.size)
    assert type(mechanism)(*arguments) == mechanism
    with pytest.raises(AttributeError):
        mechanism.epsilon = 99.0
