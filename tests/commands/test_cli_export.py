"""``hedgerow export``: files, what is said, and what is refused before any work."""

import json
import sys

import numpy as np
import onnxruntime
import pandas as pd
import pytest

from hedgerow import LPDTRegressor, cli
from hedgerow.tasks import Model


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    folder = tmp_path_factory.mktemp("export")
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"age": rng.uniform(0, 10, 300), "kind": rng.choice(["a", "b"], 300)})
    y = X["age"]
    tree = LPDTRegressor(4.0, label_bounds=(0, 10), random_state=0).fit(X, y, X_public=X, y_public=y)
    (folder / "model.json").write_text(tree.model_.to_json())
    X.to_csv(folder / "new.csv", index=False)
    return folder


def export(folder, *arguments):
    return cli.main(["export", str(folder / "model.json"), *map(str, arguments)])


def test_onnx_predicts_what_the_command_line_predicts(folder, capsys):
    assert export(folder, "-o", folder / "model.onnx", "--json") == 0
    said = json.loads(capsys.readouterr().out)
    assert said["format"] == "onnx" and said["inputs"] == ["age", "kind"] and said["difference"] <= 1e-6
    assert said["checked_with"] == "ONNX Runtime" and said["n_bytes"] == (folder / "model.onnx").stat().st_size
    assert said["task"] == Model.from_json((folder / "model.json").read_text()).task.id
    assert cli.main(["predict", str(folder / "model.json"), str(folder / "new.csv"), "-o", str(folder / "p.csv")]) == 0
    table = pd.read_csv(folder / "p.csv")
    feed = {"age": table[["age"]].to_numpy(), "kind": table[["kind"]].to_numpy(dtype=object)}
    (found,) = onnxruntime.InferenceSession(str(folder / "model.onnx")).run(None, feed)
    assert np.array_equal(found, table["prediction"])


def test_python_without_onnx(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnx", None)
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert export(folder, "-o", folder / "model.py") == 0
    assert "checked with NumPy" in capsys.readouterr().out
    names = {"__name__": "exported"}
    exec((folder / "model.py").read_text(), names)
    assert names["model"].predict({"age": [1.0, None], "kind": ["a", None]}).shape == (2,)


def test_onnx_without_a_runtime_is_compared_in_numpy(folder, capsys, monkeypatch):
    monkeypatch.setitem(sys.modules, "onnxruntime", None)
    assert export(folder, "-o", folder / "other.onnx") == 0
    assert "checked with NumPy" in capsys.readouterr().out


def test_refusals_come_first_and_leave_no_file(folder, capsys, monkeypatch):
    def said(*arguments):
        assert export(folder, *arguments) == 2
        return capsys.readouterr().err

    assert "ends in .onnx (ONNX) or .py" in said("-o", folder / "model.pkl")
    assert "such.onnx" in said("-o", folder / "no" / "such.onnx")
    monkeypatch.setitem(sys.modules, "onnx", None)
    (folder / "model.json").rename(folder / "away")  # not even read
    assert "pip install 'hedgerow[onnx]'" in said("-o", folder / "x.onnx")
    (folder / "away").rename(folder / "model.json")
    assert not (folder / "x.onnx").exists() and not (folder / "model.pkl").exists()


def test_a_task_is_no_model(folder, capsys, tmp_path):
    task = Model.from_json((folder / "model.json").read_text()).task
    (tmp_path / "task.json").write_text(task.to_json())
    assert cli.main(["export", str(tmp_path / "task.json"), "-o", str(tmp_path / "m.onnx")]) == 2
    assert "not a model" in capsys.readouterr().err
