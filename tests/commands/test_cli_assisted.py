"""Assisted tasks from the command line: design, privatize, aggregate, predict."""

import csv
import json

import numpy as np
import pytest

from hedgerow.tasks.assisted import AssistedModel, AssistedTask
from hedgerow.tasks.registry import read_task
from hedgerow.tasks.reports import Reports

DESIGN = ["design", "public.csv", "--target", "kwh", "--epsilon", "4", "--label-bounds", "0:60", "--features",
          "area,people", "-o", "task.json"]  # fmt: skip


@pytest.fixture
def task(shell):
    return json.loads(shell.once(*DESIGN, "--assisted", "compact", "--json"))


def test_files_give_what_python_gives(shell, task):
    published = AssistedTask.from_json((shell.folder / "task.json").read_text())
    assert published.id == task["task"] and task["public_model_bytes"] <= 200_000
    sent = json.loads(shell.ok("privatize", "task.json", "private.csv", "--seed", "1", "-o", "r.bin", "--json"))
    assert sent["report_bytes"] == 18 + published.encoding.width
    made = json.loads(shell.ok("aggregate", "task.json", "r.bin", "r.bin", "-o", "m.json", "--json"))
    assert made["n_reports"] == made["n_copies"] == sent["n_reports"] and made["simulation"]
    model = AssistedModel.from_json((shell.folder / "m.json").read_text())
    rows = shell.rows("private.csv")
    columns = {name: np.array([float(r[i]) for r in rows[1:]]) for i, name in enumerate(rows[0]) if name in
               ("area", "people", "kwh")}  # fmt: skip
    X = np.column_stack([columns[n] for n in published.space.names])
    assert published.simulate(X, columns["kwh"], 1).n_reports == model.n_reports
    shell.ok("predict", "m.json", "private.csv", "--interval", "0.9", "--name", "guess", "-o", "out.csv")
    out = shell.rows("out.csv")
    assert out[0][-3:] == ["guess_low", "guess_high", "guess"]
    assert np.allclose([float(r[-1]) for r in out[1:]], model.predict(X))


def test_reports_to_another_task_and_options_of_others_are_refused(shell, task):
    shell.ok("privatize", "task.json", "private.csv", "--seed", "1", "-o", "r.bin")
    assert "--mask" in shell.fails("privatize", "task.json", "private.csv", "--mask", "m.csv", "-o", "x.bin")
    assert "--fallback" in shell.fails("aggregate", "task.json", "r.bin", "--fallback", "blend", "-o", "m.json")
    assert "twice" in shell.fails("aggregate", "task.json", "r.bin", "r.bin", "--copies", "refuse", "-o", "m.json")
    (shell.folder / "cut.bin").write_bytes((shell.folder / "r.bin").read_bytes()[:-1])
    assert "cut.bin" in shell.fails("aggregate", "task.json", "cut.bin", "-o", "m.json")


def test_assisted_tasks_have_one_round(shell):
    assert "this is an assisted task: leave it out" in shell.fails(*DESIGN, "--assisted", "--hide-mask")


def test_classes_from_design_to_predictions(shell, homes, write_table):
    for name, data in (("public", homes(300, 1)), ("private", homes(2000, 2))):
        write_table(f"{name}.csv", {n: data[n] for n in ("area", "people", "use")})
    facts = ["--target", "use", "--epsilon", "4", "--classes", "high,low", "--assisted", "compact"]
    assert "high" in shell.ok("design", "public.csv", *facts, "-o", "task.json")
    shell.ok("privatize", "task.json", "private.csv", "--seed", "1", "-o", "r.bin")
    shell.ok("aggregate", "task.json", "r.bin", "-o", "m.json")
    task = read_task((shell.folder / "task.json").read_text())
    reports = Reports.from_bytes(task, (shell.folder / "r.bin").read_bytes())
    model = task.totals().add(reports).model()
    assert (shell.folder / "m.json").read_text().strip() == model.to_json() and model.n_reports == 2000
    assert shell.ok("explain", "m.json") == str(model.explain()) + "\n"
    shell.ok("predict", "m.json", "private.csv", "--probabilities", "-o", "p.csv")
    rows = list(csv.DictReader((shell.folder / "p.csv").read_text().splitlines()))
    assert {row["prediction"] for row in rows} <= {"high", "low"}
    assert all(float(row["prediction_high"]) + float(row["prediction_low"]) == pytest.approx(1) for row in rows)
    assert np.mean([row["prediction"] == row["use"] for row in rows]) > 0.6
    assert "--probabilities" in shell.fails("predict", "m.json", "private.csv", "--interval", "0.9", "-o", "q.csv")


def test_explain_says_what_the_model_says(shell, task):
    shell.ok("privatize", "task.json", "private.csv", "--seed", "1", "-o", "r.bin")
    shell.ok("aggregate", "task.json", "r.bin", "-o", "m.json")
    model = AssistedModel.from_json((shell.folder / "m.json").read_text())
    assert shell.ok("explain", "m.json", "--plot", "leaves.svg") == str(model.explain()) + "\n"
    assert "<svg" in (shell.folder / "leaves.svg").read_text()
    found = json.loads(shell.ok("explain", "m.json", "--json"))
    assert found["leaves"] == model.table() and [found["kept_overall"], found["kept_by_leaf"]] == [*model.factors]
    assert found["gate"] == model.gate and found["n_reports"] == 2000 and found["simulation"]
    assert model.task.randomizer == "levels" and model.shift() is None
    assert "leave out --shift" in shell.fails("explain", "m.json", "--shift")
