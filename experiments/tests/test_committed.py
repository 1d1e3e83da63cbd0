"""A slice of the committed results, computed again: the same numbers, to nine digits.

If a change is meant to alter what is drawn from a seed, rerun the experiments that this names and commit their files.
"""

from functools import lru_cache
from pathlib import Path

import pytest

from hedgerow_experiments.data.datasets import find_dataset
from hedgerow_experiments.experiment import Key, call
from hedgerow_experiments.export import committed, read_rows
from hedgerow_experiments.registry import all_experiments, find_experiment

FOLDER = Path(__file__).parents[1] / "results"
MADE = [
    ("diprime", Key("DIA", 2, "peers", 1.0, "DiPriMeFlip")),
    ("diprime", Key("DIA", 0, "peers", 10.0, "DiPriMeFlip")),
    ("histoftree-figure2", Key("simulated", 0, "a", 4.0, "s=0")),
    ("lpdt-figures", Key("synthetic", 3, "2a", 0.0, "2a")),
    ("library", Key("DIA", 0, "regression", 1.0, "DiPriMe")),
    ("library", Key("DIA", 0, "regression", 4.0, "HistOfTree")),
    ("coverage", Key("made", 0, "n=500 bias=0", 8.0, "semi")),
]
REAL = [
    ("lpdt-table2", Key("HOU", 0, "", 4.0, "lpdt")),
    ("lpdt-table2", Key("AIR", 1, "", 8.0, "hist")),
    ("lpdt-table2", Key("HOU", 0, "", 8.0, "deconv")),
    ("lpdt-table2", Key("AQU", 2, "", 0.0, "dt")),
    ("histoftree", Key("PYR", 10, "both", 1.0, "Hist")),
    ("histoftree", Key("PYR", 3, "personal", 4.0, "HistOfTree-ME")),
    ("histoftree", Key("AQU", 14, "personal", 1.0, "KRR")),
    ("diprime", Key("BAN", 100, "2", 2.0, "DiPriMeFlip")),
    ("diprime", Key("ROB", 2, "2", 2.0, "DP-RF")),
]


@lru_cache(maxsize=1)
def rows_of(name):
    return read_rows(name, committed(name, FOLDER))


@lru_cache(maxsize=1)
def kept(name):
    return {(*r.cell, r.parameter, r.repeat): r.value for r in rows_of(name)}


def check(name, key):
    if not committed(name, FOLDER).exists():
        pytest.skip(f"no committed results of {name}")
    experiment, known = find_experiment(name), kept(name)
    value = call(experiment.compute)(key, experiment.seed(key))
    again = {(*r.cell, r.parameter, r.repeat): r.value for r in call(experiment.tidy)(experiment, key, value)}
    both = again.keys() & known.keys()
    assert both, "nothing of this cell is among the committed results"
    assert {k: again[k] for k in both} == pytest.approx({k: known[k] for k in both}, rel=1e-9)


@pytest.mark.parametrize(("name", "key"), MADE, ids=str)
def test_made_data_give_the_committed_results_again(name, key):
    check(name, key)


@pytest.mark.shared
@pytest.mark.parametrize(("name", "key"), REAL, ids=str)
def test_real_data_give_the_committed_results_again(name, key):
    if find_dataset(key.dataset) is None:
        pytest.skip(f"{key.dataset} is not on this machine")
    check(name, key)


def test_the_cells_are_of_the_experiments():
    for name, key in (*MADE, *REAL):
        experiment = find_experiment(name)
        assert key.group in {g.name for g in experiment.groups} and key.dataset in experiment.datasets


@pytest.mark.parametrize("name", all_experiments())
def test_committed_rows_are_of_methods_and_data_sets_that_are_declared(name):
    if not committed(name, FOLDER).exists():
        pytest.skip(f"no committed results of {name}")
    experiment = find_experiment(name)
    rows = rows_of(name)
    assert {r.dataset for r in rows} <= set(experiment.datasets)
    curves = {"t=1", "t=2", "t=3", "t=1 (9)", "t=2 (9)", "t=3 (9)"}  # of figure 2(c), one group
    assert {r.method for r in rows} <= set(experiment.methods) | curves
    assert len({(*r.cell, r.parameter, r.repeat) for r in rows}) == len(rows), "nothing counted twice"
