"""Schema: what is public, drafted, edited, written and read back; whatever the names and values are."""

import copy
import json
import math
import pickle
import re

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from hedgerow import BoundsError, FormatError, Schema
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.schema import CategoryColumn, ClassColumn, NumberColumn, WholeNumberColumn, YesNoColumn
from hedgerow.schema.draft import MOST, round_out

ROWS = {
    "age": [17, 41, 93, 60],
    "height": [1.5, 1.73, 1.92, 1.61],
    "sex": ["F", "M", "F", None],
    "smokes": ["no", "yes", "no", "yes"],
    "owns": [0, 1, 1, 0],
    "y": [3.0, 70.5, 21.0, 8.25],
}
KINDS = {
    "age": WholeNumberColumn("age", 15, 95),
    "height": NumberColumn("height", 1.5, 1.92),
    "sex": CategoryColumn("sex", ("F", "M", "other", "missing")),  # the public rows have a gap
    "smokes": YesNoColumn("smokes"),
    "owns": YesNoColumn("owns", "0", "1"),
    "y": NumberColumn("y", 0, 75),
}


def stated():
    return Schema(
        (
            WholeNumberColumn("age", 0, 99, 40, unit="years", question={"en": "How old are you?", "de": "Wie alt?"}),
            CategoryColumn("sex", ("M", "F", "other")),
            YesNoColumn("smokes", "No", "Yes"),
        ),
        NumberColumn("y", 0, 80, missing=10, unit="EUR"),
    )


# Drafts


@pytest.mark.parametrize("make", [dict, pd.DataFrame, pl.DataFrame, pa.table])
def test_all_kinds_of_tables_are_drafted_alike(make):
    schema = Schema.draft(make(ROWS))
    assert {column.name: column for column in (*schema.columns, schema.label)} == KINDS
    assert list(schema.names) == [name for name in ROWS if name != "y"]


def test_arrays_are_drafted_with_names():
    array = np.column_stack([ROWS["age"], ROWS["height"], ROWS["y"]])
    schema = Schema.draft(array, names=["age", "height", "y"])
    assert [schema[name] for name in ("age", "height", "y")] == [KINDS[name] for name in ("age", "height", "y")]
    assert Schema.draft(array, target=None).names == ("x0", "x1", "x2")
    objects = np.array([ROWS["age"], ROWS["sex"]], dtype=object).T
    assert Schema.draft(objects, target=None, names=["age", "sex"])["sex"] == KINDS["sex"]
    assert Schema.draft(objects.tolist(), target=None, names=["age", "sex"]) == Schema.draft(
        objects, target=None, names=["age", "sex"]
    )
    with pytest.raises(BoundsError, match=r"'names' must name each of the 3 columns\. Got 1"):
        Schema.draft(array, names=["y"])
    with pytest.raises(BoundsError, match="'names' is for arrays"):
        Schema.draft(pd.DataFrame(ROWS), names=list(ROWS))


@pytest.mark.parametrize(
    ("values", "kind"),
    [
        ([1.0, None, 7.0], "whole number"),
        ([1.5, np.nan, np.inf, 7.0], "number"),
        ([True, False], "yes/no"),
        ([True, None], "yes/no"),
        ([0, 1, 2], "whole number"),
        ([0.0, 1.0, None], "yes/no"),
        (["Y", "n"], "yes/no"),
        (["ja", "nein"], "yes/no"),
        (["ja", "no"], "category"),
        (["1", "2"], "category"),
        (["a", 2], "category"),
        (["", "a"], "category"),
    ],
)
def test_kinds_are_recognised(values, kind):
    assert Schema.draft({"c": values}, target=None)["c"].kind == kind


def test_an_order_that_a_type_declares_is_kept():
    values, order = ["low", "top", "low"], ["low", "mid", "top"]
    pandas = pd.DataFrame({"c": pd.Categorical(values, order)})
    polars = pl.DataFrame({"c": values}, schema={"c": pl.Enum(order)})
    for frame in (pandas, polars):
        assert Schema.draft(frame, target=None)["c"].categories == ("low", "mid", "top", "other")
        assert Schema.draft(frame.assign(x=1) if frame is pandas else frame.with_columns(x=1), "c").classes == (*order,)
    loose = pl.DataFrame({"c": ["b", "a"]}).with_columns(pl.col("c").cast(pl.Categorical))
    assert Schema.draft(loose, target=None)["c"].categories == ("a", "b", "other")


def test_of_too_many_categories_the_commonest_are_kept():
    names = [f"n{i}" for i in range(MOST + 50)]
    schema = Schema.draft({"c": [*names, *names[-MOST:]]}, target=None)
    assert sorted(schema["c"].categories) == sorted([*names[-MOST:], "other"])


def test_a_column_without_values_is_left_out_and_said():
    schema = Schema.draft({"a": [1, 5], "b": [None, None], "y": [1.0, 2.5]})
    assert schema.names == ("a",) and schema.guessed["b"] == ("left out",)
    assert "left out: b" in repr(schema) and "Left out: b." in schema._repr_html_()
    with pytest.raises(BoundsError, match="'y' has no value in the public rows"):
        Schema.draft({"a": [1, 5], "y": [None, None]})
    with pytest.raises(BoundsError, match=r"'target' must be one of the columns \['a'\]"):
        Schema.draft({"a": [1]})


@pytest.mark.parametrize(
    ("values", "classes"),
    [
        ([True, False], (False, True)),
        ([0, 1], (0, 1)),
        (["b", "a", "c"], ("a", "b", "c")),
        (["yes", "no"], ("no", "yes")),
    ],
)
def test_classes_keep_their_type(values, classes):
    schema = Schema.draft({"a": range(len(values)), "y": values})
    assert schema.classes == classes and list(map(type, schema.classes)) == list(map(type, classes))
    assert schema.label_bounds is None
    assert Schema.from_json(schema.to_json()).classes == classes


def test_a_draft_says_what_it_guessed_until_that_is_stated():
    schema = Schema.draft(ROWS)
    assert set(schema.guessed) == set(ROWS)
    for text in (repr(schema), schema._repr_html_(), Schema.draft.__doc__):
        assert re.search("(made of|draft made of) private (rows|ones)", text)
    assert schema.with_missing("age", 20).guessed["age"] == ("kind", "range")
    schema = schema.with_range("age", 0, 99).with_range("height", 0, 3).with_categories("sex", ["F", "M"])
    schema = schema.with_yes_no("smokes").with_yes_no("owns", "0", "1").with_label(bounds=(0, 80))
    assert schema.guessed == {} and "private" not in repr(schema) + schema._repr_html_()


finite = st.floats(allow_nan=False, allow_infinity=False)
anything = st.one_of(st.none(), st.booleans(), st.integers(-(10**20), 10**20), finite, st.text(max_size=5))
rows = st.integers(1, 8).flatmap(
    lambda n: st.dictionaries(
        st.text(min_size=1, max_size=6),
        st.one_of(
            *(st.lists(kind, min_size=n, max_size=n) for kind in (finite, st.integers(), st.booleans())),
            st.lists(st.text(max_size=5) | st.none(), min_size=n, max_size=n),
            st.lists(anything, min_size=n, max_size=n),
        ),
        min_size=1,
        max_size=4,
    )
)


@given(rows)
@settings(max_examples=200, deadline=None)
def test_any_draft_reads_back_and_holds_all_values_it_was_made_of(frame):
    filled = {name: values for name, values in frame.items() if any(v not in (None, "") for v in values)}
    if not filled:
        return
    schema = Schema.draft(frame, target=None)
    again = Schema.from_json(schema.to_json())
    assert again == schema and hash(again) == hash(schema) and repr(again) == repr(schema)
    assert list(schema.names) == list(filled)
    for name, values in filled.items():
        feature = schema[name].feature
        for value in values:
            if value in (None, ""):
                continue
            if isinstance(feature, NumericFeature):
                assert feature.value(value) == float(value), "clipped"
            else:
                assert feature.decode(feature.value(value)) == CategoricalFeature("c", (value,)).categories[0]


@given(finite, finite)
@settings(max_examples=300, deadline=None)
def test_rounding_out_never_cuts_off_and_never_adds_much(a, b):
    low, high = min(a, b), max(a, b)
    first, last = round_out(low, high)
    assert first <= low <= high <= last and first < last
    if low < high:
        assert last / 2 - first / 2 <= 1.5 * (high / 2 - low / 2) or high - low < 1e-290


# Files


def test_a_file_reads_back(tmp_path):
    for schema in (stated(), Schema.draft(ROWS), stated().with_question("age", "Quel âge avez-vous ?", "fr")):
        schema.save(tmp_path / "schema.json")
        assert Schema.load(tmp_path / "schema.json") == schema
    assert "âge" in (tmp_path / "schema.json").read_text(encoding="utf-8")
    odd = Schema((CategoryColumn("\ud800", ("\udfff", "\x00")),))
    odd.save(tmp_path / "odd.json")
    assert Schema.load(str(tmp_path / "odd.json")) == odd


def test_copies_and_pickles_are_equal():
    schema = stated()
    assert copy.deepcopy(schema) == schema == pickle.loads(pickle.dumps(schema))
    assert schema != schema.with_unit("age", "months")


def broken():
    """Yield schemas that nobody may read, one for each way."""
    good = json.loads(stated().to_json())
    for name in good:
        yield f"without {name}", {key: value for key, value in good.items() if key != name}
    yield "a field too many", {**good, "more": 1}
    yield "another version", {**good, "version": 2}
    yield "no column", {**good, "columns": []}
    yield "a name twice", {**good, "columns": good["columns"] * 2}
    yield "the label twice", {**good, "columns": [{**good["columns"][0], "name": "y"}]}
    yield "a label of categories", {**good, "label": good["columns"][1]}
    yield "a label beyond all grids", {**good, "label": {**good["label"], "high": 1e200}}
    yield "classes as a feature", {
        **good, "columns": [{"kind": "class", "name": "c", "classes": ["a"], "unit": "", "question": {}}],
    }  # fmt: skip
    changes = {
        "kind": "text", "name": "", "low": 99.0, "high": "99", "missing": 100.0, "unit": None,
        "question": {"english": "?"},
    }  # fmt: skip
    for name, value in changes.items():
        yield f"{name} {value}", {**good, "columns": [{**good["columns"][0], name: value}]}
    yield "half a whole number", {**good, "columns": [{**good["columns"][0], "low": 0.5}]}
    yield "an unlisted unknown", {**good, "columns": [{**good["columns"][1], "unknown": "X"}]}
    yield "a category twice", {**good, "columns": [{**good["columns"][1], "categories": ["M", "M"]}]}
    yield "a guess in words", {**good, "guessed": {"age": "range"}}


@pytest.mark.parametrize(("data"), [pytest.param(data, id=name) for name, data in broken()])
def test_reading_is_strict(data):
    with pytest.raises(FormatError):
        Schema.from_json(json.dumps(data))


# What estimators and tasks ask for


def test_space_bounds_classes_and_grid():
    schema = stated()
    assert schema.space.encode([[150, "F", "Yes"], [None, "?", None]]).tolist() == [[99, 1, 1], [40, 2, 0]]
    assert schema.label_bounds == (0.0, 80.0) and schema.classes is None
    assert (schema.grid(8).step, schema.grid(8).missing) == (10.0, 10.0)
    with pytest.raises(BoundsError, match="a grid needs a label with bounds"):
        schema.with_label(classes=["a", "b"]).grid(8)


def test_yes_as_a_number_is_read_in_all_spellings():
    feature = YesNoColumn("c", "0", "1").feature
    assert [feature.value(v) for v in (True, 1, 1.0, "1", "1.0", False, 0, None, "yes")] == [1] * 5 + [0] * 4


# Editing


def test_editing_returns_a_new_one_and_keeps_the_rest():
    schema = stated()
    before = schema.to_json()
    edited = schema.with_range("age", 0, 120)
    assert edited["age"] == WholeNumberColumn("age", 0, 120, 40, unit="years", question=schema["age"].question)
    assert edited.columns[1:] == schema.columns[1:] and edited.label == schema.label
    assert schema.with_range("income", 0, 1e6, unit="EUR").names == ("age", "sex", "smokes", "income")
    assert schema.with_categories("sex", ["F", "M"], unknown="M")["sex"].others().endswith("counts as M")
    changed = schema.with_missing("sex", "F")["sex"]
    assert (changed.missing, changed.unknown) == ("F", "other")
    changed = schema.with_unknown("sex", "F")["sex"]
    assert (changed.missing, changed.unknown) == ("other", "F")
    assert schema.with_unit("y", "USD").label.unit == "USD"
    assert schema.with_question("y", {"de": "Wie viel?"}).label.ask("de") == "Wie viel?"
    assert schema.with_label("z", classes=[1, 2, 3]).label == ClassColumn("z", (1, 2, 3), unit="EUR")
    assert schema.without("sex", "y") == Schema((schema["age"], schema["smokes"]))
    assert schema.to_json() == before


@pytest.mark.parametrize(
    ("edit", "text"),
    [
        (lambda s: s.with_range("y", 0, 1), "'y' is the label: use with_label"),
        (lambda s: s.with_range("age", 5, 5), "'range of age' must be finite with low < high"),
        (lambda s: s.with_range("age", "0", "5"), "must be numbers, not text"),
        (lambda s: s.with_range("age", 50, 60), r"'missing' of 'age' must be a number in \[50, 60\]"),
        (lambda s: s.with_categories("sex", "FM"), "'categories' of 'sex' must be a list"),
        (lambda s: s.with_categories("sex", ["F", "F"]), "distinct"),
        (lambda s: s.with_missing("nobody", 1), "no column 'nobody'; it has"),
        (lambda s: s.with_question("age", 5), "'question' of 'age' must be text, or a dict"),
        (lambda s: s.with_question("age", "?", "English"), "by language"),
        (lambda s: s.with_label(), "either 'bounds' or 'classes'"),
        (lambda s: s.with_label(bounds=(0, 1), classes=[1]), "either 'bounds' or 'classes'"),
        (lambda s: s.with_label(classes=[1, "1"]), "distinct classes"),
        (
            lambda s: s.with_label(classes=[1, 2], missing=3),
            r"'missing' of 'y' must be one of the classes \[1, 2\]. Got 3",
        ),
        (lambda s: s.with_label("age", bounds=(0, 1)), "names each column once, the label too. Got 'age' twice"),
        (lambda s: s.without("age", "sex", "smokes"), "at least one column"),
        (lambda s: s.without("nobody"), "no column 'nobody'"),
    ],
)
def test_mistakes_are_refused_by_name(edit, text):
    with pytest.raises(BoundsError, match=text):
        edit(stated())


# Looks

HOSTILE = ["<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "a\nb", "\x1b[2J", "\u202eabc", "&amp;"]


def words(text):
    """Return unit and question, where these may hold the text: hidden characters are refused there."""
    return {"unit": text, "question": {"en": text}} if text.isprintable() else {}


@pytest.mark.parametrize("text", HOSTILE)
def test_hostile_names_and_values_break_neither_line_nor_tag(text):
    schema = Schema(
        (CategoryColumn(text, (text, "b"), **words(text)), NumberColumn("x", 0, 1)),
        ClassColumn("y", (text, "c")),
        {text: (text,), "gone" + text: ("left out",)},
    )
    shown = schema._repr_html_()
    assert re.findall(r"<(?!/?(?:table|caption|tr|th|td|p)>)", shown) == []
    assert "&amp;amp;" in shown or "&" not in text
    lines = repr(schema).splitlines()
    assert len(lines) == 6 and all(line.isprintable() for line in lines)


def test_long_lists_are_cut():
    shown = repr(Schema((CategoryColumn("c", [f"name {i}" for i in range(1000)]),)))
    assert "…" in shown and max(map(len, shown.splitlines())) < 200


# What becomes of missing and unknown values


def test_missing_and_unknown_values_have_rules_of_their_own():
    sex = CategoryColumn("sex", ("F", "M", "other", "missing"))
    assert (sex.unknown, sex.missing) == ("other", "missing")
    assert sex.feature.codes(["F", "X", None, "", math.nan, " "]).tolist() == [0, 2, 3, 3, 3, 2]
    listed = CategoryColumn("sex", ("F", ""), "F")
    assert listed.feature.codes(["", None]).tolist() == [1, 0]
    smokes = YesNoColumn("smokes", missing="yes")
    assert smokes.feature.codes(["no", None, "perhaps"]).tolist() == [0, 1, 0]
    with pytest.raises(BoundsError, match=r"'missing' of 'sex' must be one of its categories\. Got 'X' instead"):
        CategoryColumn("sex", ("F", "M"), missing="X")
    with pytest.raises(BoundsError, match="spelled 0 and 1, so that a word and a missing value count alike"):
        YesNoColumn("owns", "0", "1", missing="1")


def test_an_indicator_is_a_feature_after_all_columns():
    schema = stated().with_missing("age", indicator=True).with_unknown("sex", "F")
    assert schema["age"].others() == "missing counts as 40, with a yes/no feature that says so"
    assert "with a yes/no feature that says so" in repr(schema) and "that says so" in schema._repr_html_()
    assert schema.names == ("age", "sex", "smokes") and schema.space.inputs == schema.names
    assert schema.space.names == (*schema.names, "age is missing")
    rows = [[None, "M", "Yes"], ["old", None, "No"], [200, "X", "No"]]
    expected = [[40, 0, 1, 1], [40, 2, 0, 1], [99, 1, 0, 0]]
    assert schema.space.encode(rows).tolist() == expected
    assert [schema.space.encode_record(row).tolist() for row in rows] == expected
    assert schema.space.missing.tolist() == [40, 2, 0, 1]
    numbers = Schema((NumberColumn("a", 0, 1, indicator=True), NumberColumn("b", 0, 1)))
    assert numbers.space.encode(np.array([[math.nan, 5.0], [0.5, math.nan]])).tolist() == [[0.5, 1, 1], [0.5, 0.5, 0]]
    assert Schema.from_json(schema.to_json()) == schema
    assert schema.with_range("age", 0, 120)["age"].indicator
    assert not schema.with_missing("age", indicator=False)["age"].indicator


def test_indicators_are_refused_where_they_say_nothing():
    with pytest.raises(BoundsError, match="'indicator' is for numbers, and 'sex' is a category: give it a category of"):
        stated().with_missing("sex", indicator=True)
    with pytest.raises(BoundsError, match="'indicator' of 'y' is for columns"):
        stated().with_missing("y", 3, indicator=True)
    with pytest.raises(BoundsError, match=r"'indicator' of 'age' must be True or False\. Got 1 instead"):
        NumberColumn("age", 0, 99, indicator=1)
    with pytest.raises(BoundsError, match="names must be distinct"):
        Schema((NumberColumn("a", 0, 1, indicator=True), NumberColumn("a is missing", 0, 1)))
