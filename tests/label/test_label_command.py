"""``hedgerow labels randomize``."""

import csv
import json

import numpy as np
import pytest

from hedgerow.cli import main


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


def test_classes_are_replaced_by_listed_ones_and_odd_cells_count_as_the_first(tmp_path, capsys):
    """Of 4,000 cells e/(e + 2) = .576 stay; six deviations are a false alarm of 2e-9."""
    cells = ["b", "c"] * 1000 + ["", "z"] * 1000
    path = tmp_path / "kinds.csv"
    path.write_text("x,kind\n" + "".join(f"{i},{cell}\n" for i, cell in enumerate(cells)))
    out = tmp_path / "noisy.csv"
    options = ["--target", "kind", "--epsilon", "1", "--classes", "a,b,c", "--seed", "3", "--json", "-o", str(out)]
    assert main(["labels", "randomize", str(path), *options]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["guarantee"]["epsilon"] == 1.0 and summary["guarantee"]["protects"] == "label"
    noisy = [row["kind"] for row in read(out)]
    assert [row["x"] for row in read(out)] == [str(i) for i in range(4000)] and set(noisy) == {"a", "b", "c"}
    known = [cell if cell in "abc" and cell else "a" for cell in cells]
    kept = np.mean([a == b for a, b in zip(known, noisy, strict=True)])
    assert abs(kept - 0.576) < 6 * 0.5 / np.sqrt(4000)


def test_every_label_is_randomised_whatever_its_cell_is(tmp_path):
    options = ["--target", "sales", "--epsilon", "1", "--label-bounds", "0:80", "--seed", "1"]
    for name, cells in (("odd", ("", "much", "nan", "1e400", "-1e400", "7")), ("plain", (40, 40, 40, 80, 0, 7))):
        (tmp_path / f"{name}.csv").write_text("\n".join(["sales,x", *(f"{cell},1" for cell in cells)]) + "\n")
        out = ["-o", str(tmp_path / f"{name}-noisy.csv")]
        assert main(["labels", "randomize", str(tmp_path / f"{name}.csv"), *options, *out]) == 0
    assert read(tmp_path / "odd-noisy.csv") == read(tmp_path / "plain-noisy.csv")


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (
            ["--epsilon", "1", "--label-bounds", "0:80", "--delta", "1e-5"],
            "--delta is for --mechanism gaussian",
        ),
        (["--epsilon", "1", "--label-bounds", "0:80", "--mechanism", "laplace", "--trust", "local"], "--trust is for"),
        (["--epsilon", "-1", "--label-bounds", "0:80"], "epsilon"),
        (["--epsilon", "1", "--label-bounds", "0:80", "--target", "profit"], "lacks the column"),
        (["--epsilon", "1", "--label-bounds", "0:80", "--target", "who"], "column 'who' holds no number at all"),
        (["--epsilon", "1", "--classes", "a,b"], "column 'sales' holds no class of --classes at all"),
        (["--epsilon", "1", "--classes", "a"], "--classes must name at least 2 classes"),
        (["--epsilon", "1", "--classes", "a,b", "--label-bounds", "0:80"], "--label-bounds is for labels that are"),
        (["--epsilon", "1", "--classes", "a,b", "--mechanism", "laplace"], "--mechanism is for labels that are"),
        (["--epsilon", "1"], "--label-bounds LOW:HIGH or --classes A,B is needed"),
    ],
)
def test_bad_input_is_named_and_nothing_is_written(records, tmp_path, capsys, options, said):
    out = tmp_path / "noisy.csv"
    target = [] if "--target" in options else ["--target", "sales"]
    assert main(["labels", "randomize", str(records), *target, *options, "-o", str(out)]) == 2
    assert said in capsys.readouterr().err and not out.exists()
