"""Split costs: whole numbers that a record raises by 0 .. sensitivity, by brute force."""

import itertools

import numpy as np
import pytest

from hedgerow.central.scores import ClassTarget, ScalarTarget, Weights, squared_cost
from hedgerow.errors import HedgerowError

WEIGHTS = [Weights(squared=8), Weights(margin=7), Weights(balance=3), Weights(squared=5, margin=4, balance=2)]


def scalar_cost(target_weights, steps, left, right):
    v = np.array([*left, *right], dtype=np.int64)
    target = ScalarTarget(v, steps, target_weights)
    key = np.array([0] * len(left) + [1] * len(right), dtype=np.int64)
    table = target.histogram(np.arange(len(v)), key, 2)
    return int(target.costs(table[0], table.sum(axis=0)))


@pytest.mark.parametrize("weights", WEIGHTS)
def test_scalar_costs_are_monotone_with_the_stated_sensitivity(weights):
    steps, seen = 4, set()
    sides = [s for n in range(4) for s in itertools.combinations_with_replacement((0, 1, 3, 4), n)]
    for left, right in itertools.product(sides, sides):
        before = scalar_cost(weights, steps, left, right)
        for v in (0, 2, 4):
            seen |= {scalar_cost(weights, steps, (*left, v), right) - before}
    assert min(seen) >= 0
    assert max(seen) <= weights.sensitivity
    assert max(seen) >= 0.7 * weights.sensitivity  # the bound is not idle


@pytest.mark.parametrize("weights", WEIGHTS)
def test_class_costs_are_monotone_with_the_stated_sensitivity(weights):
    target = ClassTarget(np.zeros(0, dtype=np.int64), 3, weights)
    sides = [np.array(s) for s in itertools.product(range(4), repeat=3)]
    seen = set()
    for left, right in itertools.product(sides[::3], sides[::2]):
        before = int(target.costs(left, left + right))
        for c in range(3):
            more = left + np.eye(3, dtype=np.int64)[c]
            seen |= {int(target.costs(more, more + right)) - before}
    assert min(seen) >= 0
    assert max(seen) <= weights.sensitivity


def test_large_cells_do_not_overflow():
    n, steps = 5_000_000, 1024
    half = np.array([n // 2 * steps])
    cost = squared_cost(np.array([n]), half, half * steps, steps, 8)
    assert cost.tolist() == [8 * n // 4]


def test_squared_cost_is_the_floor_of_the_exact_sse():
    rng = np.random.default_rng(0)
    for _ in range(200):
        v = rng.integers(0, 101, rng.integers(1, 9))
        sse = (len(v) * (v * v).sum() - v.sum() ** 2) * 17 // (len(v) * 100**2)
        got = squared_cost(np.array([len(v)]), np.array([v.sum()]), np.array([(v * v).sum()]), 100, 17)
        assert got.tolist() == [sse]


def test_leaf_counts_add_one_unit_a_record_whatever_the_label():
    v = np.array([0, 3, 10])
    table = ScalarTarget(v, 10, WEIGHTS[0]).counts(np.array([0, 0, 2]), 3)
    assert table.tolist() == [[17, 3], [0, 0], [0, 10]]
    assert ClassTarget(np.array([1, 1]), 2, WEIGHTS[0]).counts(np.array([0, 1]), 2).tolist() == [[0, 1], [0, 1]]


def test_weights_must_count_something():
    with pytest.raises(HedgerowError, match="weights"):
        Weights()
