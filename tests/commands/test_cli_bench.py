"""``hedgerow bench`` finds every experiment, and hands on its options."""

from __future__ import annotations

import importlib
import json

import pytest

from hedgerow.cli import main
from hedgerow.commands.bench import EXPERIMENTS


def test_list_names_every_experiment(capsys) -> None:
    assert main(["bench", "list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(EXPERIMENTS)
    assert main(["bench", "list", "--json"]) == 0
    assert [row["name"] for row in json.loads(capsys.readouterr().out)] == list(EXPERIMENTS)


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_every_experiment_takes_its_options(name, capsys) -> None:
    with pytest.raises(SystemExit) as stop:
        main(["bench", "run", name, "--help"])
    assert stop.value.code == 0 and "--out" in capsys.readouterr().out


def test_options_are_handed_on(monkeypatch) -> None:
    seen = []
    monkeypatch.setattr(importlib.import_module("hedgerow.bench.lpdt"), "main", lambda given: seen.append(given) or 0)
    assert main(["bench", "run", "lpdt-table2", "--repeats", "3"]) == 0
    assert seen == [["table", "--repeats", "3"]]


def test_unknown_names_are_refused(capsys) -> None:
    assert main(["bench", "run", "lpdt-table9"]) == 2
    assert "lpdt-table2" in capsys.readouterr().err
