"""Whole trees, as shipped: no event tells two neighbouring data sets apart by more than the claim."""

from fractions import Fraction

import numpy as np

from hedgerow.audit.sampled import audit_sampled
from hedgerow.central.accounting import TreeBudget
from hedgerow.central.forest import Recipe, fit_tree
from hedgerow.central.scores import ScalarTarget, Weights
from hedgerow.space import FeatureSpace

SPACE = FeatureSpace.from_bounds((0, 1), ["x"])
PEOPLE = [(0.1, 0), (0.2, 0), (0.6, 8)]
RECIPE = Recipe(Fraction(1), max_features=1, n_bins=4)


def run_with(epsilon):
    budget = TreeBudget.strict(Fraction(epsilon), 1, 0.5, medians=False)

    def run(extra, n, randomness):
        people = [*PEOPLE, (0.9, 8)] if extra else PEOPLE
        X = np.array([[p[0]] for p in people])
        levels = np.array([p[1] for p in people])
        out = np.empty((n, 3))
        for i in range(n):
            target = ScalarTarget(levels, 8, Weights(squared=6, balance=2))
            tree = fit_tree(SPACE, X, target, RECIPE, budget, ((0.0, 1.0), 0.5), randomness)
            out[i] = tree.partition.threshold[0], tree.values[1, 0], tree.weights[1]
        return out

    return run


def test_a_fitted_tree_stays_within_its_claim():
    # A false alarm once in 1e7.
    result = audit_sampled(run_with(1), 0, 1, epsilon=1.0, n=400, alpha=1e-7, randomness=1)
    assert result.holds


def test_the_audit_sees_a_tree_with_an_eighth_of_the_noise():
    result = audit_sampled(run_with(8), 0, 1, epsilon=1.0, n=400, alpha=1e-7, randomness=1)
    assert not result.holds
