"""Features and their space: every record is encoded, whatever is in it."""

import json
import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.errors import BoundsError, FormatError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.space import FeatureSpace

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


@pytest.mark.parametrize("kind", ["f8", "f4", "f2", "i8", "u1", "?"])
def test_numbers_of_an_array_have_the_codes_of_each_by_itself(kind):
    feature = CategoricalFeature("n", ("0", "1", "0.1", "2", "True", "inf", "other", "missing"))
    column = np.array([2, 1, 0, 1, 7, 2] if kind in ("i8", "u1", "?") else [0.1, -0.0, math.nan, 2, 1, 0, math.inf, 7])
    column = column.astype(kind)
    assert feature.codes(column).tolist() == [feature.value(value) for value in column]
    assert feature.codes(column, 3).tolist() == [7.0] * 3  # a column of another length is missing


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
    with pytest.raises(BoundsError, match="unknown column 'd'"):
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
    if isinstance(features, list):
        whole = {"categories": {"missing": "x"}, "low": {"indicator": False}}
        added = [
            next((more for key, more in whole.items() if key in f), {}) if isinstance(f, dict) else {} for f in features
        ]
        features = [f | more if more else f for f, more in zip(features, added, strict=True)]
    with pytest.raises(FormatError):
        FeatureSpace.from_dict({"columns": features})
    with pytest.raises(FormatError):
        FeatureSpace.from_dict({"columns": [], "more": 1})
