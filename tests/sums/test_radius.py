"""The radius of groups that learn: least noise and bias."""

import numpy as np
import pytest

from hedgerow.sums.radius import SHARES, choose_share, least_radius, tail_bias
from hedgerow.tasks.sums.told import Leaves

RNG = np.random.default_rng(0)
HALVES = Leaves(np.repeat([[0], [1]], 200, axis=0), (2,))
ALIKE = RNG.exponential(size=400) - 1
OPPOSITE = ALIKE * np.repeat([1, -1], 200)


def test_more_noise_never_makes_the_radius_larger():
    shares = [choose_share(OPPOSITE, HALVES, noise) for noise in (0.0, 1e-3, 1e-2, 1e-1, 1.0)]
    assert shares == sorted(shares, reverse=True) and shares[0] == SHARES[-1] > shares[-1]


def test_tails_that_are_alike_in_all_leaves_are_no_bias():
    """They are an offset, which is known; only where they differ a leaf seems to err."""
    cut = np.clip(ALIKE, -0.5, 0.5) / 0.5 - ALIKE
    other = np.clip(OPPOSITE, -0.5, 0.5) / 0.5 - OPPOSITE
    assert tail_bias(cut, HALVES) < 0.02 < 0.05 < tail_bias(other, HALVES)


def test_an_empty_leaf_and_errors_of_nought_are_borne():
    leaves = Leaves(np.zeros((3, 1), dtype=int), (2,))
    assert tail_bias(np.zeros(3), leaves) == 0
    assert choose_share(np.zeros(3), leaves, 1.0) in SHARES


def test_errors_that_are_mostly_nought_are_not_all_cut_off():
    """Their median is 0; a correction is seen from a tenth of their root mean square on, which makes 1 % of it."""
    sure = np.where(np.arange(400) % 20 == 0, 1.0, 0.0) * np.where(np.arange(400) % 40 == 0, 1, -1)
    assert least_radius(sure) == pytest.approx(0.1 * np.sqrt(0.05))
    for noise in (1e-6, 1e-2, 1.0):
        assert choose_share(sure, HALVES, noise) in SHARES
    assert least_radius(ALIKE) < np.quantile(np.abs(ALIKE), SHARES[0]), "of other errors it is no bound"
