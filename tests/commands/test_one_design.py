"""The command, ``X.design`` and the estimator make the same task of the same public data: defaults are in one place."""

import json
from pathlib import Path

import numpy as np
import pytest

from hedgerow import (
    AssistedForestClassifier,
    AssistedForestRegressor,
    HistOfTreeRegressor,
    LocalTask,
    LPDTClassifier,
    LPDTRegressor,
)
from hedgerow.frames import Frame

NAMES = ("area", "heating", "people")


def frame(columns, names=NAMES):
    data = {n: np.asarray(columns[n], dtype=object if n == "heating" else float) for n in names}
    return Frame(data, len(columns["area"]))


def designed(shell, *options, target="kwh", bounds=("--label-bounds", "0:60")):
    facts = ["--target", target, "--epsilon", 2, *bounds]
    return json.loads(shell.ok("design", "public.csv", *facts, *options, "-o", "task.json", "--json"))["task"]


@pytest.mark.parametrize("more", [{}, {"response": "bits"}, {"rule": "cart", "max_depth": 3, "response": "unary"}])
def test_trees(shell, homes, more):
    public, private = homes(300, 1), homes(2000, 2)
    options = [part for name, value in more.items() for part in (f"--{name.replace('_', '-')}", value)]
    by_command = designed(shell, "--n-holders", 2000, *options)
    facts = {"epsilon": 2.0, "label_bounds": (0, 60)}
    task = LocalTask.design(frame(public), public["kwh"], **facts, n_holders=2000, target="kwh", **more)
    assert by_command == task.id
    tree = LPDTRegressor(**facts, **more, random_state=1)
    tree.fit(frame(private), private["kwh"], X_public=frame(public), y_public=public["kwh"])
    renamed = LocalTask.design(frame(public), public["kwh"], **facts, n_holders=2000, **more)
    assert tree.task_.id == renamed.id


def test_classes(shell, homes, write_table):
    public, private = homes(300, 1), homes(2000, 2)
    write_table("public.csv", {n: public[n] for n in (*NAMES, "use")})
    by_command = designed(shell, "--n-holders", 2000, target="use", bounds=("--classes", "high,low"))
    facts = {"epsilon": 2.0, "classes": ["high", "low"]}
    assert by_command == LocalTask.design(frame(public), public["use"], **facts, n_holders=2000, target="use").id
    tree = LPDTClassifier(**facts, random_state=1)
    tree.fit(frame(private), private["use"], X_public=frame(public), y_public=public["use"])
    assert tree.task_.id == LocalTask.design(frame(public), public["use"], **facts, n_holders=2000).id


def same(task):
    """Whether the task in the file is this one, but for the name of the label: that of estimators is always ``y``."""
    content = json.loads(Path("task.json").read_text()) | {"target": "y"}
    found = json.loads(task.to_json())
    del content["id"], found["id"]
    return content == found


def test_assisted_forests(shell, homes):
    public, private, names = homes(300, 1), homes(2000, 2), ("area", "people")
    designed(shell, "--assisted", "compact", "--n-holders", 2000, "--seed", 5, "--features", ",".join(names))
    forest = AssistedForestRegressor(2.0, label_bounds=(0, 60), public_model="compact", pilot=None, random_state=5)
    forest.fit(frame(private, names), private["kwh"], X_public=frame(public, names), y_public=public["kwh"])
    assert same(forest.task_)


def test_assisted_classifiers(shell, homes, write_table):
    public, private, names = homes(300, 1), homes(2000, 2), ("area", "people")
    write_table("public.csv", {n: public[n] for n in (*names, "use")})
    classes = ("--classes", "high,low")
    options = ["--assisted", "compact", "--n-holders", 2000, "--seed", 5]
    designed(shell, *options, target="use", bounds=classes)
    forest = AssistedForestClassifier(2.0, classes=["high", "low"], public_model="compact", random_state=5)
    forest.fit(frame(private, names), private["use"], X_public=frame(public, names), y_public=public["use"])
    assert same(forest.task_)
    facts = ["--target", "use", "--epsilon", 2, *classes, *options, "-o", "t.json"]
    assert "--pilot-totals" in shell.fails("design", "public.csv", *facts, "--pilot-totals", "public.csv")
    assert "whose label is a number" in shell.fails("design", "public.csv", *facts, "--pilot")


def test_both_rounds_of_hist_of_tree(shell, homes):
    private = homes(2000, 2)
    bounds = {"area": (20, 150), "people": (1, 5)}
    options = [f"--feature-bounds={name}={low}:{high}" for name, (low, high) in bounds.items()]
    designed(shell, "--two-rounds", "--private-columns", "area", "--categories", "heating=electric,gas,pump", *options)
    tree = HistOfTreeRegressor(
        2.0, label_bounds=(0, 60), feature_bounds=bounds, categories={"heating": ["electric", "gas", "pump"]},
        n_private=1, random_state=1,
    )  # fmt: skip
    tree.fit(frame(private), private["kwh"], private=[True, False, False])
    assert same(tree.task_)

    # The second task of the same first reports.
    reports = tree.task_.privatize(frame(private), private["kwh"], randomness=3)
    Path("first.json").write_text(tree.task_.to_json())
    Path("first.bin").write_bytes(reports.to_bytes())
    shell.ok("grow", "first.json", "first.bin", "--n-private", 1, "-o", "second.json")
    second = tree.task_.totals().add(reports).model(n_private=1)
    assert json.loads(Path("second.json").read_text())["id"] == second.id
    assert second.partition.depth == tree.cell_task_.partition.depth and second.response == tree.cell_task_.response


def test_models_are_the_same_by_every_door(shell, homes):
    """With the paper's report, too: the default of what public labels add is the task's."""
    private = homes(2000, 2)
    designed(shell, "--response", "bits", "--max-depth", 2)
    shell.ok("privatize", "task.json", "private.csv", "--seed", 4, "-o", "r.bin")
    shell.ok("aggregate", "task.json", "r.bin", "-o", "model.json")
    task = LocalTask.from_json(Path("task.json").read_text())
    model = task.totals().add(task.privatize(frame(private), private["kwh"], randomness=4)).model()
    assert Path("model.json").read_text() == model.to_json() + "\n"
