"""One bit about a number: unbiased."""

import math
from fractions import Fraction

import pytest

from hedgerow.mechanisms.one_bit import OneBit


def test_estimate_is_unbiased():
    bit = OneBit(0.7, 8)
    for level in range(9):
        one = bit.law(level).probability(1)
        p = bit.response.p
        assert (one - (1 - p)) / (2 * p - 1) == Fraction(level, 8)
    assert bit.estimate([0, 100], 100) == pytest.approx([float(-(1 - p) / (2 * p - 1)), float(p / (2 * p - 1))])


def test_without_noise_the_ends_are_told():
    assert OneBit(math.inf, 4).randomize([0, 4]).tolist() == [0, 1]
    assert OneBit(math.inf).gain == 1.0
