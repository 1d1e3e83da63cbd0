"""A label told twice: both forms hold, coarse noise is Laplace noise of its own budget."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_exact, audit_laws
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.gradual import GradualLaplace
from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.randomness import SeededRandomness


@pytest.mark.parametrize(("epsilon", "coarse"), [(1.0, 0.5), (2.0, 1.8), (0.5, 0.5)])
def test_it_holds_exactly_in_both_forms(epsilon, coarse):
    pair = GradualLaplace(epsilon, 3, coarse)
    assert audit_exact(pair, law=lambda v: pair.law(v, reach=4)).holds
    laws = [(v, pair.coarse_law(v, reach=4)) for v in range(4)]
    assert audit_laws("coarse", laws, epsilon=coarse).holds
    weak = GradualLaplace(1.1 * epsilon, 3, 1.1 * coarse)
    assert not audit_exact(weak, epsilon=epsilon, law=lambda v: weak.law(v, reach=4)).holds
    laws = [(v, weak.coarse_law(v, reach=4)) for v in range(4)]
    assert not audit_laws("coarse", laws, epsilon=coarse).holds


def test_coarse_is_the_laplace_of_its_own_budget():
    """The rounding of w to 64 bits is the only difference."""
    pair, plain = GradualLaplace(2.0, 4, 0.7), DiscreteLaplace(0.7, 4)
    law, other = pair.coarse_law(1, reach=6), plain.law(1, reach=6)
    assert law.outputs == other.outputs
    worst = max(abs(law.probability(o) - other.probability(o)) for o in law.outputs)
    assert worst < Fraction(1, 1 << 60)


def test_chances_add_up():
    pair = GradualLaplace(2.0, 3, 1.0)
    assert float(sum(pair.coarse_chance(k) for k in range(-80, 81))) == pytest.approx(1)
    marginal = sum(pair.joint_chance(2, fine) for fine in range(-60, 61))
    assert float(marginal) == pytest.approx(float(pair.coarse_chance(2)), rel=1e-12)


def test_coarse_alone_has_its_law():
    """TV over 16 clamped outputs: 2**16 exp(-2 n t**2) < 1e-8 at n = 100,000 and t = 0.0125."""
    n, pair = 100_000, GradualLaplace(3.0, 3, 1.5)
    coarse, fine = pair.randomize_both(np.full(n, 1), SeededRandomness(3))
    for sample, law in ((coarse, pair.coarse_law(1, reach=6)), (fine, pair.fine.law(1, reach=6))):
        counts = np.bincount(np.clip(sample, -6, 9) + 6, minlength=16) / n
        exact = np.array([w / law.total for w in law.weights])
        assert np.abs(counts - exact).sum() / 2 < 0.0125


def test_a_coarse_budget_above_the_whole_is_refused():
    with pytest.raises(HedgerowError, match="coarse_epsilon"):
        GradualLaplace(1.0, 4, 1.5)
