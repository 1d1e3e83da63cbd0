"""The state of the papers' tables and figures follows from rows, and everything that is not there is said."""

import json

import pytest

from hedgerow.cli import main
from hedgerow.compare.scores import Row
from hedgerow_experiments.claims.base import Claim, Verdict, duel
from hedgerow_experiments.export import committed, write_rows
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.papers import ITEMS, Item
from hedgerow_experiments.registry import all_experiments
from hedgerow_experiments.seconds_page import pages as seconds_pages
from hedgerow_experiments.status import cells, hours, precise, status


def rows(method, data, repeats, setting="", epsilon=2.0):
    return [Row("lpdt-table6", data, setting, method, epsilon, None, "", r, "seconds", 1.0) for r in range(repeats)]


def state(item, *groups):
    (one,) = status(Evidence({"lpdt-table6": [row for group in groups for row in group]}), [item])
    return one


def test_an_item_is_complete_only_with_all_its_methods_data_sets_and_repeats():
    item = Item("P", "table 1", "lpdt-table6", 5, ("A", "B"), ("m", "k"))
    full = [rows(m, d, 5) for m in "mk" for d in "AB"]
    assert state(item, *full).state == "complete"
    thin = state(item, *full[1:], rows("m", "A", 3))
    assert (thin.state, thin.fewest, thin.most) == ("fewer repeats", 3, 5) and "3 to 5" in cells(thin)
    gaps = state(item, *full[:-1])
    assert gaps.state == "gaps" and gaps.lacking == ("B: k",)
    assert state(item, full[0], full[2]).lacking == ("B",)
    assert state(item).state == "not run yet" and state(item).lacking == ("A", "B")


def test_only_rows_of_the_item_count_and_ten_are_enough_where_the_paper_says_nothing():
    item = Item("P", "table 1", "lpdt-table6", None, ("A",), ("m",), "s", (2.0,))
    others = [rows("m", "A", 3), rows("m", "A", 3, "s", 4.0), rows("k", "A", 3, "s"), rows("m", "B", 3, "s")]
    assert state(item, rows("m", "A", 10, "s"), *others).state == "complete"
    assert state(item, rows("m", "A", 9, "s"), *others).state == "fewer repeats"


def test_fewer_repeats_are_enough_where_errors_are_a_tenth_of_what_is_claimed(monkeypatch):
    def noisy(method, mean, noise, repeats):
        values = [mean + noise * (-1) ** r for r in range(repeats)]
        return [row._replace(value=v) for row, v in zip(rows(method, "A", repeats), values, strict=True)]

    def says(check, where="table 1"):
        return Claim("P", where, "m beats k", check, "")

    def compared(found):
        return duel(found.cells("lpdt-table6", method="m"), found.cells("lpdt-table6", method="k"))

    item = Item("P", "table 1", "lpdt-table6", 50, ("A",), ("m", "k"))
    found = Evidence({"lpdt-table6": [*noisy("m", 0.5, 0.0, 6), *noisy("k", 1.0, 0.1, 6)]})
    known = compared(found).precision
    assert known.difference == pytest.approx(0.5) and known.error == pytest.approx(0.1 / 5**0.5)
    why = precise(found, item, [says(compared), says(compared, "table 2")])
    assert why.endswith("(m beats k: 50 % ± 4.5 %)")
    assert precise(found, item, [says(compared), says(lambda _: Verdict("holds", "falls"))]) == ""  # no difference
    assert precise(found, item, [says(compared, "table 2")]) == ""  # nothing is claimed
    for noise, repeats in ((0.2, 6), (0.01, 4)):  # an error that is too large, or hardly known
        few = Evidence({"lpdt-table6": [*noisy("m", 0.5, 0.0, repeats), *noisy("k", 1.0, noise, repeats)]})
        assert precise(few, item, [says(compared)]) == ""
    assert state(item, rows("m", "A", 6), rows("k", "A", 6)).state == "fewer repeats"
    monkeypatch.setattr("hedgerow_experiments.status.precise", lambda found, item: "known well enough")
    full = state(item, rows("m", "A", 6), rows("k", "A", 6))
    assert (full.state, full.because) == ("complete", "known well enough") and cells(full)[-1] == "known well enough"
    assert (
        state(item, rows("m", "A", 6)).state == "gaps"
        and state(item, rows("m", "A", 4), rows("k", "A", 6)).because == ""
    )


def test_items_name_experiments_that_are_there_and_whatever_has_none_says_why():
    known = all_experiments()
    for item in ITEMS:
        assert item.experiment in known if item.experiment else item.note
        if item.experiment:
            declared = known[item.experiment]
            assert set(item.datasets) <= set(declared.datasets) and set(item.methods) <= set(declared.methods)
            assert item.setting is None or item.setting in declared.settings
    assert len({(item.paper, item.where) for item in ITEMS}) == len(ITEMS)


def test_hours_are_known_only_where_cells_were_timed(tmp_path):
    (tmp_path / "data").mkdir()
    for name, timed in (("label", 10), ("diprime", 1)):
        made = {"cells": 10, "cells_with_time": timed, "cpu_seconds": 7200.0}
        (tmp_path / "data" / f"{name}.json").write_text(json.dumps(made))
    found = Evidence.load(tmp_path)
    assert hours(found, "label") == 2.0 and hours(found, "diprime") is None and hours(found, "anova") is None


def test_the_command_prints_every_item(tmp_path, capsys):
    write_rows(rows("LPDT-M", "ABA", 3), committed("lpdt-table6", tmp_path))
    assert main(["bench", "status", "--out", str(tmp_path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(ITEMS) + 2 and lines[-2].startswith(f"{len(ITEMS)} tables and figures: ")
    assert lines[-1] == "lpdt-table6: 0 rows of this code; 3 of code that was not kept"
    (line,) = (line for line in lines if line.startswith("LPDT, table 6: "))
    assert "state gaps" in line and "repeats here 3" in line and "repeats there 50" in line and "WHI" in line
    assert main(["bench", "status", "--out", str(tmp_path), "--json"]) == 0
    assert [one["where"] for one in json.loads(capsys.readouterr().out)] == [item.where for item in ITEMS]


def test_seconds_stand_beside_the_printed_ones(tmp_path):
    write_rows(rows("LPDT-M", "ABA", 3), committed("lpdt-table6", tmp_path))
    text = "experiment,setting,dataset,method,epsilon,value,deviation\nlpdt-table6,,ABA,LPDT-M,2,0.0178,\n"
    (tmp_path / "data" / "printed.csv").write_text(text)
    page = seconds_pages(Evidence.load(tmp_path))["seconds.md"].decode()
    assert "| ABA | 1 / 0.0178 |" in page and "Means over 3 splits." in page
