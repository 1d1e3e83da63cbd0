"""A kind that is registered is carried by every door: the folder examples/toy_kind, which nothing else knows of."""

import importlib
import inspect
import json
import sys
from pathlib import Path

import numpy as np
import pytest

from hedgerow.audit.whole import WholeTask
from hedgerow.cli import main
from hedgerow.holder.make import make_body
from hedgerow.service.kinds import Kind
from hedgerow.tasks import message, registry
from tests.conformance import test_tasks as suite

FOLDER = Path(__file__).parents[2] / "examples"


@pytest.fixture
def toy(monkeypatch):
    monkeypatch.syspath_prepend(str(FOLDER))
    codes, tasks, models = dict(message.CODES), dict(registry.TASKS), dict(registry.MODELS)
    importlib.import_module("toy_kind")
    yield importlib.import_module("toy_kind.examples").EXAMPLES[0]
    for table, before in ((message.CODES, codes), (registry.TASKS, tasks), (registry.MODELS, models)):
        for name in set(table) - set(before):
            del table[name]
    for name in [name for name in sys.modules if name.split(".")[0] == "toy_kind"]:
        del sys.modules[name]


def test_it_passes_the_suite_of_every_task(toy, tmp_path, same_law):
    given = {"example": toy, "tmp_path": tmp_path, "same_law": same_law}
    checks = [f for name, f in vars(suite).items() if name.startswith("test_")]
    used = [f for f in checks if "example" in inspect.signature(f).parameters]
    assert len(used) >= 12
    for check in used:
        check(**{name: given[name] for name in inspect.signature(check).parameters})


def test_it_is_audited_whole(toy):
    result = WholeTask(toy).exact(1.0)
    assert result.holds and result.measured == pytest.approx(1.0, abs=1e-6)


def test_the_service_reads_it(toy):
    task = toy.build(1.0)
    batch = Kind(task).read(make_body(task, {"x": 0.4, "y": 0.7})[0])
    assert len(batch) == 1 and not batch.invalid


def test_the_command_line_carries_it_from_records_to_a_model(toy, tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    Path("task.json").write_text(toy.build(3.0).to_json())
    values = np.random.default_rng(0).random(4000) < 0.3
    Path("private.csv").write_text("x,y\n" + "".join(f"0.5,{0.9 if v else 0.1}\n" for v in values))
    assert main(["privatize", "task.json", "private.csv", "-o", "reports.bin"]) == 0
    assert main(["aggregate", "task.json", "reports.bin", "-o", "model.json"]) == 0
    model = registry.read_model(Path("model.json").read_text())
    assert model.n_reports == 4000 and abs(model.share - values.mean()) < 0.06  # 6 standard deviations
    assert json.loads(Path("model.json").read_text())["format"] == "example/share-model"
    assert main(["explain", "model.json"]) == 0
    assert main(["export", "model.json", "-o", "model.py"]) == 2 and not Path("model.py").exists()
    assert "does not say what it computes" in capsys.readouterr().err
