"""Which round gets how much of the budget: never more than all of it, and the least harm that noise can do."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.central.anova.descent import Steps, allocation, influences, noise_variance, remains

ENERGY = np.concatenate([[0.3], 1 / np.arange(1, 60) ** 2 / 4])


def steps(rounds=50, momentum=0.7):
    return Steps(rounds, 0.9, momentum, Fraction(1), Fraction(0), 1000.0)


@pytest.mark.parametrize("rounds", [1, 2, 7, 300])
def test_shares_are_positive_and_never_exceed_the_whole(rounds):
    parts = allocation(steps(rounds), ENERGY)
    assert len(parts) == rounds and min(parts) > Fraction(1, 12 * rounds)
    assert 1 - Fraction(1, 10**6) < sum(parts) <= 1


@pytest.mark.parametrize("factors", [None, 0.5 / np.arange(1, 61)])
def test_influences_are_those_of_the_recursion(factors):
    plan, m, t = replace(steps(20), factors=factors), 3, 11
    rate = plan.rate if factors is None else plan.rate * factors[m]
    theta = before = 0.0
    kept = []
    for now in range(20):
        v = theta + plan.momentum * (theta - before)
        before, theta = theta, (1 - rate * ENERGY[m]) * v + rate / plan.size * (now == t)
        kept.append(theta)
    assert influences(plan, ENERGY, 20)[t, m] == pytest.approx(np.mean(kept[10:]), rel=1e-12)


def test_what_is_left_of_the_start_is_by_each_coefficient_s_own_steps():
    factors = np.linspace(0.1, 1.0, ENERGY.size)
    found = remains(replace(steps(20), factors=factors), ENERGY, 20)
    for m in (0, 7):
        own = Steps(20, 0.9 * float(factors[m]), 0.7, Fraction(1), Fraction(0), 1000.0)
        assert found[m] == pytest.approx(remains(own, ENERGY, 20)[m], rel=1e-12)


def test_no_other_split_of_the_budget_does_less_harm():
    """Against even shares, and (but for the tenth that is spread evenly) against random changes."""
    plan = steps()

    def harm(shares):
        noise = [float(b) ** -0.5 for b in shares]
        return float(noise_variance(plan, noise, ENERGY) @ ENERGY)

    parts = np.array([float(b) for b in allocation(plan, ENERGY)])
    assert harm(parts) < 0.9 * harm(np.full(50, 1 / 50))
    best = parts * 1.1 - 0.1 / 50
    rng = np.random.default_rng(0)
    for _ in range(50):
        other = best * np.exp(rng.normal(0, 0.2, 50))
        assert harm(best / best.sum()) < harm(other / other.sum())
