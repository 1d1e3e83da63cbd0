"""The label grid: levels without bias, clipped labels, strict JSON."""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hedgerow.errors import BoundsError, FormatError
from hedgerow.features import NumericFeature
from hedgerow.grid import LabelGrid, check_label_bounds, check_labels
from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.randomness import SeededRandomness
from hedgerow.tasks.tree.bits import split_epsilon


def exact_rounding(grid, y, script):
    """Return all levels and the exact mean, by all values of the first byte and, if it is open, of two more."""
    words = np.arange(1 << 16, dtype="<u2").tobytes()
    seen, total = set(), 0
    for byte in range(256):
        source = script(bytes([byte]) * (1 << 16), words)
        levels = grid.levels(np.full(1 << 16, y), source)
        assert len(source.left) in (0, len(words)), "the first byte decides for all or for none"
        seen.update(np.unique(levels).tolist())
        total += int(levels.sum())
    return seen, Fraction(total, 1 << 24)


@pytest.mark.parametrize("y", [0.0, 0.1, 1 / 3, 2.5, 3.7182818, 6.999, 7.0, 10.0])
def test_random_rounding_is_unbiased_by_enumeration(y, script):
    grid = LabelGrid(0.0, 10.0, 7)
    seen, mean = exact_rounding(grid, y, script)
    exact = Fraction(y) * 7 / 10
    assert seen <= {math.floor(exact), math.ceil(exact)}
    # The mean is within 2**-24 of a step (the stated precision) plus float rounding.
    assert abs(mean - exact) <= Fraction(1, 1 << 24) + Fraction(1, 10**12)


def test_random_rounding_is_unbiased_in_a_large_sample():
    """Hoeffding: with n = 400,000 the mean is within 0.0045 steps but for 2 exp(-2 n t^2) < 1e-6."""
    grid, y, n = LabelGrid(-1.0, 1.0, 4), 0.321, 400_000
    levels = grid.levels(np.full(n, y), SeededRandomness(5))
    assert set(np.unique(levels)) == {2, 3}
    assert abs(levels.mean() - (y + 1) * 2) < 0.0045
    assert 2 * math.exp(-2 * n * 0.0045**2) < 1e-6


def test_levels_are_integers_of_the_grid_and_labels_clip():
    grid = LabelGrid(-5.0, 5.0, 16)
    y = np.concatenate([np.linspace(-20, 20, 1001), [-1e308, 1e308, -5.0, 5.0]])
    levels = grid.levels(y, SeededRandomness(0))
    assert levels.dtype == np.int64 and levels.shape == y.shape
    assert levels.min() == 0 and levels.max() == 16
    assert (levels[y <= -5] == 0).all() and (levels[y >= 5] == 16).all()
    assert np.abs(grid.values(levels) - np.clip(y, -5, 5)).max() < grid.step


def test_clipping_changes_nothing_else():
    grid, y = LabelGrid(0.0, 1.0, 9), np.random.default_rng(0).normal(0, 3, 500)
    clipped = grid.levels(np.clip(y, 0, 1), SeededRandomness(3))
    assert (grid.levels(y, SeededRandomness(3)) == clipped).all()


@pytest.mark.parametrize("epsilon", [0.05, 0.1, 0.3, 0.5, 1, 1.7, 2, 3, 4, 5.5, 8])
@pytest.mark.parametrize("share", [0.3, 0.5, 0.7])
def test_the_default_grid_adds_below_one_percent_to_the_noise(epsilon, share):
    label_epsilon = split_epsilon(epsilon, share)[1]
    grid = LabelGrid.for_epsilon((0, 80), label_epsilon)
    noise = DiscreteLaplace(label_epsilon, grid.n_steps).variance  # in squared steps
    continuous = 2 * (grid.n_steps / label_epsilon) ** 2
    assert noise >= 0.25 / 0.01
    # Discrete noise and random rounding together: below 1 % over the paper's Laplace(width / epsilon).
    assert noise + 0.25 <= 1.01 * continuous


def test_a_coarse_grid_would_add_more_than_one_percent():
    assert DiscreteLaplace(4.0, 8).variance < 0.25 / 0.01


@pytest.mark.parametrize("grid", [LabelGrid(0, 80, 16), LabelGrid(-1.5e-7, 3e5, 1 << 20), LabelGrid(-0.0, 1, 1)])
def test_grid_json_round_trip(grid):
    again = LabelGrid.from_dict(json.loads(json.dumps(grid.to_dict())))
    assert again == grid and repr(again) == repr(grid) and hash(again) == hash(grid)


@pytest.mark.parametrize(
    "change",
    [{"low": "0"}, {"low": True}, {"high": None}, {"high": float("nan")}, {"n_steps": 8.0}, {"n_steps": "8"},
     {"n_steps": True}, {"extra": 1}, {"low": 10**400}, {"missing": "0"}, {"missing": None}],
)  # fmt: skip
def test_grid_json_is_strict(change):
    with pytest.raises(FormatError):
        LabelGrid.from_dict({**LabelGrid(0, 1, 8).to_dict(), **change})
    with pytest.raises(FormatError):
        LabelGrid.from_dict({"low": 0.0, "high": 1.0})


def test_grid_knows_no_negative_zero():
    assert repr(LabelGrid(-0.0, 1.0, 2)) == repr(LabelGrid(0.0, 1.0, 2))
    assert repr(NumericFeature("x", -0.0, 1)) == repr(NumericFeature("x", 0, 1.0))


@pytest.mark.parametrize("steps", [0, -1, (1 << 20) + 1, 2.5, True, "4", math.nan, None])
def test_bad_grid_steps(steps):
    with pytest.raises(BoundsError, match="n_steps"):
        LabelGrid(0, 1, steps)


@pytest.mark.parametrize(
    "bounds",
    [
        (1, 0),
        (1, 1),
        (0, math.inf),
        (math.nan, 1),
        (0, 1, 2),
        5,
        "ab",
        (None, 1),
        [],
        (-1e308, 1e308),
        [[0, 1], [1, 2]],
    ],
)
def test_bad_label_bounds(bounds):
    with pytest.raises(BoundsError, match="label_bounds"):
        check_label_bounds(bounds)


def test_label_bounds_too_narrow_for_floats():
    with pytest.raises(BoundsError, match="too close"):
        LabelGrid(0.0, 5e-324, 4)


def test_missing_label_bounds_say_why():
    with pytest.raises(BoundsError, match=r"'label_bounds' is required.*never read from the labels.*private"):
        check_label_bounds(None)


@pytest.mark.parametrize(
    ("y", "message"),
    [([1.0, math.nan], "NaN or infinity"), ([math.inf], "NaN or infinity"), ([[1, 2]], "1-dimensional"),
     (["a"], "numeric"), (3.0, "1-dimensional"), ([None], "NaN")],
)  # fmt: skip
def test_bad_labels(y, message):
    with pytest.raises(BoundsError, match=message):
        check_labels(y)


def test_labels_of_the_wrong_number():
    with pytest.raises(BoundsError, match=r"one label a record: 3\. Got 2"):
        check_labels([1, 2], n=3)
    assert check_labels([[1], [2]]).tolist() == [1.0, 2.0]


def test_private_labels_are_absorbed():
    grid = LabelGrid(0, 80, 8, missing=7)
    labels = grid.labels([1, None, "x", "5", math.nan, math.inf, -math.inf, 10**400, [3], True, pd.NA])
    assert labels.tolist() == [1.0, 7.0, 7.0, 5.0, 7.0, 80.0, 0.0, 80.0, 7.0, 1.0, 7.0]
    assert grid.labels(pl.Series([1.0, None])).tolist() == [1.0, 7.0]
    assert grid.labels([[1], [2]]).tolist() == [1.0, 2.0] == grid.labels(np.array([[1], [2]])).tolist()
    for bad in (3.0, np.ones((2, 2)), "ab"):
        with pytest.raises(BoundsError, match="1-dimensional"):
            grid.labels(bad)
    with pytest.raises(BoundsError, match=r"one label a record: 3\. Got 2"):
        grid.labels([1, 2], n=3)
    assert set(grid.levels([math.nan] * 99, SeededRandomness(0)).tolist()) == {0, 1}


@pytest.mark.parametrize("bounds", [(0, 1e-300), (0, 9e-101), (-1e101, 0), (-6e99, 6e99), (0, 2e100)])
def test_a_grid_on_which_a_number_would_not_be_finite_is_refused(bounds):
    """The scale of such a grid overflowed; a label at the lower end was no number then, and its holder silent."""
    with pytest.raises(BoundsError, match="label_bounds"):
        LabelGrid(*bounds, 1 << 20)


@pytest.mark.parametrize("bounds", [(0, 1e-100), (-1e100, 0), (-5e99, 5e99), (1e99, 1e100), (-1e-100, 1e-100)])
@pytest.mark.parametrize("steps", [1, 3, 1 << 20])
def test_the_widest_and_the_narrowest_grids_report_every_label(bounds, steps):
    grid = LabelGrid(*bounds, steps)
    y = np.array([grid.low, grid.high, grid.missing, 0.0, -1.7e308, 1.7e308, np.inf, -np.inf, np.nan, 5e-324])
    levels = grid.levels(y, SeededRandomness(0))
    assert levels.min() == 0 and levels.max() == steps and grid.step**2 > 0
    far = grid.values(np.array([-(2**31), 2**31]))
    assert np.isfinite(far**2 * 2.0**63).all()
