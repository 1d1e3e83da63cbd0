"""hedgerow ledger, and --ledger of the commands that spend: booked before anything is drawn, once, or refused."""

import json
import os
import sqlite3

import pytest

from hedgerow import Ledger
from hedgerow.commands import answer


def limit(shell, *more, epsilon=5, name="b.ledger"):
    return shell.ok("ledger", "limit", name, "--epsilon", epsilon, *more)


def left(shell, name="b.ledger"):
    return json.loads(shell.ok("ledger", "limit", name, "--json"))["left"]["epsilon"]


def test_a_limit_is_made_once_and_never_changed(shell):
    first = limit(shell, "--delta", 1e-5, "--neighbours", "add/remove", "--trust", "central")
    assert first.splitlines() == [
        "limit: epsilon = 5 and delta = 1e-05 (record, central, add/remove)",
        "left: epsilon = 5 and delta = 1e-05",
    ]
    assert shell.ok("ledger", "limit", "b.ledger") == first
    assert limit(shell, "--delta", 1e-5, "--neighbours", "add/remove") == first
    assert "limits never change" in shell.fails("ledger", "limit", "b.ledger", "--epsilon", 6)
    summary = json.loads(shell.ok("ledger", "limit", "b.ledger", "--json"))
    assert summary["command"] == "ledger" and summary["limit"]["neighbours"] == "add/remove"
    assert Ledger("b.ledger").limit.to_dict() == summary["limit"]


@pytest.mark.parametrize(
    "option",
    [("--delta", 0), ("--trust", "local"), ("--neighbours", "replace"), ("--protects", "label"), ("--rehearsal",)],
)
def test_options_of_a_new_ledger_are_not_ignored(shell, option):
    limit(shell)
    assert f"{option[0]} is for a new ledger" in shell.fails("ledger", "limit", "b.ledger", *option)


def test_labels_and_rehearsals_have_limits_of_their_own(shell):
    assert "(label, central, label)" in limit(shell, "--protects", "label")
    assert "a rehearsal: seeded noise is booked too" in limit(shell, "--rehearsal", name="practice.ledger")
    said = shell.fails("ledger", "limit", "x.ledger", "--epsilon", 1, "--protects", "label", "--neighbours", "replace")
    assert "neighbours (with protects='label')" in said


def test_a_spend_is_booked_once_a_key_and_shown(shell):
    limit(shell)
    spend = ["ledger", "spend", "b.ledger", "--epsilon", 2, "--purpose", "survey of May"]
    shell.ok(*spend, "--key", "may")
    entry = json.loads(shell.ok(*spend, "--key", "may", "--trust", "central", "--json"))["entries"]
    assert [(e["number"], e["epsilon"], e["key"]) for e in entry] == [(1, 2.0, "may")]
    shell.ok(*spend, "--trust", "local")
    assert "only epsilon = 1 and delta = 0 are left" in shell.fails(*spend)
    shown = json.loads(shell.ok("ledger", "show", "b.ledger", "--json"))
    assert [e["guarantee"]["trust"] for e in shown["entries"]] == ["central", "local"]
    assert shown["left"] == {"epsilon": 1.0, "delta": 0.0}
    lines = shell.ok("ledger", "show", "b.ledger").splitlines()
    assert lines[0].startswith("1  2") and lines[0].endswith("epsilon 2  delta 0  survey of May")
    assert lines[2:] == ["2 spends", "limit: epsilon = 5 and delta = 0 (record, central, replace)", *lines[-1:]]


@pytest.mark.parametrize("wrong", [("--epsilon", "nan"), ("--epsilon", -1), ("--epsilon", "inf"), ("--delta", 1)])
def test_amounts_are_amounts(shell, wrong):
    limit(shell)
    name = wrong[0].removeprefix("--")
    assert name in shell.fails("ledger", "spend", "b.ledger", "--purpose", "x", "--epsilon", 1, *wrong)
    if wrong[0] == "--epsilon":
        assert name in shell.fails("ledger", "limit", "new.ledger", *wrong)


@pytest.mark.parametrize("purpose", ["", "two\nlines", "\x1b[2J", "\u202eback", "x" * 201])
def test_words_are_one_line(shell, purpose):
    limit(shell)
    for option in (["--purpose", purpose], ["--purpose", "x", "--key", purpose]):
        said = shell.fails("ledger", "spend", "b.ledger", "--epsilon", 1, *option)
        assert "must be one line of text" in said or "at most 200 characters" in said
        assert "\x1b" not in said and len(said) < 400


def _empty(path):
    path.write_bytes(b"")


def _table(path):
    path.write_text("area,kwh\n1,2\n")


def _other_database(path):
    with sqlite3.connect(path) as connection:
        connection.execute("CREATE TABLE budget (x)")


def _folder(path):
    path.mkdir()


def _cut(path):
    Ledger(path, limit=5)
    path.write_bytes(path.read_bytes()[:1000])


def _behind_its_back(statement):
    def change(path):
        Ledger(path, limit=5).spend(Ledger(path).limit, purpose="all of it")
        with sqlite3.connect(path) as connection:
            connection.execute(statement)

    return change


HOSTILE = {
    "empty": _empty,
    "a table": _table,
    "another database": _other_database,
    "a folder": _folder,
    "a pipe": os.mkfifo,
    "cut": _cut,
    "nothing": lambda path: None,
    "an escape sequence": _behind_its_back("UPDATE entries SET purpose = char(27) || '[2J'"),
    "bytes": _behind_its_back("UPDATE entries SET key = x'ff'"),
    "a long purpose": _behind_its_back("UPDATE entries SET purpose = hex(zeroblob(1000000))"),
    "a spend taken back": _behind_its_back("UPDATE entries SET epsilon = 0"),
    "a trigger": _behind_its_back("CREATE TRIGGER t AFTER INSERT ON entries BEGIN DELETE FROM entries; END"),
    "another table": _behind_its_back("CREATE TABLE more (x)"),
}


@pytest.mark.parametrize("name", HOSTILE)
def test_what_is_no_ledger_is_refused_in_one_line(shell, name):
    HOSTILE[name](shell.folder / "bad.ledger")
    shell.design("--max-depth", 1)
    for command in (
        ["ledger", "show", "bad.ledger"],
        ["ledger", "limit", "bad.ledger"],
        ["ledger", "spend", "bad.ledger", "--epsilon", 1, "--purpose", "x"],
        ["privatize", "task.json", "private.csv", "-o", "r.bin", "--ledger", "bad.ledger"],
    ):
        said = shell.fails(*command)
        assert "bad.ledger: " in said and "\x1b" not in said and len(said) < 500


# Commands that spend


FIT = ["--target", "kwh", "--epsilon", 2, "--delta", 0, "--neighbours", "replace", "--label-bounds", "0:60"]
FIT = ["fit", "anova", "private.csv", *FIT, "--feature-bounds", "area=20:150", "-o", "made"]
LABELS = [
    "labels",
    "randomize",
    "private.csv",
    "--target",
    "kwh",
    "--epsilon",
    2,
    "--label-bounds",
    "0:60",
    "-o",
    "made",
]
PRIVATIZE = ["privatize", "task.json", "private.csv", "-o", "made"]
SPENDING = {
    "fit": (FIT, []),
    "labels": (LABELS, ["--protects", "label"]),
    "privatize": (PRIVATIZE, ["--trust", "local"]),
}
spending = pytest.mark.parametrize("name", SPENDING)


@spending
def test_commands_book_what_they_spend_and_refuse_what_is_too_much(shell, name, monkeypatch):
    command, options = SPENDING[name]
    shell.design("--max-depth", 1)
    limit(shell, *options)
    shell.ok(*command, "--ledger", "b.ledger")
    summary = json.loads(shell.ok(*command, "--ledger", "b.ledger", "--json"))
    assert summary["ledger"]["left"] == {"epsilon": 1.0, "delta": 0.0}
    assert [entry.charged.epsilon for entry in Ledger("b.ledger").entries()] == [2.0, 2.0]
    os.unlink("made")
    stop = pytest.fail
    monkeypatch.setattr("hedgerow.randomness.SecureRandomness.bytes", lambda *_: stop("something was drawn"))
    said = shell.fails(*command, "--ledger", "b.ledger")
    assert "needs epsilon = 2 and delta = 0, but only epsilon = 1" in said


@spending
def test_seeded_noise_is_booked_in_a_rehearsal_only(shell, name):
    command, options = SPENDING[name]
    shell.design("--max-depth", 1)
    limit(shell, *options)
    assert "seeded noise protects nothing" in shell.fails(*command, "--seed", 1, "--ledger", "b.ledger")
    limit(shell, *options, "--rehearsal", name="practice.ledger")
    shell.ok(*command, "--seed", 1, "--ledger", "practice.ledger")
    assert left(shell) == 5 and left(shell, "practice.ledger") == 3


@spending
def test_a_ledger_is_not_overwritten(shell, name):
    command, options = SPENDING[name]
    shell.design("--max-depth", 1)
    limit(shell, *options)
    said = shell.fails(*command[:-1], "b.ledger", "--ledger", "b.ledger")
    assert "is an input of this command and would be lost" in said


def test_a_ledger_of_another_kind_says_what_to_do(shell):
    limit(shell)
    said = shell.fails(*FIT, "--neighbours", "add/remove", "--ledger", "b.ledger")
    assert "neighbours='replace', like the limit" in said and "another ledger" in said


def test_an_answer_that_goes_on_is_charged_once(shell, monkeypatch):
    shell.design("--max-depth", 1)
    limit(shell)
    command = [*PRIVATIZE, "--resume", "--ledger", "b.ledger"]
    write = answer.Answering._write
    monkeypatch.setattr(answer.Answering, "_write", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt))
    assert shell(*command)[0] == 130
    assert left(shell) == 3
    monkeypatch.setattr(answer.Answering, "_write", write)
    assert "begun with other input or options" in shell.fails(*PRIVATIZE, "--resume")
    shell.ok(*command)
    shell.ok(*command)  # the receipt says that all is done
    assert left(shell) == 3
    shell.ok(*command, "--again")
    assert left(shell) == 1


def test_booking_comes_before_the_first_draw(shell, monkeypatch):
    shell.design("--max-depth", 1)
    limit(shell)

    def stopped(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr("hedgerow.randomness.SecureRandomness.bytes", stopped)
    assert shell(*PRIVATIZE, "--ledger", "b.ledger")[0] == 130
    assert left(shell) == 3 and not os.path.exists("made")
