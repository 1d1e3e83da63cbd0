"""Whole trees of depth 1, by enumeration: the split and all leaf counts together cost epsilon."""

import itertools
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_laws
from hedgerow.central.accounting import TreeBudget
from hedgerow.central.scores import ScalarTarget, Weights
from hedgerow.central.splits import BestSplits, grow_private
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.mechanisms.selection import ExponentialSelection, PermuteAndFlip
from hedgerow.randomness import SeededRandomness
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace.from_bounds((0, 1), ["x"])
PEOPLE = [(0.0, 0), (0.5, 1), (1.0, 1), (0.4, 0)]  # a value and a label on the grid 0, 1
WEIGHTS = Weights(squared=2, balance=1)


class Recorder(PermuteAndFlip):
    """Takes down the costs that the code computes, and always chooses the candidate it was told to."""

    def choose(self, costs, valid=None, randomness=None):
        object.__setattr__(self, "costs", costs)
        return np.full(len(costs), self.told)


def tree_law(people, kind, budget):
    """P(cut, counts) = P(cut) P(counts | cut), with the costs and the counts of the code that ships."""
    X = np.array([[p[0]] for p in people]).reshape(-1, 1)
    target = ScalarTarget(np.array([p[1] for p in people], dtype=np.int64), 1, WEIGHTS)
    noisy = NoisyCounts(budget.leaves, 1)
    outputs, weights = [], []
    for cut in range(2):  # three bins: two cuts
        recorder = Recorder(1.0, 1)
        object.__setattr__(recorder, "told", cut)
        rule = BestSplits(SPACE, X, target, [recorder], max_features=1, n_bins=3, randomness=SeededRandomness(0))
        tree = grow_private(SPACE, X, rule, 1)
        choice = kind(budget.level, WEIGHTS.sensitivity).law([int(c) for c in recorder.costs[0]])
        table = tuple(target.counts(tree.apply(X), 2).ravel().tolist())
        joint = noisy.law(table, reach=1)
        # The counts' law has one total whatever the counts, so that plain products are weights.
        outputs += [(cut, *o) for o in joint.outputs]
        weights += [choice.weights[cut] * w for w in joint.weights]
    return Law(tuple(outputs), tuple(weights))


def worst(kind, built_for, claim):
    budget = TreeBudget.strict(Fraction(built_for), 1, 0.5, medians=False)
    tables = [t for n in range(3) for t in itertools.combinations_with_replacement(PEOPLE, n)]
    laws = {t: tree_law(t, kind, budget) for t in tables}
    results = []
    for table in tables:
        for person in PEOPLE if len(table) < 2 else ():
            more = next(t for t in tables if sorted(t) == sorted((*table, person)))
            results.append(audit_laws("tree", [("D", laws[table]), ("D'", laws[more])], epsilon=claim))
    return max(results, key=lambda r: r.measured)


@pytest.mark.parametrize("kind", [PermuteAndFlip, ExponentialSelection])
def test_a_tree_of_depth_one_costs_epsilon(kind):
    result = worst(kind, 1.0, 1.0)
    assert result.holds and result.measured > 0.7


def test_audit_fails_when_leaf_and_split_noise_are_too_small():
    assert not worst(PermuteAndFlip, 1.6, 1.0).holds


def test_budget_adds_up_exactly():
    budget = TreeBudget.strict(Fraction(0.3), 7, 0.37, medians=False)
    assert budget.total == Fraction(0.3)
    assert TreeBudget.strict(Fraction(2), 3, 0.5, medians=True).total == 2
    paper = TreeBudget.paper(Fraction(10), 4, 0.5, n_medians=5, random=False)
    assert paper.total == 20  # what the paper calls 10
    assert TreeBudget.paper(Fraction(10), 4, 0.5, n_medians=1, random=True).total == 10
