"""Noise that chose a cut is in the contrast: how much, by simulated nodes; and what becomes of cells."""

import numpy as np
import pytest

from hedgerow.partition import grow
from hedgerow.space import FeatureSpace
from hedgerow.tasks.partly_public.selection import chosen_cuts, outward, reaching, strays
from hedgerow.tasks.tree.encoding import Moments


def chosen_noise(strength, columns, kind, runs=400, n=100):
    """Return the chosen contrast of each node and the noise in it, in deviations, outward positive."""
    rng = np.random.default_rng(3)
    x = (np.arange(n) + 0.5) / n
    curve = x - 0.5 if kind == "straight" else np.where(x > 0.5, 0.5, -0.5)
    k = np.arange(n // 20, n - n // 20)
    scale = np.sqrt(n / (k * (n - k)))
    signal = np.cumsum(curve)[k - 1] * scale
    signal *= strength / max(np.abs(signal).max(), 1e-9)
    best = np.zeros(runs)
    noise = np.zeros(runs)
    for column in range(columns):
        drawn = rng.standard_normal((runs, n))
        drawn -= drawn.mean(axis=1, keepdims=True)
        own = np.cumsum(drawn, axis=1)[:, k - 1] * scale
        whole = own + (signal if column == 0 else 0.0)
        at = np.abs(whole).argmax(axis=1)
        rows = np.arange(runs)
        found = np.abs(whole[rows, at])
        better = found > best
        best[better] = found[better]
        noise[better] = (np.sign(whole[rows, at]) * own[rows, at])[better]
    return best, noise


@pytest.mark.parametrize("columns", [1, 2, 10])
@pytest.mark.parametrize("kind", ["straight", "step"])
@pytest.mark.parametrize("strength", [0.0, 2.0, 4.0, 8.0, 16.0])
def test_what_is_allowed_for_is_at_least_what_chooses(strength, kind, columns):
    # The mean of 400 noises with deviations of at most 1.1: 5 deviations of it are .28.
    best, noise = chosen_noise(strength, columns, kind)
    allowed = outward(best, columns)
    assert noise.mean() < allowed.mean() + 0.28
    if kind == "straight" or strength == 0:
        assert allowed.mean() < noise.mean() + 1.0  # and not very much more


def test_cuts_in_the_middle_were_not_chosen():
    space = FeatureSpace.from_bounds((0, 1), 2)
    halves = grow("max_edge", space, None, None, max_depth=2)
    assert not chosen_cuts(halves, np.zeros(2, dtype=bool)).any()


def test_a_chosen_cut_moves_its_sides_apart_and_intervals_reach_back():
    rng = np.random.default_rng(0)
    space = FeatureSpace.from_bounds((0, 1), 1)
    X = rng.random((60, 1))
    tree = grow("cart", space, X, (X[:, 0] > 0.3).astype(float), max_depth=1, min_samples_leaf=5)
    assert chosen_cuts(tree, np.zeros(1, dtype=bool)).tolist() == [True, False, False]
    assert not chosen_cuts(tree, np.ones(1, dtype=bool)).any()
    D = np.array([40.0, 60.0])
    mean = np.array([10.0, 14.0])
    spread = np.full(2, 25.0)
    moments = Moments(mean * D, D, D * (spread + mean**2), D * mean, D)
    too_high = strays(tree, moments, np.array([True, False, False]), 1, 1.0)
    assert too_high[0] < 0 < too_high[1]
    assert too_high @ D == pytest.approx(0)  # the whole is not moved
    low, high = reaching((mean - 1, mean + 1), too_high)
    assert low[0] == 9 and high[0] > 11 and low[1] < 13 and high[1] == 15
    assert strays(tree, moments, np.zeros(3, dtype=bool), 1, 1.0).tolist() == [0, 0]
