"""A pilot from the command line: its task, its totals, and the task after it."""

import json

import numpy as np
import pytest

from hedgerow.tasks.assisted import AssistedTask, PilotTask, PilotTotals
from hedgerow.tasks.holder import privatize_many

DESIGN = ["design", "public.csv", "--target", "kwh", "--epsilon", "4", "--label-bounds", "0:60", "--features",
          "area,people", "--n-holders", "5000", "--assisted", "compact"]  # fmt: skip


@pytest.fixture
def pilot(shell):
    return json.loads(shell.once(*DESIGN, "--pilot", "-o", "pilot.json", "--json"))


def columns(shell, name):
    rows = shell.rows(name)
    found = {c: np.array([float(r[i]) for r in rows[1:]]) for i, c in enumerate(rows[0]) if c in
             ("area", "people", "kwh")}  # fmt: skip
    return np.column_stack([found["area"], found["people"]]), found["kwh"]


def test_from_the_pilot_to_the_task(shell, pilot):
    task = PilotTask.from_json((shell.folder / "pilot.json").read_text())
    assert task.id == pilot["task"] and pilot["n_pilot"] == 155 and pilot["edges"] == list(task.edges)
    sent = json.loads(shell.ok("privatize", "pilot.json", "private.csv", "--seed", "1", "-o", "r.bin", "--json"))
    assert sent["report_bytes"] == 19 and "asked nothing else" in sent["guarantee"]["notes"][0]
    made = json.loads(shell.ok("aggregate", "pilot.json", "r.bin", "r.bin", "-o", "totals.json", "--json"))
    assert made["n_reports"] == made["n_copies"] == sent["n_reports"] and sum(made["shares"]) == pytest.approx(1)
    totals = PilotTotals.from_json((shell.folder / "totals.json").read_text())
    assert shell.ok("explain", "totals.json") == str(totals.explain()) + "\n"
    assert "predicts nothing" in shell.fails("predict", "totals.json", "private.csv", "-o", "p.csv")
    expected = privatize_many(task, *columns(shell, "private.csv"), 1)
    assert totals.n_reports == len(expected) and totals.simulation
    plain = json.loads(shell.ok(*DESIGN, "-o", "plain.json", "--json"))
    main = json.loads(shell.ok(*DESIGN, "--pilot-totals", "totals.json", "-o", "task.json", "--json"))
    read = AssistedTask.from_json((shell.folder / "task.json").read_text())
    assert main["task"] == read.id and read.public_model == task.public_model and plain["epsilon"] == 4

    # Errors many times as large: another radius.
    wide = PilotTotals(task, 1000, (500, *[0] * (len(task.edges) - 1), 500), True)
    (shell.folder / "wide.json").write_text(wide.to_json())
    wider = json.loads(shell.ok(*DESIGN, "--pilot-totals", "wide.json", "-o", "task.json", "--json"))
    assert wider["radius"] > 2 * plain["radius"]


def test_what_cannot_work_is_refused(shell, pilot):
    plain = [a for a in DESIGN if a not in ("--assisted", "compact")]
    line = shell.fails(*plain, "--pilot-totals", "pilot.json", "-o", "x.json")
    assert "--pilot-totals is for assisted tasks; this is a local task" in line
    line = shell.fails(*DESIGN, "--pilot", "--pilot-totals", "pilot.json", "-o", "x.json")
    assert "--pilot-totals is for assisted tasks; this is a pilot task" in line
    assert "pilot.json" in shell.fails(*DESIGN, "--pilot-totals", "pilot.json", "-o", "x.json")
    task = PilotTask.from_json((shell.folder / "pilot.json").read_text())
    totals = PilotTotals(task, 1, (1, *[0] * len(task.edges)))
    (shell.folder / "totals.json").write_text(totals.to_json())
    other = [a if a != "0:60" else "0:70" for a in DESIGN]
    assert "'pilot'" in shell.fails(*other, "--pilot-totals", "totals.json", "-o", "x.json")


def test_few_holders_go_without(shell):
    few = [a if a != "5000" else "50" for a in DESIGN]
    assert "go without a pilot" in shell.ok(*few, "--pilot", "-o", "pilot.json")
