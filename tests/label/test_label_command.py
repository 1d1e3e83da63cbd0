"""``hedgerow labels randomize``."""

import csv
import json

import numpy as np
import pytest

from hedgerow.cli import main
from hedgerow.label import RPWithPrior


@pytest.fixture
def records(tmp_path):
    path = tmp_path / "records.csv"
    rng = np.random.default_rng(0)
    rows = [f"{a:.3f},{70 * a:.2f},name {i}" for i, a in enumerate(rng.random(300))]
    path.write_text("age,sales,who\n" + "\n".join(rows) + "\n")
    return path


def read(path):
    with open(path, newline="") as file:
        return list(csv.DictReader(file))


@pytest.mark.parametrize("mechanism", ["auto", "rp-with-prior", "rr-on-bins", "laplace", "staircase", "gaussian"])
def test_labels_are_replaced_and_features_kept(records, tmp_path, capsys, mechanism):
    out = tmp_path / "noisy.csv"
    options = ["--target", "sales", "--epsilon", "2", "--label-bounds", "0:80", "--mechanism", mechanism]
    assert main(["labels", "randomize", str(records), *options, "--json", "-o", str(out)]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["n_rows"] == 300 and summary["guarantee"]["epsilon"] == 2.0
    assert summary["guarantee"]["protects"] == "label" and not summary["guarantee"]["simulation"]
    before, after = read(records), read(out)
    assert [(r["age"], r["who"]) for r in before] == [(r["age"], r["who"]) for r in after]
    assert list(after[0]) == ["age", "who", "sales"]
    assert sum(a["sales"] == b["sales"] for a, b in zip(before, after, strict=True)) < 30


def test_a_published_task_can_be_answered(records, tmp_path):
    task, out = tmp_path / "task.json", tmp_path / "noisy.csv"
    made = RPWithPrior(1.0, label_bounds=(0, 80), prior=[2, 1]).task
    task.write_text(type(made)(made.grid, made.mechanism, target="sales").to_json())
    assert main(["labels", "randomize", str(records), "--task", str(task), "--seed", "1", "-o", str(out)]) == 0
    assert len(read(out)) == 300


def test_every_label_is_randomised_whatever_its_cell_is(tmp_path):
    made = RPWithPrior(1.0, label_bounds=(0, 80), prior=[2, 1]).task
    (tmp_path / "task.json").write_text(type(made)(made.grid, made.mechanism, target="sales").to_json())
    for name, cells in (("odd", ("", "much", "nan", "1e400", "-1e400", "7")), ("plain", (40, 40, 40, 80, 0, 7))):
        (tmp_path / f"{name}.csv").write_text("\n".join(["sales,x", *(f"{cell},1" for cell in cells)]) + "\n")
        for way in (
            ["--task", str(tmp_path / "task.json")],
            ["--target", "sales", "--epsilon", "1", "--label-bounds", "0:80"],
        ):
            out = tmp_path / f"{name}-{len(way)}.csv"
            assert (
                main(["labels", "randomize", str(tmp_path / f"{name}.csv"), *way, "--seed", "1", "-o", str(out)]) == 0
            )
    for n in (2, 6):
        assert read(tmp_path / f"odd-{n}.csv") == read(tmp_path / f"plain-{n}.csv")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (["--epsilon", "1"], "--label-bounds is required"),
        (["--label-bounds", "0:80"], "--epsilon is required"),
        (["--epsilon", "1", "--label-bounds", "80:0"], "low < high"),
        (["--epsilon", "-1", "--label-bounds", "0:80"], "epsilon"),
        (["--epsilon", "1", "--label-bounds", "0:80", "--target", "profit"], "lacks the column"),
        (["--epsilon", "1", "--label-bounds", "0:80", "--target", "who"], "column 'who' holds no number at all"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(records, tmp_path, capsys, options, said):
    out = tmp_path / "noisy.csv"
    target = [] if "--target" in options else ["--target", "sales"]
    assert main(["labels", "randomize", str(records), *target, *options, "-o", str(out)]) == 2
    assert said in capsys.readouterr().err and not out.exists()
