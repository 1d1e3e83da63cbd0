"""Every private estimator that is exported: parameters, what is public, promise, booking, tables, seeds, pickles."""

import inspect
import math
import pickle
from dataclasses import replace

import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.base import clone, is_classifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import Ridge

from hedgerow import BoundsError, BudgetError, Guarantee, HedgerowError, HedgerowWarning, Ledger, Schema
from hedgerow.checks import declared_rules
from hedgerow.guarantee import AS_IF_LOCAL, AS_IF_SHARED
from hedgerow.schema import CategoryColumn, ClassColumn, NumberColumn
from tests.conformance.everybody import (
    CLASSES,
    ENTRIES,
    EXPORTED,
    fit,
    fitted,
    labels,
    make,
    numeric,
    private_estimators,
    table,
)
from tests.conformance.everybody import KINDS as CATEGORIES
from tests.conformance.stopping import Stopped, Stopping

KINDS = private_estimators()
X = table()
# What is public knowledge has checks of its own; an inner regressor and a callback are the caller's.
FACTS = {
    "label_bounds",
    "feature_bounds",
    "categories",
    "categorical_features",
    "classes",
    "regressor",
    "estimator",
    "callback",
}
# Features that are public, or that nothing is asked about, need no range.
NO_RANGES = {
    "AssistedForestRegressor",
    "AssistedForestClassifier",
    "LabelTreeRegressor",
    "PartialTreeRegressor",
    "SecureSumClassifier",
    "SecureSumRegressor",
}

kinds = pytest.mark.parametrize("name", KINDS)
everybody = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
exported = pytest.mark.parametrize("entry", EXPORTED, ids=lambda entry: entry.id)
private = pytest.mark.parametrize(
    "entry", [e for e in EXPORTED if not e.name.startswith("Median")], ids=lambda entry: entry.id
)


def plain(entry):
    """Return the entry with two numeric columns and no categories."""
    options = {name: value for name, value in entry.options.items() if name not in ("categories", "feature_bounds")}
    if "feature_bounds" in entry.options:
        options["feature_bounds"] = (0, 10)
    return replace(entry, options=options)


def as_array(columns):
    return np.column_stack(list(columns.values()))


def columns_of(frame):
    return dict(zip("uv", numeric(frame).T, strict=True))


def fit_plain(entry, wrap):
    """Fit on two numeric columns, in a table of some kind."""
    known = {}
    if entry.public:
        public = table(80, seed=1)
        known = {"X_public": wrap(columns_of(public)), "y_public": labels(public, entry.classify)}
    return make(plain(entry)).fit(wrap(columns_of(X)), labels(X, entry.classify), **known)


def rows_of(entry):
    return numeric(X) if entry.numeric else X


def answers(entry, model, rows):
    return model.predict_proba(rows) if entry.classify else model.predict(rows)


# Parameters


@kinds
def test_parameters_are_one_list(name):
    kind = KINDS[name]
    signature = inspect.signature(kind).parameters
    estimator = kind()
    assert estimator.get_params(deep=False) == {key: p.default for key, p in signature.items()}
    assert vars(estimator).keys() == signature.keys()
    assert set(signature) <= set(declared_rules(kind)) | FACTS, "say in _parameters what it may be"
    assert estimator.__sklearn_tags__().non_deterministic
    assert is_classifier(estimator) == name.endswith("Classifier")


@exported
def test_clones_have_the_same_parameters(entry):
    first = make(entry, random_state=3)
    again = clone(first)
    assert str(again) == str(first)
    assert {k: str(v) for k, v in again.get_params().items()} == {k: str(v) for k, v in first.get_params().items()}


@exported
def test_wrong_values_are_refused_in_one_shape_before_anything_is_booked(entry):
    estimator = make(entry)
    with Ledger(None, limit=1e6) as ledger:
        for name in sorted(set(declared_rules(type(estimator))) & set(estimator.get_params(deep=False))):
            wrong = make(entry, **{"ledger": ledger, "random_state": None, name: b"wrong"})
            shape = rf"^The '{name}' parameter of {entry.name} must be .+\. Got b'wrong' instead\.$"
            with pytest.raises(HedgerowError, match=shape):
                fit(entry, wrong, X, labels(X, entry.classify))
        assert ledger.entries() == []


@exported
def test_a_label_needs_what_is_public_about_it(entry):
    name = "classes" if entry.classify else "label_bounds"
    if entry.classify and entry.public:
        return  # public labels tell
    with pytest.raises(BoundsError, match=f"'{name}' is required: pass {name}=.* (private|published)"):
        fit(entry, make(entry, **{name: None}), X, labels(X, entry.classify))


@exported
def test_ranges_are_required_and_never_read(entry):
    if entry.public or "feature_bounds" not in entry.options:
        return
    estimator = make(plain(entry), feature_bounds=None)
    if entry.name in NO_RANGES:
        assert estimator.fit(numeric(X), labels(X, entry.classify)).n_features_in_ == 2
        return
    with pytest.raises(BoundsError, match=r"'feature_bounds' is required.*never read from private records"):
        estimator.fit(numeric(X), labels(X, entry.classify))


@exported
def test_public_rows_and_labels_go_together(entry):
    if not entry.public:
        return
    y, known = labels(X, entry.classify), {"X_public": X, "y_public": labels(X, entry.classify)}
    for name, other in (("y_public", "X_public"), ("X_public", "y_public")):
        with pytest.raises(HedgerowError, match=f"'{name}' is required with '{other}'"):
            make(entry).fit(X, y, **{other: known[other]})


STARTING = [e for e in EXPORTED if e.public and "public_model" in e.options]
STARTING += [
    replace(e, public=True, numeric=True, options={**e.options, "public_model": Ridge(), "regressor": Ridge()})
    for e in EXPORTED
    if e.name == "LabelPrivateRegressor"
]


@pytest.mark.parametrize("entry", STARTING, ids=lambda entry: entry.id)
def test_public_labels_that_are_alike_are_said_to_be_no_start(entry):
    # Whatever is trusted: the public model makes no errors on its own records, and private ones are clipped to those.
    y = labels(X, entry.classify)
    public = {"X_public": rows_of(entry), "y_public": [y[0]] * len(X)}
    with pytest.warns(HedgerowWarning, match=r"'y_public': all 60 public labels are alike .* pass public records"):
        made = make(entry).fit(rows_of(entry), y, **public)
    assert len(made.predict(rows_of(entry))) == len(X)


# Schema


def schema_of(entry):
    """Return a schema that says what the short forms of an entry say."""
    label = ClassColumn("y", CLASSES) if entry.classify else NumberColumn("y", 0, 4)
    if entry.numeric:
        return Schema((NumberColumn("u", 0, 10), NumberColumn("v", 0, 10)), label)
    return Schema((NumberColumn("age", 0, 10), CategoryColumn("kind", CATEGORIES)), label)


def with_schema(entry, schema, **changed):
    """Return the entry's estimator with a schema in the place of the short forms."""
    forms = ("label_bounds", "classes", "feature_bounds", "categories")
    return make(entry, schema=schema, **{**{name: None for name in forms if name in entry.options}, **changed})


@exported
def test_a_schema_gives_the_same_model_as_the_short_forms(entry):
    expected = fitted(entry.id)
    model = fit(entry, clone(with_schema(entry, schema_of(entry))), X, labels(X, entry.classify))
    assert np.array_equal(answers(entry, model, rows_of(entry)), answers(entry, expected, rows_of(entry)))
    assert model.guarantee_ == expected.guarantee_
    assert model.get_params()["schema"] == schema_of(entry)
    if entry.classify:
        assert model.classes_.tolist() == expected.classes_.tolist()


@exported
def test_missing_and_unknown_values_count_as_the_schema_says(entry):
    if entry.numeric:
        return  # numbers alone, and regressors that read features in clear
    label = {"classes": CLASSES} if entry.classify else {"bounds": (0, 4), "missing": 1}
    schema = schema_of(entry).with_missing("age", 9).with_unknown("kind", "a").with_label(**label)
    gaps, filled = X.copy(), X.copy()
    gaps.loc[3:9, "age"], filled.loc[3:9, "age"] = np.nan, 9.0
    gaps.loc[5:20, "kind"], filled.loc[5:20, "kind"] = "unheard of", "a"
    y = labels(X, entry.classify)
    told = [*y[:-1], CLASSES[0] if entry.classify else 1.0]
    model = fit(entry, with_schema(entry, schema), gaps, [*y[:-1], None])
    expected = fit(entry, with_schema(entry, schema), filled, told)
    assert np.array_equal(answers(entry, model, filled), answers(entry, expected, filled))
    assert np.array_equal(answers(entry, model, gaps), answers(entry, model, filled))


@exported
def test_a_fact_is_given_once(entry):
    y = labels(X, entry.classify)
    for name in {"label_bounds", "classes", "feature_bounds", "categories"} & set(entry.options):
        both = with_schema(entry, schema_of(entry), **{name: entry.options[name]})
        with pytest.raises(BoundsError, match=f"'{name}' and 'schema' say the same thing: leave '{name}' out"):
            fit(entry, both, X, y)
    other = {"bounds": (0, 4)} if entry.classify else {"classes": CLASSES}
    with pytest.raises(BoundsError, match=r"'schema' has a label .* pass schema\.with_label\("):
        fit(entry, with_schema(entry, schema_of(entry).with_label(**other)), X, y)
    # A schema without a label leaves the label to the short form.
    name = "classes" if entry.classify else "label_bounds"
    model = with_schema(entry, schema_of(entry).without("y"), **{name: entry.options[name]})
    assert fit(entry, model, X, y).n_features_in_ == 2


@exported
def test_columns_that_the_schema_lacks_are_left_out(entry):
    if entry.numeric:
        return  # arrays go by position
    lacking = schema_of(entry).without("kind")
    y = labels(X, entry.classify)
    model = fit(entry, with_schema(entry, lacking), X, y)
    expected = fit(entry, with_schema(entry, lacking), X.assign(kind="a"), y)
    assert np.array_equal(answers(entry, model, X), answers(entry, expected, X[["age"]]))
    assert list(model.feature_names_in_) == ["age"]


# Promise


@everybody
def test_trust_is_stated_and_who_held_the_records_too(entry):
    """fit() on arrays is as if each holder had randomised; whoever ran it held the records."""
    model = fitted(entry.id)
    claims = [model.guarantee_]
    if hasattr(model, "model_"):
        claims.append(type(model.model_).from_json(model.model_.to_json()).guarantee)  # what is published
    claims += [part.guarantee for part in getattr(model, "models_", [])]
    for claim in claims:
        assert claim.trust == entry.trust
        assert (AS_IF_LOCAL in claim.notes) == (entry.trust == "local")
        assert (AS_IF_SHARED in claim.notes) == (entry.trust == "aggregate")
        central = "curator, who holds the data" in str(claim) or claim.epsilon == math.inf
        assert entry.trust != "central" or central


@everybody
def test_the_guarantee_is_complete(entry):
    claim = fitted(entry.id).guarantee_
    budget = make(entry).epsilon
    assert claim.epsilon == (1.0 if budget is None else budget)
    assert claim.simulation and claim.notes and Guarantee.from_json(claim.to_json()) == claim


# Booking


def limit_of(entry):
    """Return a ledger's limit of the kind that a fit is charged to, with room for several."""
    return replace(fitted(entry.id).guarantee_, epsilon=9.0, delta=1e-2, notes=(), simulation=False)


@private
def test_each_fit_is_booked_once_at_what_it_claims(entry):
    with Ledger(None, limit=limit_of(entry)) as ledger:
        model = fit(entry, make(entry, ledger=ledger, random_state=None), X, labels(X, entry.classify))
        (booked,) = ledger.entries()
        for name in ("epsilon", "delta", "protects", "trust", "neighbours", "simulation"):
            assert getattr(booked.guarantee, name) == getattr(model.guarantee_, name)
        assert booked.charged.epsilon == pytest.approx(model.guarantee_.epsilon, rel=1e-12, abs=1e-6)
        assert not booked.guarantee.simulation


@private
def test_it_is_booked_before_the_first_draw_and_stays_so(entry):
    with Ledger(None, limit=limit_of(entry)) as ledger:
        estimator = make(entry, ledger=ledger, random_state=Stopping())
        for n in (1, 2):  # new noise is another release: no key of the first try makes it free
            with pytest.raises(Stopped):
                fit(entry, estimator, X, labels(X, entry.classify))
            assert len({booked.key for booked in ledger.entries()}) == len(ledger.entries()) == n


@private
def test_without_budget_nothing_is_drawn(entry):
    with Ledger(None, limit=replace(limit_of(entry), epsilon=0.5)) as ledger:
        estimator = make(entry, ledger=ledger, random_state=Stopping())
        with pytest.raises(BudgetError, match="are left"):
            fit(entry, estimator, X, labels(X, entry.classify))
        assert ledger.entries() == []


# Tables, seeds and files


@exported
def test_arrays_and_tables_give_the_same_model(entry):
    """Other tables, and those with a schema, are in test_tables.py."""
    expected = answers(entry, fit_plain(entry, as_array), numeric(X))
    model = fit_plain(entry, pl.DataFrame)
    assert model.n_features_in_ == 2 and list(model.feature_names_in_) == ["u", "v"]
    for wrap in (pd.DataFrame, pl.DataFrame):
        found = answers(entry, model, wrap(columns_of(X)))
        assert np.allclose(found, expected, rtol=1e-12) if entry.open_features else np.array_equal(found, expected)


@everybody
def test_a_seed_gives_the_same_model_again(entry):
    again = fit(entry, make(entry), X, labels(X, entry.classify))
    rows = rows_of(entry)
    assert np.array_equal(answers(entry, again, rows), answers(entry, fitted(entry.id), rows))


@everybody
def test_a_pickled_fit_predicts_the_same(entry):
    model, rows = fitted(entry.id), rows_of(entry)
    assert np.array_equal(answers(entry, pickle.loads(pickle.dumps(model)), rows), answers(entry, model, rows))


@exported
def test_nothing_is_predicted_before_a_fit(entry):
    with pytest.raises(NotFittedError):
        make(entry).predict(rows_of(entry))


# Summaries


@exported
def test_every_fit_has_a_summary(entry):
    """Guarantee in one sentence, in text, HTML and Markdown; nothing of it is learnt anew from private rows."""
    model = fitted(entry.id)
    found = model.summary()
    text = str(found)
    promised = str(model.guarantee_)
    assert promised[:60] in " ".join(text.split()) and promised[:40] in found.to_markdown().replace("\\", "")
    assert "e+0" not in text and max(map(len, text.splitlines())) <= 140
    assert pickle.loads(pickle.dumps(found)) == found
    with pytest.raises(NotFittedError):
        make(entry).summary()


@exported
def test_weights_are_public_or_refused_with_the_reason(entry):
    y = labels(X, entry.classify)
    rows = numeric(X) if entry.numeric else X
    if entry.open_features:
        fitted = make(entry).fit(rows, y, sample_weight=np.ones(len(X)))
        assert fitted.guarantee_.protects == "label"
        with pytest.raises(HedgerowError, match="'sample_weight' must be 60 public numbers above 0"):
            make(entry).fit(rows, y, sample_weight=np.zeros(len(X)))
        return
    with pytest.raises(HedgerowError, match=f"'sample_weight' is not taken by {entry.name}: a record of weight w"):
        make(entry).fit(rows, y, sample_weight=np.ones(len(X)))
