"""Every way to go wrong: one line on standard error, exit code 2, and no file changed."""

import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from hedgerow import LocalTask
from hedgerow.tasks.registry import read_model

DESIGN = {"--target": "kwh", "--epsilon": "2", "--label-bounds": "0:60", "-o": "task.json"}


def design(public="public.csv", **changes):
    options = {**DESIGN, **{f"--{k.replace('_', '-')}" if k != "o" else "-o": v for k, v in changes.items()}}
    return ["design", public, *(part for pair in options.items() if pair[1] is not None for part in pair)]


def edit(name, old, new, count=1):
    path = Path(name)
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, count))


def with_cell(name, line, column, value):
    """Change one cell of a CSV file; the header is line 1."""
    lines = Path(name).read_text().splitlines()
    cells = lines[line - 1].split(",")
    cells[column] = value
    lines[line - 1] = ",".join(cells)
    Path(name).write_text("\n".join(lines) + "\n")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (design("absent.csv"), "absent.csv: No such file or directory"),
        (design("."), "Is a directory"),
        (design(target="power"), "lacks the column 'power' named by --target; it has ['area', 'heating'"),
        (design(target=None), "--target"),
        (design(epsilon="0"), "epsilon"),
        (design(epsilon="-1"), "epsilon"),
        (design(epsilon="nan"), "epsilon"),
        (design(epsilon="two"), "invalid float value: 'two'"),
        (design(label_bounds="60"), "expected LOW:HIGH such as 0:80. Got '60'"),
        (design(label_bounds="60:0"), "LOW < HIGH. Got '60:0'"),
        (design(label_bounds="0:inf"), "expected finite"),
        (design(label_bounds="a:b"), "expected LOW:HIGH"),
        (design(label_bounds=None), "--label-bounds LOW:HIGH or --classes A,B is needed"),
        (design(classes="a,b"), "not allowed with argument"),
        (design(label_bounds=None, classes="a,a"), "expected distinct names"),
        (design(label_bounds=None, classes="a,b"), "'31.14' is not listed by --classes; add it there"),
        (design(rule="oak"), "invalid choice: 'oak'"),
        (design(max_depth="deep"), "expected a whole number of at least 0, or auto. Got 'deep'"),
        (design(max_depth="-1"), "expected a whole number"),
        (design(min_samples_leaf="1.5"), "expected a whole number"),
        (design(cell_share="half"), "expected a number between 0 and 1, or auto"),
        (design(cell_share="1.5", response="bits"), "cell_share"),
        (design(cell_share="0.5", response="unary"), "--cell-share is for the response bits"),
        (design(categorical="colour"), "--categorical names 'colour', which is not a feature"),
        (design(features="area,colour"), "lacks the column 'colour' named by --features"),
        (design(features="area,kwh"), "--features must name at least one column other than the target"),
        (design(features="area,,people"), "expected distinct names"),
        (design(feature_bounds="area=9"), "expected LOW:HIGH"),
        (design(feature_bounds="0:9"), "expected COLUMN=LOW:HIGH such as age=0:99"),
        (design(feature_bounds="colour=0:9"), "--feature-bounds names 'colour'"),
        (design(feature_bounds="heating=0:9"), "line 2, column 'heating'"),
        (design(feature_bounds="people=0:9", categorical="people"), "'people' is categorical and has no range"),
        (design(o="public.csv"), "-o public.csv is an input"),
        (design(o="./public.csv"), "is an input of this command and would be lost"),
        (design(o="nowhere/task.json"), "there is no folder"),
        (design(o="."), "is a folder; give a file name in it"),
        (design(o=None), "-o"),
        ([*design(o="-"), "--json"], "--json and '-o -' both need standard output"),
    ],
)
def test_design_refuses(shell, arguments, message):
    assert message in shell.fails(*arguments)


@pytest.mark.parametrize(
    ("line", "column", "value", "message"),
    [
        (5, 0, "", "public.csv, line 5, column 'area': an empty cell where a number is expected"),
        (5, 0, "n/a", "public.csv, line 5, column 'area': 'n/a' where a number is expected"),
        (5, 0, "1_000", "line 5, column 'area': '1_000' where a number"),
        (5, 0, "nan", "line 5, column 'area': 'nan' where a number"),
        (5, 2, "inf", "line 5, column 'people': 'inf' where a number"),
        (5, 3, "1e999", "line 5, column 'kwh': '1e999' where a number"),
        (301, 3, "x" * 99, "line 301, column 'kwh': 'xxxxxxxxxxxxxx"),
        (9, 1, "", "line 9, column 'heating': an empty cell where a category"),
        (9, 1, "a,b", "line 9: 5 cells where the header has 4"),
        (9, 1, '"gas', "this is not CSV"),
        (1, 1, "area", "two columns named 'area'"),
    ],
)
def test_bad_cells_are_named(shell, line, column, value, message):
    with_cell("public.csv", line, column, value)
    assert message in shell.fails(*design())


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "is empty; its first line must name the columns"),
        (b"\n\n", "is empty"),
        (b"area,kwh\n", "has no records below its header"),
        (b"area;kwh\n1;2\n", "Is it separated by commas?"),
        (b"area,kwh\n1,\xff\n", "not UTF-8"),
        (b"area,kwh\n\xe9,1\n", "not UTF-8"),
    ],
)
def test_files_that_are_no_tables(shell, content, message):
    Path("odd.csv").write_bytes(content)
    assert message in shell.fails(*design("odd.csv"))


def test_free_text_is_not_taken_for_categories(shell, write_table):
    write_table("names.csv", {"name": [f"n{i}" for i in range(200)], "kwh": np.arange(200) % 50})
    assert "'name' holds 200 different texts; leave it out with --features" in shell.fails(*design("names.csv"))
    shell.ok(*design("names.csv", categorical="name", max_depth="1"))


def test_broken_parquet(shell):
    Path("odd.parquet").write_bytes(b"PAR1 no more")
    assert "odd.parquet is not a whole Parquet file" in shell.fails(*design("odd.parquet"))
    assert "absent.parquet" in shell.fails(*design("absent.parquet"))


@pytest.mark.parametrize("name", ["out.bin", "out.parquet"])
def test_privatize_reports_every_record_whatever_is_in_its_cells(made, name):
    """No error, no message, and as many bytes as without: who is silent, or different, tells on the record."""
    plain = made.ok("privatize", "task.json", "private.csv", "-o", "plain.bin")
    size = Path("plain.bin").stat().st_size
    original = Path("private.csv").read_text()
    odd = {0: ("", "nan", "1e999", "1_0"), 1: ("", "coal"), 3: ("much", "-inf")}
    for cell in ((column, value) for column, values in odd.items() for value in values):
        with_cell("private.csv", 77, *cell)
        said = made.ok("privatize", "task.json", "private.csv", "-o", name)
        assert said == plain.replace("plain.bin", name)
        assert name != "out.bin" or Path(name).stat().st_size == size
        Path("private.csv").write_text(original)


def test_private_cells_count_as_the_task_says(made):
    task = json.loads(Path("task.json").read_text())
    area, heating, _ = task["partition"]["space"]["columns"]
    original = Path("private.csv").read_text()
    for column, value, counts in (
        (0, " ", area["missing"]), (0, "-1e999", area["low"]), (1, "coal", heating["unknown"]),
        (3, "x", task["grid"]["missing"]), (3, "+1e400", task["grid"]["high"]),
    ):  # fmt: skip
        bodies = []
        for cell in (value, counts):
            with_cell("private.csv", 77, column, str(cell))
            made.ok("privatize", "task.json", "private.csv", "--seed", "1", "-o", "out.bin")
            bodies.append(Path("out.bin").read_bytes())
            Path("private.csv").write_text(original)
        assert bodies[0] == bodies[1]


def test_a_column_that_is_absent_is_missing_in_every_record_and_named_once(made):
    lines = Path("private.csv").read_text().splitlines()
    Path("private.csv").write_text("\n".join(",".join(line.split(",")[1:]) for line in lines) + "\n")
    code, _, err = made("privatize", "task.json", "private.csv", "-o", "out.bin")
    assert code == 0 and err.count("private.csv lacks 'area': missing in every record") == 1
    code, _, err = made("privatize", "task.json", "new.csv", "-o", "out.bin")
    assert code == 0 and "new.csv lacks 'kwh': missing in every record" in err
    Path("other.csv").write_text("a,b\n1,2\n")
    assert "other.csv lacks the columns" in made.fails("privatize", "task.json", "other.csv", "-o", "out.bin")


def test_a_class_that_the_task_does_not_list_counts_as_the_first(shell, homes, write_table):
    write_table("private.csv", {k: v for k, v in homes(20, 2).items() if k != "kwh"})
    write_table("public.csv", {k: v for k, v in homes(200, 1).items() if k != "kwh"})
    shell.design("--classes", "public", target="use")
    edit("private.csv", "low", "medium")
    assert "20 reports" in shell.ok("privatize", "task.json", "private.csv", "-o", "r.bin")


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('"epsilon":2.0', '"epsilon":9.0', "does not match its id"),
        ('"version":2', '"version":7', "version 7 is not supported"),
        ("hedgerow/local-task", "hedgerow/other", "not a task of a known format"),
        ('"target":"kwh",', "", "target"),
        ("{", "[", "not valid JSON"),
    ],
)
def test_tampered_tasks(made, old, new, message):
    edit("task.json", old, new)
    for command, file in (("privatize", "private.csv"), ("aggregate", "reports.bin")):
        line = made.fails(command, "task.json", file, "-o", "out")
        assert "task.json: " in line and message in line


def test_swapped_files(made):
    assert "reports.bin: this task is not valid JSON" in made.fails("aggregate", "reports.bin", "task.json", "-o", "m")
    assert "model.json: this is not a task of a known format" in made.fails(
        "privatize", "model.json", "private.csv", "-o", "r"
    )
    assert "task.json: this is not a model" in made.fails("predict", "task.json", "new.csv", "-o", "p")
    assert "task.json: this is not a model" in made.fails("explain", "task.json")
    for command in (["explain", "task.json"], ["predict", "task.json", "new.csv", "-o", "p"]):
        assert "It is a task. Models come from 'hedgerow aggregate'" in made.fails(*command)
    assert "It is a model. Tasks come from 'hedgerow design'" in made.fails("aggregate", "model.json", "r", "-o", "m")
    for file in ("new.csv", "reports.bin"):
        assert "Models come from 'hedgerow aggregate' and 'hedgerow fit'." in made.fails("explain", file)
    content = json.loads(Path("task.json").read_text())
    Path("faulty.json").write_text(json.dumps({**content, "epsilon": 3}))
    assert "come from" not in made.fails("aggregate", "faulty.json", "reports.bin", "-o", "m")
    Path("label.json").write_text(json.dumps({"format": "hedgerow/label-task"}))
    line = made.fails("privatize", "label.json", "private.csv", "-o", "r")
    assert "label.json: label task: version None is not supported" in line


def test_reports_of_another_task(made):
    made.design("--max-depth", "1", output="other.json")
    made.ok("privatize", "other.json", "private.csv", "-o", "other.bin")
    made.ok("privatize", "other.json", "private.csv", "-o", "other.parquet")
    for name in ("other.bin", "other.parquet"):
        message = made.fails("aggregate", "task.json", "reports.bin", name, "-o", "m.json")
        assert name in message and "another task" in message


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda b: b[:-1], "truncated or oversized"),
        (lambda b: b + b"0", "truncated or oversized"),
        (lambda b: b[:20], "20 bytes are too few"),
        (lambda b: b"", "is empty"),
        (lambda b: b"XXXX" + b[4:], "does not start as one"),
        (lambda b: b[:4] + b"\x09\x00" + b[6:], "report version 9 is not supported"),
        (lambda b: b[:40] + b"\xff" * 8 + b[48:], "truncated or oversized"),
    ],
)
def test_corrupted_reports(made, change, message):
    Path("bad.bin").write_bytes(change(Path("reports.bin").read_bytes()))
    line = made.fails("aggregate", "task.json", "reports.bin", "bad.bin", "-o", "m.json")
    assert "bad.bin: " in line and message in line


def test_other_report_files(made):
    assert "absent.bin: No such file" in made.fails("aggregate", "task.json", "absent.bin", "-o", "m")
    assert "absent.parquet: No such file" in made.fails("aggregate", "task.json", "absent.parquet", "-o", "m")
    Path("odd.parquet").write_bytes(b"no")
    assert "odd.parquet is not a Parquet file" in made.fails("aggregate", "task.json", "odd.parquet", "-o", "m")
    Path("none.csv").write_text("area,heating,people,kwh\n")
    made.ok("privatize", "task.json", "none.csv", "-o", "none.bin")
    assert "there are no reports" in made.fails("aggregate", "task.json", "none.bin", "-o", "m")


def test_copies_of_reports_are_refused(made):
    Path("copy.bin").write_bytes(Path("reports.bin").read_bytes())
    line = made.fails("aggregate", "task.json", "reports.bin", "copy.bin", "--copies", "refuse", "-o", "m")
    assert "2000 reports are there twice, one of them in reports.bin and again in copy.bin" in line


def test_one_report_sent_twice_within_a_file(made):
    data = bytearray(Path("reports.bin").read_bytes())
    data[60:72] = data[48:60]  # the id of the first report
    payload = 48 + 12 * 2000
    data[payload + 1] = data[payload] ^ 1  # by chance the two could be equal
    Path("reports.bin").write_bytes(data)
    line = made.fails("aggregate", "task.json", "reports.bin", "--copies", "refuse", "-o", "m")
    assert "1 reports are there twice, one of them twice within" in line
    line = made.fails("aggregate", "task.json", "reports.bin", "-o", "m")  # one id, two messages
    assert "1 reports have the id of another report but differ" in line
    assert "report 1 of reports.bin and report 2 of reports.bin" in line


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["model.json", "new.csv", "--interval", "90", "-o", "p"], "between 0 and 1 such as 0.9. Got '90'"),
        (["model.json", "new.csv", "--interval", "x", "-o", "p"], "between 0 and 1"),
        (["model.json", "new.csv", "--name", "area", "-o", "p"], "already has a column 'area'; choose another"),
        (["model.json", "new.csv", "--probabilities", "-o", "p"], "--probabilities is for classes"),
        (["model.json", "new.csv", "-o", "model.json"], "-o model.json is an input"),
        (["model.json", "absent.csv", "-o", "p"], "absent.csv: No such file"),
        (["absent.json", "new.csv", "-o", "p"], "absent.json: No such file"),
    ],
)
def test_predict_refuses(made, arguments, message):
    assert message in made.fails("predict", *arguments)


def test_predict_refuses_records(made):
    edit("new.csv", "heating", "fuel")
    assert "new.csv lacks the column 'heating' that the model asks for" in made.fails(
        "predict", "model.json", "new.csv", "-o", "p.csv"
    )
    Path("none.csv").write_text("area,heating,people\n")
    made.ok("predict", "model.json", "none.csv", "-o", "p.csv")
    assert Path("p.csv").read_text() == "area,heating,people,prediction\n"
    assert "no rows to predict" in made.fails("predict", "model.json", "none.csv", "-o", "p.parquet")


def test_what_is_missing_or_unknown_counts_as_in_python(made):
    """Whatever the cells hold, the command predicts what the model predicts, and says how many were odd."""
    Path("odd.csv").write_text("area,heating,people\n1,gas,2\n90,fusion,\n,,many\n")
    model = read_model(Path("model.json").read_bytes())
    odd = pd.DataFrame({"area": [1, 90, None], "heating": ["gas", "fusion", None], "people": [2, None, None]})
    for output, read in (("p.csv", pd.read_csv), ("p.parquet", pd.read_parquet)):
        code, _, said = made("predict", "model.json", "odd.csv", "-o", output)
        assert code == 0
        assert read(output)["prediction"].tolist() == model.predict(odd).tolist()
        assert [line.split("warning: ")[1].split(" missing")[0] for line in said.splitlines()] == [
            "column 'area': 1 value",
            "column 'heating': 2 values",
            "column 'people': 2 values",
        ]


def test_model_of_another_version(made):
    data = json.loads(Path("model.json").read_text())
    Path("model.json").write_text(json.dumps({**data, "version": 2}))
    assert "version 2 is not supported" in made.fails("explain", "model.json")
    Path("model.json").write_text(json.dumps({**data, "n_reports": 1}))
    assert "totals do not fit" in made.fails("explain", "model.json")


def test_explain_refuses(made):
    assert "--plot must name a file that ends in .png" in made.fails("explain", "model.json", "--plot", "tree.doc")
    assert "--plot nowhere/t.png: there is no folder" in made.fails("explain", "model.json", "--plot", "nowhere/t.png")
    task = LocalTask.design(
        epsilon=1, label_bounds=(0, 1), features=1, feature_bounds=(0, 1), max_depth=1, response="bits", cell_share=0.5
    )
    Path("bare.json").write_text(task.to_json())
    Path("x.csv").write_text("x0,y\n0.5,1\n0.1,0\n")
    made.ok("privatize", "bare.json", "x.csv", "-o", "x.bin")
    made.ok("aggregate", "bare.json", "x.bin", "-o", "bare_model.json")
    assert json.loads(made.ok("explain", "bare_model.json", "--json"))["shift"] is None
    assert "nothing to compare with" in made.fails("explain", "bare_model.json", "--shift")


def test_short_file_names_are_named_too(made):
    Path("a").write_bytes(b"x" * 100)
    assert made.fails("aggregate", "task.json", "a", "-o", "m").startswith("hedgerow aggregate: a: this is not a batch")
