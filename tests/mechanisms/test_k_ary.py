"""k-ary randomised response."""

import math

import pytest

from hedgerow.mechanisms import KaryResponse


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 3.0, 10.0])
def test_noise_is_the_least_that_64_bits_allow(epsilon):
    mechanism, e = KaryResponse(epsilon, 4), math.exp(epsilon)
    assert (float(mechanism.p), float(mechanism.q)) == pytest.approx((e / (e + 3), 1 / (e + 3)), rel=1e-12)


def test_without_noise_the_truth_is_told():
    assert (KaryResponse(math.inf, 4).p, KaryResponse(math.inf, 4).q) == (1, 0)
    assert KaryResponse(math.inf, 4).randomize([2, 0, 3]).tolist() == [2, 0, 3]


def test_a_single_category_costs_nothing():
    assert KaryResponse(1.0, 1).randomize([0, 0]).tolist() == [0, 0]


def test_words_take_the_name_of_the_things():
    assert KaryResponse(1.0, 3).odds("bins").startswith("one of 3 bins is named: the true one with probability 57.6 %")
