"""How many holders are asked what."""

import math

import pytest

from hedgerow.mechanisms.bit_sums import BitSums
from hedgerow.sums.checks import BINS
from hedgerow.sums.rules import Rules


@pytest.mark.parametrize("epsilon", [8.0, math.inf])
def test_groups_are_no_more_than_their_sums_can_be_judged_together(epsilon):
    assert len(Rules().groups(10**7, epsilon, 1e-6, 100)) == 7


@pytest.mark.parametrize("n", [1, 399, 400, 2942, 16_112, 38_163, 100_000])
def test_everybody_is_in_one_group_and_a_quarter_check_at_most(n):
    sizes = Rules().groups(n, 1.0, 1e-6, 100)
    assert sum(sizes) == n and min(sizes) > 0
    assert len(sizes) == 1 or sizes[-1] <= n / 4


def test_enough_holders_check_for_a_correction_of_a_twentieth_to_pass():
    m = Rules().enough
    variance = 2 * float(BitSums(1.0, 1e-6, 1, 2 * BINS).variance)
    deviation = 1.6 * math.sqrt((2 * BINS * variance + m) / m**2 / 0.05)
    assert 0.145 < deviation < 0.155
