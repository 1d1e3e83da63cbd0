"""The page of sums: which sets its means are over, and the goals beside gaps."""

from __future__ import annotations

from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public.aggregate_page import pages
from hedgerow_experiments.public.declared import AGGREGATE
from hedgerow_experiments.public.labels import tidy


def page(over, repeats=1):
    """Return the page of errors that are so much of a public error of 2; boosting has 1."""
    found = []
    for code in AGGREGATE.datasets:
        for repeat in range(repeats):
            key = Key(code, repeat, "none", 4.0, "sums")
            found += tidy(AGGREGATE, key, {"public": 2.0, "ceiling": 1.0, "sums": 2 * over(code, repeat)})
    return pages(Evidence({AGGREGATE.name: found}))["aggregate.md"].decode()


def test_small_sets_are_not_in_the_mean_and_every_other_set_counts_once():
    text = page(lambda code, repeat: 0.5 if code in ("RED", "AIR", "CON", "FIS") else 0.9)
    assert "Epsilon 4, no shift: 0.900 of the public model's error in geometric mean over the 10 sets" in text
    assert "Epsilon 1: not run without a shift." in text


def test_goals_are_those_of_the_epsilon_and_harm_is_counted():
    text = page(lambda code, repeat: 1.02 if code == "GAS" else 0.9)
    assert "| CAL | 0.20, goal 0.23 |" in text
    assert "Harmed: 1 of 14 runs; the worst is 1.020 (GAS, none, epsilon 4, split 0)." in text
