"""``hedgerow fit anova``: files in, a model and predictions out."""

import csv
import json

import numpy as np
import pytest

from hedgerow import AnovaModel
from hedgerow.cli import main

RNG = np.random.default_rng(0)


@pytest.fixture
def table(tmp_path):
    path = tmp_path / "private.csv"
    with path.open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["age", "kind", "y", "note"])
        for age, kind in zip(RNG.integers(0, 99, 2000), RNG.choice(["a", "b"], 2000), strict=True):
            rows.writerow([age, kind, age / 10 + (3 if kind == "a" else 0), "-"])
    return path


def command(table, *more):
    public = ["--feature-bounds", "age=0:99", "--categories", "kind=a,b", "--seed", "0"]
    return ["fit", "anova", str(table), "--target", "y", "--epsilon", "2", *public, *more]


def test_model_and_predictions(table, tmp_path, capsys):
    model, guesses = tmp_path / "model.json", tmp_path / "guesses.csv"
    more = [
        "--label-bounds",
        "0:14",
        "-o",
        str(model),
        "--predict",
        str(table),
        "--predictions",
        str(guesses),
        "--json",
    ]
    assert main(command(table, *more)) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["guarantee"]["epsilon"] == 2 and summary["n_predictions"] == 2000
    with guesses.open() as file:
        rows = list(csv.DictReader(file))
    error = np.mean([(float(r["prediction"]) - float(r["y"])) ** 2 for r in rows])
    assert list(rows[0])[-1] == "prediction" and error < 1.0  # the variance is 10
    assert AnovaModel.from_json(model.read_text()).space.names == ("age", "kind")


def test_empty_cells_and_classes(table, tmp_path, capsys):
    text = table.read_text().replace(",a,", ",,")
    table.write_text(text)
    model = str(tmp_path / "model.json")
    assert main(command(table, "--label-bounds", "0:14", "-o", model)) == 2
    assert "missing" in capsys.readouterr().err
    assert main(command(table, "--label-bounds", "0:14", "-o", model, "--missing", "--additive")) == 0
    assert "exactly the sum of its curves" in capsys.readouterr().out
    public = ["--feature-bounds", "age=0:99", "--epsilon", "1", "--delta", "0"]
    assert main(["fit", "anova", str(table), "--target", "note", *public, "--classes=-,+", "-o", model]) == 0


def test_what_is_missing_is_said_in_one_line(table, tmp_path, capsys):
    model = str(tmp_path / "model.json")
    bare = ["fit", "anova", str(table), "--target", "y", "--epsilon", "2", "--label-bounds", "0:14", "-o", model]
    assert main(bare) == 2
    assert "--feature-bounds" in capsys.readouterr().err
    assert main([*bare, "--feature-bounds", "kind=0:1"]) == 2
    assert "not numeric" in capsys.readouterr().err
