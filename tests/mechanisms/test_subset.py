"""Subset selection, and the uniform subsets it is made of."""

import itertools
import math
from collections import Counter

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms import SubsetSelection
from hedgerow.mechanisms.subset import uniform_subsets
from hedgerow.randomness import SeededRandomness


@pytest.mark.parametrize("epsilon", [0.001, 0.1, 1.0, 3.0, 10.0])
def test_noise_is_the_least_that_64_bits_allow(epsilon):
    mechanism, e = SubsetSelection(epsilon, 4), math.exp(epsilon)
    s = mechanism.size
    hold = s * e / (s * e + 4 - s)
    assert (float(mechanism.p), float(mechanism.q)) == pytest.approx((hold, (s - hold) / 3), rel=1e-12)


@pytest.mark.parametrize("size", [-1, 4, 5, 1.5])
def test_bad_size_is_named(size):
    with pytest.raises(HedgerowError, match="'size' parameter"):
        SubsetSelection(1.0, 4, size)


def test_subsets_are_uniform():
    """Ten subsets, 20,000 draws: Hoeffding, 2 * 15 exp(-2 n t**2) < 1e-7 at t = 0.0221."""
    n, fewer = 20_000, np.arange(40_000) % 2 == 0
    picked = uniform_subsets(5, 3, fewer, SeededRandomness(0))
    for rows, size in ((fewer, 2), (~fewer, 3)):
        seen = Counter(tuple(np.flatnonzero(row).tolist()) for row in picked[rows])
        assert set(seen) == set(itertools.combinations(range(5), size))
        assert all(abs(count / n - 0.1) < 0.0221 for count in seen.values())
