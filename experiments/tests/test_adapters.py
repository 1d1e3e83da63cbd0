"""Results that modules keep in files of their own are read where they are; cells are computed by their functions."""

import json
import math

import pytest

from hedgerow_experiments import adapters
from hedgerow_experiments.experiment import Key, call
from hedgerow_experiments.export import load_rows, open_results
from hedgerow_experiments.registry import find_experiment
from hedgerow_experiments.runner import missing

OLD = {
    "label": [
        {"dataset": "crime", "learner": "network", "mechanism": "Laplace", "debias": "shrink", "epsilon": "inf",
         "trial": 2, "mse": 0.5, "seconds": 1.0},
        {"dataset": "crime", "learner": "network", "mechanism": "Laplace", "debias": "none", "epsilon": "1.0",
         "trial": 2, "mse": 9.0},
        {"dataset": "crime", "learner": "network", "mechanism": "Laplace", "debias": "shrink", "epsilon": "1.0",
         "trial": 0, "mse": 9.0},
    ],
    "anova": [
        {"key": ["ABA", 1.0, "mean", 0], "value": {"value": 0.5, "seconds": 0.1}},
        {"key": ["BAN", 2.0, "PrivateAnova", 1], "value": {"value": 0.9, "seconds": 0.1}},
    ],
    "frontier": [
        {"key": ["ABA", 0, 2], "value": {"seconds": 1.0, "public": 4.0, "assisted": {"0.5": [1.0, 2.0]}}},
        {"key": ["shift", "WHI->RED", 1, 2], "value": {"public": 4.0, "assisted": {"8": [1.0, 2.0]}}},
        {"key": ["label", "CAL", 0], "value": {"public": 3.0, "free": 1.0, "label": {"4": 2.0}}},
        {"key": ["ABA", 0, 7], "value": {"public": 9.0, "assisted": {}}},
    ],
}  # fmt: skip
EXPECTED = {
    "label": {("crime", "network", "Laplace", math.inf, 0): 0.5},
    "anova": {
        ("ABA", "regression", "mean", None, 0): 0.5,
        ("BAN", "classification", "PrivateAnova", 2.0, 1): 0.9,
    },
    "frontier": {
        ("ABA", "", "public model", None, 0): 4.0,
        ("ABA", "", "AssistedForest", 0.5, 0): 1.5,
        ("WHI->RED", "shift", "public model", None, 1): 4.0,
        ("WHI->RED", "shift", "AssistedForest", 8.0, 1): 1.5,
        ("CAL", "labels", "public model", None, 0): 3.0,
        ("CAL", "labels", "no privacy", None, 0): 1.0,
        ("CAL", "labels", "private labels", 4.0, 0): 2.0,
    },
}


@pytest.mark.parametrize("name", OLD)
def test_results_of_other_modules_are_rows_and_are_not_computed_again(name, tmp_path):
    lines = [json.dumps(item) for item in OLD[name]]
    (tmp_path / f"{name}.jsonl").write_text("\n".join([*lines, lines[0][:20]]) + "\n")  # the last is cut short
    experiment = find_experiment(name)
    rows = load_rows(experiment, tmp_path)
    assert {(r.dataset, r.setting, r.method, r.epsilon, r.repeat): r.value for r in rows} == EXPECTED[name]
    results = open_results(experiment, tmp_path)
    done = {Key.read(key) for key, _ in results}
    assert done <= set(experiment.keys()) and not done & set(missing(experiment, results))
    assert (tmp_path / f"{name}.jsonl").read_text().count("\n") == len(lines) + 1, "nothing was written to it"


def test_accuracy_is_named_where_classes_are_predicted(tmp_path):
    (tmp_path / "anova.jsonl").write_text("\n".join(json.dumps(item) for item in OLD["anova"]))
    found = {r.dataset: r.metric for r in load_rows(find_experiment("anova"), tmp_path)}
    assert found == {"ABA": "mse", "BAN": "accuracy"}


def test_cells_are_computed_by_the_functions_of_the_modules():
    from hedgerow_experiments.anova.compute import Run, measure

    key = Key("DIA", 1, "regression", 10.0, "DiPriMe")
    assert adapters.anova(key, 1) == {"value": measure(Run("DIA", 10.0, "DiPriMe", 1))["value"]}
    free = Key("DIA", 1, "regression", 0.0, "mean")
    assert adapters.anova(free, 1) == {"value": measure(Run("DIA", 1.0, "mean", 1))["value"]}


def test_mechanisms_of_a_trial_share_fits(monkeypatch):
    experiment, seen = find_experiment("label"), []

    def run_cell(case, learner, mechanism, epsilon, trial, debias, averaging, fits):
        seen.append((learner, mechanism, epsilon, trial, debias, averaging, id(fits)))
        return 1.5

    module = adapters._module("label.trials")
    monkeypatch.setattr(module, "run_cell", run_cell)
    monkeypatch.setattr(module, "_averaging", lambda *_: 0.25)
    monkeypatch.setattr(adapters, "_case", lambda *_: None)
    adapters._shared.cache_clear()
    for name in ("Laplace", "auto"):
        assert call(experiment.compute)(Key("crime", 3, "network", 2.0, name), 0) == {name: 1.5}
    adapters._shared.cache_clear()
    first = module.FIRST["crime"]
    assert [s[:6] for s in seen] == [("network", m, 2.0, 3 + first, "shrink", 0.25) for m in ("Laplace", "auto")]
    assert seen[0][6] == seen[1][6]
