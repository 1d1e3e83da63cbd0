"""Noisy counts: the joint law of a leaf's two counts costs epsilon, whatever the record's label."""

import numpy as np
import pytest

from hedgerow.audit import audit_laws
from hedgerow.audit.sampled import audit_sampled, runner
from hedgerow.bounds import FeatureSpace
from hedgerow.central.leaves import leaf_shares, plain_shares
from hedgerow.mechanisms.counts import NeighbouringCounts, NoisyCounts
from hedgerow.partition.tree import Partition
from hedgerow.randomness import SeededRandomness

STEPS = 2  # labels 0, 1, 2 of 2


def worst(built_for, claim):
    results = []
    for before in [(0, 0), (2, 0), (1, 3)]:
        for v in range(STEPS + 1):
            pair = (before, (before[0] + STEPS - v, before[1] + v))
            mechanism = NeighbouringCounts(NoisyCounts(built_for, STEPS), pair, reach=7)
            results.append(audit_laws("leaf", [(i, mechanism.law(i)) for i in (0, 1)], epsilon=claim))
    return max(results, key=lambda r: r.measured)


@pytest.mark.parametrize("epsilon", [0.5, 1.0, 4.0])
def test_two_counts_cost_epsilon_and_no_less(epsilon):
    result = worst(epsilon, epsilon)
    assert result.holds and result.measured > 0.999 * epsilon


def test_audit_fails_when_noise_is_ten_percent_too_small():
    assert not worst(1.1, 1.0).holds


def test_sampler_is_within_the_claim_and_the_audit_sees_twice_the_claim():
    pair = ((0, 0), (0, 2))
    honest = NeighbouringCounts(NoisyCounts(1.0, STEPS), pair)
    weak = NeighbouringCounts(NoisyCounts(1.5, STEPS), pair)
    options = {"epsilon": 1.0, "n": 100_000, "alpha": 1e-7, "randomness": 3}  # a false alarm once in 1e7
    assert audit_sampled(runner(honest), 0, 1, **options).holds
    assert not audit_sampled(runner(weak), 0, 1, **options).holds


def test_infinite_epsilon_adds_nothing():
    counts = np.array([[3, 4]])
    assert (NoisyCounts(float("inf"), 8).release(counts, SeededRandomness(0)) == counts).all()


def test_leaf_values_borrow_from_ancestors_when_noise_is_wide():
    space = FeatureSpace.from_bounds((0, 1), ["x"])
    tree = Partition(space, [0, -1, -1], [0.5, 0, 0], [1, 1, 2], [-1, -1, -1], [])
    prior = np.array([0.5, 0.5])
    exact, size = leaf_shares(tree, np.array([[90, 10], [10, 90]]), 1, 0.0, prior, 2.0)
    assert np.allclose(exact[:, 1], [0.1, 0.9]) and size.tolist() == [100, 100]
    pulled, _ = leaf_shares(tree, np.array([[90, 10], [10, 90]]), 1, 100.0, prior, 2.0)
    assert 0.1 < pulled[0, 1] < 0.5 < pulled[1, 1] < 0.9
    empty, size = leaf_shares(tree, np.array([[-3, -1], [0, 0]]), 1, 1.0, prior, 2.0)
    assert np.isfinite(empty).all() and size.tolist() == [0, 0]
    assert plain_shares(np.array([[-3, -1], [1, 3]]), 1)[0].tolist() == [[0.5, 0.5], [0.25, 0.75]]
