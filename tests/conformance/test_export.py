"""Every model and every estimator: exported in all forms to what ``predict`` says, or refused by name with the reason.

A kind of task is covered by being registered with an example, an estimator by being exported from the package.
"""

import re

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from hedgerow import cli
from hedgerow.errors import HedgerowError
from hedgerow.export import formula_of, to_onnx, to_python, to_sklearn
from hedgerow.export.check import awkward_records, check_onnx, check_program, onnx_feed
from hedgerow.export.program import program_of
from hedgerow.tasks.examples import examples
from hedgerow.tasks.registry import MODELS, model_class
from tests.conformance.collected import reports
from tests.conformance.everybody import ENTRIES, fitted, labels, make, numeric
from tests.conformance.everybody import table as people
from tests.conformance.kinds import KINDS, Pick

EXAMPLES = examples()
REFUSED = {
    "DeconvolutionRegressor": "it keeps every noisy record",
    "LabelPrivateClassifier": "its classifier is of your choice",
}
_EDGE = ("tree", "classes", "assisted")
SMALL = 1e-12  # of the range: rounding, and nothing else


def agree(model, classify, records):
    """Compare both forms with the model; return the ONNX model."""
    formula = formula_of(model)
    exported = to_onnx(model)
    for check in (check_program(program_of(formula), model, records), check_onnx(formula, exported, model, records)):
        assert check.difference <= SMALL, check
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    assert names == (["label", "probabilities"] if classify else ["prediction"])
    if classify:
        label, shares = session.run(None, onnx_feed(formula_of(model), records))
        wanted = np.asarray(model.predict(records))
        told = to_sklearn(model).predict(records)
        # Where two classes are equally likely but for rounding, either may be named.
        apart = np.diff(np.sort(shares, axis=1)[:, -2:], axis=1)[:, 0] > SMALL
        assert label[apart].tolist() == wanted[apart].tolist() == told[apart].tolist()
    return exported


def made(example):
    """Return what the reports of 200 holders make, if that is a model."""
    task = example.build(4.0)
    if task.makes not in ("model", "totals"):
        return None
    return task.totals().add(reports(example, task, 200)).model()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda example: example.name)
def test_models_of_every_kind(example, tmp_path, capsys):
    model = made(example)
    if model is None:
        return
    (tmp_path / "model.json").write_text(model.to_json())
    paths = {ending: str(tmp_path / f"model{ending}") for ending in (".onnx", ".py")}
    codes = [cli.main(["export", str(tmp_path / "model.json"), "-o", path]) for path in paths.values()]
    said = capsys.readouterr()
    if model.task.makes != "model":
        with pytest.raises(HedgerowError, match="predicts nothing") as refusal:
            to_onnx(model)
        assert codes == [2, 2] and str(refusal.value) in said.err
        return
    agree(model, model.classes is not None, awkward_records(formula_of(model), 300))
    assert codes == [0, 0] and said.out.count("differs from predict by at most") == 2


def test_every_registered_model_has_a_formula_or_a_reason():
    for name in MODELS:
        assert callable(model_class(name).formula)


@pytest.mark.parametrize("kind", [k for k in KINDS if k.name.split(",")[0] in _EDGE], ids=lambda k: k.name)
def test_models_at_the_edge_of_what_is_accepted(kind):
    for seed in range(3):
        try:
            task = kind.make(Pick((kind.name, seed, True), small=True))
        except HedgerowError:
            continue
        asked = task.question()
        y = np.random.default_rng(0).choice(asked.label.classes or asked.label.bounds, 50)
        with np.errstate(all="ignore"):
            totals = task.totals().add(task.privatize(np.full((50, len(asked.features)), None), y, randomness=1))
            model = totals.model()
            formula = formula_of(model)
            records = awkward_records(formula, 200)
            assert check_program(program_of(formula), model, records).difference <= 1e-6
            exported = to_onnx(model)
            try:
                assert check_onnx(formula, exported, model, records).difference <= 1e-6
            except HedgerowError:  # infinity less infinity, in another order
                assert kind.name.startswith("assisted")


@pytest.mark.parametrize("entry", ENTRIES, ids=lambda entry: entry.id)
def test_every_estimator(entry, tmp_path):
    estimator = fitted(entry.id)
    if entry.open_features:  # a regressor of the caller's choice, over numbers
        X = people()
        estimator = make(entry).fit(numeric(X), labels(X, entry.classify))
    if entry.name in REFUSED:
        for export in (to_onnx, to_sklearn, to_python):
            with pytest.raises(HedgerowError, match=f"{entry.name} cannot be exported: {REFUSED[entry.name]}"):
                export(estimator)
        return
    if entry.trust == "central":  # models without a task: of 'hedgerow fit', and forests
        (tmp_path / "model.json").write_text(estimator.model_.to_json())
        for ending in (".onnx", ".py"):
            assert cli.main(["export", str(tmp_path / "model.json"), "-o", str(tmp_path / f"model{ending}")]) == 0
    records = awkward_records(formula_of(estimator), 300)
    if entry.numeric or entry.open_features:
        records = records.astype(np.float64)
        agree(estimator, entry.classify, records)
        return
    frame = pd.DataFrame(records, columns=["age", "kind"]).astype({"age": float})
    wanted = estimator.predict_proba(frame) if entry.classify else estimator.predict(frame)
    exported = to_onnx(estimator)
    session = onnxruntime.InferenceSession(exported.SerializeToString())
    found = session.run(None, onnx_feed(formula_of(estimator), records))
    copy = to_sklearn(estimator)
    again = copy.predict_proba(frame) if entry.classify else copy.predict(frame)
    for got in (found[-1], again):
        assert np.abs(got - wanted).max() <= SMALL * 4  # labels lie in [0, 4]
    facts = {prop.key: prop.value for prop in exported.metadata_props}
    assert facts["hedgerow.statement"] == str(estimator.guarantee_)
    if entry.classify:
        assert copy.classes_.tolist() == estimator.classes_.tolist()
        assert set(found[0].tolist()) <= set(estimator.classes_.tolist())


def test_unfitted_estimators_and_strangers_are_refused():
    from sklearn.exceptions import NotFittedError
    from sklearn.linear_model import Ridge

    with pytest.raises(NotFittedError):
        to_onnx(make(ENTRIES[0]))
    with pytest.raises(HedgerowError, match=re.escape("Got an object of type Ridge instead")):
        to_onnx(Ridge())


def test_a_search_is_exported_under_the_guarantee_of_all_of_it():
    from hedgerow import LPDTRegressor, PrivateSearchCV

    rng = np.random.default_rng(0)
    X = rng.random((600, 2))
    y = X[:, 0]
    search = PrivateSearchCV(LPDTRegressor(2.0, label_bounds=(0, 1)), {"max_depth": [1, 3]}, random_state=0)
    search.fit(X, y, X_public=X[:100], y_public=y[:100])
    exported = agree(search, False, rng.uniform(-0.1, 1.1, (300, 2)))
    facts = {prop.key: prop.value for prop in exported.metadata_props}
    assert facts["hedgerow.statement"] == str(search.guarantee_)
