"""Interval response: (3.4), (3.6) and (3.7) of the paper, at all shapes of the interval."""

import numpy as np
import pytest

from hedgerow.audit import audit_exact
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.randomness import SeededRandomness

SHAPES = {
    "inside": {"low": 4, "high": 15, "radius": 2},
    "uniform": {"low": 4, "high": 15, "radius": 2, "outside": "uniform"},
    "whole": {"low": 0, "high": 20, "radius": 0},
    "one level": {"low": 7, "high": 7, "radius": 3},
}


@pytest.mark.parametrize("shape", SHAPES)
@pytest.mark.parametrize("epsilon", [0.05, 1.0, 8.0])
def test_claim_holds_and_is_used_up(shape, epsilon):
    response = IntervalResponse(epsilon, 20, **SHAPES[shape])
    result = audit_exact(response)
    assert result.holds
    assert result.measured == pytest.approx(epsilon if response.span else 0.0, rel=1e-9)


@pytest.mark.parametrize("shape", SHAPES)
def test_levels_within_and_outside_have_their_law(shape, same_law, probabilities):
    """Chi-square at 1e-7 for each of three levels."""
    response = IntervalResponse(1.2, 20, **SHAPES[shape])
    for level in (0, 10, 20):
        drawn = response.randomize(np.full(20_000, level), SeededRandomness(level))
        same_law(drawn.tolist(), probabilities(response.law(level)))


def test_levels_outside_answer_as_the_nearest_or_anything():
    project, uniform = (IntervalResponse(2.0, 20, 4, 15, 2, outside) for outside in ("project", "uniform"))
    assert project.law(0) == project.law(4) and project.law(20) == project.law(15)
    assert len(set(uniform.law(0).weights)) == 1 and uniform.law(4) == project.law(4)


def test_bad_arguments_are_named():
    with pytest.raises(HedgerowError, match="'low' and 'high'"):
        IntervalResponse(1.0, 8, low=5, high=4, radius=1)
    with pytest.raises(HedgerowError, match="'outside' parameter"):
        IntervalResponse(1.0, 8, low=1, high=4, radius=1, outside="drop")
