"""The public rule for values: every value is a number, a category, or missing; none is an error."""

import math
from decimal import Decimal
from fractions import Fraction

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow.values import NUMBER, category, cells, field, number, numbers, record_values
from tests.conformance.records import VALUES, Broken, WildInt, WildNumber, WildText

NUMBERS = [
    (True, 1.0), (np.False_, 0.0), (3, 3.0), (np.int8(-3), -3.0), (np.float16(0.5), 0.5), (Decimal("0.25"), 0.25),
    (Fraction(1, 4), 0.25), (10**400, math.inf), (-(10**400), -math.inf), (Fraction(-(10**400)), -math.inf),
    ("7", 7.0), (" +7.5e0\t", 7.5), ("-.5", -0.5), ("5.", 5.0), ("1E2", 100.0), ("1e400", math.inf),
    ("-1e400", -math.inf),
    ("9" * 5000, math.inf), ("1e-400", 0.0), (np.str_("5"), 5.0), (np.array([2.5]), 2.5), (np.array(2), 2.0),
    (WildText("5"), 5.0),
]  # fmt: skip
MISSING = [
    None, math.nan, "", " ", "abc", "nan", "inf", "Infinity", "0x10", "1_0", "1,5", "1 2", "\u0661", "7\x1c", "7\u00a0",
    "--7", "+", ".", "e5", b"7", [7], (7,), {}, pd.NA, pd.NaT, np.datetime64("NaT"), np.array([1.0, 2.0]), 1j, object(),
    Decimal("sNaN"), Decimal("NaN"), WildNumber(5), WildInt(5), int,
]  # fmt: skip


@pytest.mark.parametrize(("value", "counts"), NUMBERS, ids=lambda v: repr(v)[:20])
def test_numbers(value, counts):
    assert number(value) == counts and numbers([value, 1]).tolist() == [counts, 1.0]


@pytest.mark.parametrize("value", MISSING, ids=lambda v: type(v).__name__)
def test_what_is_no_number_is_missing(value):
    assert math.isnan(number(value)) and np.isnan(numbers([1.0, value])).tolist() == [False, True]


def test_every_value_has_an_answer_and_columns_are_read_value_by_value():
    alone = [number(value) for value in VALUES]
    column = np.empty(len(VALUES), dtype=object)
    column[:] = VALUES
    for made in (list(VALUES), VALUES, column, pd.Series(column)):
        assert np.array_equal(numbers(made), alone, equal_nan=True)
    assert all(isinstance(category(value), str | None) for value in VALUES)


@given(st.text(max_size=12) | st.from_regex(NUMBER, fullmatch=True) | st.floats().map(repr) | st.integers().map(str))
@settings(max_examples=300, deadline=None)
def test_text_is_read_alike_alone_and_in_a_column(text):
    one, many = number(text), numbers([text] * 3)
    assert (many == one).all() or (np.isnan(many).all() and math.isnan(one))
    bare = text.strip(" \t\n\r\v\f")
    assert math.isnan(one) == (NUMBER.fullmatch(bare) is None)
    assert math.isnan(one) or one == float(bare)


def test_columns_of_all_libraries():
    for column in (pd.Series([1, None], dtype="Int64"), pl.Series([1, None]), pa.chunked_array([[1, None]]), (1, None)):
        assert np.array_equal(numbers(column), [1.0, np.nan], equal_nan=True)
        assert [category(v) for v in cells(column)] == ["1", None]
    assert numbers(np.array(["NaT"], dtype="M8[s]")).tolist() != [0.0]
    kept = np.ones(3, dtype=np.float32)
    assert numbers(kept) is kept


def test_categories_have_one_name():
    for value in (2, 2.0, np.int64(2), np.float32(2), "2", Decimal(2), np.array([2])):
        assert category(value) == "2"
    for value in (None, math.nan, pd.NA, pd.NaT, [2], {2}, (2,), {}, b"2", np.array([1, 2]), np.float32("nan")):
        assert category(value) is None
    assert category(True) == "True" and category(0.5) == "0.5" and category(WildText("a")) == "a"


def test_records_and_fields():
    assert record_values({"b": 1}, ["a", "b"]) == [None, 1]
    assert record_values(Broken(), ["a"]) == [None] and field(Broken(), "a") is None
    for nothing in ("ab", b"ab", None, 5, [1], [1, 2, 3], object(), np.ones((3, 2))):
        assert record_values(nothing, ["a", "b"]) == [None, None]
    assert record_values(np.array([1.0, 2.0]), ["a", "b"]) == [1.0, 2.0]
