"""``hedgerow bench`` finds every experiment, checks its options, and shows tables."""

from __future__ import annotations

import json

import pytest

from hedgerow.cli import main
from hedgerow.errors import HedgerowError
from hedgerow_experiments.lpdt.methods import _data, _split
from hedgerow_experiments.registry import all_experiments
from hedgerow_experiments.results import Results


def test_list_names_every_experiment(capsys) -> None:
    assert main(["bench", "list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(all_experiments())
    assert main(["bench", "list", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == list(all_experiments())


@pytest.mark.parametrize("name", all_experiments())
def test_every_experiment_is_shown_before_anything_was_run(name, tmp_path, capsys) -> None:
    assert main(["bench", "show", name, "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert text.startswith(f"{name}: ") and "cells      0 of " in text
    assert main(["bench", "show", name, "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["name"] == name


@pytest.mark.parametrize(
    ("form", "sign"), [("text", "1.5+"), ("md", "**1.5**"), ("csv", "1.5,"), ("latex", "\\textbf{1.5}")]
)
def test_tables_are_shown_in_every_form(form, sign, tmp_path, capsys) -> None:
    results = Results(tmp_path / "lpdt-table2.jsonl")
    for repeat in range(2):
        results.add(("HOU", repeat, "", 1.0, "hist"), {"PHIST": [1.0 + repeat] * 8, "APHIST": [4.0] * 8})
        results.add(("HOU", repeat, "", 0.0, "dt"), {"DT": [0.5] * 4, "DT-pub": [0.7] * 4})
    assert main(["bench", "show", "lpdt-table2", "--format", form, "--out", str(tmp_path)]) == 0
    text = capsys.readouterr().out
    assert sign in text and "0.5" in text and "epsilon 1" in text
    assert ("cells      4 of" in text) == (form == "text")


def test_the_path_of_a_page_stands_for_its_folder(tmp_path, capsys) -> None:
    Results(tmp_path / "lpdt-table2.jsonl").add(("HOU", 0, "", 1.0, "hist"), {"PHIST": [1.0] * 8})
    assert main(["bench", "show", "lpdt-table2", "--out", str(tmp_path / "lpdt.md")]) == 0
    assert "cells      1 of" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (["lpdt-table9"], "lpdt-table2"),
        (["lpdt-table2", "--datasets", "XYZ"], "CCP"),
        (["lpdt-table2", "--methods", "LPDT"], "LPDT-M"),
        (["lpdt-table2", "--epsilons", "3"], "0.5"),
        (["lpdt-table2", "--epsilons", "many"], "numbers"),
        (["lpdt-table2", "--jobs", "0"], "--jobs"),
    ],
)
def test_what_an_experiment_does_not_have_is_refused_in_one_line(arguments, what, tmp_path, capsys) -> None:
    assert main(["bench", "run", *arguments, "--out", str(tmp_path)]) == 2
    error = capsys.readouterr().err
    assert what in error and len(error.splitlines()) == 1
    assert not list(tmp_path.iterdir())


def test_an_error_in_a_cell_is_one_clear_line(tmp_path, capsys, monkeypatch) -> None:
    def missing(code):
        raise HedgerowError(f"data set {code} was not found")

    monkeypatch.setattr("hedgerow_experiments.lpdt.methods.load_dataset", missing)
    _split.cache_clear()
    _data.cache_clear()
    command = ["bench", "run", "lpdt-table2", "--repeats", "1", "--datasets", "ABA", "--quiet", "--out", str(tmp_path)]
    assert main(command) == 2
    error = capsys.readouterr().err
    assert "ABA was not found" in error and len(error.splitlines()) == 1
