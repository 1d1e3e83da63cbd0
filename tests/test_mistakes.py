"""The mistakes that people are most likely to make, and the one line that each gets: argument, value, remedy.

Each is tried on every estimator that has the argument. In the texts, ``{E}`` is the name of the estimator and ``...``
stands for anything; no text may hold a private value, and none may have a second line.
"""

import inspect
import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
import pytest
from sklearn.linear_model import LogisticRegression, Ridge

import hedgerow
from hedgerow import HedgerowError, HedgerowWarning, LabelPrivateRegressor, PublicModel, Schema, cli
from hedgerow.schema import CategoryColumn, ClassColumn, NumberColumn
from tests.conformance.everybody import CLASSES, EXPORTED, KINDS, labels, make, numeric, table
from tests.small import few_corrections, few_sums

X = table()
PUBLIC = table(80, seed=1)
SECRET = 7.654321
"""Stands in private records; no message may repeat it."""


@dataclass(frozen=True)
class Mistake:
    """What is done wrong, with which argument, and what is said."""

    argument: str
    does: Callable[[Any], Any]
    says: str
    of: Callable[[Any], bool] = lambda entry: True


def fit(entry, estimator, rows=X, y=None, **known):
    """Fit on private records, with public ones for those that want them."""
    if y is None:
        y = labels(X, entry.classify)
    if entry.public:
        known = {"X_public": PUBLIC, "y_public": labels(PUBLIC, entry.classify), **known}
    if entry.numeric and rows is X:
        rows = numeric(X)
    return estimator.fit(rows, y, **known)


def given(name, value, says, of=lambda entry: True):
    """Return the mistake of giving a parameter this value."""
    return Mistake(name, lambda entry: fit(entry, make(entry, **{name: value})), says, of)


def of_regressors(entry):
    """Whether its public model is a regressor, be it of indicators of classes."""
    return entry.name != "LabelPrivateClassifier"


def passed(argument, says, of=lambda entry: True, **known):
    """Return the mistake of passing these to ``fit``."""
    return Mistake(argument, lambda entry: fit(entry, make(entry), **known), says, of)


def described(entry, label=True):
    """Return the estimator with a schema in the place of all short forms."""
    named = "uv" if entry.numeric else ("age", "kind")
    kind = NumberColumn(named[1], 0, 10) if entry.numeric else CategoryColumn("kind", KINDS)
    own = ClassColumn("y", CLASSES) if entry.classify else NumberColumn("y", 0, 4)
    other = NumberColumn("y", 0, 4) if entry.classify else ClassColumn("y", CLASSES)
    schema = Schema((NumberColumn(named[0], 0, 10), kind), {True: own, False: None, "other": other}[label])
    forms = {"label_bounds", "classes", "feature_bounds", "categories"} & set(entry.options)
    return make(entry, schema=schema, **dict.fromkeys(forms))


def public(entry):
    return entry.public


def regressor(entry):
    return not entry.classify


def classifier(entry):
    return entry.classify


def text_columns(entry):
    return not entry.public and not entry.numeric and not entry.open_features


def secret(rows):
    return rows.assign(age=SECRET)


NEED = "'{name}' is required: pass {name}=..."
PAIR = "'label_bounds' must be "
SCHEMA = "The 'schema' parameter of {E} must be a Schema (from a file: Schema.load(path)) or None. Got ... instead."
EPSILON = "The 'epsilon' parameter of {E} must be a number > 0 (inf: no noise)... Got "
DELTA = "The 'delta' parameter of {E} must be a number >= 0 and < 1. Got "
SEED = "The 'random_state' parameter of {E} must be None (secure), an int or a Randomness. Got "
MODEL = (
    "The 'public_model' parameter of {E} must be one of ('auto', 'compact', None) or a regressor such as PublicModel()."
)
WAYS = (
    "'private' must be a list of column names or positions, 'all', or a mask of True and False of shape (d,) or (n, d)."
)
WEAK = (
    "'epsilon' = 1e+06... protects next to nothing: pass epsilon of at most 20 and delta below 0.01, or epsilon=inf ..."
)
FRAME = "'X' must be a data frame or an array. Got a {0} instead: pass pandas.DataFrame(X)."

MISTAKES = {
    # The range of the label.
    "no label bounds": given("label_bounds", None, NEED.replace("{name}", "label_bounds") + " the public range ..."),
    "label bounds swapped": given(
        "label_bounds", (4, 0), PAIR + "finite with low < high. Got (4, 0) instead. Swap them: (0, 4)."
    ),
    "label bounds equal": given("label_bounds", (4, 4), PAIR + "finite with low < high. Got (4, 4) instead."),
    "label bounds as text": given("label_bounds", ("0", "4"), PAIR + "numbers, not text. Got ('0', '4') instead."),
    "label bounds as one text": given("label_bounds", "0:4", PAIR + "numbers, not text. Got '0:4' instead."),
    "one label bound": given("label_bounds", 4, PAIR + "a pair (low, high). Got 4 instead."),
    "label bounds by name": given(
        "label_bounds", {"y": (0, 4)}, PAIR + "a pair (low, high). Got {'y': (0, 4)} instead."
    ),
    "infinite label bounds": given(
        "label_bounds", (0, math.inf), PAIR + "finite with low < high. Got (0, inf) instead."
    ),
    "labels as label bounds": given(
        "label_bounds", np.full(60, SECRET), PAIR + "a pair (low, high). Got a ndarray of shape (60,) instead."
    ),
    "label bounds a thousand times too narrow": passed(
        "X_public",
        "'label_bounds' are (0, 4), and 67 of 80 public labels lie outside, between 0 and 2500: pass bounds in the "
        "unit of the labels.",
        lambda entry: public(entry) and regressor(entry),
        y_public=[1000 * label for label in labels(PUBLIC, False)],
    ),
    "label bounds a thousand times too wide": passed(
        "X_public",
        "'label_bounds' are (0, 4), and all 80 public labels lie between 0 and 0.0025: noise is in proportion to the "
        "bounds; pass narrower ones unless private labels go further.",
        lambda entry: public(entry) and regressor(entry),
        y_public=[label / 1000 for label in labels(PUBLIC, False)],
    ),
    # The ranges and categories of features.
    "no feature bounds": given(
        "feature_bounds",
        None,
        "'feature_bounds' is required...: pass feature_bounds=(low, high), an array of shape ...",
        lambda entry: (
            not entry.public and not entry.name.startswith(("Assisted", "LabelTree", "PartialTree", "SecureSum"))
        ),
    ),
    "feature bounds swapped": given(
        "feature_bounds",
        (10, 0),
        "'feature_bounds' must be finite with low < high. Got (10, 0) instead. Swap them: (0, 10).",
    ),
    "feature bounds as text": given(
        "feature_bounds", ("0", "10"), "'feature_bounds' must be numbers, not text. Got ('0', '10') instead."
    ),
    "feature bounds as pairs": given(
        "feature_bounds",
        [(0, 10), (0, 10)],
        "'feature_bounds' looks like a list of (low, high) pairs, one a column. Pass a dict ... Got [(0, 10), (0, 10)] "
        "instead.",
    ),
    "feature bounds of a column that is not there": given(
        "feature_bounds", {"agee": (0, 10)}, "'feature_bounds' names an unknown column 'agee'; known are [...]."
    ),
    "text columns without categories": given(
        "categories",
        None,
        "'categories' is required for the columns ['kind']: pass categories={name: [...]}, ...",
        text_columns,
    ),
    "categories of a column that is not there": given(
        "categories", {"knd": ["a"]}, "'categories' names an unknown column 'knd'; known are ['age', 'kind']."
    ),
    "categories as a list": given(
        "categories",
        ["a", "b"],
        "'categories' must be a dict of lists by column: pass categories={column: [names]}. Got ['a', 'b'] instead.",
    ),
    "categories twice": given(
        "categories",
        {"kind": ["a", "a"]},
        "'categories' of 'kind' must be a list of distinct names. Got ('a', 'a') instead.",
    ),
    "one text for categories": given(
        "categories", {"kind": "a"}, "'categories' of 'kind' must be a list of names. Got 'a' instead."
    ),
    "a categorical column by name alone": given(
        "categorical_features",
        "kind",
        "'categorical_features' must be a list of column names or positions. Got 'kind' instead: pass "
        "categorical_features=['kind'].",
    ),
    "a categorical column that is not there": given(
        "categorical_features", [7], "'categorical_features' names an unknown column 7; known are ['age', 'kind']."
    ),
    # Classes.
    "no classes": given(
        "classes",
        None,
        NEED.replace("{name}", "classes") + " the public list of classes, ...",
        lambda entry: not entry.public,
    ),
    "one class": given("classes", ["low"], "'classes' must name at least 2 classes. Got 1 class instead: ['low']."),
    "a class twice": given(
        "classes", ["low", "low"], "'classes' must be a list of distinct classes. Got ['low', 'low'] instead."
    ),
    "classes as one text": given(
        "classes", "low,mid", "'classes' must be a list, 'observed', ... Got 'low,mid' instead."
    ),
    "public labels of another class": passed(
        "X_public",
        "'y_public' has ['huge'], not one of the classes ['low', 'mid', 'top']: add it to 'classes', or correct the "
        "public labels.",
        lambda entry: public(entry) and classifier(entry),
        y_public=["huge"] * 80,
    ),
    # Budgets.
    "epsilon 0": given("epsilon", 0, EPSILON + "0 instead."),
    "epsilon below 0": given("epsilon", -1, EPSILON + "-1 instead."),
    "epsilon as text": given("epsilon", "1", EPSILON + "'1' instead."),
    "epsilon nan": given("epsilon", math.nan, EPSILON + "nan instead."),
    "epsilon a million": given("epsilon", 1e6, WEAK),
    "delta 1": given("delta", 1, DELTA + "1 instead.", lambda entry: not entry.name.startswith("SecureSum")),
    "delta as text": given(
        "delta", "1e-5", DELTA + "'1e-5' instead.", lambda entry: not entry.name.startswith("SecureSum")
    ),
    "no delta for noisy sums": given(
        "delta", 0, DELTA.replace(">= 0", "> 0") + "0 instead.", lambda entry: entry.name.startswith("SecureSum")
    ),
    # Schemas.
    "the path of a schema": given("schema", "schema.json", SCHEMA),
    "a schema as a dict": given("schema", {"columns": []}, SCHEMA),
    "a schema as JSON": given("schema", '{"format": "' + "x" * 9999, SCHEMA),
    "a schema without a label": Mistake(
        "schema",
        lambda entry: fit(entry, described(entry, False)),
        "'...' is required: pass ...=...",
        lambda e: not e.public,
    ),
    "a schema with another kind of label": Mistake(
        "schema",
        lambda entry: fit(entry, described(entry, "other")),
        "'schema' has a label ...: pass schema.with_label(...).",
    ),
    "a fact beside a schema": Mistake(
        "schema",
        lambda entry: fit(entry, make(entry, schema=described(entry).schema)),
        "'...' and 'schema' say the same thing: leave '...' out, or edit the schema. Got ... beside a schema.",
    ),
    # Public records.
    "public records without labels": passed(
        "X_public", "'y_public' is required with 'X_public': the labels of the public records.", public, y_public=None
    ),
    "public labels without records": passed(
        "X_public", "'X_public' is required with 'y_public': the records of the public labels.", public, X_public=None
    ),
    "public records with another column": passed(
        "X_public",
        "'X_public' must have the columns of 'X': it lacks ['kind'] and it has ['sort'] besides. Pass the same ...",
        public,
        X_public=PUBLIC.rename(columns={"kind": "sort"}),
    ),
    "public records with fewer columns": passed(
        "X_public",
        "'X_public' must have the columns of 'X': it lacks ['kind']. Pass the same columns.",
        public,
        X_public=PUBLIC[["age"]],
    ),
    "a public record without its label": Mistake(
        "X_public",
        lambda entry: fit(entry, make(entry), y_public=labels(PUBLIC, entry.classify)[1:]),
        "'y_public' must have one label a record: 80. Got 79 instead.",
        public,
    ),
    "gaps in public labels": passed(
        "X_public",
        "'y_public' contains NaN or infinity; public labels must be numbers.",
        lambda entry: public(entry) and regressor(entry),
        y_public=[None, *np.zeros(79)],
    ),
    "an unfitted public model alone": given(
        "public_model",
        PublicModel(),
        "'X_public' and 'y_public' are required with public_model=PublicModel(): pass them too.",
        lambda entry: not entry.public,
    ),
    "a classifier as public model": given(
        "public_model", LogisticRegression(), MODEL + " Got LogisticRegression() instead.", of_regressors
    ),
    "a class as public model": given("public_model", Ridge, MODEL + " Got <class '...Ridge'> instead.", of_regressors),
    "a public model by a word": given("public_model", "ridge", MODEL + " Got 'ridge' instead.", of_regressors),
    "a classifier's class as public model": given(
        "public_model",
        LogisticRegression,
        MODEL.removesuffix(".") + " or a classifier with predict_proba. Got <class '...LogisticRegression'> instead.",
        lambda entry: not of_regressors(entry),
    ),
    # Private columns.
    "private nothing": passed("private", WAYS + " Got None instead.", private=None),
    "private one text": passed(
        "private", WAYS + " Got 'age' instead. Pass private=['age'] for one column.", private="age"
    ),
    "private column that is not there": passed(
        "private", "'private' names an unknown column 'agee'; known are ['age', 'kind'].", private=["agee"]
    ),
    "private position that is not there": passed(
        "private", "'private' names an unknown column 9; known are ['age', 'kind'].", private=[9]
    ),
    "private zeros and ones": passed(
        "private",
        "'private' of zeros and ones may be positions or a mask: pass a list of True and False, or of column names. "
        "Got [0, 1] instead.",
        private=[0, 1],
    ),
    "a mask of another length": passed(
        "private", "'private' must have shape (2,) or (60, 2). Got (3,) instead.", private=[True] * 3
    ),
    # Records and labels.
    "no records": Mistake(
        "",
        lambda entry: fit(entry, make(entry), numeric(X)[:0] if entry.numeric else X[:0], []),
        "Found array with 0 sample(s) (shape=(0, 2)) while a minimum of 1 is required...",
    ),
    "no labels": Mistake(
        "",
        lambda entry: make(entry).fit(numeric(X) if entry.numeric else X, None),
        "{E} requires y to be passed, but the target y is None.",
    ),
    "two columns of labels": Mistake(
        "",
        lambda entry: fit(entry, make(entry), y=np.full((60, 2), SECRET)),
        "'y' must be 1-dimensional. Got shape (60, 2) instead: pass one column.",
        lambda entry: entry.name not in ("LabelPrivateRegressor", "PrivateAnovaRegressor"),  # they take several
    ),
    "labels of text for a regressor": Mistake(
        "",
        lambda entry: fit(entry, make(entry), y=["many"] * 60),
        "'y' holds no number at all: pass the column of labels, or take a classifier if they are classes.",
        regressor,
    ),
    "fewer labels than records": Mistake(
        "",
        lambda entry: fit(entry, make(entry), y=[SECRET] * 50),
        "'y' must have one label a record: 60. Got 50 instead.",
    ),
    "a list of dicts": Mistake(
        "", lambda entry: fit(entry, make(entry), secret(X).to_dict("records")), FRAME.replace("{0}", "list of dicts")
    ),
    "a dict of columns": Mistake(
        "", lambda entry: fit(entry, make(entry), secret(X).to_dict("list")), FRAME.replace("{0}", "dict")
    ),
    "one flat column": Mistake(
        "",
        lambda entry: fit(entry, make(entry), np.full(60, SECRET)),
        "'X' must be 2-dimensional (records x features). Got shape (60,) instead. Reshape your data with ...",
    ),
    "the path of a table": Mistake(
        "",
        lambda entry: fit(entry, make(entry), "private.csv"),
        "'X' must be a table of records. Got 'private.csv' instead: read the file first. Of files, ...",
        lambda entry: not hasattr(make(entry), "spool"),
    ),
    "the path of a table, and labels beside it": Mistake(
        "spool",
        lambda entry: fit(entry, make(entry), "private.csv"),
        "'y' must be the name of the column of labels, or a list of names, where 'X' is files. Got ...",
    ),
    "two columns of one name": Mistake(
        "",
        lambda entry: fit(entry, make(entry), pd.DataFrame(np.full((60, 2), SECRET), columns=["age", "age"])),
        "'X' has two columns named 'age': rename one.",
    ),
    # Seeds, and what is not fitted.
    "a seed as text": given("random_state", "0", SEED + "'0' instead."),
    "a fraction as seed": given("random_state", 1.5, SEED + "1.5 instead."),
    "a prediction before the fit": Mistake(
        "",
        lambda entry: make(entry).predict(numeric(X) if entry.numeric else X),
        "This {E} instance is not fitted yet. Call 'fit' with appropriate arguments before using this estimator.",
    ),
}


def pattern(text, name):
    """Return what a message must match, from end to end."""
    return re.escape(text.replace("{E}", name)).replace(re.escape("..."), ".*")


def has(entry, argument):
    kind = getattr(hedgerow, entry.name)
    return not argument or argument in {*inspect.signature(kind).parameters, *inspect.signature(kind.fit).parameters}


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("name", MISTAKES)
def test_a_mistake_gets_one_clear_line(name):
    mistake = MISTAKES[name]
    concerned = [entry for entry in EXPORTED if has(entry, mistake.argument) and mistake.of(entry)]
    assert concerned
    for entry in concerned:
        with pytest.raises((ValueError, HedgerowWarning)) as caught:
            mistake.does(entry)
        said = str(caught.value)
        assert re.fullmatch(pattern(mistake.says, entry.name), said), f"{entry.id}: {said}"
        assert "\n" not in said and str(SECRET) not in said and len(said) < 600


def test_there_are_at_least_forty():
    assert len(MISTAKES) >= 40


# What only one estimator has, or what is no mistake.


def test_a_budget_in_the_place_of_the_regressor():
    wrong = (
        r"The 'regressor' parameter of LabelPrivateRegressor must be None or a regressor .*epsilon=1\.0\).* Got 1\.0"
    )
    with pytest.raises(HedgerowError, match=wrong):
        LabelPrivateRegressor(1.0, label_bounds=(0, 4)).fit(numeric(X), labels(X, False))


def test_gaps_in_public_features_do_not_lead_to_a_model_that_is_not_private():
    gaps = numeric(X)
    gaps[0, 0] = np.nan
    with pytest.raises(HedgerowError) as caught:
        LabelPrivateRegressor(Ridge(), label_bounds=(0, 4)).fit(gaps, labels(X, False))
    said = str(caught.value)
    assert "fill them in beforehand, or leave 'regressor' out" in said and "Ridge()" in said
    assert "sklearn" not in said and "HistGradient" not in said


@pytest.mark.parametrize("private", [["age"], [0], [True, False], "all", ("kind",), np.array([1]), []])
def test_private_columns_by_name_position_or_mask(private):
    (entry,) = [e for e in EXPORTED if e.name == "HistOfTreeRegressor" and not e.public]
    tree = fit(entry, make(entry), private=private)
    chosen = {"['age']": ("age",), "[0]": ("age",), "[True, False]": ("age",), "all": ("age", "kind"), "[]": ()}
    assert tree.task_.private == chosen.get(str(private), ("kind",))


@pytest.mark.parametrize("n", [1, 2])
def test_few_records_are_no_mistake(n, monkeypatch):
    """How many records there are may be private: nobody learns that they were few."""
    few_sums(monkeypatch)
    few_corrections(monkeypatch)
    for entry in EXPORTED:
        rows = numeric(X)[:n] if entry.numeric else X[:n]
        assert fit(entry, make(entry), rows, labels(X, entry.classify)[:n]).n_features_in_ == 2


# The same on the command line: exit code 2, one line, nothing written.

DESIGN = "design public.csv --target y --epsilon 2 --label-bounds 0:4"
FIT = "fit anova public.csv --target y --epsilon 2 --label-bounds 0:4 --feature-bounds age=0:10 --categories kind=a,b"
COMMANDS = {
    "epsilon 0": (
        f"{DESIGN} --epsilon 0",
        "The 'epsilon' parameter must be a number > 0 (inf: no noise). Got 0.0 instead.",
    ),
    "epsilon below 0": (f"{FIT} --epsilon -1", EPSILON.replace("{E}", "PrivateAnovaRegressor") + "-1.0 instead."),
    "epsilon nan": (f"{FIT} --epsilon nan", EPSILON.replace("{E}", "PrivateAnovaRegressor") + "nan instead."),
    "epsilon as text": (f"{DESIGN} --epsilon one", "argument --epsilon: invalid float value: 'one' ..."),
    "delta 1": (f"{FIT} --delta 1", DELTA.replace("{E}", "PrivateAnovaRegressor") + "1.0 instead."),
    "label bounds swapped": (
        f"{DESIGN} --label-bounds 4:0",
        "argument --label-bounds: expected finite numbers with LOW < HIGH. Got '4:0' instead. ...",
    ),
    "one label bound": (
        f"{DESIGN} --label-bounds 4",
        "argument --label-bounds: expected LOW:HIGH such as 0:80. Got '4' instead. ...",
    ),
    "no label bounds": (
        "design public.csv --target y --epsilon 2",
        "--label-bounds LOW:HIGH or --classes A,B is needed, or a --schema with a label: ...",
    ),
    "label bounds a thousand times too narrow": (
        f"{DESIGN} --label-bounds 0:0.004",
        "'label_bounds' are (0, 0.004), and ... public labels lie outside, between 0 and 2.5: pass bounds in ...",
    ),
    "one class": (
        "design public.csv --target kind --epsilon 2 --classes a,",
        "argument --classes: expected distinct names such as sex,region. Got 'a,' instead. ...",
    ),
    "one class alone": (
        "design public.csv --target kind --epsilon 2 --classes a",
        "public.csv, ...: 'b' is not listed by --classes; add it there, or correct the record...",
    ),
    "categories of a column that is not there": (
        f"{DESIGN} --categories knd=a,b",
        "--categories names 'knd', which is not a feature; the features are ['age', 'kind'].",
    ),
    "feature bounds of a column that is not there": (
        f"{DESIGN} --feature-bounds agee=0:9",
        "--feature-bounds names 'agee', which is not a feature; the features are ['age', 'kind'].",
    ),
    "a label that is not there": (
        "design public.csv --target z --epsilon 2 --label-bounds 0:4",
        "public.csv lacks ...'z'...",
    ),
    "private column that is not there": (
        "design --private-columns agee --target y --epsilon 2 --label-bounds 0:4 --feature-bounds age=0:9",
        "'private_columns' names an unknown column 'agee'; known are ['age'].",
    ),
    "no public records": (
        "design --target y --epsilon 2 --label-bounds 0:4",
        "public records are needed; give a CSV ...",
    ),
    "no records": (f"{FIT} empty.csv".replace("public.csv", "", 1), "empty.csv holds no records."),
    "a table in the place of a schema": (
        "design public.csv --epsilon 2 --schema public.csv",
        "public.csv: this schema is not valid JSON...",
    ),
}


@pytest.mark.parametrize("name", COMMANDS)
def test_a_mistake_on_the_command_line_gets_one_clear_line(name, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    PUBLIC.assign(y=labels(PUBLIC, False)).to_csv("public.csv", index=False)
    (tmp_path / "empty.csv").write_text("age,kind,y\n")
    line, says = COMMANDS[name]
    try:
        code = cli.main([*line.split(), "-o", "out.json"])
    except SystemExit as stop:
        code = stop.code
    captured = capsys.readouterr()
    command = " ".join(line.split()[:1])
    assert code == 2 and captured.out == "" and not (tmp_path / "out.json").exists()
    assert re.fullmatch(pattern(f"hedgerow {command}: {says}", "") + "\n", captured.err), captured.err


def test_bounds_that_are_far_too_wide_are_a_warning_on_the_command_line(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    PUBLIC.assign(y=labels(PUBLIC, False)).to_csv("public.csv", index=False)
    command = "design public.csv --target y --epsilon 2 --label-bounds 0:4000 --max-depth 1 -o task.json"
    assert cli.main(command.split()) == 0
    said = capsys.readouterr().err
    assert said.startswith(
        "hedgerow design: warning: 'label_bounds' are (0, 4000), and all 80 public labels lie between"
    )
    assert said.count("\n") == 1
