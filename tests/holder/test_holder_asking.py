"""What people type is read as their language writes it, never guessed at, and told before anything is drawn."""

import json

import pytest

from hedgerow import LocalTask, Schema
from hedgerow.cli import main
from hedgerow.errors import HedgerowError
from hedgerow.holder.asking import fields_of, taken
from hedgerow.holder.picture import draw_picture, picture_of
from hedgerow.holder.texts import Texts
from hedgerow.holder.typed import read_number
from hedgerow.randomness import SeededRandomness
from hedgerow.schema import CategoryColumn, NumberColumn, WholeNumberColumn, YesNoColumn
from hedgerow.tasks.examples import examples
from hedgerow.tasks.reports import Reports

SCHEMA = Schema(
    (
        WholeNumberColumn("age", 0, 99, unit="years", question={"en": "How old are you?", "de": "Wie alt sind Sie?"}),
        CategoryColumn("home", ("flat", "house", "other")),
        YesNoColumn("smokes", "0", "1", question={"de": "Rauchen Sie?"}),
    ),
    NumberColumn("hours", 0, 80, unit="h", question={"en": "How long do you work? <b>Really</b>"}),
)
TASK = LocalTask.design(schema=SCHEMA, epsilon=2.0, max_depth=2, response="k_ary")

TYPED = [  # text, as English reads it, as German and French read it; None: it is asked back
    ("12", "12", "12"),
    (" 12 ", " 12 ", " 12 "),
    ("0.5", "0.5", "0.5"),
    ("0,5", "0.5", "0.5"),
    ("1.234", "1.234", None),
    ("1,234", None, "1.234"),
    ("-12.345", "-12.345", None),
    ("1234.567", "1234.567", "1234.567"),
    ("0.125", "0.125", "0.125"),
    (".125", ".125", ".125"),
    ("5.", "5.", "5."),
    ("1.5e3", "1.5e3", "1.5e3"),
    ("1,500e3", "1.500e3", "1.500e3"),
    ("1.234,5", None, None),
    ("1,234.5", None, None),
    ("1.234.567", None, None),
    ("1 234", None, None),
    ("1\u202f234,5", None, None),
    ("1\u2019234", None, None),
    ("1'234", None, None),
    ("1_000", None, None),
    ("1e3", "1e3", "1e3"),
    ("", "", ""),
    ("old", "old", "old"),
    (",", ".", "."),
    ("nan", "nan", "nan"),
    ("\u0661\u0662", "\u0661\u0662", "\u0661\u0662"),
]


@pytest.mark.parametrize(("text", "english", "german"), TYPED)
def test_numbers_are_read_as_the_language_writes_them(text, english, german):
    assert read_number(text, ".") == english
    assert read_number(text, ",") == german


def test_a_comma_is_nothing_to_the_task_itself():
    assert TASK.encode_record({"age": "0,5"})[0][0][0] == TASK.encode_record({})[0][0][0]


def test_questions_come_in_the_language_with_unit_range_and_example():
    lines = [field.line(Texts("de")) for field in fields_of(TASK)]
    assert lines == [
        "age: Wie alt sind Sie? eine ganze Zahl von 0 bis 99, in years, zum Beispiel 33",
        "home: eines von flat, house, other",
        "smokes: Rauchen Sie? eines von nein, ja",
        "hours: How long do you work? <b>Really</b> eine Zahl von 0 bis 80, in h, zum Beispiel 26,7",
    ]


def test_it_is_told_what_becomes_of_each_value():
    record, notes = taken(TASK, {"age": "150", "home": "tent", "smokes": "ja", "hours": "-0,5"}, Texts("en"))
    assert record == {"age": "150", "home": "tent", "smokes": "1", "hours": "-0.5"}
    assert notes == [
        "age: 150 is above 99 and counts as 99",
        "home: tent is not in the list: counts as other",
        "hours: -0.5 is below 0 and counts as 0",
    ]
    _, notes = taken(TASK, {"age": 1.5, "hours": "lots", "smokes": ""}, Texts("fr"))
    assert notes == [
        "age: 1,5 n'est pas un nombre entier, et compte tel quel",
        "home: pas de choix : compte comme other",
        "smokes: vide : compte comme 0",
        "hours: pas un nombre : compte comme 40",
    ]
    assert taken(TASK, {"age": 41, "home": "flat", "smokes": 0, "hours": "7,5"}, Texts("de"))[1] == []


def test_what_can_be_read_in_two_ways_is_asked_back():
    with pytest.raises(HedgerowError, match=r"hours: 1\.234 lässt sich auf mehr als eine Weise lesen: Schreiben Sie ,"):
        taken(TASK, {"hours": "1.234"}, Texts("de"))
    assert taken(TASK, {"hours": 1.234}, Texts("de"))[0] == {"hours": 1.234}  # of a file: a number is one


@pytest.mark.parametrize("example", examples(), ids=lambda example: example.name)
def test_pictures_are_of_the_exact_law(example):
    """Of many reports to one record, each bar is sent as often as it says: within 6 sigma, false alarms below 1e-6."""
    task = example.build(1.0)
    if task.before is not None:
        pytest.skip("needs a first round; see the shared vectors")
    record = {**example.records[2], "record": 1}
    n = 200
    source = SeededRandomness(0)
    drawn = [task.privatize_record(record, private=example.mask, randomness=source) for _ in range(n)]
    bodies = [Reports.collect(task, [report]).to_bytes() for report in drawn]
    pictures = [picture_of(task, body, record, example.mask) for body in bodies]
    assert all(pictures)
    for panels in pictures:
        for panel in panels:
            whole = sum(bar.total for bar in panel.bars if not (panel.kind == "told" and bar.what == "other"))
            assert panel.kind == "marked" or abs(whole - 1) <= 2e-3
    for panel in (panel for panels in pictures[:8] for panel in panels):
        assert draw_picture([panel], "y", Texts("fr"))
    if task.kind == "assisted-class":
        return  # bars of several classes
    for k, panel in enumerate(pictures[0]):
        if panel.kind == "values":
            continue
        for j, bar in enumerate(panel.bars):
            expected = bar.chance * bar.count
            sent = sum(panels[k].bars[j].sent for panels in pictures) / n
            assert abs(sent - expected) <= 6 * bar.count * (0.25 / n) ** 0.5, (panel, j)


ME = ("age=41", "home=flat", "smokes=nein")


def test_join_speaks_the_language(stub, tmp_path, capsys, monkeypatch):
    url = stub.announce(TASK)
    home = ("--home", str(tmp_path / "a"))
    assert main(["join", url, *ME, "hours=1.234", "--language", "de", "--yes", *home]) == 2
    assert "mehr als eine Weise" in capsys.readouterr().err and not stub.posts
    monkeypatch.setenv("LC_ALL", "de_DE.UTF-8")
    assert main(["join", url, *ME, "hours=99,5", "--yes", *home]) == 0
    out = capsys.readouterr().out
    for part in ("gefragt von Town", "Wie alt sind Sie?", "hours: 99,5 liegt über 80 und zählt als 80", "<- gesendet"):
        assert part in out, part
    assert "Ihre wahre Antwort" in out and "Vielen Dank" in out and len(stub.posts) == 1
    assert main(["join", url, *ME, "hours=5", "--yes", "--json", *home]) == 0
    assert json.loads(capsys.readouterr().out)["again"]


def test_join_asks_one_question_after_the_other(stub, tmp_path, capsys, monkeypatch):
    answers = iter(["41", "flat", "ja", "1.234", "12,5", "j"])
    prompts = []
    monkeypatch.setattr("sys.stdin.isatty", lambda: True)
    monkeypatch.setattr("builtins.input", lambda prompt: prompts.append(prompt) or next(answers))
    url = stub.announce(TASK)
    assert main(["join", url, "--language", "de", "--home", str(tmp_path)]) == 0
    assert [prompt.split(":")[0] for prompt in prompts[:-1]] == ["age", "home", "smokes", "hours", "hours"]
    assert "mehr als eine Weise" in capsys.readouterr().out and len(stub.posts) == 1


def test_the_bytes_do_not_depend_on_the_language(stub, tmp_path):
    from hedgerow.holder import Holder

    url = stub.announce(TASK)
    bodies = set()
    for tag, hours in (("en", "12.5"), ("de", "12,5"), ("fr", "12,5")):
        holder = Holder(tmp_path / tag, randomness=SeededRandomness(1))
        record, _ = taken(TASK, {"age": "41", "home": "flat", "smokes": "0", "hours": hours}, Texts(tag))
        bodies.add(holder.answer(holder.fetch(url), record).body)
    assert len(bodies) == 1


def test_the_page_reads_them_alike(node):
    found = node("holder_typed.mjs", [text for text, _, _ in TYPED])
    assert found == [[text, english, german] for text, english, german in TYPED]
