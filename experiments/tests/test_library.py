"""The whole library on every data set: nothing left out, public facts only, records without gaps."""

import numpy as np
import pandas as pd
import pytest

from hedgerow.compare.contestants import CONTESTANTS
from hedgerow_experiments.data.datasets import TARGETS, Dataset
from hedgerow_experiments.data.public_facts import FACTS
from hedgerow_experiments.experiment import Key, Selection
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.library import compute as library
from hedgerow_experiments.library.compute import METHODS, compute, make_case
from hedgerow_experiments.library.declared import CLASSIFICATION, LIBRARY, REGRESSION
from hedgerow_experiments.page.trust import _failed
from hedgerow_experiments.runner import bundles
from hedgerow_experiments.tidy import by_metric


def test_every_data_set_and_every_contestant_takes_part():
    assert set(LIBRARY.datasets) == set(TARGETS)
    assert {code for code in TARGETS if FACTS[code].label_bounds is not None} == set(REGRESSION)
    assert set(CLASSIFICATION) == set(TARGETS) - set(REGRESSION)
    assert set(METHODS) == set(LIBRARY.methods) >= {c.name for c in CONTESTANTS}
    for key in LIBRARY.keys(Selection()):
        method = METHODS[key.group]
        assert method.classification if key.setting == "classification" else method.regression
        assert (key.epsilon == 0) == method.free


@pytest.mark.parametrize(
    "name", ["DiPriMe", "HistOfTree", "KRR", "ParDT", "PHIST", "APHIST", "DECONV", "LabelDT", "tree"]
)
def test_methods_run_on_data_that_come_with_scikit_learn(name):
    library._case.cache_clear()
    score = compute(Key("DIA", 0, "regression", 4.0, name), 7)
    assert 0 < score["mse"] < 400**2 / 2
    assert score == compute(Key("DIA", 0, "regression", 4.0, name), 7)


def test_a_case_takes_nothing_from_private_records(monkeypatch):
    """Change every private record: what is public stays as it was."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(
        {"Sex": rng.choice(list("FIM"), 400), "a": rng.random(400), "gone": np.nan, "gaps": rng.random(400)}
    )
    frame.loc[::3, "gaps"] = np.nan
    y = rng.uniform(0, 30, 400)
    monkeypatch.setattr(library, "load_dataset", lambda code: Dataset(code, frame, y, "Rings"))
    case, truth = make_case("ABA", 0)
    assert [len(case.X_public), len(case.X), len(case.X_test), len(truth)] == [40, 280, 80, 80]
    assert list(case.X.columns) == ["Sex", "a", "gaps"] and not case.X.isna().any().any()
    assert case.label_bounds == (0, 30) and case.categories == {"Sex": ["F", "I", "M"]} and case.private == ("Sex",)
    other = frame.copy()
    other.loc[case.X.index, ["a", "gaps"]] = 1e6
    monkeypatch.setattr(library, "load_dataset", lambda code: Dataset(code, other, y, "Rings"))
    again, _ = make_case("ABA", 0)
    assert (again.feature_bounds == case.feature_bounds).all() and case.feature_bounds.max() <= 2
    assert again.X_public.equals(case.X_public) and again.X_test.equals(case.X_test)


def test_classes_are_compared_as_they_are_written(monkeypatch):
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"a": rng.random(300), "b": rng.random(300)})
    monkeypatch.setattr(
        library, "load_dataset", lambda code: Dataset(code, frame, (frame["a"] > 0.5).to_numpy(int), "cls")
    )
    library._case.cache_clear()
    assert compute(Key("BAN", 0, "classification", 0.0, "tree"), 1)["accuracy"] > 0.9
    assert compute(Key("BAN", 0, "classification", 8.0, "DP-DF"), 1)["accuracy"] > 0.4
    library._case.cache_clear()


def test_a_fit_that_breaks_down_is_a_row_without_a_score_and_other_errors_stop(monkeypatch):
    def breaking(error):
        def run(case, epsilon, seed):
            raise error

        return METHODS["tree"]._replace(run=run)

    monkeypatch.setitem(METHODS, "tree", breaking(np.linalg.LinAlgError("singular")))
    key = Key("DIA", 0, "regression", 0.0, "tree")
    assert compute(key, 1) == {"failed": 1.0}
    (row,) = by_metric(LIBRARY, key, {"failed": 1.0})
    assert row.metric == "failed" and not Evidence({"library": [row]}).cells("library")
    assert "tree on DIA 1 times" in _failed(Evidence({"library": [row]}))
    monkeypatch.setitem(METHODS, "tree", breaking(ValueError("ours")))
    with pytest.raises(ValueError, match="ours"):
        compute(key, 1)


def test_cells_of_a_split_are_computed_together():
    """They share the public model, which is most of what they cost."""
    keys = list(LIBRARY.keys(Selection(repeats=2, datasets=("DIA", "PYR"))))
    found = bundles(LIBRARY, keys)
    assert [{(k.dataset, k.repeat) for k in bundle.keys} for bundle in found] == [
        {("DIA", 0)}, {("PYR", 0)}, {("DIA", 1)}, {("PYR", 1)}
    ]  # fmt: skip
