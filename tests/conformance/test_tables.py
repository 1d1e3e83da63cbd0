"""Every estimator, on every kind of table that a schema describes: numbers, text, gaps and unknown categories.

A table has one meaning: pandas, polars, Arrow and arrays of the same rows give the same model and the same predictions,
columns are found by their names, and nothing that the schema describes is refused.
"""

from dataclasses import replace
from functools import cache

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from sklearn.linear_model import Ridge

from hedgerow import BoundsError, HistOfTreeRegressor, PublicModel, Schema
from hedgerow.schema import CategoryColumn, ClassColumn, NumberColumn, WholeNumberColumn, YesNoColumn
from tests.conformance.everybody import CLASSES, EXPORTED, Entry, make

N = 60
HEATING = ("gas", "pump", "other")
NUMBERS = Schema((NumberColumn("area", 0, 100, missing=40), WholeNumberColumn("people", 1, 6)))
MIXED = Schema(
    (
        NumberColumn("area", 0, 100, missing=40),
        CategoryColumn("heating", HEATING),
        WholeNumberColumn("people", 1, 6),
        YesNoColumn("garden"),
    )
)
TOLD = MIXED.with_missing("area", indicator=True).with_categories("heating", [*HEATING, "missing"])
SHORT = ("label_bounds", "classes", "feature_bounds", "categories")
(_LABEL,) = [entry for entry in EXPORTED if entry.name == "LabelPrivateRegressor"]
_STARTED = replace(_LABEL, public=True, options={**_LABEL.options, "public_model": Ridge()})
ALL = (*EXPORTED, _STARTED, Entry("PublicModel", {"regressor": Ridge(), "random_state": 0}, "public"))
PRIVATE = (*EXPORTED, _STARTED)
FROM_PUBLIC = [entry for entry in ALL if "public_model" in entry.options and entry.public]
everybody = pytest.mark.parametrize("entry", ALL, ids=lambda entry: entry.id)


def as_objects(frame):
    """Return the rows as an array of objects, with None for gaps."""
    return np.array([[None if pd.isna(v) else v for v in row] for row in frame.astype(object).to_numpy()], dtype=object)


CONTAINERS = {
    "pandas": lambda frame: frame,
    "categorical": lambda frame: frame.apply(lambda c: c.astype("category") if c.dtype == object else c),
    "polars": pl.from_pandas,
    "Arrow": lambda frame: pa.Table.from_pandas(frame, preserve_index=False),
    "array": as_objects,
    "rows": lambda frame: as_objects(frame).tolist(),
}


@cache
def homes(seed=0, n=N):
    """Return records without gaps; all tests share them, and none changes them."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"area": rng.uniform(0, 100, n).round(1)})
    frame["heating"] = pd.Series(rng.choice(HEATING[:2], n), dtype=object)
    frame["people"] = rng.integers(1, 7, n).astype(float)
    frame["garden"] = pd.Series(rng.choice(["no", "yes"], n), dtype=object)
    return frame


@cache
def holed(seed=0):
    """Return the records with gaps, unknown categories and values out of range."""
    out = homes(seed).copy()
    out.loc[3:9, "area"] = np.nan
    out.loc[10, "area"] = 1e9
    out.loc[5:8, "people"] = np.nan
    out.loc[8:12, "heating"] = None
    out.loc[20:24, "heating"] = "fusion"
    out.loc[30:33, "garden"] = None
    out.loc[34, "garden"] = "perhaps"
    return out


@cache
def filled():
    """Return the same records as the schema counts them."""
    out = holed().copy()
    out["area"] = out["area"].fillna(40.0).clip(0, 100)
    out["people"] = out["people"].fillna(3.5)
    out["heating"] = out["heating"].where(out["heating"].isin(HEATING), "other")
    out["garden"] = out["garden"].where(out["garden"].isin(["no", "yes"]), "no")
    return out


def labels(frame, classify):
    level = (frame["area"].fillna(40.0).clip(0, 99) // 34).astype(int).to_numpy()
    return np.array(CLASSES)[level].tolist() if classify else level.astype(float).tolist()


def with_schema(entry, schema, **changed):
    """Return the estimator with a schema in the place of the short forms."""
    label = ClassColumn("y", CLASSES) if entry.classify else NumberColumn("y", 0, 4)
    off = {name: None for name in SHORT if name in entry.options}
    return make(entry, schema=replace(schema, label=label), **off, **changed)


def fit(entry, frame, wrap, schema=MIXED, **changed):
    """Fit on a table of some kind, public rows included, and return the model."""
    names = list(schema.names)
    known = {}
    if entry.public:
        public = holed(seed=1)[names]
        known = {"X_public": wrap(public), "y_public": labels(homes(seed=1), entry.classify)}
    y = labels(homes(), entry.classify)
    return with_schema(entry, schema, **changed).fit(wrap(frame[names]), y, **known)


@cache
def expected(entry_id):
    """Return one fit on a pandas table with gaps, and its answers."""
    (entry,) = [e for e in ALL if e.id == entry_id]
    model = fit(entry, holed(), CONTAINERS["pandas"])
    return model, answers(entry, model, holed())


def answers(entry, model, rows):
    found = model.predict_proba(rows) if entry.classify else model.predict(rows)
    assert np.isfinite(found).all() and len(found) == N
    return found


@everybody
def test_text_gaps_and_unknown_categories_count_as_the_schema_says(entry):
    model, found = expected(entry.id)
    assert np.array_equal(answers(entry, model, filled()), found)
    again = fit(entry, filled(), CONTAINERS["pandas"])
    assert np.array_equal(answers(entry, again, holed()), found)
    assert model.n_features_in_ == 4 and list(model.feature_names_in_) == list(MIXED.names)


OTHERS = [name for name in CONTAINERS if name != "pandas"]


@everybody
def test_every_container_gives_the_same_model(entry):
    """Records to fit and to predict are read by one function: each estimator is fitted on one kind, all have turns."""
    place = ALL.index(entry)
    model, found = expected(entry.id)
    for container in OTHERS:
        assert np.array_equal(answers(entry, model, CONTAINERS[container](holed())), found)
    wrap = CONTAINERS[OTHERS[place % len(OTHERS)]]
    other = fit(entry, holed(), wrap)
    assert other.n_features_in_ == 4
    # Fitted on one kind of table, it predicts for all others.
    for rows in (wrap(holed()), holed()):
        assert np.array_equal(answers(entry, other, rows), found)


@everybody
def test_numbers_in_a_float_array(entry):
    frame = holed()[list(NUMBERS.names)]
    by_name = fit(entry, frame, CONTAINERS["pandas"], NUMBERS)
    by_place = fit(entry, frame, pd.DataFrame.to_numpy, NUMBERS)
    assert np.array_equal(answers(entry, by_place, frame.to_numpy()), answers(entry, by_name, frame))


@everybody
def test_indicators_and_categories_of_their_own(entry):
    frame = holed()
    found = answers(entry, fit(entry, frame, CONTAINERS["Arrow"], TOLD), frame)
    model = fit(entry, frame, CONTAINERS["array"], TOLD)
    for container in ("pandas", "Arrow", "array"):
        assert np.array_equal(answers(entry, model, CONTAINERS[container](frame)), found)
    assert model.n_features_in_ == 4 and list(model.feature_names_in_) == list(TOLD.names)


def test_whether_a_value_is_missing_is_as_private_as_the_value():
    y = labels(homes(), False)
    for private in (["area", "people"], []):
        mask = np.array([name in private for name in TOLD.names])
        model = HistOfTreeRegressor(schema=TOLD.with_label(bounds=(0, 4)), random_state=0).fit(homes(), y, private=mask)
        assert model.task_.policy.tolist() == [*mask.tolist(), "area" in private]
        reports = model.task_.privatize(holed(), y, randomness=0)
        again = model.task_.privatize(homes(), y, randomness=0)
        lacking = slice(3, 5)  # records that differ in a missing area alone
        sent = (reports.payloads[lacking, 4:] == again.payloads[lacking, 4:]).all(axis=1)
        assert sent.tolist() == [bool(private)] * 2


@everybody
def test_columns_are_found_by_name(entry):
    model, found = expected(entry.id)
    frame = holed()
    turned = frame[frame.columns[::-1]].assign(id=range(N))
    for wrap in (CONTAINERS["pandas"], CONTAINERS["polars"], CONTAINERS["Arrow"]):
        assert np.array_equal(answers(entry, model, wrap(turned)), found)
    again = with_schema(entry, MIXED)
    known = {}
    if entry.public:
        public = holed(seed=1)
        known = {"X_public": public[public.columns[::-1]], "y_public": labels(homes(seed=1), entry.classify)}
    again.fit(turned, labels(homes(), entry.classify), **known)
    assert np.array_equal(answers(entry, again, turned), found)
    assert list(again.feature_names_in_) == list(MIXED.names)


@everybody
def test_a_missing_column_is_named(entry):
    model, _ = expected(entry.id)
    frame = holed().drop(columns="heating")
    y = labels(homes(), entry.classify)
    for wrap in (CONTAINERS["pandas"], CONTAINERS["polars"], CONTAINERS["Arrow"]):
        with pytest.raises(BoundsError, match=r"'X' lacks the columns \['heating'\]"):
            model.predict(wrap(frame))
        with pytest.raises(BoundsError, match=r"'X' lacks the columns \['heating'\]"):
            with_schema(entry, MIXED).fit(wrap(frame), y)
    with pytest.raises(BoundsError, match="X has 3 features, but 4 features are expected"):
        model.predict(as_objects(frame))


def gappy(y, instead=None):
    """Return labels of which some are missing, and of classes some unknown; or what these count as."""
    out = list(y)
    for i in range(0, N, 4):
        unknown = "Pitcairn" if isinstance(y[0], str) and i % 8 else None
        out[i] = unknown if instead is None else instead
    return out


TURNED = ("top", "low", "mid")  # in another order than that of the alphabet
LABELS = {
    "schema": (ClassColumn("y", TURNED, "mid"), NumberColumn("y", 0, 4, missing=3.5), ("mid", 3.5)),
    "default": (ClassColumn("y", TURNED), NumberColumn("y", 0, 4), ("top", 2.0)),
}


def fit_labels(entry, told, schema, **changed):
    """Fit with labels as told, and return the model and its answers."""
    known = {"X_public": homes(seed=1), "y_public": labels(homes(seed=1), entry.classify)} if entry.public else {}
    off = {name: None for name in SHORT if name in entry.options}
    model = make(entry, schema=schema, **{**off, **changed}).fit(homes(), told, **known)
    return model, answers(entry, model, homes())


@cache
def counted(entry_id, rule):
    """Return the schema of a rule, what a missing label counts as, and the fit on such labels."""
    (entry,) = [e for e in PRIVATE if e.id == entry_id]
    of_class, of_number, (instead_class, instead_number) = LABELS[rule]
    schema = replace(MIXED, label=of_class if entry.classify else of_number)
    instead = instead_class if entry.classify else instead_number
    return schema, instead, fit_labels(entry, gappy(labels(homes(), entry.classify), instead), schema)


@pytest.mark.parametrize("rule", LABELS)
@pytest.mark.parametrize("entry", PRIVATE, ids=lambda entry: entry.id)
def test_a_missing_label_counts_as_the_schema_says(entry, rule):
    schema, instead, expected = counted(entry.id, rule)
    found = fit_labels(entry, gappy(labels(homes(), entry.classify)), schema)
    assert np.array_equal(found[1], expected[1])
    for model, _ in (found, expected):
        task = getattr(model, "task_", None)
        if task is not None:  # what is published says the same
            label = task.question().label
            assert (label.missing if label.classes is None else label.classes[int(label.missing)]) == instead


@pytest.mark.parametrize("entry", [e for e in PRIVATE if e.classify], ids=lambda entry: entry.id)
def test_a_missing_class_counts_as_the_first_of_a_list(entry):
    _, instead, (_, expected) = counted(entry.id, "default")
    assert instead == TURNED[0]
    _, found = fit_labels(entry, gappy(labels(homes(), True)), MIXED, classes=list(TURNED))
    assert np.array_equal(found, expected)


@pytest.mark.parametrize("entry", FROM_PUBLIC, ids=lambda entry: entry.id)
def test_a_public_model_of_other_facts_than_the_schema_is_refused(entry):
    public = homes(seed=1)
    y = labels(public, False)
    fitted = PublicModel(Ridge(), schema=MIXED, random_state=0).fit(public, y)
    known = (
        {} if entry.name == "HistOfTreeRegressor" else {"X_public": public, "y_public": labels(public, entry.classify)}
    )
    model = with_schema(entry, MIXED, public_model=fitted)
    if not entry.classify:  # a model of numbers is no model of classes, and is fitted again
        answers(entry, model.fit(homes(), labels(homes(), False), **known), holed())
    wider = MIXED.with_range("area", 0, 200)
    other = PublicModel(Ridge(), schema=wider, random_state=0)
    if not entry.classify:
        other.fit(public, y)
    with pytest.raises(BoundsError, match=r"'public_model' was fitted with other .* than 'schema' .*\['area'\]"):
        with_schema(entry, MIXED, public_model=other).fit(homes(), labels(homes(), entry.classify), **known)


def test_a_public_model_states_a_fact_once():
    with pytest.raises(BoundsError, match="'feature_bounds' and 'schema' say the same thing"):
        PublicModel(Ridge(), schema=MIXED, feature_bounds=(0, 1)).fit(homes(), labels(homes(), False))
