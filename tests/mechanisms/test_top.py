"""Top response: randomised response on some levels."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.base import exp_below
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.top import TopResponse
from hedgerow.randomness import SeededRandomness


def test_all_levels_make_k_ary_response():
    top = TopResponse(1.3, 3, (0, 1, 2, 3))
    assert [top.law(v) for v in range(4)] == [KaryResponse(1.3, 4).law(v) for v in range(4)]
    assert top.positions([0, 3]).tolist() == [0.0, 3.0]


def test_a_level_that_cannot_be_sent_is_sent_as_any_alike():
    top = TopResponse(2.0, 4, (1, 4))
    assert {top.law(v).probability(o) for v in (0, 2, 3) for o in (0, 1)} == {Fraction(1, 2)}
    assert top.law(4).probability(1) == KaryResponse(2.0, 2).p
    assert top.positions([0, 1]).tolist() == [1.0, 4.0]


def test_draws_have_the_law_of_a_level_that_cannot_be_sent():
    sent = TopResponse(2.0, 4, (1, 3, 4)).randomize(np.full(30_000, 2), SeededRandomness(5))
    counts = np.bincount(sent, minlength=3)
    assert abs(counts - 10_000).max() < 500  # 6 standard errors: a false alarm below 1e-8


@pytest.mark.parametrize("epsilon", [0.1, 1.0, 5.0])
def test_no_ratio_exceeds_e_to_the_epsilon(epsilon):
    top = TopResponse(epsilon, 5, (0, 2, 3))
    laws = [top.law(v) for v in range(6)]
    worst = max(a.probability(o) / b.probability(o) for a in laws for b in laws for o in range(3))
    assert 1 + epsilon / 2 < worst <= exp_below(epsilon) * (1 + Fraction(1, 1 << 50))


def test_moments_are_those_of_the_law():
    top = TopResponse(1.0, 4, (0, 1, 4))
    mean, variance = top.moments()
    for v in range(5):
        law = top.law(v)
        levels = np.array(top.top)
        p = np.array([float(law.probability(o)) for o in range(3)])
        assert mean[v] == pytest.approx(p @ levels)
        assert variance[v] == pytest.approx(p @ levels**2 - (p @ levels) ** 2)


@pytest.mark.parametrize("top", [(), (1, 1), (2, 1), (-1, 0), (0, 5)])
def test_levels_must_rise_within_the_grid(top):
    with pytest.raises(HedgerowError, match="'top'"):
        TopResponse(1.0, 4, top)
