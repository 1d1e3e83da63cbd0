"""``hedgerow bench`` where the experiments are not installed: one line that says how to get them."""

import importlib.util

import pytest

from hedgerow.cli import main


@pytest.fixture
def without_experiments(monkeypatch):
    found = importlib.util.find_spec

    def find_spec(name, *rest):
        return None if name == "hedgerow_experiments" else found(name, *rest)

    monkeypatch.setattr(importlib.util, "find_spec", find_spec)


@pytest.mark.parametrize("arguments", [[], ["list"], ["run", "lpdt-table2", "--repeats", "5"]])
def test_without_experiments_one_line_says_how_to_get_them(arguments, without_experiments, capsys):
    assert main(["bench", *arguments]) == 2
    out, error = capsys.readouterr()
    assert out == "" and len(error.splitlines()) == 1 and "pip install . ./experiments" in error


def test_the_other_commands_do_not_need_them(without_experiments, capsys):
    with pytest.raises(SystemExit, match="0"):
        main(["--help"])
    assert "bench" in capsys.readouterr().out


def test_with_experiments_their_verbs_are_there(capsys):
    pytest.importorskip("hedgerow_experiments")
    assert main(["bench", "list"]) == 0
    assert "lpdt-table2" in capsys.readouterr().out
