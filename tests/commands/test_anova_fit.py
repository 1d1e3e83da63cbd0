"""``hedgerow fit anova``: files in, a model and predictions out."""

import csv
import importlib.util
import io
import json

import numpy as np
import pytest

from hedgerow import AnovaModel
from hedgerow.cli import main
from hedgerow.commands.fit import Reads, Rounds
from hedgerow.commands.progress import Progress

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
    assert main(command(table, "--label-bounds", "0:14", "-o", model)) == 0
    assert capsys.readouterr().err == ""
    assert main(command(table, "--label-bounds", "0:14", "-o", model, "--missing", "--additive")) == 0
    assert "exactly the sum of its curves" in capsys.readouterr().out
    public = ["--feature-bounds", "age=0:99", "--epsilon", "1", "--delta", "0"]
    assert main(["fit", "anova", str(table), "--target", "note", *public, "--classes=-,+", "-o", model]) == 0


def test_what_is_missing_is_said_in_one_line(table, tmp_path, capsys):
    model = str(tmp_path / "model.json")
    bare = ["fit", "anova", str(table), "--target", "y", "--epsilon", "2", "--label-bounds", "0:14", "-o", model]
    assert main(bare) == 2
    assert "--feature-bounds" in capsys.readouterr().err
    assert main([*bare, "--feature-bounds", "kind=0:1"]) == 0  # its text counts as the middle of the range
    assert capsys.readouterr().err == ""
    assert main([*bare, "--feature-bounds", "y=0:1"]) == 2
    assert "but the target" in capsys.readouterr().err


@pytest.fixture
def classes(table):
    rows = list(csv.reader(table.read_text().splitlines()))
    for i, row in enumerate(rows[1:]):
        row[3] = "old" if int(row[0]) > 60 else "mid" if int(row[0]) > 30 else "young"
        row[0] = "" if i % 50 == 0 else row[0]
        row[1] = "" if i % 40 == 0 else row[1]
    with table.open("w", newline="") as file:
        csv.writer(file).writerows(rows)
    public = ["--feature-bounds", "age=0:99", "--categories", "kind=a,b", "--seed", "0", "--missing"]
    model = table.with_name("classes.json")
    fit = ["fit", "anova", str(table), "--target", "note", "--epsilon", "8", *public, "--classes", "young,mid,old"]
    assert main([*fit, "-o", str(model)]) == 0
    return model


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_predict_reads_a_model_with_classes_and_missing_values(classes, table, tmp_path, ending, capsys):
    if ending == "parquet":
        pq = pytest.importorskip("pyarrow.parquet")
        import pyarrow as pa

        rows = list(csv.reader(table.read_text().splitlines()))
        columns = dict(zip(rows[0], zip(*rows[1:], strict=True), strict=True))
        ages = [float(v) if v else None for v in columns["age"]]
        kinds = [v or None for v in columns["kind"]]
        table = tmp_path / "new.parquet"
        pq.write_table(pa.table({"age": ages, "kind": kinds, "note": columns["note"]}), table)
    out = tmp_path / "out.csv"
    capsys.readouterr()
    assert main(["predict", str(classes), str(table), "--probabilities", "-o", str(out), "--json"]) == 0
    summary = json.loads(capsys.readouterr().out)
    assert summary["n_rows"] == 2000 and summary["simulation"] is True
    rows = list(csv.DictReader(out.read_text().splitlines()))
    shares = np.array([[float(r[f"prediction_{c}"]) for c in ("mid", "old", "young")] for r in rows])
    assert list(rows[0])[-1] == "prediction" and np.allclose(shares.sum(axis=1), 1)
    assert [r["prediction"] for r in rows] == [("mid", "old", "young")[i] for i in shares.argmax(axis=1)]
    assert np.mean([r["prediction"] == r["note"] for r in rows]) > 0.85  # the largest class has 40 %


def test_predict_agrees_with_the_model_and_refuses_what_it_cannot_do(table, tmp_path, capsys):
    model, out = tmp_path / "model.json", tmp_path / "out.csv"
    assert main(command(table, "--label-bounds", "0:14", "-o", str(model))) == 0
    assert main(["predict", str(model), str(table), "--name", "guess", "-o", str(out)]) == 0
    rows = list(csv.DictReader(out.read_text().splitlines()))
    known = AnovaModel.from_json(model.read_text())
    one = {"age": [float(rows[7]["age"])], "kind": [rows[7]["kind"]]}
    pd = pytest.importorskip("pandas")
    assert float(rows[7]["guess"]) == pytest.approx(known.predict(pd.DataFrame(one))[0, 0], rel=1e-12)
    capsys.readouterr()
    for wrong, said in (
        [["--probabilities"], "--probabilities"],
        [["--name", "y"], "'y'"],
    ):
        assert main(["predict", str(model), str(table), *wrong, "-o", str(out)]) == 2
        assert said in capsys.readouterr().err
    empty = tmp_path / "new.csv"
    empty.write_text("age,kind\n3,a\n,b\n")
    assert main(["predict", str(model), str(empty), "-o", str(out)]) == 0
    predicted = known.predict(pd.DataFrame({"age": [3.0, None], "kind": ["a", "b"]}))[:, 0]
    assert pd.read_csv(out)["prediction"].tolist() == pytest.approx(predicted.tolist(), rel=1e-12)
    assert "column 'age': 1 value missing" in capsys.readouterr().err
    model.write_text(model.read_text().replace('"version":3', '"version":7'))
    assert main(["predict", str(model), str(table), "-o", str(out)]) == 2
    assert "version 7" in capsys.readouterr().err


def test_explain_reads_a_model(table, tmp_path, capsys):
    model = tmp_path / "model.json"
    assert main(command(table, "--label-bounds", "0:14", "--additive", "-o", str(model))) == 0
    capsys.readouterr()
    assert main(["explain", str(model)]) == 0
    said = capsys.readouterr().out
    assert "exactly the sum of its curves" in said and "age" in said and "epsilon = 2" in said
    picture = tmp_path / "curves.svg"
    plot = ["--plot", str(picture)] if importlib.util.find_spec("matplotlib") else []
    assert main(["explain", str(model), "--json", *plot]) == 0
    found = json.loads(capsys.readouterr().out)
    assert found["importances"][0]["features"] == ["age"] and found["guarantee"]["epsilon"] == 2
    curve = found["curves"]["age"]
    slope = np.polyfit(curve["x"], np.array(curve["y"])[:, 0], 1)[0]
    assert slope == pytest.approx(0.1, abs=0.02) and len(curve["noise"]) == len(curve["x"])
    assert not plot or b"<svg" in picture.read_bytes()
    assert main(["explain", str(model), "--shift"]) == 2
    assert "nothing to compare with" in capsys.readouterr().err


def test_progress_is_shown_on_a_terminal_only(table, tmp_path, capsys, monkeypatch):
    run = command(table, "--label-bounds", "0:14", "-o", str(tmp_path / "model.json"))
    assert main(run) == 0 and capsys.readouterr().err == ""
    monkeypatch.setattr("sys.stderr.isatty", lambda: True)
    assert main(run) == 0 and "fitting, stage 1" in capsys.readouterr().err


def test_public_records_come_first(table, tmp_path, capsys, small_models):
    lines = table.read_text().splitlines()
    public = tmp_path / "public.csv"
    public.write_text("\n".join(lines[:41]) + "\n")
    model = tmp_path / "model.json"
    assert main(command(table, "--label-bounds", "0:14", "--public", str(public), "-o", str(model))) == 0
    assert "public model" in capsys.readouterr().out
    assert AnovaModel.from_json(model.read_text()).public is not None
    assert main(["explain", str(model)]) == 0 and "not protected" in capsys.readouterr().out
    public.write_text("age,kind,y\n5,a,text\n")
    assert main(command(table, "--label-bounds", "0:14", "--public", str(public), "-o", str(model))) != 0


def test_files_larger_than_memory_are_fitted_as_one(table, tmp_path, capsys, monkeypatch):
    header, *lines = table.read_text().splitlines()
    for i in range(4):
        (tmp_path / f"part{i}.csv").write_text("\n".join([header, *lines[500 * i : 500 * (i + 1)]]) + "\n")
    one = tmp_path / "one.json"
    many = tmp_path / "many.json"
    assert main(command(table, "--label-bounds", "0:14", "-o", str(one))) == 0
    more = ["--label-bounds", "0:14", "--spool", str(tmp_path / "spool"), "-o"]
    assert main(command(f"{tmp_path}/part*.csv", *more, str(many))) == 0
    assert many.read_text() == one.read_text()
    capsys.readouterr()
    assert main(command(f"{tmp_path}/part*.csv", *more, str(many))) == 2
    assert "spends epsilon again" in capsys.readouterr().err
    assert main(command(tmp_path, "--label-bounds", "0:14", "-o", str(many))) == 2
    assert "is a directory: name its files" in capsys.readouterr().err
    twice = command(table, "--label-bounds", "0:14", "-o", str(many))
    assert main([*twice[:3], f"{tmp_path}/pri*.csv", *twice[3:]]) == 2
    assert "would count twice" in capsys.readouterr().err
    assert main(command(table, "--label-bounds", "0:14", "-o", str(table))) == 2
    assert "is an input of this command" in capsys.readouterr().err


def test_standard_input_is_fitted_in_memory(table, tmp_path, capsys, monkeypatch):
    one = tmp_path / "one.json"
    piped = tmp_path / "piped.json"
    assert main(command(table, "--label-bounds", "0:14", "-o", str(one))) == 0
    for more, code in (([], 0), (["--spool", str(tmp_path / "spool")], 2)):
        monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(table.read_bytes())))
        assert main(command("-", "--label-bounds", "0:14", "-o", str(piped), *more)) == code
    assert piped.read_text() == one.read_text()
    assert "standard input is read into memory" in capsys.readouterr().err
    assert main(command(table, "--label-bounds", "0:14", "-o", str(one), "--scheduler", "tcp://x")) == 2
    assert "--scheduler is for --engine dask" in capsys.readouterr().err


def test_reads_and_rounds_show_how_long_they_will_take():
    lines = []

    class Line(Progress):
        def update(self, done, share, note=""):
            super().update(done, share, note)
            lines.append(f"{self.what}: {done} {share} {note}")

    progress = Line("reading")
    reads = Reads(progress)
    for done, share in ((10, 0.5), (20, 1.0), (10, 0.5)):
        reads.update(done, share)
    rounds = Rounds(progress)
    rounds.begin(40)
    assert rounds(9) is False
    rounds.begin(2)
    rounds(1)
    assert lines == [
        "reading: 10 0.5 ",
        "reading: 20 1.0 ",
        "reading again: 10 0.5 ",
        "fitting, stage 1: 0 0.25 round 10 of 40",
        "fitting, stage 2: 0 1.0 round 2 of 2",
    ]
