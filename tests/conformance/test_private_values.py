"""Whatever is in a private record, every estimator fits, and says the same as without it.

Errors, warnings and printed lines are releases without noise. (Warnings are errors in these tests.)
"""

import math

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from hedgerow.classes import DECLARED, OBSERVED
from hedgerow.errors import BoundsError
from tests.conformance.everybody import CLASSES, ENTRIES, fit, fitted, labels, make, table

everybody = pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
X = table()
SECRET = "Pitcairn Island"
POISON = {
    "NaN": math.nan,
    "None": None,
    "infinity": -math.inf,
    "huge": 10**400,
    "text": SECRET,
    "empty": "",
    "object": {"island": SECRET},
    "missing": pd.NA,
}


class Unkind:
    """A value whose every method fails."""

    def __float__(self):
        raise RuntimeError(SECRET)

    __str__ = __repr__ = __eq__ = __bool__ = __float__
    __hash__ = object.__hash__


def poisoned(column, values, start=0):
    """Return a column with values put in, one a row from ``start`` on, whatever type that makes it."""
    out = list(column)
    out[start : start + len(values)] = values
    return pd.Series(out, dtype=object)


def said(fitted):
    """Return all that a fit states in words."""
    claim = fitted.guarantee_
    return claim.to_json(), [model.guarantee.to_json() for model in getattr(fitted, "models_", [])]


def published(fitted):
    models = [getattr(fitted, name) for name in ("model_", "task_", "cell_task_") if hasattr(fitted, name)]
    return "".join(model.to_json() for model in [*models, *getattr(fitted, "models_", [])])


@everybody
def test_poisoned_rows_are_absorbed_in_silence(entry, capfd):
    """Features and labels of every kind at once: one record of each, the rest clean."""
    values = [*POISON.values(), Unkind()]
    y = labels(X, entry.classify)
    worse = X.assign(age=poisoned(X["age"], values), kind=poisoned(X["kind"], values, 5))
    worse = X if entry.open_features else worse  # a regressor of the caller's choice reads them
    dirty = fit(entry, make(entry), worse, list(poisoned(y, values, 10)))
    assert said(dirty) == said(fitted(entry.id))
    assert SECRET not in published(dirty)
    assert capfd.readouterr() == ("", "")
    assert len(dirty.predict(np.full((3, 2), 5.0) if entry.numeric else X[:3])) == 3


@everybody
def test_one_record_changes_no_message(entry, capfd):
    """Neighbours with one record changed, by a missing value, or by text: a feature and the label, then the other."""
    y = labels(X, entry.classify)
    statement = said(fitted(entry.id))
    for value, other in ((math.nan, SECRET), (SECRET, math.nan)):
        worse = X.assign(age=poisoned(X["age"], [value]), kind=poisoned(X["kind"], [other]))
        worse = X if entry.open_features else worse
        assert said(fit(entry, make(entry), worse, list(poisoned(y, [other])))) == statement
    assert capfd.readouterr() == ("", "")


@everybody
def test_a_label_column_without_a_number_is_the_wrong_column(entry):
    """The one exception, which scikit-learn's own checks ask for; the message is fixed."""
    with pytest.raises(BoundsError, match="pass the column of labels"):
        fit(entry, make(entry), X, np.full(len(X), np.nan))


CLASSIFIERS = [entry for entry in ENTRIES if entry.classify]
classifiers = pytest.mark.parametrize("entry", CLASSIFIERS, ids=lambda entry: entry.id)


@classifiers
def test_classes_are_declared(entry):
    y = [*labels(X, True)[:-1], SECRET]
    if not entry.public:
        with pytest.raises(BoundsError, match=r"'classes' is required.*'observed'") as error:
            fit(entry, make(entry, classes=None), X, y)
        assert SECRET not in str(error.value)
    fitted = fit(entry, make(entry), X, y)
    assert sorted(fitted.classes_) == sorted(CLASSES) and SECRET not in published(fitted)
    assert DECLARED in fitted.guarantee_.notes or entry.trust == "local"


@classifiers
@pytest.mark.filterwarnings("ignore:'y_public'. all 80 public labels are alike")  # no public record has that class
def test_observed_classes_are_repeated_in_guarantee_model_and_task(entry):
    y = [*labels(X, True)[:-1], SECRET]
    fitted = fit(entry, make(entry, classes="observed"), X, y)
    assert SECRET in fitted.classes_ and OBSERVED in fitted.guarantee_.notes
    again = [type(m).from_json(m.to_json()) for m in getattr(fitted, "models_", [])]
    again += [type(fitted.model_).from_json(fitted.model_.to_json())] if hasattr(fitted, "model_") else []
    again += [type(fitted.task_).from_json(fitted.task_.to_json())] if hasattr(fitted, "task_") else []
    assert again and all(OBSERVED in item.guarantee.notes for item in again)


def frames(values):
    """Return tables whose second column is categorical by its type."""
    plain = {"age": X["age"].to_numpy(), "kind": values}
    return {
        "pandas category": pd.DataFrame({**plain, "kind": pd.Categorical(values)}),
        "pandas text": pd.DataFrame(plain),
        "polars Categorical": pl.DataFrame(plain, schema_overrides={"kind": pl.Categorical}),
        "polars Enum": pl.DataFrame(plain, schema_overrides={"kind": pl.Enum(sorted(set(values)))}),
        "polars text": pl.DataFrame(plain),
        "Arrow dictionary": pa.table({"age": plain["age"], "kind": pa.array(values).dictionary_encode()}),
    }


WITH_TEXT = [entry for entry in ENTRIES if not entry.numeric and not entry.public]


@pytest.mark.parametrize("entry", WITH_TEXT, ids=lambda entry: entry.id)
@pytest.mark.parametrize("kind", frames(["a"] * len(X)))
def test_a_columns_type_declares_no_categories(entry, kind):
    """One person's category would be in the type, and then in the published model."""
    values = ["a"] * (len(X) - 1) + [SECRET]
    frame = frames(values)[kind]
    with pytest.raises(BoundsError, match=r"'categories' is required for the columns \['kind'\]") as error:
        fit(entry, make(entry, categories=None, feature_bounds=(0, 10)), frame, labels(X, entry.classify))
    assert SECRET not in str(error.value) + repr(error.value.__cause__) + repr(error.value.__context__)
    fitted = fit(entry, make(entry), frame, labels(X, entry.classify))
    assert SECRET not in published(fitted)
