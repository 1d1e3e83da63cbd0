"""The page of one prediction, for every model and every estimator: what it computes is what Python predicts.

One run of Node evaluates all pages. A kind of task is covered by being registered with an example, an estimator by
being exported from the package.
"""

import numpy as np
import pandas as pd
import pytest

from hedgerow.errors import HedgerowError
from hedgerow.explorer.program import program_of
from hedgerow.export import formula_of
from hedgerow.export.check import awkward_records
from hedgerow.formula import TextInput
from hedgerow.tasks.examples import examples
from tests.conformance.collected import reports
from tests.conformance.everybody import ENTRIES, fitted, labels, make, numeric
from tests.conformance.everybody import table as people
from tests.explorer.node import run

REFUSED = ("DeconvolutionRegressor", "LabelPrivateClassifier")
# Models that are no sum of parts: class by class, or of a peer of the papers that has no anatomy of its own.
WHOLE = (
    "assisted, two classes",
    "assisted, three classes",
    "AssistedForestClassifier",
    "HistOfTreeClassifier",
    "KRR",
    "LabelTree",
    "PartialTree",
    "PrivateHistogram",
    "SecureSumClassifier",
)


def told(formula, records):
    """Return records as the page has them: places of categories, -1 for any other, null for a missing value."""
    columns = []
    for column, values in zip(formula.inputs, records.T, strict=True):
        if isinstance(column, TextInput):
            places = {key: i for i, key in enumerate(column.keys)}
            columns.append([None if v is None else places.get(v, -1) for v in values])
        else:
            columns.append([None if v is None or v != v else float(v) for v in values])
    return [list(row) for row in zip(*columns, strict=True)]


def finite(rows):
    return [[v if v is None or abs(v) < np.inf else np.sign(v) * 1e308 for v in row] for row in rows]


def subjects():
    """Yield names, what has an anatomy, and how it predicts for raw records."""
    for example in examples():
        task = example.build(4.0)
        if task.makes == "model":
            yield example.name, task.totals().add(reports(example, task, 200)).model(), lambda records: records
    X = people()
    for entry in ENTRIES:
        estimator = fitted(entry.id)
        if entry.open_features:  # a regressor of the caller's choice, over numbers
            estimator = make(entry).fit(numeric(X), labels(X, entry.classify))
        if entry.numeric or entry.open_features:
            yield entry.id, estimator, lambda records: records.astype(np.float64)
        else:
            yield (
                entry.id,
                estimator,
                lambda records: pd.DataFrame(records, columns=["age", "kind"]).astype({"age": float}),
            )


@pytest.fixture(scope="module")
def pages(tmp_path_factory):
    """Return by name: the subject, its anatomy, raw records and what the page says of them."""
    found = []
    refused = set()
    for name, subject, frame in subjects():
        try:
            anatomy = subject.anatomy(0.8)
        except HedgerowError:
            refused.add(name)
            continue
        records = awkward_records(formula_of(subject), 60)
        found.append((name, subject, anatomy, frame(records), told(anatomy.formula, records)))
    assert {name.split(",")[0] for name in refused} == set(REFUSED)
    programs = [{"program": program_of(anatomy), "records": finite(rows)} for _, _, anatomy, _, rows in found]
    answers = run(tmp_path_factory.mktemp("node"), programs)["found"]
    return [(*each[:4], answer) for each, answer in zip(found, answers, strict=True)]


def column(answers, name):
    return np.array([answer[name] for answer in answers], dtype=float)


def test_the_page_predicts_as_python_does(pages):
    for name, subject, anatomy, X, answers in pages:
        wanted = subject.predict(X) if anatomy.formula.classes is None else subject.predict_proba(X)
        values = column(answers, "values")
        wanted = np.asarray(wanted, dtype=float).reshape(values.shape)
        assert np.abs(values - wanted).max() <= 1e-9 * max(1.0, np.abs(wanted).max()), name


def test_the_page_has_the_interval_of_python(pages):
    seen = 0
    for name, subject, anatomy, X, answers in pages:
        if anatomy.ends is None:
            continue
        if anatomy.formula.classes is not None:
            model = getattr(subject, "model_", subject)
            for end, wanted in zip(("low", "high"), model.ends(0.8), strict=True):
                assert {tuple(row) for row in column(answers, end).round(9)} <= {tuple(row) for row in wanted.round(9)}
            continue
        for end, wanted in zip(("low", "high"), subject.predict_interval(X, 0.8), strict=True):
            found = column(answers, end)
            wanted = np.asarray(wanted, dtype=float).reshape(found.shape)
            assert np.abs(found - wanted).max() <= 1e-7 * max(1.0, np.abs(wanted).max()), (name, end)
        seen += 1
    assert seen > 15


def test_parts_add_up_to_the_prediction_before_it_is_cut(pages):
    for name, _, anatomy, _, answers in pages:
        if not anatomy.parts:
            assert name.startswith(WHOLE), name
            continue
        for answer in answers:
            total = sum(answer["added"])
            value = answer["values"][-1]
            edge = {0.0, 1.0, *(end for pair in anatomy.bounds for end in pair)}
            many = anatomy.formula.classes is not None and len(anatomy.formula.classes) > 2
            assert abs(total - value) <= 1e-9 or many or min(abs(value - e) for e in edge) < 1e-9, name


def test_leaves_are_named_by_their_rule(pages):
    found = {name: answers for name, _, anatomy, _, answers in pages if any(part.texts for part in anatomy.parts)}
    assert {"tree, bits", "AssistedForestRegressor, public", "DiPriMeForestRegressor", "HistOfTreeRegressor"} <= set(
        found
    )
    for name, answers in found.items():
        assert all(any(answer["texts"]) for answer in answers), name
