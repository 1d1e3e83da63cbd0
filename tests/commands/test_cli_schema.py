"""hedgerow schema: drafts from public records, looks, and counts that stay where the records are."""

import json

import pytest

from hedgerow import Schema
from hedgerow.tasks.registry import read_task


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


# --schema

COLUMNS = (
    "--feature-bounds", "area=20:150", "--feature-bounds", "people=1:5", "--categories", "heating=electric,gas,pump",
)  # fmt: skip
OPTIONS = ("--label-bounds", "0:60", *COLUMNS)


@pytest.fixture
def described(drafted):
    """The same, with a schema that says what OPTIONS say."""
    schema = Schema.load("schema.json").with_range("area", 20, 150).with_range("people", 1, 5)
    schema.with_categories("heating", ["electric", "gas", "pump"]).with_label(bounds=(0, 60)).save("schema.json")
    return drafted


DESIGNS = {
    "tree": ("design", "public.csv", "--epsilon", 2, "--seed", 1),
    "assisted": ("design", "public.csv", "--epsilon", 2, "--assisted", "--seed", 1),
    "two rounds": ("design", "--private-columns", "area", "--features", "area,heating,people", "--epsilon", 2),
}


@pytest.mark.parametrize("name", DESIGNS)
def test_a_schema_designs_the_task_that_options_do(described, name):
    command = (*DESIGNS[name], "--target", "kwh")
    described.ok(*command, *OPTIONS, "-o", "by options.json")
    described.ok(*command, "--schema", "schema.json", "-o", "by schema.json")
    made = [json.loads((described.folder / f"by {what}.json").read_text()) for what in ("options", "schema")]
    words = [(task.pop("asking"), task.pop("id")) for task in made]
    assert made[0] == made[1]  # but for what only a schema says: that people are whole
    assert [asking for asking, _ in words] == [
        [],
        [{"kind": "whole number", "name": "people", "question": {}, "unit": ""}],
    ]


def test_what_becomes_of_gaps_travels_in_the_task(described):
    Schema.load("schema.json").with_missing("people", 2, indicator=True).with_missing("heating", "gas").save(
        "schema.json"
    )
    text = (described.folder / "public.csv").read_text().splitlines()
    gaps = [*text[:1], "33.5,coal,,20.5", *text[1:]]
    (described.folder / "public.csv").write_text("\n".join(gaps) + "\n")
    described.ok(*DESIGNS["tree"], "--target", "kwh", "--schema", "schema.json", "-o", "task.json")
    task = json.loads((described.folder / "task.json").read_text())
    heating, people = (
        next(c for c in task["partition"]["space"]["columns"] if c["name"] == n) for n in ("heating", "people")
    )
    assert (heating["missing"], heating["unknown"]) == ("gas", "electric")
    assert (people["missing"], people["indicator"]) == (2.0, True)


def test_a_schema_fits_the_model_that_options_do(described):
    command = ("fit", "anova", "private.csv", "--target", "kwh", "--epsilon", 2, "--seed", 1, "--additive")
    schema = Schema.load("schema.json")
    order = tuple(schema[name] for name in ("area", "people", "heating"))  # that of the options: ranges first
    Schema(order, schema.label).save("schema.json")
    described.ok(*command, *OPTIONS, "-o", "by options.json")
    described.ok(*command, "--schema", "schema.json", "-o", "by schema.json")
    made = [json.loads((described.folder / f"by {what}.json").read_text()) for what in ("options", "schema")]
    assert made[0] == made[1]


def test_a_schema_compares_as_options_do(described):
    lines = (described.folder / "private.csv").read_text().splitlines()[:301]
    (described.folder / "mine.csv").write_text("\n".join(lines) + "\n")
    command = ("compare", "--data", "mine.csv", "--target", "kwh", "--epsilon", 2, "--repeats", 1)
    few = ("--methods", "tree,one value for all", "--json")
    by_options = json.loads(described.ok(*command, *OPTIONS, *few))
    by_schema = json.loads(described.ok(*command, "--schema", "schema.json", *few))
    assert by_schema == by_options


@pytest.mark.parametrize("command", [DESIGNS["tree"], ("fit", "anova", "private.csv", "--epsilon", 2)])
def test_a_fact_is_given_once(described, command):
    command = (*command, "--target", "kwh", "--schema", "schema.json", "-o", "out.json")
    for option in (OPTIONS[:2], ("--classes", "a,b"), COLUMNS[2:4], COLUMNS[4:]):
        line = described.fails(*command, *option)
        assert f"{option[0]} and --schema say the same thing: leave {option[0]} out" in line
    Schema.load("schema.json").without("kwh").save("schema.json")
    assert "--label-bounds LOW:HIGH or --classes A,B is needed, or a --schema with a label" in described.fails(*command)


@pytest.mark.parametrize("command", [DESIGNS["tree"], ("fit", "anova", "private.csv", "--epsilon", 2, "--seed", 1)])
def test_a_schema_without_a_label_leaves_it_to_options(described, command):
    described.ok(*command, "--schema", "schema.json", "-o", "with.json")
    Schema.load("schema.json").without("kwh").save("features.json")
    described.ok(
        *command, "--target", "kwh", "--schema", "features.json", "--label-bounds", "0:60", "-o", "without.json"
    )
    made = [json.loads((described.folder / name).read_text()) for name in ("with.json", "without.json")]
    assert made[0] == made[1]
    line = described.fails(*command, "--schema", "features.json", "--label-bounds", "0:60", "-o", "out.json")
    assert "features.json has no label: give --target COLUMN" in line
    line = described.fails(
        *command, "--schema", "features.json", "--target", "area", "--label-bounds", "0:60", "-o", "o"
    )
    assert "'area' is a column of this schema, and --target says that it is the label" in line
    line = described.fails(*command, "--schema", "schema.json", "--target", "use", "-o", "out.json")
    assert "the label of this schema is 'kwh', and --target says 'use'" in line


def test_advice_by_one_option(described):
    lines = (described.folder / "public.csv").read_text().splitlines()
    (described.folder / "public.csv").write_text("\n".join([*lines[:26], ""]))
    command = ("advise", "--public", "public.csv", "--n-holders", 1000, "--json")
    by_schema = json.loads(described.ok(*command, "--schema", "schema.json"))
    few = ("--features", "area,people", "--target", "kwh", "--label-bounds", "0:60")
    ranges = ("--feature-bounds", "area=20:150", "--feature-bounds", "people=1:5")
    by_options = json.loads(described.ok(*command, *few, *ranges))
    chosen = json.loads(described.ok(*command, "--schema", "schema.json", "--features", "area,people"))
    assert chosen == by_options and by_schema["forecasts"][0]["mse"] != by_options["forecasts"][0]["mse"]
    Schema.load("schema.json").with_label("use", classes=["low", "high"]).save("schema.json")
    assert "the label of this schema has classes" in described.fails(*command, "--schema", "schema.json")


def test_labels_by_one_option(described):
    command = ("labels", "randomize", "private.csv", "--epsilon", 1, "--mechanism", "laplace", "--seed", 1)
    described.ok(*command, "--schema", "schema.json", "-o", "by schema.csv")
    described.ok(*command, "--target", "kwh", "--label-bounds", "0:60", "-o", "by options.csv")
    made = [(described.folder / f"by {what}.csv").read_text() for what in ("schema", "options")]
    assert made[0] == made[1]
    needed = described.fails(*command, "--target", "kwh", "-o", "out.csv")
    assert "--label-bounds LOW:HIGH or --classes A,B is needed" in needed
    table = (described.folder / "private.csv").read_text().splitlines()
    at = table[0].split(",").index("kwh")
    for cell in ("", "5"):  # a gap, and what the schema counts it as
        row = table[1].split(",")
        row[at] = cell
        (described.folder / "private.csv").write_text("\n".join([table[0], ",".join(row), *table[2:], ""]))
        Schema.load("schema.json").with_label(bounds=(0, 60), missing=5).save("schema.json")
        described.ok(*command, "--schema", "schema.json", "-o", f"by {cell}.csv")
    made = [(described.folder / f"by {cell}.csv").read_text() for cell in ("", "5")]
    assert made[0] == made[1]


def test_a_task_is_answered_only_if_it_is_that_of_the_schema(described):
    described.ok(*DESIGNS["tree"], "--schema", "schema.json", "--features", "area,people", "-o", "task.json")
    command = ("privatize", "task.json", "private.csv", "--schema", "schema.json")
    described.ok(*command, "-o", "reports.bin")
    schema = Schema.load("schema.json")
    changes = {
        "'area'": schema.with_range("area", 20, 151),
        "'people'": schema.with_missing("people", 2),
        "'kwh'": schema.with_label(bounds=(0, 60), missing=5),
        "'area', 'people'": schema.without("area").without("people"),
    }
    for differing, changed in changes.items():
        changed.save("schema.json")
        line = described.fails(*command, "-o", "other.bin")
        assert f"task.json asks for something else than schema.json describes (differing: [{differing}])" in line
    schema.without("kwh").save("schema.json")
    assert "(differing: ['kwh'])" in described.fails(*command, "-o", "other.bin")


@pytest.mark.parametrize("name", DESIGNS)
def test_a_task_counts_a_missing_label_as_the_schema_says(described, name):
    Schema.load("schema.json").with_label(bounds=(0, 60), missing=5).save("schema.json")
    described.ok(*DESIGNS[name], "--schema", "schema.json", "-o", "task.json")
    task = read_task((described.folder / "task.json").read_text())
    assert task.question().label.missing == 5
    assert task.encode_record({"kwh": "none"})[1].tolist() == [5.0]


@pytest.mark.parametrize("options", [(), ("--assisted",)])
def test_a_task_counts_a_missing_class_as_the_schema_says(described, options):
    Schema.load("schema.json").with_label("use", classes=["low", "high"], missing="high").save("schema.json")
    rows = [f"{20 + 2 * i},gas,{1 + i % 5},{'low' if i < 30 else 'high'}" for i in range(60)]
    (described.folder / "use.csv").write_text("\n".join(["area,heating,people,use", *rows, ""]))
    described.ok("design", "use.csv", "--epsilon", 2, *options, "--schema", "schema.json", "-o", "task.json")
    task = read_task((described.folder / "task.json").read_text())
    found = [task.encode_record({"use": value})[1].tolist() for value in (None, "medium", "low")]
    assert found == [[1.0], [1.0], [0.0]]


def test_advice_is_told_which_values_are_missing(described):
    """Nothing but a gap tells the label: a forecast with an indicator sees it, one without does not."""
    rows = [f"{'' if i % 2 else 85},gas,{1 + i // 2 % 5},{10 + 40 * (i % 2)}" for i in range(40)]
    (described.folder / "gaps.csv").write_text("\n".join(["area,heating,people,kwh", *rows, ""]))
    errors = []
    for indicator in (True, False):
        Schema.load("schema.json").with_missing("area", 85, indicator=indicator).save("schema.json")
        advice = described.ok("advise", "--public", "gaps.csv", "--n-holders", 100, "--schema", "schema.json", "--json")
        errors.append(json.loads(advice)["forecasts"][0]["mse"])
    assert errors[0] < 40 and errors[1] > 200
