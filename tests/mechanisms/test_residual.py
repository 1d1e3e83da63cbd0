"""Noisy residuals: the law over the rounding is exact, and what is decoded is unbiased."""

from fractions import Fraction

import numpy as np
import pytest

from hedgerow.audit import audit_exact
from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.joint import LevelResponse, SignedSubset
from hedgerow.mechanisms.residual import ResidualMechanism, _rounding
from hedgerow.randomness import SeededRandomness

RANDOMIZERS = {"sign": lambda e: SignedSubset(e, 1), "levels": lambda e: LevelResponse(e, 1, 5)}
kinds = pytest.mark.parametrize("kind", RANDOMIZERS)


def mechanism(kind, epsilon, **public):
    return ResidualMechanism(RANDOMIZERS[kind](epsilon), 2.5, **public)


@kinds
@pytest.mark.parametrize("epsilon", [0.1, 2.0, 6.0])
def test_residuals_within_and_beyond_the_radius_hold_exactly(kind, epsilon):
    inputs = np.linspace(-4, 4, 33).tolist()
    result = audit_exact(mechanism(kind, epsilon), inputs=inputs)
    assert result.holds and result.measured == pytest.approx(epsilon, rel=1e-9)
    assert not audit_exact(mechanism(kind, 1.1 * epsilon), epsilon=epsilon, inputs=inputs).holds


@kinds
def test_rounded_residuals_have_the_law(kind, same_law, probabilities):
    """Chi-square at 1e-7 for each of three residuals, none of them on a level."""
    own = mechanism(kind, 1.5, clipped_mean=0.1, inside=0.8, mean=-0.3)
    for residual in (-2.2, 0.31, 1.9):
        drawn = own.sample(residual, 20_000, SeededRandomness(int(10 * residual) + 40))
        same_law(own.outcomes(drawn), probabilities(own.law(residual)))


@kinds
@pytest.mark.parametrize("residual", [-2.5, -0.7, 0.0, 1.3, 2.5])
def test_decoded_residuals_are_unbiased_within_the_radius(kind, residual):
    law = mechanism(kind, 1.5).law(residual)
    mean = sum(Fraction(o) * w for o, w in zip(law.outputs, law.weights, strict=True)) / law.total
    assert float(mean) == pytest.approx(residual, abs=1e-6)  # the grid rounds down at 24 bits


def test_rounding_is_that_of_the_grid():
    """The share of draws at the upper level; Hoeffding, 2 exp(-2 n t**2) < 1e-8 at n = 200,000 and t = 0.007."""
    grid = LabelGrid(-1.0, 1.0, 4)
    for value in (-1.5, -1.0, -0.6, 0.123, 0.5, 0.999, 1.0, 7.0):
        chances = _rounding(grid, value)
        drawn = grid.levels(np.full(200_000, value), SeededRandomness(3))
        assert set(np.unique(drawn).tolist()) <= set(chances) and sum(chances.values()) == 1
        for level, chance in chances.items():
            assert abs((drawn == level).mean() - float(chance)) < 0.007


def test_what_is_no_residual_is_refused():
    for bad in ([[0.0]], [float("nan")]):
        with pytest.raises(HedgerowError, match="'residuals' must be"):
            mechanism("sign", 1.0).randomize(bad, SeededRandomness(0))
