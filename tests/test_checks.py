"""Budgets and whole numbers as arguments."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError


@pytest.mark.parametrize("epsilon", [0, -1, math.nan, "1", True, None])
def test_bad_epsilon_is_named(epsilon):
    with pytest.raises(HedgerowError, match="'epsilon' parameter must be"):
        check_epsilon(epsilon)


def test_good_epsilons_become_floats():
    assert [check_epsilon(e) for e in (1, np.float32(0.5), Fraction(1, 4), math.inf)] == [1.0, 0.5, 0.25, math.inf]


@pytest.mark.parametrize("value", [0, -3, 2.5, True, "4", None])
def test_bad_whole_numbers_are_named(value):
    with pytest.raises(HedgerowError, match="'size' parameter must be an int >= 1"):
        check_positive(value, name="size")
