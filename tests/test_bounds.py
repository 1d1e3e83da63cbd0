"""Label grid and feature space: public facts only, clipping, no record ever dropped."""

import json
import math
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.bounds import (
    CategoricalFeature,
    FeatureSpace,
    LabelGrid,
    NumericFeature,
    check_label_bounds,
    check_labels,
)
from hedgerow.errors import BoundsError, FormatError
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


# Feature space


def mixed_space():
    return FeatureSpace(
        (NumericFeature("age", 0, 99), CategoricalFeature("sex", ("F", "M")), NumericFeature("h", 1, 2))
    )


ROWS = {"age": [41, 150, -3], "sex": ["M", "F", "M"], "h": [1.5, 0.0, 9.0]}
ENCODED = [[41.0, 1.0, 1.5], [99.0, 0.0, 1.0], [0.0, 1.0, 2.0]]


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame(ROWS),
        pd.DataFrame(ROWS, dtype=object),
        pd.DataFrame({**ROWS, "sex": pd.Categorical(ROWS["sex"])}),
        pd.DataFrame({**ROWS, "sex": pd.array(ROWS["sex"], dtype="string"), "age": pd.array([41, 150, -3], "Int64")}),
        pl.DataFrame(ROWS),
        pl.DataFrame(ROWS).with_columns(pl.col("sex").cast(pl.Categorical)),
        pl.DataFrame(ROWS).with_columns(pl.col("sex").cast(pl.Enum(["F", "M"]))),
        pa.table(ROWS),
        pa.table(ROWS).set_column(1, "sex", pa.array(ROWS["sex"]).dictionary_encode()),
        [[41, "M", 1.5], [150, "F", 0.0], [-3, "M", 9.0]],
        np.array([[41, "M", 1.5], [150, "F", 0.0], [-3, "M", 9.0]], dtype=object),
    ],
)
def test_all_kinds_of_tables_encode_alike(frame):
    assert mixed_space().encode(frame).tolist() == ENCODED
    if not isinstance(frame, list):
        space = FeatureSpace.from_public(frame)
        assert space.is_categorical.tolist() == [False, True, False]
        assert space.features[1].categories == ("F", "M")
        assert (space.low[0], space.high[0]) == (-3.0, 150.0)


def test_columns_are_found_by_name_in_any_order_and_extra_ones_ignored():
    space = mixed_space()
    for make in (pd.DataFrame, pl.DataFrame):
        shuffled = make({"h": ROWS["h"], "other": [0, 0, 0], "sex": ROWS["sex"], "age": ROWS["age"]})
        assert space.encode(shuffled).tolist() == ENCODED
    numeric = FeatureSpace.from_bounds((0, 9), ["a", "b"])
    assert numeric.encode(pd.DataFrame({"b": [2], "a": [1]})).tolist() == [[1.0, 2.0]]


@given(st.lists(st.lists(st.floats(allow_nan=False, allow_infinity=False), min_size=2, max_size=2), max_size=50))
@settings(max_examples=60, deadline=None)
def test_no_record_is_ever_dropped_and_all_lie_inside(rows):
    space = FeatureSpace.from_bounds({0: (-1, 1), 1: (5, 6)}, 2)
    X = np.array(rows, dtype=float).reshape(-1, 2)
    Z = space.encode(X)
    assert Z.shape == X.shape
    assert np.array_equal(Z, np.clip(X, [-1, 5], [1, 6]))


def test_encoding_leaves_the_callers_array_alone():
    X = np.array([[5.0], [0.5]])
    FeatureSpace.from_bounds((0, 1), 1).encode(X)
    assert X.tolist() == [[5.0], [0.5]]


def test_float32_is_kept_and_other_types_become_float64():
    space = FeatureSpace.from_bounds((-1e300, 1e300), 1)
    assert space.encode(np.array([[1.0]], dtype=np.float32)).dtype == np.float32
    for dtype in (np.float16, np.int8, bool, np.longdouble):
        assert space.encode(np.array([[1]], dtype=dtype)).dtype == np.float64


def test_records_as_mappings_and_rows():
    space = mixed_space()
    assert space.encode_record({"h": 1.5, "sex": "M", "age": 41, "unused": None}).tolist() == ENCODED[0]
    assert space.encode_record([41, "M", 1.5]).tolist() == ENCODED[0]
    assert FeatureSpace.from_bounds((0, 9), 2).encode_record(np.array([3, 11])).tolist() == [3.0, 9.0]
    assert space.encode_record({"age": 1, "h": 1}).tolist() == [1.0, 0.0, 1.0]
    for bad in (3.0, np.ones((1, 3)), "abc", [1, "M"], [1, "M", 1.5, 2], None, {}):
        assert space.encode_record(bad).tolist() == space.missing.tolist() == [49.5, 0.0, 1.5]


def test_category_names_are_not_numbers():
    """A record whose columns all look like numbers must not have its categories read as numbers."""
    space = FeatureSpace((CategoricalFeature("zip", ("01", "1", "1e3")), NumericFeature("a", 0, 9)))
    assert space.encode_record({"zip": "01", "a": "5"}).tolist() == [0.0, 5.0]
    assert space.encode([["1e3", 2], ["1", 3]]).tolist() == [[2.0, 2.0], [1.0, 3.0]]


def test_numeric_categories_have_one_name():
    space = FeatureSpace.from_public(np.array([[1.0, 0.5], [2.0, 0.1]]), categorical_features=[0])
    assert space.features[0].categories == ("1", "2")
    for value in (2, 2.0, np.int64(2), np.float32(2), "2"):
        assert space.encode_record([value, 0.3]).tolist() == [1.0, 0.3]
    assert CategoricalFeature("n", (1, 2)).codes([2, 1]).tolist() == [1.0, 0.0]


def test_an_object_column_of_numbers_is_numeric_and_of_text_is_not():
    frame = pd.DataFrame({"a": [1.5, 2.5], "b": ["x", "y"]}, dtype=object)
    for public in (frame, frame.to_numpy()):
        assert FeatureSpace.from_public(public).is_categorical.tolist() == [False, True]


@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_an_unknown_category_counts_as_the_task_says(make):
    frame = make({**ROWS, "sex": ["M", "X", "F"]})
    assert mixed_space().encode(frame)[:, 1].tolist() == [1.0, 0.0, 0.0]
    other = FeatureSpace((CategoricalFeature("sex", ("F", "M"), unknown="M"),))
    assert other.encode(frame)[:, 0].tolist() == [1.0, 1.0, 0.0]


@pytest.mark.parametrize("missing", [None, math.nan, pd.NA, pd.NaT])
def test_a_missing_category_is_unknown(missing):
    space = FeatureSpace((CategoricalFeature("c", ("a", "other", "b")), NumericFeature("x", 0, 1)))
    assert space.encode_record([missing, 1]).tolist() == [1.0, 1.0]
    frame = pd.DataFrame({"c": ["b", missing], "x": [0.0, 1.0]}, dtype=object)
    assert space.encode(frame)[:, 0].tolist() == [2.0, 1.0]
    # Of public records it is no category of its own.
    assert FeatureSpace.from_public(frame, categorical_features=["c"]).features[0].categories == ("b",)


@pytest.mark.parametrize(("value", "counts"), [(math.nan, 49.5), (math.inf, 99), (-math.inf, 0), (None, 49.5)])
def test_missing_and_infinite_numbers(value, counts):
    assert mixed_space().encode_record([value, "M", 1])[0] == counts
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        frame = make({"age": [0.5, value]})
        assert FeatureSpace((NumericFeature("age", 0, 99),)).encode(frame).tolist() == [[0.5], [counts]]
    with pytest.raises(BoundsError, match="NaN or infinity"):
        FeatureSpace.from_public([[1.0], [value]])


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_missing_values_in_any_block_are_filled_in_and_the_rest_is_left_alone(dtype):
    space = FeatureSpace((NumericFeature("a", 0, 1, missing=0.25), NumericFeature("b", -4, 4)))
    X = np.random.default_rng(0).random((60_000, 2)).astype(dtype)
    want = X.copy()
    for i, (found, counts) in {7: (np.nan, 0.25), 40_000: (np.inf, 1.0), 59_999: (-np.inf, 0.0)}.items():
        X[i, 0], want[i, 0] = found, counts
    X[40_001, 1], want[40_001, 1] = np.nan, 0.0
    before = X.copy()
    Z = space.encode(X)
    assert Z.dtype == dtype and np.array_equal(Z, want) and np.array_equal(X, before, equal_nan=True)


def test_text_in_a_numeric_column():
    assert mixed_space().encode_record(["old", "M", 1]).tolist() == [49.5, 1.0, 1.0]
    X = np.array([[1j], ["0.25"]], dtype=object)
    assert FeatureSpace.from_bounds((0, 1), 1).encode(X).tolist() == [[0.5], [0.25]]


def test_a_list_of_rows_is_read_row_by_row():
    space = mixed_space()
    rows = [[41, "M", 1.5], [True, None, "2"], [1, 2], "abc", [[1], "F", {}], 7, (10**400, 0, -(10**400))]
    fixed = space.missing.tolist()
    assert space.encode(rows).tolist() == [
        [41.0, 1.0, 1.5], [1.0, 0.0, 2.0], fixed, fixed, [49.5, 0.0, 1.5], fixed, [99.0, 0.0, 1.0],
    ]  # fmt: skip


def test_what_missing_and_unknown_values_count_as_must_be_in_the_schema():
    assert NumericFeature("a", 5e-324, 5e-324).missing == 5e-324
    assert NumericFeature("a", -1.7e308, 1.7e308).missing == 0.0
    assert LabelGrid(0, 80, 4).missing == 40.0 and LabelGrid(0, 80, 4, 7).missing == 7.0
    for value in (-1, 100, math.nan, "x"):
        with pytest.raises(BoundsError, match="'missing' of 'a' must be a number in"):
            NumericFeature("a", 0, 99, value)
        with pytest.raises(BoundsError, match="'missing' of the label must be"):
            LabelGrid(0, 99, 4, value)
    with pytest.raises(BoundsError, match="'unknown' of 'c' must be one of its categories"):
        CategoricalFeature("c", ("a", "b"), unknown="x")


def test_columns_that_are_absent_are_filled_in_with_one_warning():
    space = FeatureSpace.from_bounds((0, 1), ["a", "b"])
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        with pytest.warns(UserWarning, match=r"lacks the columns \['b'\]: all of their values") as found:
            assert space.encode(make({"a": [1.0, 0.0]}), fill=True).tolist() == [[1.0, 0.5], [0.0, 0.5]]
        assert len(found) == 1
        with pytest.raises(BoundsError, match="lacks the columns"):
            space.encode(make({"c": [1.0]}), fill=True)
    with pytest.raises(BoundsError, match="two columns named 'a'"):
        space.encode(pd.DataFrame([[1.0, 2.0, 3.0]], columns=["a", "a", "b"]))


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


@pytest.mark.parametrize("X", [[1.0, 2.0], 3.0, np.zeros((2, 2, 2))])
def test_wrong_dimensions(X):
    with pytest.raises(BoundsError, match="2-dimensional"):
        FeatureSpace.from_bounds((0, 1), 2).encode(X)


def test_wrong_or_missing_columns():
    space = FeatureSpace.from_bounds((0, 1), ["a", "b"])
    with pytest.raises(BoundsError, match="X has 3 features, but 2 features are expected"):
        space.encode(np.zeros((4, 3)))
    for make in (pd.DataFrame, pl.DataFrame):
        with pytest.raises(BoundsError, match=r"lacks the columns \['b'\]"):
            space.encode(make({"a": [1.0], "c": [1.0]}))


def test_missing_feature_bounds_say_why():
    with pytest.raises(BoundsError, match=r"'feature_bounds' is required.*never read from private records"):
        FeatureSpace.from_bounds(None, 2)


def test_category_lists_without_public_data():
    space = FeatureSpace.from_bounds((0, 9), ["age", "sex"], categories={"sex": ["F", "M"]})
    assert space.encode_record({"age": 10, "sex": "M"}).tolist() == [9.0, 1.0]
    assert len(FeatureSpace.from_bounds(None, ["sex"], categories={"sex": ["F", "M"]})) == 1
    assert FeatureSpace.from_bounds((0, 9), 2, categories={1: ["F", "M"]}).is_categorical.tolist() == [False, True]
    for wrong in ({"sex": ["F"]}, {3: ["F"]}, {"age": "F"}, {"age": 7}):
        with pytest.raises(BoundsError, match="'categories'"):
            FeatureSpace.from_bounds((0, 9), ["age"], categories=wrong)


def test_public_ranges_unless_given():
    X = np.array([[1.0, -2.0], [3.0, 5.0]])
    assert FeatureSpace.from_public(X).low.tolist() == [1.0, -2.0]
    assert FeatureSpace.from_public(X, feature_bounds=(0, 4)).high.tolist() == [4.0, 4.0]
    frame = pd.DataFrame({"c": ["b", "a"]})
    assert FeatureSpace.from_public(frame).features[0].categories == ("a", "b")
    assert FeatureSpace.from_public(frame, categories={"c": ["z", "b", "a"]}).features[0].categories == ("z", "b", "a")
    with pytest.raises(BoundsError, match="unknown columns"):
        FeatureSpace.from_public(frame, categorical_features=["d"])
    assert FeatureSpace.from_public(frame, categories={"c": ["a"]}).encode(frame).tolist() == [[0.0], [0.0]]


def test_impossible_schemas():
    with pytest.raises(BoundsError, match="distinct"):
        FeatureSpace.from_bounds((0, 1), ["a", "a"])
    with pytest.raises(BoundsError, match="0 features"):
        FeatureSpace(())
    for categories in ((), ("a", "a"), (1, 1.0)):
        with pytest.raises(BoundsError, match="distinct names"):
            CategoricalFeature("c", categories)


def test_outside_tells_raw_records_beyond_the_ranges():
    space = FeatureSpace.from_bounds([[0, 0], [1, 2]], 2)
    X = np.array([[0.0, 2.0], [1.1, 1.0], [0.5, -0.1], [0.5, 2.1]])
    assert space.outside(X).tolist() == [False, True, True, True]


def test_space_json_round_trip():
    for space in (mixed_space(), FeatureSpace.from_bounds((-1e-9, 1e300), ["é", ""])):
        again = FeatureSpace.from_dict(json.loads(json.dumps(space.to_dict())))
        assert again == space and hash(again) == hash(space)
        assert json.dumps(again.to_dict()) == json.dumps(space.to_dict())


@pytest.mark.parametrize(
    "features",
    [None, "ab", 5, [5], ["x"], [None], [{"name": "a"}],
     [{"name": "a", "low": 0, "high": 1, "missing": 0, "unit": "m"}], [{"name": "a", "low": 0, "high": 1}],
     [{"name": 5, "low": 0, "high": 1, "missing": 0}], [{"name": "a", "low": "0", "high": 1, "missing": 0}],
     [{"name": "a", "low": True, "high": 1, "missing": 1}], [{"name": "a", "low": 0, "high": 1, "missing": "0"}],
     [{"name": "a", "low": 0, "high": 1, "missing": None}], [{"name": "a", "low": 0, "high": 1, "missing": math.nan}],
     [{"name": "a", "categories": "ab", "unknown": "ab"}], [{"name": "a", "categories": [1], "unknown": "1"}],
     [{"name": "a", "categories": None, "unknown": "x"}], [{"name": "a", "categories": ["x"]}],
     [{"name": "a", "categories": ["x"], "unknown": None}],
     [{"name": "a", "categories": ["x"], "unknown": "x", "low": 0}],
     [{"name": "a", "low": 0, "high": math.inf, "missing": 0}]],
)  # fmt: skip
def test_space_json_is_strict(features):
    with pytest.raises(FormatError):
        FeatureSpace.from_dict({"features": features})
    with pytest.raises(FormatError):
        FeatureSpace.from_dict({"features": [], "more": 1})
