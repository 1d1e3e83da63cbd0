"""Words for people are short, of one line, and a part of the task that no server can change unnoticed."""

import json

import pytest

from hedgerow import LocalTask, Schema
from hedgerow.cli import main
from hedgerow.errors import BoundsError, FormatError, HedgerowError
from hedgerow.holder.asking import fields_of
from hedgerow.holder.texts import Texts
from hedgerow.schema import CategoryColumn, ClassColumn, NumberColumn, WholeNumberColumn, YesNoColumn
from hedgerow.tasks.examples import examples
from hedgerow.tasks.partly_public import SemiTask
from hedgerow.tasks.registry import read_task
from hedgerow.wording import Wording

SCHEMA = Schema(
    (
        WholeNumberColumn("age", 0, 99, unit="years", question={"en": "How old are you?", "de": "Wie alt sind Sie?"}),
        CategoryColumn("sex", ("F", "M", "other")),
        YesNoColumn("smokes", "0", "1"),
    ),
    NumberColumn("hours", 0, 80, unit="h a week", question={"en": "How long do you work?"}),
)
SMALL = {"epsilon": 1.0, "max_depth": 2, "response": "k_ary"}


def test_limits_are_the_last_that_fits():
    Wording("a", "", "m" * 40, {"en": "m" * 480})
    with pytest.raises(BoundsError, match=r"at most 40 characters\. Got 41"):
        Wording("a", "", "m" * 41)
    with pytest.raises(BoundsError, match=r"at most 480 characters\. Got 481"):
        Wording("a", "", "", {"en": "m" * 481})
    with pytest.raises(BoundsError, match=r"at most 24 languages\. Got 25"):
        Wording("a", "", "", {f"a{chr(97 + i)}": "x" for i in range(25)})
    with pytest.raises(BoundsError, match="given by language"):
        Wording("a", "", "", {"de" + "-abcdefgh" * 4: "x"})


@pytest.mark.parametrize("hidden", ["\n", "\x00", "\x1b", "\u202e", "\u2066", "\u2028", "\ufeff", "\ud800", "\x85"])
def test_nothing_that_hides_or_turns_text_around(hidden):
    with pytest.raises(BoundsError, match="one line"):
        Wording("a", "", f"m{hidden}")
    with pytest.raises(BoundsError, match="one line"):
        NumberColumn("a", 0, 1, question={"en": f"Wh{hidden}at?"})


def test_a_task_says_what_the_schema_says_of_what_it_asks():
    task = LocalTask.design(schema=SCHEMA, **SMALL)
    assert task.target == "hours"
    assert [(w.name, w.kind, w.unit) for w in task.asking] == [
        ("age", "whole number", "years"),
        ("smokes", "yes/no", ""),
        ("hours", "", "h a week"),
    ]
    assert task.wording("age").ask("de-CH") == "Wie alt sind Sie?"
    assert task.wording("sex").ask("de") == "sex"
    assert LocalTask.from_json(task.to_json()) == task


def test_people_are_told_what_a_missing_label_counts_as():
    numbers = LocalTask.design(schema=SCHEMA.with_label(bounds=(0, 80), missing=38), **SMALL)
    assert fields_of(numbers)[-1].note("", Texts("en")) == Texts("en").say("note.empty", value="38")
    classes = LocalTask.design(schema=SCHEMA.with_label("work", classes=["no", "yes"], missing="yes"), **SMALL)
    assert fields_of(classes)[-1].note("", Texts("en")) == Texts("en").say("note.not_chosen", value="yes")
    assert fields_of(classes)[-1].note("?", Texts("en")) == Texts("en").say("note.unknown", value="?", other="yes")


def test_another_word_is_another_task_with_the_same_law():
    task = LocalTask.design(schema=SCHEMA, **SMALL)
    other = task.following(SCHEMA.with_question("age", "How old?"))
    assert other.id != task.id
    assert other.encoding == task.encoding
    content = json.loads(task.to_json())
    content["asking"][0]["question"]["en"] = "How young are you?"
    with pytest.raises(FormatError, match="does not match its id"):
        LocalTask.from_dict(content)


def test_every_kind_carries_words_and_gets_them_back():
    for example in examples():
        name = example.name
        task = example.build(1.0)
        label = task.question().label
        if label is None:
            assert task.asking == ()
            continue
        said = {"unit": "m", "question": {"en": "How much?"}}
        last = label.bounds[1]
        column = NumberColumn(label.name, *label.bounds, missing=last, **said)
        if label.classes is not None:
            column = ClassColumn(label.name, label.classes, label.classes[-1], **said)
        told = task.following(Schema((NumberColumn("nothing of it", 0, 1),), column))
        assert [w.unit for w in told.asking] == ["m"], name
        assert read_task(told.to_json()) == told, name
        # What a missing label counts as goes with the task, too.
        assert label.missing != last == told.question().label.missing, name
        assert told.encode_record({"record": 0})[1].tolist() == [last], name
        assert type(task).from_json(task.to_json()).asking == (), name


def test_a_second_round_asks_as_the_first():
    first = SemiTask.design(schema=SCHEMA, epsilon=1.0, private_columns=["age"])
    second = first.simulate([[30, "F", 1]] * 20, [3.0] * 20, 1).model(max_depth=1, n_private=1)
    assert [w.name for w in second.asking] == ["age", "smokes"]
    assert "asking" not in json.loads(second.text)


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda said: said.reverse(), "in that order"),
        (lambda said: said.append(said[0]), "in that order"),
        (lambda said: said[0].update(name="height"), "in that order"),
        (lambda said: said[0].update(kind="yes/no"), "yes or no"),
        (lambda said: said.insert(1, {"name": "sex", "kind": "whole number", "unit": "", "question": {}}), "a number"),
        (lambda said: said[0].update(kind="", unit="", question={}), "says nothing"),
        (lambda said: said[0].update(unit="m" * 41), "at most 40"),
        (lambda said: said[0].update(html="<b>"), "unknown fields"),
        (lambda said: said[0].update(question={"en": 1}), "must be text"),
    ],
)
def test_words_that_do_not_fit_are_refused(change, why):
    content = json.loads(LocalTask.design(schema=SCHEMA, **SMALL).text)
    change(content["asking"])
    with pytest.raises(FormatError, match=why):
        LocalTask.from_dict(content)


def test_what_the_schema_says_is_not_said_again():
    with pytest.raises(HedgerowError, match="'label_bounds' and 'schema' say the same thing"):
        LocalTask.design(schema=SCHEMA, label_bounds=(0, 80), **SMALL)
    with pytest.raises(HedgerowError, match="'schema' has no label"):
        LocalTask.design(schema=SCHEMA.without("hours"), **SMALL)


@pytest.mark.parametrize("options", [[], ["--assisted"], ["--pilot"], ["--private-columns", "age"]])
def test_design_writes_the_words_of_the_schema(tmp_path, options, capsys, small_models):
    SCHEMA.save(tmp_path / "schema.json")
    rows = ["age,sex,smokes,hours", *(f"{i % 90},{'FM'[i % 2]},{i % 3 % 2},{i % 70}" for i in range(60))]
    (tmp_path / "public.csv").write_text("\n".join(rows) + "\n")
    arguments = ["design", str(tmp_path / "public.csv"), "--target", "hours", "--epsilon", "2", *options]
    arguments += ["--schema", str(tmp_path / "schema.json"), "-o", str(tmp_path / "task.json")]
    if "--private-columns" in options:
        del arguments[1]
    assert main(arguments) == 0, capsys.readouterr().err
    task = read_task((tmp_path / "task.json").read_text())
    assert [w.name for w in task.asking] == ["age", "smokes", "hours"]
    assert task.id[:12] in capsys.readouterr().out or options
