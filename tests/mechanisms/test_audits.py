"""Declarations of audits: which inputs, which events."""

from fractions import Fraction

from hedgerow.mechanisms import Audit, Chance, DiscreteLaplace, KaryResponse, Law
from hedgerow.mechanisms.selection import PermuteAndFlip

LAW = Law(((0, 0), (0, 1), (1, 0), (1, 1)), (4, 3, 2, 1))


def test_chances_are_those_of_the_law():
    assert Chance(0, lambda o: o[1] == 1).of(LAW) == Fraction(4, 10)
    assert Chance(0, lambda o: o[1] == 1, lambda o: o[0] == 1).of(LAW) == Fraction(1, 3)


def test_all_inputs_of_a_local_mechanism_are_compared_unless_said():
    mechanism = KaryResponse(1.0, 4)
    assert list(Audit("all", KaryResponse).compared(mechanism)) == [0, 1, 2, 3]
    assert Audit("all", KaryResponse).sampled(mechanism) == (0, 3)
    some = Audit("some", KaryResponse, inputs=lambda m: (1, 2, 3))
    assert (some.compared(mechanism), some.sampled(mechanism)) == ((1, 2, 3), (1, 3))
    assert Audit("two", KaryResponse, pair=lambda m: (2, 1)).sampled(mechanism) == (2, 1)


def test_central_inputs_are_what_the_file_says():
    costs = ((0, 0), (2, 0))
    audit = Audit("choice", lambda epsilon: PermuteAndFlip(epsilon, 2), inputs=lambda m: costs)
    assert audit.sampled(audit.build(1.0)) == costs


def test_reach_clamps_law_and_draws_alike():
    noise = DiscreteLaplace(1.0, 2)
    audit = Audit("noise", lambda epsilon: noise, reach=3)
    assert audit.law(noise, 1).outputs == tuple(range(-3, 6))
    assert set(audit.outcomes(noise, noise.sample(1, 1000))) <= set(range(-3, 6))
    assert Audit("noise", lambda epsilon: noise).law(noise, 1).outputs[0] == -noise.reach
