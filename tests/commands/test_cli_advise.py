"""``hedgerow advise`` reads public records only, and prints a table, JSON or a plot."""

import json

import pytest

COMMON = ["advise", "--public", "public.csv", "--target", "kwh", "--n-holders", "100000", "--features", "area,people"]


@pytest.fixture(autouse=True)
def few_records(shell):
    """Leave 25 public records: the public model is then a ridge regression, which is fast."""
    lines = (shell.folder / "public.csv").read_text().splitlines()
    (shell.folder / "public.csv").write_text("\n".join([*lines[:26], ""]))


def test_table_and_json_say_the_same(shell):
    out = shell.ok(*COMMON, "--private-columns", "area")
    assert "semi-feature" in out and "pays from" in out
    data = json.loads(shell.ok(*COMMON, "--private-columns", "area", "--json"))
    assert [f["setting"] for f in data["forecasts"]] == ["public only", "local", "semi-feature", "label", "aggregate"]
    for forecast in data["forecasts"]:
        assert f"{forecast['mse']:.4g}" in out


def test_plot_and_categories(shell):
    pytest.importorskip("matplotlib")
    command = [*COMMON[:-2], "--features", "area,heating", "--plot", "advice.svg"]
    shell.ok(*command)
    assert (shell.folder / "advice.svg").read_text().startswith("<?xml")


def test_mistakes_are_one_line(shell):
    assert "--plot" in shell.fails(*COMMON, "--plot", "advice.txt")
    assert "private_columns" in shell.fails(*COMMON, "--private-columns", "nothing")
    assert "nobody" in shell.fails("advise", "--public", "public.csv", "--target", "nobody", "--n-holders", "10")
