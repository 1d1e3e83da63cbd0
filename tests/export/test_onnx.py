"""ONNX: names, metadata, rules inside the graph, classes of every type; and what is refused."""

import json
import sys

import numpy as np
import onnxruntime
import pytest

from hedgerow import LPDTRegressor, PrivateAnovaRegressor
from hedgerow.errors import HedgerowError
from hedgerow.export import formula_of, to_onnx
from hedgerow.export.check import awkward_records, check_onnx, onnx_feed
from hedgerow.export.onnx import onnx_model
from hedgerow.export.program import program_of
from hedgerow.export.runtime import evaluate
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.formula import Formula, NumberInput, TextInput
from hedgerow.formula.terms import join, records
from hedgerow.formula.trees import codes_of
from hedgerow.space import FeatureSpace
from hedgerow.tasks.examples import find_example


def run(model, feed):
    session = onnxruntime.InferenceSession(model.SerializeToString())
    return session.run(None, {name: np.asarray(column).reshape(-1, 1) for name, column in feed.items()})


def text(*values):
    return np.array(values, dtype=object)


def small(**options):
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    return LPDTRegressor(4.0, label_bounds=(0, 1), random_state=0, **options).fit(
        X, X[:, 0], X_public=X, y_public=X[:, 0]
    )


def test_missing_unknown_and_far_values_inside_the_graph():
    space = FeatureSpace(
        (NumericFeature("age", 0, 99, missing=40), CategoricalFeature("sex", ("F", "M", "?"), unknown="?"))
    )
    formula = Formula.of(space, records(), None, n_outputs=2)
    ages = [150.0, -np.inf, np.nan, 7.0]
    (found,) = run(onnx_model(formula), {"age": ages, "sex": text("M", "", "nobody", "F")})
    assert found.tolist() == [[99.0, 1.0], [0.0, 2.0], [40.0, 2.0], [7.0, 0.0]]


def test_a_missing_text_has_a_code_of_its_own():
    formula = Formula((TextInput("t", ("a", "b"), (0, 1), 5, 7),), records())
    (found,) = run(onnx_model(formula), {"t": text("b", "", "c")})
    assert found.tolist() == [1.0, 7.0, 5.0]
    listed = Formula((TextInput("t", ("a", ""), (0, 1), 5, 5),), records())
    assert run(onnx_model(listed), {"t": text("", "c")})[0].tolist() == [1.0, 5.0]
    with pytest.raises(HedgerowError, match="the empty text is a category of 't'"):
        onnx_model(Formula((TextInput("t", ("a", ""), (0, 1), 5, 7),), records()))


def test_rules_for_missing_values_and_indicators():
    number = NumericFeature("a", 0, 1, missing=0.25, indicator=True)
    space = FeatureSpace((number, CategoricalFeature("k", ("p", "other", "missing"))))
    formula = Formula.of(space, records(), None, n_outputs=3)
    wanted = [[0.25, 2.0, 1.0], [1.0, 1.0, 0.0], [0.5, 0.0, 0.0]]
    (found,) = run(onnx_model(formula), {"a": [np.nan, 7.0, 0.5], "k": text("", "zz", "p")})
    raw = [[None, None], [7.0, "zz"], ["0.5", "p"]]
    assert found.tolist() == wanted == evaluate(program_of(formula), raw).tolist() == space.encode(raw).tolist()


def test_guarantee_schema_and_task_travel_with_it():
    estimator = small()
    facts = {prop.key: prop.value for prop in to_onnx(estimator).metadata_props}
    assert facts["hedgerow.statement"] == str(estimator.guarantee_)
    assert json.loads(facts["hedgerow.guarantee"]) == estimator.guarantee_.to_dict()
    assert json.loads(facts["hedgerow.schema"]) == estimator.model_.space.to_dict()
    assert facts["hedgerow.task"] == estimator.task_.id


@pytest.mark.parametrize("name", ["constant_0", "Where_3", "N", '☂ of "x"\n', "x" * 5000, "a/b:c"])
def test_any_name_of_a_column(name):
    formula = Formula((NumberInput(name, 0.0, 1.0, 0.5), NumberInput("y", 0.0, 1.0, 0.5)), records().apply("row_sum"))
    (found,) = run(onnx_model(formula), {name: [0.25, np.nan], "y": [1.0, 2.0]})
    assert found.tolist() == [1.25, 1.5]


@pytest.mark.parametrize(("name", "said"), [("", "need a name"), ("prediction", "a column is named 'prediction'")])
def test_names_that_onnx_cannot_have(name, said):
    with pytest.raises(HedgerowError, match=said):
        onnx_model(Formula((NumberInput(name),), records()))


@pytest.mark.parametrize("classes", [("a", "b☂"), (3, 1), (True, False), (0.5, 2.5)])
def test_classes_of_every_type(classes):
    x = records().pick([0])
    formula = Formula((NumberInput("x"),), join(x, x * -1.0), classes=classes)
    label, shares = run(onnx_model(formula), {"x": [2.0, -2.0, 0.0]})
    assert label.tolist() == [classes[0], classes[1], classes[0]] and type(label.tolist()[0]) is type(classes[0])
    assert shares.tolist() == [[2.0, -2.0], [-2.0, 2.0], [0.0, 0.0]]


def test_large_labels_keep_their_digits():
    """A float32 anywhere on the way would round them to whole numbers."""
    rng = np.random.default_rng(0)
    X = rng.random((500, 2))
    y = 1e8 + X[:, 0]
    tree = LPDTRegressor(4.0, label_bounds=(1e8, 1e8 + 1), random_state=0).fit(X, y, X_public=X, y_public=y)
    formula = formula_of(tree)
    rows = awkward_records(formula, 500).astype(float)
    assert check_onnx(formula, to_onnx(tree), tree, rows).difference == 0


def test_several_outputs():
    rng = np.random.default_rng(0)
    X = rng.random((200, 2))
    bounds = [(0.0, 1.0), (-10.0, 0.0)]
    model = PrivateAnovaRegressor(2.0, label_bounds=bounds, feature_bounds=(0, 1), random_state=0)
    model.fit(X, np.column_stack([X[:, 0], -10 * X[:, 1]]))
    formula = formula_of(model)
    rows = awkward_records(formula, 100).astype(float)
    (found,) = onnxruntime.InferenceSession(to_onnx(model).SerializeToString()).run(None, onnx_feed(formula, rows))
    assert found.shape == (100, 2) and np.abs(found - model.predict(rows)).max() < 1e-12


def test_values_next_to_a_cut():
    cuts = np.array([0.1, 1 / 3, 2 / 3])
    x = np.concatenate([[c, np.nextafter(c, 1), np.nextafter(c, 0), float(np.float32(c))] for c in cuts])
    (found,) = run(onnx_model(Formula((NumberInput("x"),), codes_of(records(), cuts))), {"x": x})
    assert found.tolist() == np.searchsorted(cuts, x, side="right").tolist()


def test_no_record_and_one_record():
    estimator = small()
    exported = to_onnx(estimator)
    assert run(exported, {"x0": np.zeros(0), "x1": np.zeros(0)})[0].shape == (0,)
    assert run(exported, {"x0": [0.5], "x1": [0.5]})[0].tolist() == estimator.predict([[0.5, 0.5]]).tolist()


def test_what_to_install_is_said_before_the_work(monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)

    class Untouched:
        def formula(self):
            raise AssertionError("asked for its formula")

    with pytest.raises(HedgerowError, match=r"pip install 'hedgerow\[onnx\]'"):
        to_onnx(Untouched())


def test_totals_of_a_pilot_are_refused():
    from tests.conformance.collected import reports

    example = find_example("pilot")
    task = example.build(4.0)
    totals = task.totals().add(reports(example, task, 20)).model()
    with pytest.raises(HedgerowError, match="pilot's result predicts nothing"):
        to_onnx(totals)


@pytest.mark.parametrize("categories", [["a", "b"], ["a", ""]])
def test_an_empty_text_counts_alike_everywhere(categories):
    rng = np.random.default_rng(0)
    X = np.empty((400, 2), dtype=object)
    X[:, 0] = rng.random(400)
    X[:, 1] = rng.choice(["a", "b"], 400)
    X[:80, 1] = None
    y = np.where(X[:, 1] == None, 1.0, 0.2)  # noqa: E711
    known = {"feature_bounds": {0: (0, 1)}, "categories": {1: categories}, "label_bounds": (0, 1)}
    model = PrivateAnovaRegressor(10.0, missing="indicator", random_state=0, **known).fit(X, y)
    new = np.array([[0.5, ""], [0.5, None], [0.5, "a"], [0.5, "peat"]], dtype=object)
    wanted = model.predict(new)
    assert (wanted[0] == wanted[1]) == ("" not in categories)
    np.testing.assert_allclose(evaluate(program_of(formula_of(model)), new)[:, 0], wanted, atol=1e-12)
    if "" not in categories:  # else the empty text cannot say that a value is missing in ONNX, and that is refused
        (found,) = run(to_onnx(model), {"x0": new[:, 0].astype(float), "x1": text("", "", "a", "peat")})
        np.testing.assert_allclose(found, wanted, atol=1e-12)
