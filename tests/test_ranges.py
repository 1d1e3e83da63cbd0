"""Ranges are read as they are meant, or refused."""

import numpy as np
import pandas as pd
import pytest

import hedgerow
from hedgerow.errors import BoundsError
from hedgerow.grid import check_label_bounds
from hedgerow.ranges import feature_ranges, read_pair
from hedgerow.space import FeatureSpace

NAMES = ["a", "b"]
BOTH = {"a": (0.0, 1.0), "b": (0.0, 5.0)}


@pytest.mark.parametrize(
    "given",
    [
        {"a": (0, 1), "b": (0, 5)},
        {0: (0, 1), 1: [0, 5]},
        {"b": np.array([0, 5]), 0: (0, np.float32(1))},
        [[0, 0], [1, 5]],
        ((0, 0), (1, 5)),
        np.array([[0, 0], [1, 5]]),
        pd.DataFrame({"a": [0, 1], "b": [0, 5]}),
    ],
    ids=repr,
)
def test_all_forms_say_the_same(given):
    assert feature_ranges(given, NAMES) == BOTH


def test_an_array_may_be_read_either_way_and_is_read_as_documented():
    assert feature_ranges(np.array([[0, 5], [10, 20]]), NAMES) == {"a": (0.0, 10.0), "b": (5.0, 20.0)}


@pytest.mark.parametrize("given", [[(0, 1), (0, 5)], [[0, 5], [10, 20]], ((0, 1), (0, 5)), ([0, 1], [2, 3])], ids=repr)
def test_pairs_for_two_columns_are_refused_and_the_error_says_how_to_pass_them(given):
    """Read as lows and highs, [(0, 1), (0, 5)] would be (0, 0) and (1, 5)."""
    with pytest.raises(BoundsError, match=r"list of \(low, high\) pairs.*dict.*\(2, d\)"):
        feature_ranges(given, NAMES)


@pytest.mark.parametrize("d", [1, 3, 5])
def test_pairs_for_any_number_of_columns_are_refused(d):
    if d == 1:
        assert feature_ranges([0, 5], ["a"]) == {"a": (0.0, 5.0)}
    with pytest.raises(BoundsError, match=r"pairs|must be a pair"):
        feature_ranges([(0, 5)] * d, [f"x{j}" for j in range(d)])


@pytest.mark.parametrize(
    "given",
    [
        (1, 0),
        (1, 1),
        (0, np.nan),
        (-np.inf, 1),
        {"a": (0, 10**400)},
        np.array([[0, 1], [1, 0]]),
        {"a": (2, 2)},
        {"b": (3, 1)},
    ],
    ids=repr,
)
def test_empty_reversed_and_infinite_ranges_are_refused(given):
    with pytest.raises(BoundsError, match=r"'feature_bounds.*' must be finite with low < high"):
        feature_ranges(given, NAMES)


@pytest.mark.parametrize("given", [("0", "1"), "01", [["0", "0"], ["1", "5"]], {"a": ("0", "1")}, {"a": "01"}, b"01"])
def test_text_is_no_range(given):
    with pytest.raises(BoundsError, match="not text"):
        feature_ranges(given, NAMES)


@pytest.mark.parametrize("given", [("0", "80"), "08", (0, "80"), [b"0", 80], np.array(["0", "80"])])
def test_text_is_no_label_range(given):
    with pytest.raises(BoundsError, match="'label_bounds' must be numbers, not text"):
        check_label_bounds(given)
    with pytest.raises(BoundsError, match="'label_bounds' must be numbers, not text"):
        hedgerow.LaplaceMechanism(1.0, label_bounds=given)


@pytest.mark.parametrize(
    "given",
    [(0, 1, 2), 5, [[0, 1, 2], [1, 2, 3]], [[0], [1], [2]], {"a": 1}, {"a": (1, 2, 3)}, (None, 1), [(0, 1), (2,)]],
    ids=repr,
)
def test_other_shapes_are_refused(given):
    with pytest.raises(BoundsError, match=r"'feature_bounds.*' must be a pair"):
        feature_ranges(given, NAMES)


def test_names_are_those_of_the_columns():
    for wrong in ({"c": (0, 1)}, {2: (0, 1)}, {-1: (0, 1)}, {True: (0, 1)}):
        with pytest.raises(BoundsError, match="unknown column"):
            feature_ranges(wrong, NAMES)
    with pytest.raises(BoundsError, match="twice"):
        feature_ranges({"a": (0, 1), 0: (0, 2)}, NAMES)
    with pytest.raises(BoundsError, match="categorical"):
        feature_ranges({"b": (0, 1)}, NAMES, {"b"})
    assert feature_ranges(np.array([[0, 7], [1, 7]]), NAMES, {"b"}) == {"a": (0.0, 1.0)}


def test_columns_without_a_range_are_named_or_public():
    with pytest.raises(BoundsError, match=r"for \['b'\]"):
        FeatureSpace.from_bounds({"a": (0, 1)}, NAMES)
    public = pd.DataFrame({"a": [0.2, 0.4], "b": [3.0, 3.0]})
    space = FeatureSpace.from_public(public, feature_bounds={"a": (0, 1)})
    assert space.low.tolist() == [0, 3] and space.high.tolist() == [1, 3]  # a constant public column stays


def test_a_pair_is_two_numbers():
    assert read_pair(np.array([0, 1]), "x") == (0.0, 1.0) == read_pair([False, True], "x")
    for wrong in (None, 3, (1,), {0: 1, 2: 3}, [[0, 1]], (0, 1j)):
        with pytest.raises(BoundsError, match="'x' must be a pair"):
            read_pair(wrong, "x")
