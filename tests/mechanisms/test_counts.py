"""Noisy counts: the joint law of a leaf's two counts costs epsilon, whatever the record's label."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_exact
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.randomness import SeededRandomness

STEPS = 2  # labels 0, 1, 2 of 2


def worst(built_for, claim):
    counts, results = NoisyCounts(built_for, STEPS), []
    for before in [(0, 0), (2, 0), (1, 3)]:
        for v in range(STEPS + 1):
            inputs = (before, (before[0] + STEPS - v, before[1] + v))
            results.append(audit_exact(counts, epsilon=claim, inputs=inputs, law=lambda c: counts.law(c, reach=7)))
    return max(results, key=lambda r: r.measured)


@pytest.mark.parametrize("epsilon", [0.5, 4.0])
def test_two_counts_cost_epsilon_and_no_less(epsilon):
    result = worst(epsilon, epsilon)
    assert result.holds and result.measured > 0.999 * epsilon
    assert not worst(1.1 * epsilon, epsilon).holds


def test_a_count_has_the_law_of_discrete_laplace():
    law, other = NoisyCounts(1.5, 2).law((1,), reach=6), DiscreteLaplace(1.5, 2).law(1, reach=6)
    for output in range(-5, 6):
        assert law.probability((output,)) == other.probability(output)


def test_deviation_is_that_of_the_noise():
    noisy = NoisyCounts(1.0, 3)
    law = noisy.law((0,), reach=150)
    square = Fraction(sum(o[0] ** 2 * w for o, w in zip(law.outputs, law.weights, strict=True)), law.total)
    assert (noisy.deviation * 3) ** 2 == pytest.approx(float(square), rel=1e-9)


def test_infinite_epsilon_adds_nothing():
    counts = np.array([[3, 4]])
    assert (NoisyCounts(float("inf"), 8).release(counts, SeededRandomness(0)) == counts).all()
