"""From public records to predictions through the command line, and the same through the library."""

import csv
import json
import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from hedgerow import Aggregate, LocalTask, Model, Reports, SeededRandomness, privatize, privatize_many, tables

SEED = ["--seed", "7"]


def read(path):
    return Path(path).read_text()


def read_bytes(path):
    return Path(path).read_bytes()


def features(columns):
    kinds = {"area": float, "heating": object, "people": float}
    data = {name: np.asarray(columns[name], dtype=kind) for name, kind in kinds.items()}
    return tables.Frame(data, len(data["area"]))


def test_cli_equals_library(shell, homes):
    shell.design("--rule", "cart", "--max-depth", "3", "--response", "subset", "--min-samples-leaf", "20")
    public, private, new = homes(300, 1), homes(2000, 2), homes(50, 3)
    task = LocalTask.design(
        features(public), public["kwh"], epsilon=2, label_bounds=(0, 60), rule="cart", max_depth=3,
        response="subset", target="kwh", min_samples_leaf=20
    )  # fmt: skip
    assert LocalTask.from_json(read("task.json")) == task

    _, _, err = shell("privatize", "task.json", "private.csv", "-o", "reports.bin", *SEED)
    assert "nobody is protected" in err and len(err.splitlines()) == 1
    reports = privatize_many(task, features(private), private["kwh"], 7)
    assert read_bytes("reports.bin") == reports.to_bytes()

    shell.ok("aggregate", "task.json", "reports.bin", "-o", "model.json")
    model = Aggregate(task).add(reports).model()
    assert Model.from_json(read("model.json")) == model

    shell.ok("predict", "model.json", "new.csv", "-o", "predictions.csv")
    rows = shell.rows("predictions.csv")
    assert rows[0] == ["area", "heating", "people", "prediction"]
    assert [row[:-1] for row in rows] == shell.rows("new.csv")
    assert [float(row[-1]) for row in rows[1:]] == model.predict(features(new)).tolist()


def test_blocks_do_not_change_the_format(shell, monkeypatch):
    shell.design("--max-depth", "2", "--response", "bits")
    monkeypatch.setattr(tables, "ROWS", 300)
    shell.ok("privatize", "task.json", "private.csv", "-o", "reports.bin", *SEED)
    shell.ok("privatize", "task.json", "private.csv", "-o", "reports.parquet", *SEED)
    task = LocalTask.from_json(read("task.json"))
    source, parts = SeededRandomness(7), []
    for block in tables.Table("private.csv").blocks(300):
        parts.append(privatize_many(task, block.frame(task.space), block.numbers("kwh"), source))
    assert [len(p) for p in parts] == [300] * 6 + [200]
    tokens, payloads = (np.concatenate([getattr(p, name) for p in parts]) for name in ("tokens", "payloads"))
    expected = Reports(task, tokens, payloads, True).to_bytes()
    assert read_bytes("reports.bin") == expected
    assert Reports.from_parquet(task, "reports.parquet").to_bytes() == expected


def test_privatize_is_secure_by_default(made):
    made.ok("privatize", "task.json", "private.csv", "-o", "again.bin")
    assert read_bytes("again.bin") != read_bytes("reports.bin")
    model = Model.from_json(read("model.json"))
    assert not model.simulation and model.n_reports == 2000


def test_simulation_is_marked_to_the_end(made):
    made.ok("privatize", "task.json", "private.csv", "-o", "sim.bin", *SEED)
    out = made.ok("aggregate", "task.json", "reports.bin", "sim.bin", "-o", "both.json")
    assert "Simulation only" in out
    assert json.loads(made.ok("explain", "both.json", "--json"))["simulation"] is True


def test_aggregate_takes_files_in_any_order_and_kind(made):
    made.ok("privatize", "task.json", "public.csv", "-o", "more.parquet")
    task = LocalTask.from_json(read("task.json"))
    one = privatize(task, {"area": 50, "heating": "gas", "people": 2, "kwh": 9})
    Path("one.bin").write_bytes(one.to_bytes())
    files = ["reports.bin", "more.parquet", "one.bin"]
    made.ok("aggregate", "task.json", *files, "-o", "a.json")
    made.ok("aggregate", "task.json", *files[::-1], "-o", "b.json")
    assert read("a.json") == read("b.json")
    assert Model.from_json(read("a.json")).n_reports == 2301


def test_fallback_is_passed_on(made):
    made.ok("aggregate", "task.json", "reports.bin", "--fallback", "none", "-o", "plain.json")
    assert Model.from_json(read("plain.json")).fallback == "none"


def test_interval_columns_come_before_the_prediction(made):
    made.ok("predict", "model.json", "new.csv", "--interval", "0.8", "--name", "guess", "-o", "p.csv")
    rows = made.rows("p.csv")
    assert rows[0][-3:] == ["guess_low", "guess_high", "guess"]
    model = Model.from_json(read("model.json"))
    low, _ = model.predict_interval([[float(r[0]), r[1], float(r[2])] for r in rows[1:]], 0.8)
    assert [float(r[-3]) for r in rows[1:]] == low.tolist()


def test_parquet_in_and_out(made):
    pl = pytest.importorskip("polars")
    for name in ("public", "private", "new"):
        pl.read_csv(f"{name}.csv").with_columns(pl.col("heating").cast(pl.Categorical)).write_parquet(f"{name}.parquet")
    made.ok(
        "design", "public.parquet", "--target", "kwh", "--epsilon", 2, "--label-bounds", "0:60",
        "--max-depth", "2", "--response", "unary", "-o", "t2.json",
    )  # fmt: skip
    assert LocalTask.from_json(read("t2.json")) == LocalTask.from_json(read("task.json"))
    made.ok("privatize", "task.json", "private.csv", "-o", "a.bin", *SEED)
    made.ok("privatize", "task.json", "private.parquet", "-o", "b.bin", *SEED)
    assert read_bytes("a.bin") == read_bytes("b.bin")
    for source in ("new.csv", "new.parquet"):
        for target in ("p.csv", "p.parquet"):
            made.ok("predict", "model.json", source, "-o", target)
        text, table = pl.read_csv("p.csv"), pl.read_parquet("p.parquet")
        assert table.columns == text.columns == ["area", "heating", "people", "prediction"]
        assert table["prediction"].to_list() == text["prediction"].to_list()
        assert table["heating"].cast(pl.String).to_list() == text["heating"].to_list()
        assert table["area"].to_list() == text["area"].to_list()


def test_cells_are_kept_as_they_were(made):
    cells = ['two, "parts"', "line\nbreak", "lone\rreturn", " 1.50 ", "ä"]
    with open("odd.csv", "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["note", "area", "heating", "people"])
        writer.writerows([cell, "070.0", "gas", "2e0"] for cell in cells)
    made.ok("predict", "model.json", "odd.csv", "-o", "p.csv")
    assert [row[:4] for row in made.rows("p.csv")[1:]] == [[cell, "070.0", "gas", "2e0"] for cell in cells]


def test_classes(shell, homes, write_table):
    for name, n, seed in (("public", 300, 1), ("private", 3000, 2)):
        write_table(f"{name}.csv", {k: v for k, v in homes(n, seed).items() if k != "kwh"})
    shell.design("--classes", "public", "--max-depth", "2", target="use")
    shell.ok("privatize", "task.json", "private.csv", "-o", "reports.bin")
    shell.ok("aggregate", "task.json", "reports.bin", "-o", "model.json")
    shell.ok("predict", "model.json", "new.csv", "--probabilities", "-o", "p.csv")
    rows = shell.rows("p.csv")
    assert rows[0][-3:] == ["prediction_high", "prediction_low", "prediction"]
    truth = homes(50, 3)["use"]
    assert sum(row[-1] == t for row, t in zip(rows[1:], truth, strict=True)) > 35
    assert all(abs(float(r[-2]) + float(r[-3]) - 1) < 1e-9 for r in rows[1:])
    assert "--interval is for numeric labels" in shell.fails(
        "predict", "model.json", "new.csv", "--interval", "0.9", "-o", "q"
    )
    shell.design("--classes", "high,low,none", "--max-depth", "1", target="use", output="three.json")
    assert LocalTask.from_json(read("three.json")).classes == ("high", "low", "none")
    shell.ok("explain", "model.json")


def test_design_options_reach_the_task(shell):
    out = shell.design(
        "--features", "heating,people", "--categorical", "people", "--title", "Homes", "--n-holders", "9000",
        "--response", "bits", "--cell-share", "0.25", "--json",
    )  # fmt: skip
    summary, task = json.loads(out), LocalTask.from_json(read("task.json"))
    assert task.space.names == ("heating", "people") and task.space.is_categorical.all()
    assert (task.title, task.response, task.cell_share) == ("Homes", "bits", 0.25)
    assert summary["task"] == task.id and summary["features"][1]["categories"] == ["1", "2", "3", "4", "5"]
    shell.design("--feature-bounds", "area=-5:500", "--feature-bounds", "people=0:10")
    assert LocalTask.from_json(read("task.json")).space.low.tolist() == [-5, 0, 0]


def test_negative_bounds_need_no_trick(shell):
    shell.ok("design", "public.csv", "--target", "kwh", "--epsilon", "1", "--label-bounds", "-5:60", "-o", "t.json")
    assert LocalTask.from_json(read("t.json")).label_bounds == (-5, 60)


SCHEMAS = {
    "design": {"output", "task", "epsilon", "response", "cell_share", "n_leaves", "depth", "target", "label_bounds",
               "n_steps", "classes", "features", "n_public", "n_public_clipped", "report_bytes",
               "largest_influence", "guarantee"},
    "privatize": {"output", "task", "n_reports", "report_bytes", "simulation", "again", "guarantee"},
    "aggregate": {"output", "task", "n_reports", "n_files", "n_copies", "n_leaves", "n_starved", "fallback",
                  "simulation", "guarantee"},
    "predict": {"output", "task", "n_rows", "columns", "interval", "simulation"},
    "explain": {"task", "title", "target", "label_bounds", "classes", "n_reports", "n_leaves", "leaves", "shift",
                "importances", "simulation", "guarantee", "statement", "plot", "plot_shift", "explorer"},
}  # fmt: skip


def test_json_summaries(made):
    commands = {
        "design": ["public.csv", "--target", "kwh", "--epsilon", "2", "--label-bounds", "0:60", "-o", "t"],
        "privatize": ["task.json", "private.csv", "-o", "r"],
        "aggregate": ["task.json", "reports.bin", "-o", "m"],
        "predict": ["model.json", "new.csv", "-o", "p"],
        "explain": ["model.json"],
    }
    for command, arguments in commands.items():
        summary = json.loads(made.ok(command, *arguments, "--json"))
        assert summary.pop("command") == command and set(summary) == SCHEMAS[command]
    assert summary["guarantee"]["epsilon"] == 2 and len(summary["leaves"]) == summary["n_leaves"]


def test_infinite_epsilon_is_allowed_and_said(shell):
    arguments = ["public.csv", "--target", "kwh", "--epsilon", "inf", "--label-bounds", "0:60", "--max-depth", "1"]
    assert json.loads(shell.ok("design", *arguments, "-o", "task.json", "--json"))["epsilon"] == "inf"
    code, _, err = shell("privatize", "task.json", "private.csv", "-o", "r.bin")
    assert code == 0 and "nobody is protected" in err


def test_explain_in_words_and_pictures(made):
    out = made.ok("explain", "model.json", "--plot", "tree.svg", "--plot-shift", "shift.png")
    assert "Local privacy with epsilon = 2" in out and "heating in" in out
    assert read("tree.svg").startswith("<?xml") and read_bytes("shift.png").startswith(b"\x89PNG")
    assert "private / public" in made.ok("explain", "model.json", "--shift")


def run(*arguments, **options):
    return subprocess.run(
        [sys.executable, "-m", "hedgerow.cli", *arguments], capture_output=True, check=False, **options
    )


def test_pipes(made):
    task = run("design", "public.csv", "--target", "kwh", "--epsilon", "2", "--label-bounds", "0:60", "-o", "-")
    assert task.returncode == 0 and LocalTask.from_json(task.stdout) and b"Local privacy" in task.stderr
    new = read_bytes("new.csv")
    done = run("predict", "model.json", "-", "-o", "-", input=new)
    assert done.returncode == 0 and done.stdout.splitlines()[0] == b"area,heating,people,prediction"
    assert len(done.stdout.splitlines()) == 51 and done.stderr == b"50 predictions -> -\n"
    reports = run("privatize", "task.json", "-", "-o", "-", input=read_bytes("private.csv"))
    assert len(Reports.from_bytes(LocalTask.from_json(read("task.json")), reports.stdout)) == 2000


BLOCKED = """
import sys
class Blocker:
    def find_spec(self, name, path=None, target=None):
        if name.split(".")[0] in {"pyarrow", "polars", "pandas", "matplotlib"}:
            raise ImportError(name)
sys.meta_path.insert(0, Blocker())
from hedgerow.cli import main
sys.exit(main(sys.argv[1:]))
"""


def test_numpy_and_scikit_learn_are_enough(made):
    def lean(*arguments):
        return subprocess.run([sys.executable, "-c", BLOCKED, *arguments], capture_output=True, text=True, check=False)

    design = ["design", "public.csv", "--target", "kwh", "--epsilon", "2", "--label-bounds", "0:60", "-o", "t.json"]
    steps = [
        design,
        ["privatize", "t.json", "private.csv", "-o", "r.bin"],
        ["aggregate", "t.json", "r.bin", "-o", "m.json"],
        ["predict", "m.json", "new.csv", "-o", "p.csv"],
        ["explain", "m.json"],
    ]
    for step in steps:
        done = lean(*step)
        assert (done.returncode, done.stderr) == (0, ""), done.stderr
    wants = {
        "pyarrow: pip install 'hedgerow[files]'": ["privatize", "t.json", "private.csv", "-o", "r.parquet"],
        "Parquet files need pyarrow": ["predict", "m.json", "new.csv", "-o", "p.parquet"],
        "Matplotlib: pip install 'hedgerow[plot]'": ["explain", "m.json", "--plot", "t.png"],
    }
    for message, step in wants.items():
        done = lean(*step)
        assert done.returncode == 2 and message in done.stderr and len(done.stderr.splitlines()) == 1
        assert not os.path.exists(step[-1])


def test_holder_needs_neither_scikit_learn_nor_scipy(made):
    code = (
        "import sys; from hedgerow.cli import main; main(sys.argv[1:]);"
        "assert not {'sklearn', 'scipy', 'pyarrow'} & set(sys.modules)"
    )
    arguments = ["privatize", "task.json", "private.csv", "-o", "r.bin"]
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr


def test_design_says_what_a_forged_report_can_do(shell):
    out = json.loads(shell.design("--response", "bits", "--max-depth", "2", "--json"))
    task = LocalTask.from_json((shell.folder / "task.json").read_text())
    forged = task.encoding.largest_influence
    assert out["largest_influence"] == {"holders": forged.count, "label_ranges": forged.label_sum}
    line = (
        f"holders in a leaf by at most {forged.count:.3g} and its sum of labels by {forged.label_sum:.3g} label ranges"
    )
    assert line in shell.design("--response", "bits", "--max-depth", "2")


def test_lists_of_categories_may_hold_more_than_public_records_show(shell, homes, write_table):
    shell.design("--categories", "heating=electric,gas,pump,coal", "--max-depth", "2")
    task = LocalTask.from_json((shell.folder / "task.json").read_text())
    assert task.space.features[1].categories == ("electric", "gas", "pump", "coal")
    record = homes(1, 9)
    write_table("mine.csv", {**{n: record[n] for n in ("area", "people", "kwh")}, "heating": ["coal"]})
    assert shell.ok("privatize", "task.json", "mine.csv", "-o", "r.bin").startswith("1 report to task")
    assert shell.ok("aggregate", "task.json", "r.bin", "-o", "m.json").startswith("1 report, ")
    shell.design("--categories", "people=1,2,3,4,5,6", "--max-depth", "2")  # numbers that are names
    assert LocalTask.from_json((shell.folder / "task.json").read_text()).space.is_categorical.tolist() == [0, 1, 1]
    design = ["design", "public.csv", "--target", "kwh", "--epsilon", "2", "--label-bounds", "0:60", "-o", "x"]
    line = shell.fails(*design, "--categories", "heating=electric,gas")
    assert "column 'heating': 'pump' is not listed by --categories heating=...; add it there" in line
    assert "--categories names 'colour', which is not a feature" in shell.fails(*design, "--categories", "colour=red")
    line = shell.fails(*design, "--categories", "area=1,2", "--feature-bounds", "area=0:9")
    assert "'area' is categorical and has no range" in line


@pytest.mark.skipif(not Path("/proc/self/status").exists(), reason="reads the peak from /proc")
def test_memory_does_not_grow_with_the_file(made):
    """A file 40 times as long must not need noticeably more memory."""
    header, *lines = Path("private.csv").read_text().splitlines()
    Path("long.csv").write_text("\n".join([header, *(lines * 200)]) + "\n")
    script = (
        "import sys; from hedgerow import tables; tables.ROWS = 1 << 13; tables.LARGE = 1 << 60;"
        "from hedgerow.cli import main; main(sys.argv[1:]);"
        # Not ru_maxrss: that of a child starts at the size of the process that forked it.
        "print(next(line for line in open('/proc/self/status') if line.startswith('VmHWM')).split()[1])"
    )
    peaks = []
    for name in ("private.csv", "long.csv"):
        command = [sys.executable, "-c", script, "privatize", "task.json", name, "-o", "r.bin", "--json"]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
        peaks.append(int(done.stdout.splitlines()[-1]))
    assert peaks[1] < peaks[0] + 25_000  # kilobytes; the long file's cells alone would take 150 MB


def test_trimmed_totals_say_what_they_cost_and_copies_count_once(made):
    said = made.ok("aggregate", "task.json", "reports.bin", "--groups", "10", "-o", "trimmed.json")
    assert "trimmed totals of 10 groups, 1 left out at each end" in said
    assert "2,000 reports count as 1,8" in said
    summary = json.loads(
        made.ok(
            "aggregate", "task.json", "reports.bin", "--groups", "5", "--trim", "0.5", "-o", "trimmed.json", "--json"
        )
    )
    assert (summary["n_reports"], summary["n_groups"], summary["dropped"]) == (2000, 5, 2)
    assert 1200 < summary["counts_as"] <= 1273  # 2,000 over pi / 2, and less where groups are of unlike size
    made.ok("predict", "trimmed.json", "new.csv", "-o", "predictions.csv")
    for name in ("b", "c"):
        made.ok("privatize", "task.json", "private.csv", "-o", f"{name}.bin")
    files = ["reports.bin", "b.bin", "c.bin"]
    said = made.ok("aggregate", "task.json", *files, "--groups", "files", "--trim", "0.4", "-o", "files.json")
    assert "trimmed totals of 3 groups, 1 left out at each end" in said and "6,000 reports" in said
    assert "each of 4 groups needs 64 reports" in made.fails(
        "aggregate", "task.json", *files, "b.bin", "--groups", "files", "--trim", "0.4", "-o", "x.json"
    )
