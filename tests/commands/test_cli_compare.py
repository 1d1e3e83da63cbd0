"""hedgerow compare on made records: every trust model takes part, and the report is honest about what it shows."""

import csv
import importlib.util
import json
import re

import pytest

from hedgerow import Schema
from hedgerow.compare.contestants import CONTESTANTS
from hedgerow.schema import NumberColumn, WholeNumberColumn


@pytest.fixture
def small(shell, homes, write_table):
    """Fewer records than the other commands use: this one fits many models."""
    for name, n, seed in (("mine", 300, 5), ("known", 80, 6)):
        columns = homes(n, seed)
        write_table(f"{name}.csv", {c: columns[c] for c in ("area", "heating", "people", "kwh")})
        write_table(f"{name}-use.csv", {c: columns[c] for c in ("area", "heating", "people", "use")})
    return shell


DATA = ("compare", "--data", "mine.csv", "--target", "kwh")
LABEL = ("--label-bounds", "0:60")
GIVEN = (
    "--feature-bounds",
    "area=20:150",
    "--feature-bounds",
    "people=1:5",
    "--categories",
    "heating=electric,gas,pump",
)
FEW = ("--methods", "tree,one value for all", "--repeats", "2", "--epsilon", "2")


def test_every_trust_model_takes_part(small):
    out = small.ok(*DATA, *LABEL, "--public", "known.csv", "--private-columns", "area", "--repeats", 1,
                   "--epsilon", "4", "-o", "report.html", "--json")  # fmt: skip
    summary = json.loads(out)
    scores = {(s["method"], s["epsilon"]): s["mse"] for s in summary["scores"]}
    able = [c for c in CONTESTANTS if not c.package or importlib.util.find_spec(c.package)]
    assert set(scores) == {(c.name, e) for c in able for e in ((None,) if c.free else (4.0,))}
    trusts = {"local", "aggregate", "semi", "label", "central", "public", "none"}
    assert {s["trust"] for s in summary["scores"]} == trusts
    assert scores["boosting", None] < 15 < scores["one value for all", None]
    assert scores["AssistedForest", 4.0] < 20
    assert summary["declared"]["label"] == "0 to 60 (given by you)"
    assert summary["declared"]["feature bounds"] == "from the public records"
    page = (small.folder / "report.html").read_text()
    assert "WITHOUT any protection" in page and "simulations" in page and page.count("<svg") == 5
    assert not re.search(r'(src|href)="?http|<script|<link|@import|url\(', page)
    assert "two rounds about one record" in page  # the guarantee of HistOfTree, in its own words


def test_the_same_seed_gives_the_same_report(small):
    runs = [small.ok(*DATA, *LABEL, *GIVEN, *FEW, "--json") for _ in range(2)]
    other = small.ok(*DATA, *LABEL, *GIVEN, *FEW, "--json", "--seed", 1)
    assert runs[0] == runs[1] and len(json.loads(other)["scores"]) == 4


def test_classes_are_compared_by_accuracy(small):
    out = small.ok("compare", "--data", "mine-use.csv", "--target", "use", "--classes", "high,low", *GIVEN,
                   "--epsilon", "8", "--repeats", "1", "--json")  # fmt: skip
    summary = json.loads(out)
    scores = {s["method"]: s["accuracy"] for s in summary["scores"]}
    assert scores["random forest"] > 0.8 and 0 <= scores["DiPriMe"] <= 1
    assert summary["left_out"]["HistOfTree"].startswith("needs to know which features are private")
    assert summary["left_out"]["LPDT"] == "needs public records (--public)"


@pytest.mark.parametrize("ending", ["csv", "parquet"])
def test_csv_and_parquet_give_the_same(small, ending):
    import pandas as pd

    frame = pd.read_csv("mine.csv")
    frame.to_parquet("mine.parquet")
    out = small.ok("compare", "--data", f"mine.{ending}", "--target", "kwh", *LABEL, *GIVEN, *FEW, "--json")
    values = [s["mse"] for s in json.loads(out)["scores"]]
    assert len(values) == 4 and values[1] == pytest.approx(65.52, abs=20)


def test_nothing_is_read_from_the_private_file_unless_asked(small):
    assert "the list of categories of 'heating' must be public knowledge" in small.fails(*DATA, *LABEL, *FEW)
    partly = (*DATA, *LABEL, *FEW, "--categories", "heating=electric,gas,pump")
    assert "the range of 'area' must be public" in small.fails(*partly)
    line = small.fails(*DATA, *GIVEN, *FEW)
    assert "the range of the label must be public knowledge" in line and "--label-bounds LOW:HIGH" in line
    # Public records say nothing about the range of private labels: it is still to be given.
    assert "the range of the label must be public" in small.fails(*DATA, *FEW, "--public", "known.csv")
    use = ("compare", "--data", "mine-use.csv", "--target", "use", *GIVEN, *FEW)
    assert "the list of classes must be public knowledge" in small.fails(*use)


def test_bounds_from_data_are_used_and_stated_everywhere(small):
    loose = (*DATA, *FEW, "--bounds-from-data")
    text = small.ok(*loose, "-o", "report.md")
    told = "READ FROM THE PRIVATE RECORDS"
    assert told in text and told in (small.folder / "report.md").read_text()
    summary = json.loads(small.ok(*loose, "-o", "report.html", "--json"))
    assert summary["warnings"][0].startswith("--bounds-from-data was given: feature bounds, categories, label bounds")
    assert f"<b>{summary['warnings'][0][:40]}" in (small.folder / "report.html").read_text()
    some = json.loads(small.ok(*loose, *LABEL, *GIVEN[:2], "--json"))["declared"]
    assert some["feature bounds"] == f"given by you and {told}" and some["label"] == "0 to 60 (given by you)"
    # What was given in full is not marked, even if the option is there.
    full = json.loads(small.ok(*loose, *LABEL, *GIVEN, "--json"))
    assert told not in json.dumps(full)


def test_csv_report_has_a_line_a_fit_below_the_warnings(small):
    small.ok(*DATA, *LABEL, *GIVEN, *FEW, "-o", "report.csv")
    lines = (small.folder / "report.csv").read_text().splitlines()
    comments = [line for line in lines if line.startswith("#")]
    assert len(comments) == 3 and "WITHOUT any protection" in comments[0]
    rows = list(csv.DictReader(lines[3:]))
    assert [(r["method"], r["repeat"]) for r in rows] == [
        ("tree", "0"), ("one value for all", "0"), ("tree", "1"), ("one value for all", "1"),
    ]  # fmt: skip


def test_terminal_table_marks_what_is_useless(small):
    out = small.ok(*DATA, *LABEL, *GIVEN, "--methods", "DiPriMe,tree,one value for all", "--epsilon", "0.001",
                   "--repeats", "1")  # fmt: skip
    marked = [line for line in out.splitlines() if line.endswith("†")]
    assert len(marked) == 1 and "DiPriMe" in marked[0]
    assert "NOTE: Every score in this report was computed on private records WITHOUT any protection" in out


def test_a_method_that_fails_is_left_out_with_its_own_words(small, monkeypatch):
    from hedgerow.compare import contestants
    from hedgerow.errors import HedgerowError

    def fail(*_):
        raise HedgerowError("too few records for that.")

    broken = contestants.Contestant("broken", "central", fail)
    monkeypatch.setattr(contestants, "CONTESTANTS", (broken, *contestants.CONTESTANTS))
    out = json.loads(small.ok(*DATA, *LABEL, *GIVEN, "--methods", "broken,tree", "--repeats", "1", "--json"))
    assert out["left_out"] == {"broken": "could not be used: too few records for that."}
    assert {s["method"] for s in out["scores"]} == {"tree"}


def test_mistakes_are_one_line(small, write_table, homes):
    good = (*DATA, *LABEL, *GIVEN)
    assert "--methods must be among" in small.fails(*good, "--methods", "magic")
    assert "LPDT needs public records" in small.fails(*good, "--methods", "LPDT")
    assert "-o must end in .html" in small.fails(*good, "-o", "report.pdf")
    assert "is an input" in small.fails(*good, "-o", "mine.csv")
    assert "--repeats must be at least 1" in small.fails(*good, "--repeats", "0")
    assert "--private-columns names 'x'" in small.fails(*good, "--private-columns", "x")
    assert "has no range" in small.fails(*good, "--feature-bounds", "heating=0:1")
    write_table("more.csv", homes(30, 1))
    assert "same columns; only one has 'use'" in small.fails(*good, "--public", "more.csv")
    write_table("tiny.csv", {k: v[:5] for k, v in homes(9, 1).items()})
    assert "at least 10 records" in small.fails("compare", "--data", "tiny.csv", "--target", "kwh", *LABEL)
    for epsilon in ("0", "-1", "a", "1,1", "inf"):
        assert "expected positive numbers such as 1,2,4" in small(*good, "--epsilon", epsilon)[2]


def test_private_values_that_no_list_has_are_absorbed_in_silence(small, homes, write_table):
    columns = homes(80, 6)
    keep = columns["heating"] != "pump"
    write_table("partial.csv", {c: columns[c][keep] for c in ("area", "heating", "people", "kwh")})
    code, out, err = small(*DATA, *LABEL, *FEW, "--public", "partial.csv")
    assert code == 0 and err == "" and "pump" not in out
    rows = (small.folder / "mine.csv").read_text().splitlines()
    rows[1:4] = ["many,Pitcairn,,x", ",,nan,inf", "1e400,gas,2,"]
    (small.folder / "worse.csv").write_text("\n".join(rows) + "\n")
    code, out, err = small("compare", "--data", "worse.csv", *DATA[3:], *LABEL, *GIVEN, *FEW)
    assert code == 0 and err == "" and "Pitcairn" not in out


def _gaps(write_table, label):
    """Write records of which nothing but a gap tells the label, and their schema."""
    for name, n in (("mine", 300), ("known", 80)):
        gap = [i % 2 == 0 for i in range(n)]
        area = ["" if gone else "50" for gone in gap]  # which is what a missing one counts as
        people = [1 + i // 2 % 5 for i in range(n)]
        write_table(f"{name}-gaps.csv", {"area": area, "people": people, "y": [label[gone] for gone in gap]})
    features = (NumberColumn("area", 0, 100, missing=50, indicator=True), WholeNumberColumn("people", 1, 5))
    return Schema(features)


@pytest.mark.parametrize("classify", [False, True])
def test_every_contestant_is_told_what_the_schema_says_of_gaps(shell, write_table, classify):
    schema = _gaps(write_table, ("low", "high") if classify else (10, 50))
    known = {"classes": ["low", "high"]} if classify else {"bounds": (0, 60)}
    schema.with_label("y", **known).save("schema.json")
    command = ("compare", "--data", "mine-gaps.csv", "--public", "known-gaps.csv", "--schema", "schema.json",
               "--epsilon", 8, "--repeats", 1, "--json")  # fmt: skip
    summary = json.loads(shell.ok(*command, *(() if classify else ("--private-columns", "area"))))
    scores = {s["method"]: s["accuracy" if classify else "mse"] for s in summary["scores"]}
    nothing = scores.pop("one value for all")
    assert len(scores) >= 9 and {"LPDT", "LabelPrivate", "DiPriMe", "PrivateAnova"} <= set(scores)
    for method, score in scores.items():
        assert score > 0.9 if classify else score < nothing / 2, (method, score)


def test_a_missing_label_is_compared_as_the_schema_says(shell, write_table):
    schema = _gaps(write_table, (10, 50))
    schema.with_label("y", bounds=(0, 60), missing=5).save("schema.json")
    command = ("compare", "--schema", "schema.json", *FEW, "--json")
    lines = (shell.folder / "mine-gaps.csv").read_text().splitlines()
    found = []
    for cell in ("", "5"):
        table = [
            lines[0],
            *(line if i % 3 else line.rsplit(",", 1)[0] + f",{cell}" for i, line in enumerate(lines[1:])),
        ]
        (shell.folder / "holed.csv").write_text("\n".join([*table, ""]))
        found.append(json.loads(shell.ok(*command, "--data", "holed.csv"))["scores"])
    assert found[0] == found[1]
