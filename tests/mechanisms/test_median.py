"""Private medians: exact law, shortcut equal to it in law, and the audit that can fail."""

import itertools
import math

import numpy as np
import pytest

from hedgerow.audit import audit_laws
from hedgerow.mechanisms.median import PrivateMedian, _Ranks
from hedgerow.randomness import SeededRandomness

CELLS = 4


def worst(built_for, claim):
    median = PrivateMedian(built_for, CELLS)
    losses = []
    for size in range(4):
        for data in itertools.combinations_with_replacement(range(CELLS), size):
            for extra in range(CELLS):
                laws = [(data, median.law(data)), ("with", median.law((*data, extra)))]
                losses.append(audit_laws("median", laws, epsilon=claim))
    # Where the loss comes close to its bound: one cut of many whose larger side grows.
    fine = PrivateMedian(built_for, 40)
    laws = [("D", fine.law((0, 39, 39))), ("with", fine.law((0, 39, 39, 1)))]
    losses.append(audit_laws("median", laws, epsilon=claim))
    return max(losses, key=lambda r: r.measured)


@pytest.mark.parametrize("epsilon", [0.3, 1.0, 4.0])
def test_a_median_costs_epsilon(epsilon):
    result = worst(epsilon, epsilon)
    assert result.holds and result.measured > 0.9 * epsilon


def test_audit_fails_when_noise_is_ten_percent_too_small():
    assert not worst(1.1, 1.0).holds


@pytest.mark.parametrize(
    "data", [(), (2,), (3, 3, 3, 7, 9), (0,) * 6 + (11,), (5,) * 40 + (6,) * 3, tuple(range(12)) * 3]
)
def test_shortcut_follows_the_law(data, same_law, probabilities):
    """Chi-square at 1e-7."""
    median = PrivateMedian(0.7, 12)
    same_law(median.sample(data, 20_000, SeededRandomness(5)).tolist(), probabilities(median.law(data)))


def test_envelope_is_used_and_stays_exact(monkeypatch, same_law, probabilities):
    """With one weighted rank only, nearly all draws come from the envelope and its rejection; chi-square at 1e-7."""
    monkeypatch.setattr("hedgerow.mechanisms.median._MOST_RANKS", 1)
    median, data = PrivateMedian(0.2, 6), (0, 1, 1, 2, 2, 2, 3, 5, 5, 5)
    same_law(median.sample(data, 40_000, SeededRandomness(6)).tolist(), probabilities(median.law(data)))


def test_threshold_is_near_the_median_and_exact_without_noise():
    x = np.random.default_rng(0).normal(5, 1, 20_001)
    assert abs(PrivateMedian(1.0).threshold(x, -100, 100, SeededRandomness(0)) - 5) < 0.1
    cut = PrivateMedian(math.inf).threshold(x, -100, 100, SeededRandomness(0))
    assert abs((x < cut).sum() - 10_000.5) < 1
    assert -1 < PrivateMedian(1.0).threshold(np.empty(0), -1, 1, SeededRandomness(0)) < 1


def test_the_first_excess_with_a_cut_is_the_least_one():
    """Ties leave no even cut, and then the search begins: the same as counting the cuts of every excess in turn."""
    rng = np.random.default_rng(3)
    searched = 0
    for _ in range(400):
        n = int(rng.integers(0, 30))
        cells = np.sort(np.minimum(rng.geometric(0.5, n) - 1, 5))
        ranks = _Ranks(n, 6, lambda rank, cells=cells: cells[rank])
        counts = ranks.cuts(np.arange(ranks.last + 1))[1]
        assert ranks.first() == np.flatnonzero(counts > 0)[0]
        searched += ranks.first() > 0
    assert searched > 100
