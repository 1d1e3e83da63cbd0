"""Selections: exact laws hold their claim, fail with 10 % less noise, and are what the samplers draw."""

import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_laws
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.selection import ExponentialSelection, PermuteAndFlip, loss_of_two, selection
from hedgerow.randomness import SeededRandomness

KINDS = [PermuteAndFlip, ExponentialSelection]
SENSITIVITY = 3
BASES = [(0, 0, 0), (0, 4, 9), (5, 5, 0), (2, 3, 30), (0, 7), (0, 0, 400)]


def neighbours(base):
    steps = (0, 1, SENSITIVITY)
    return [
        tuple(c + d for c, d in zip(base, move, strict=True)) for move in itertools.product(steps, repeat=len(base))
    ]


def worst(kind, built_for, claim):
    mechanism = kind(built_for, SENSITIVITY)
    results = [
        audit_laws("selection", [("D", mechanism.law(base)), ("D'", mechanism.law(after))], epsilon=claim)
        for base in BASES
        for after in neighbours(base)
    ]
    return max(results, key=lambda r: r.measured)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("epsilon", [0.1, 1.0, 3.0])
def test_monotone_costs_need_no_factor_two(kind, epsilon):
    result = worst(kind, epsilon, epsilon)
    assert result.holds
    assert result.measured > 0.99 * epsilon  # and the claim is tight


@pytest.mark.parametrize("kind", KINDS)
def test_audit_fails_when_noise_is_ten_percent_too_small(kind):
    assert not worst(kind, 1.1, 1.0).holds


@pytest.mark.parametrize("kind", KINDS)
def test_many_candidates_are_chosen_by_the_law(kind, same_law, probabilities):
    """Chi-square at 1e-7."""
    mechanism, costs = kind(1.0, SENSITIVITY), (4, 0, 2, 11, 0)
    chosen = mechanism.sample(costs, 20_000, SeededRandomness(1))
    same_law(chosen.tolist(), probabilities(mechanism.law(costs)))


@pytest.mark.parametrize("kind", KINDS)
def test_what_is_not_valid_is_never_chosen_and_shifts_do_not_matter(kind):
    mechanism = kind(0.5, 1)
    costs = np.tile([0, 3, 5], (2000, 1))
    valid = np.tile([False, True, True], (2000, 1))
    a = mechanism.choose(costs, valid, SeededRandomness(2))
    b = mechanism.choose(costs + 10**12, valid, SeededRandomness(2))
    assert set(a.tolist()) == {1, 2}
    assert (a == b).all()
    nothing = np.zeros((1, 2), dtype=int)
    assert mechanism.choose(nothing, nothing.astype(bool), SeededRandomness(0)).tolist() == [-1]


def test_no_probability_floor():
    law = ExponentialSelection(1.0, 1).law([0, 60])
    assert 0 < law.probability(1) < 1e-25


@pytest.mark.parametrize("kind", ["permute_and_flip", "exponential"])
def test_infinite_epsilon_takes_the_best(kind):
    chosen = selection(kind, math.inf, 5).choose(np.array([[3, 1, 2]] * 50), randomness=SeededRandomness(0))
    assert set(chosen.tolist()) == {1}


def test_bad_arguments_are_named():
    with pytest.raises(HedgerowError, match="selection"):
        selection("best", 1.0, 1)
    with pytest.raises(HedgerowError, match="too small"):
        PermuteAndFlip(1e-18, 1)
    for costs in (np.zeros(3, dtype=int), np.zeros((1, 3))):
        with pytest.raises(HedgerowError, match="matrix of whole numbers"):
            PermuteAndFlip(1.0, 1).choose(costs)


def test_loss_of_two_candidates_is_that_of_the_law():
    for epsilon in (0.01, 1.0, 30.0):
        laws = [(c, ExponentialSelection(epsilon, SENSITIVITY).law(c)) for c in ((0, 0), (SENSITIVITY, 0))]
        assert audit_laws("two", laws, epsilon=epsilon).measured == pytest.approx(loss_of_two(epsilon), rel=1e-9)


def test_fractions_of_a_budget_are_spent_exactly():
    third = PermuteAndFlip(Fraction(1, 3), 2)
    assert third.ratio >= PermuteAndFlip(1 / 3 + 1e-12, 2).ratio and third.guarantee.epsilon >= Fraction(1, 3)
