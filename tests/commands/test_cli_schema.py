"""hedgerow schema: drafts from public records, looks, and counts that stay where the records are."""

import json

import pytest

from hedgerow import Schema


@pytest.fixture
def drafted(shell):
    shell.ok("schema", "draft", "public.csv", "--target", "kwh", "-o", "schema.json")
    return shell


def test_a_draft_is_a_schema_and_warns(shell):
    code, out, err = shell("schema", "draft", "public.csv", "--target", "kwh", "-o", "schema.json")
    assert code == 0 and "warning: A draft must be made of public rows" in err
    schema = Schema.load("schema.json")
    kinds = {name: schema[name].kind for name in schema.names}
    assert kinds == {"area": "number", "heating": "category", "people": "whole number"}
    assert schema["heating"].categories == ("electric", "gas", "pump", "other")
    assert schema.label_bounds[0] <= 5 and schema.label_bounds[1] <= 60
    assert "schema -> schema.json" in out and "guessed: kind, range, missing" in out


def test_a_draft_does_not_depend_on_the_kind_of_file(drafted):
    pd = pytest.importorskip("pandas")
    pd.read_csv("public.csv").to_parquet("public.parquet")
    drafted.ok("schema", "draft", "public.parquet", "--target", "kwh", "-o", "again.json")
    assert Schema.load("again.json") == Schema.load("schema.json")
    summary = json.loads(drafted.ok("schema", "draft", "public.csv", "-o", "all.json", "--json"))
    assert summary["columns"] == ["area", "heating", "people", "kwh"] and Schema.load("all.json").label is None


def test_show_prints_what_python_shows(drafted):
    schema = Schema.load("schema.json")
    assert drafted.ok("schema", "show", "schema.json") == f"{schema!r}\n"
    assert json.loads(drafted.ok("schema", "show", "schema.json", "--json"))["schema"] == schema.to_dict()


def test_check_counts_and_writes_nothing(drafted, write_table):
    schema = Schema.load("schema.json").with_range("people", 1, 5).with_range("area", 20, 150)
    schema.with_label(bounds=(0, 60)).save("schema.json")
    columns = {
        "area": ["", "10", "30", "big"], "heating": ["gas", "coal", "", "oil"], "people": [1, 2, 9, 5],
        "kwh": [61, "", 3, 4], "more": [1, 2, 3, 4],
    }  # fmt: skip
    write_table("mine.csv", columns)
    before = {p: p.read_bytes() for p in drafted.folder.rglob("*") if p.is_file()}
    code, out, err = drafted("schema", "check", "schema.json", "mine.csv")
    assert code == 0 and "on this screen only, and written nowhere" in err
    rows = [line.split() for line in out.splitlines()]
    assert rows[2:6] == [
        ["area", "1", "1", "1"], ["heating", "1", "2", "0"], ["people", "0", "0", "1"], ["kwh", "1", "0", "1"],
    ]  # fmt: skip
    assert rows[0] == ["4", "records"] and rows[6] == ["not", "described:", "more"]
    assert {p: p.read_bytes() for p in drafted.folder.rglob("*") if p.is_file()} == before
    code, out, err = drafted("schema", "check", "schema.json", "mine.csv", "--json", "-o", "counts.json")
    assert code == 0 and "counts.json holds counts of private records: keep it private" in err
    written = json.loads((drafted.folder / "counts.json").read_text())
    assert written["columns"]["heating"] == {"missing": 1, "unknown": 2, "outside": 0}
    assert json.loads(out)["columns"] == written["columns"]


def test_mistakes_are_one_line(drafted, write_table):
    assert "lacks the column 'use' named by --target" in drafted.fails(
        "schema", "draft", "public.csv", "--target", "use", "-o", "other.json"
    )
    assert "is an input of this command" in drafted.fails("schema", "draft", "public.csv", "-o", "public.csv")
    assert "no schema.txt" in drafted.fails("schema", "show", "no schema.txt")
    assert "public.csv: this schema is not valid JSON" in drafted.fails("schema", "show", "public.csv")
    write_table("short.csv", {"area": [1.0]})
    assert "lacks the columns 'heating', 'people', 'kwh' that the schema describes" in drafted.fails(
        "schema", "check", "schema.json", "short.csv"
    )
