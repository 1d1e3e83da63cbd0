import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit.exact import worst_ratio
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms import DiscreteLaplace
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE


@pytest.mark.parametrize(("epsilon", "steps"), [(0.5, 4), (1.0, 16), (3.0, 2), (20.0, 3)])
def test_variance_and_mean_are_those_of_the_law(epsilon, steps):
    noise = DiscreteLaplace(epsilon, steps)
    law = noise.law(steps // 2)
    assert float(law.variance()) == pytest.approx(noise.variance, rel=1e-9)  # clamping takes e**-40 of it
    assert abs(float(law.mean()) - steps // 2) < 1e-9
    r = Fraction(noise.ratio, ONE)
    assert noise.variance == pytest.approx(float(2 * r / (1 - r) ** 2), rel=1e-9)


def test_middle_level_is_exactly_unbiased():
    assert DiscreteLaplace(1.0, 4).law(2).mean() == 2


def test_variance_of_samples():
    noise = DiscreteLaplace(1.0, 16)
    values = noise.randomize(np.full(200_000, 5), SeededRandomness(0)) - 5
    # Kurtosis 6: the variance of a sample variance is 5 sigma**4 / n; 5.4 deviations: 1e-7.
    assert abs(values.mean()) < 5.4 * math.sqrt(noise.variance / 200_000)
    assert abs(values.var() / noise.variance - 1) < 5.4 * math.sqrt(5 / 200_000)


def test_nearer_clamp_has_the_same_worst_ratio_and_merges_the_tails():
    noise = DiscreteLaplace(2.0, 4)
    full = worst_ratio((v, noise.law(v)) for v in range(5)).ratio
    for reach in (1, 2, 7, noise.reach, noise.reach + 5):
        near = [noise.law(v, reach=reach) for v in range(5)]
        assert worst_ratio(enumerate(near)).ratio == full
        for v, law in enumerate(near):
            whole = noise.law(v)
            low = sum(w for o, w in zip(whole.outputs, whole.weights, strict=True) if o <= law.outputs[0])
            assert law.probability(law.outputs[0]) == Fraction(low, whole.total)
    assert full == Fraction(ONE, noise.ratio) ** 4


def test_output_stays_in_reach():
    noise = DiscreteLaplace(30.0, 1)
    assert noise.reach == 2
    values = noise.randomize(np.tile([0, 1], 50_000), SeededRandomness(1))
    assert values.min() >= -2 and values.max() <= 3


@pytest.mark.parametrize("reach", [0, -1, 1.5])
def test_bad_reach_is_named(reach):
    with pytest.raises(HedgerowError, match="'reach' parameter"):
        DiscreteLaplace(1.0, 2).law(0, reach=reach)


@pytest.mark.parametrize(("epsilon", "steps"), [(0.5, 3), (9.0, 3), (40.0, 1)])
def test_sampler_follows_the_law_up_to_its_own_clamp(epsilon, steps, same_law, probabilities):
    """Chi-square at 1e-7 for each of two levels."""
    noise = DiscreteLaplace(epsilon, steps)
    for level in (0, steps):
        same_law(noise.sample(level, 20_000, SeededRandomness(level)).tolist(), probabilities(noise.law(level)))


def test_huge_epsilon_is_quick_and_still_noise():
    assert DiscreteLaplace(1e300, 4).ratio == 1


@pytest.mark.parametrize("epsilon", [1e-20, 5e-324])
def test_epsilon_too_small_for_64_bits_is_refused(epsilon):
    with pytest.raises(HedgerowError, match="'epsilon' parameter is too small"):
        DiscreteLaplace(epsilon, 3)
