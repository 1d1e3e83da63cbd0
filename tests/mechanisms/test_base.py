"""The contract's own parts: laws, budgets, what holders' values may be."""

import math
from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms import CentralMechanism, KaryResponse, Law, LocalMechanism, Mechanism
from hedgerow.mechanisms.base import as_law, exp_below
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.samplers import exp_at_least

TINY = Fraction(1, 10**40)


def test_moments_of_a_law_are_exact():
    law = Law((0, 1, 4), (2, 1, 1))
    assert (law.total, law.mean(), law.variance()) == (4, Fraction(5, 4), Fraction(43, 16))
    assert law.probability(4) == Fraction(1, 4)


def test_probabilities_become_whole_weights():
    law = as_law({"a": Fraction(1, 6), "b": Fraction(1, 4), "c": Fraction(7, 12)})
    assert law == Law(("a", "b", "c"), (2, 3, 7))


def test_exp_is_bounded_from_below():
    for epsilon in (1e-9, 0.3, 1.0, 50.0):
        below = exp_below(epsilon)
        assert exp_at_least(below, Fraction(epsilon)) and not exp_at_least(below * (1 + TINY), Fraction(epsilon))
    assert exp_below(1e300) == exp_below(200)


def test_claims_say_what_and_whom():
    local, label, central = (m.guarantee for m in (KaryResponse(1.0, 3), LaplaceNoise(1.0, 3), NoisyCounts(1.0, 2)))
    assert (local.protects, local.trust, local.neighbours) == ("record", "local", "replace")
    assert (label.protects, label.trust, label.neighbours) == ("label", "local", "label")
    assert (central.protects, central.trust, central.neighbours) == ("record", "central", "add/remove")


def test_a_fraction_of_a_budget_is_claimed_rounded_up():
    third = NoisyCounts(Fraction(1, 3), 1).guarantee.epsilon
    assert Fraction(third) >= Fraction(1, 3) > Fraction(math.nextafter(third, 0))


@pytest.mark.parametrize("values", [[-1], [3], [0.0], [[0]], 0, [True], ["0"]])
def test_values_outside_are_refused(values):
    with pytest.raises(HedgerowError, match="'values' must be"):
        KaryResponse(1.0, 3).randomize(values)


def test_outcomes_are_numbers_or_rows():
    assert Mechanism().outcomes(np.array([3, 1])) == [3, 1]
    assert Mechanism().outcomes(np.array([[True, False], [True, True]])) == [(1, 0), (1, 1)]


def test_what_a_mechanism_does_not_say_is_an_error():
    for kind in (Mechanism, LocalMechanism, CentralMechanism):
        for ask in (lambda m: m.sample(0, 1), lambda m: m.law(0), lambda m: m.words()):
            with pytest.raises(NotImplementedError):
                ask(kind())
