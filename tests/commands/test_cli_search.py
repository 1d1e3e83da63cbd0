"""hedgerow search: settings compared on private records, at the cost of one fit."""

import json

import pytest

from hedgerow import Ledger

PUBLIC = ["--label-bounds", "0:60", "--feature-bounds", "area=20:150", "--feature-bounds", "people=1:5"]
PUBLIC += ["--categories", "heating=electric,gas,pump"]
BASE = ["search", "forest", "private.csv", "--target", "kwh", "--epsilon", 4, *PUBLIC, "-o", "model.json"]
DEPTHS = ["--try", "max_depth=0,2"]


def test_a_model_is_chosen_and_predicts(shell):
    out = shell.ok(*BASE, *DEPTHS, "--seed", 1)
    lines = out.splitlines()
    assert lines[0] == "model -> model.json"
    assert [line[2:18] for line in lines[1:3]] == ['{"max_depth": 0}', '{"max_depth": 2}']
    assert sum(line.startswith("* ") for line in lines) == 1 and all(" score -" in line for line in lines[1:3])
    assert "epsilon = 4" in lines[3] and "4 disjoint groups" in lines[3]
    shell.ok("predict", "model.json", "new.csv", "-o", "guesses.csv")
    assert len(shell.rows("guesses.csv")) == 51


def test_for_machines_and_in_the_ledger(shell):
    shell.ok("ledger", "limit", "b.ledger", "--epsilon", 5, "--neighbours", "add/remove")
    summary = json.loads(shell.ok(*BASE, *DEPTHS, "--ledger", "b.ledger", "--json"))
    assert summary["command"] == "search" and summary["guarantee"]["epsilon"] == 4.0
    assert [row["setting"] for row in summary["settings"]] == [{"max_depth": 0}, {"max_depth": 2}]
    assert summary["best"] in ({"max_depth": 0}, {"max_depth": 2})
    assert summary["ledger"]["left"]["epsilon"] == 1.0
    assert json.loads((shell.folder / "model.json").read_text())["guarantee"] == summary["guarantee"]
    said = shell.fails(*BASE[:-1], "other.json", *DEPTHS, "--ledger", "b.ledger")
    assert "only epsilon = 1 and delta = 0 are left" in said and len(Ledger("b.ledger").entries()) == 1


def test_public_records_compare_for_nothing(shell):
    out = shell.ok(*BASE, *DEPTHS, "--public", "public.csv", "--seed", 1)
    assert "compared on public records alone" in out and "disjoint groups" not in out


@pytest.mark.parametrize("kind", ["list", "object"])
def test_settings_of_a_file(shell, kind):
    settings = [{"interactions": True}, {"interactions": False, "missing": "indicator"}]
    content = settings if kind == "list" else {"interactions": [True, False]}
    (shell.folder / "settings.json").write_text(json.dumps(content))
    command = ["search", "anova", *BASE[2:], "--delta", 0, "--settings", "settings.json", "--score-share", 0, "--json"]
    summary = json.loads(shell.ok(*command, "--seed", 1))
    assert len(summary["settings"]) == 2 and all(set(row) == {"setting"} for row in summary["settings"])
    assert summary["guarantee"]["delta"] == 0.0


def test_values_are_numbers_truths_or_words(shell):
    summary = json.loads(
        shell.ok(*BASE, "--try", "max_depth=1,auto", "--try", "partition=true,false", "--seed", 1, "--json")
    )
    tried = [row["setting"] for row in summary["settings"]]
    assert {(s["max_depth"], s["partition"]) for s in tried} == {(1, True), (1, False), ("auto", True), ("auto", False)}


WRONG = {
    "no values": (["--try", "max_depth"], "expected NAME=A,B"),
    "twice": ([*DEPTHS, *DEPTHS], "--try max_depth is there twice"),
    "unknown": (["--try", "depth=1,2"], "no parameter of DiPriMeForestRegressor"),
    "epsilon": (["--try", "epsilon=1,2"], "must not vary 'epsilon'"),
    "value": (["--try", "max_depth=deep,2"], "'max_depth' parameter of DiPriMeForestRegressor"),
    "delta": ([*DEPTHS, "--delta", 1e-5], "--delta is for anova"),
    "share": ([*DEPTHS, "--validation-share", 2], "'validation_share' parameter"),
    "shares": ([*DEPTHS, "--validation-share", 0.7], "must leave records for the final fit"),
    "public share": (
        [*DEPTHS, "--public", "public.csv", "--score-share", 0.1],
        "--score-share is for a search on private",
    ),
    "public, no final fit": (
        [*DEPTHS, "--public", "public.csv", "--no-refit"],
        "--no-refit is for a search on private",
    ),
    "candidates": ([*DEPTHS, "--no-refit", "--candidate-share", 0.4], "--candidate-share is for a search with a final"),
    "no file": (["--settings", "no.json"], "no.json: No such file"),
    "no settings": (["--settings", "public.csv"], "public.csv: not JSON"),
    "no ledger": ([*DEPTHS, "--ledger", "no.ledger"], "there is no such ledger"),
    "same file": ([*DEPTHS, "-o", "private.csv"], "is an input of this command"),
}


@pytest.mark.parametrize("name", WRONG)
def test_what_makes_no_sense_is_refused_in_one_line(shell, name):
    more, said = WRONG[name]
    assert said in shell.fails(*BASE, *more)


@pytest.mark.parametrize(
    "text", ["[]", "{}", "3", '{"max_depth": 2}', "[1, 2]", '"max_depth"', "[" * 100_000, "\xff", "[NaN]"]
)
def test_hostile_files_of_settings(shell, text):
    (shell.folder / "settings.json").write_text(text, encoding="latin-1")
    if text == "{}":  # no parameter varies: one candidate
        shell.ok(*BASE, "--settings", "settings.json", "--seed", 1)
        return
    said = shell.fails(*BASE, "--settings", "settings.json")
    assert "settings" in said and len(said) < 500


def test_a_file_of_settings_has_an_end(shell):
    (shell.folder / "settings.json").write_text("[" + " " * (1 << 20) + "]")
    assert "too long for a file of settings" in shell.fails(*BASE, "--settings", "settings.json")
