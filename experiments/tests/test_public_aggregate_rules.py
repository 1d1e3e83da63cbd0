"""Sizes of sums, each set held out in turn: what the page makes of rows, and one fit."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

from hedgerow_experiments.data.datasets import Dataset
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public import aggregate_rules, draw
from hedgerow_experiments.public.aggregate_rules_page import pages
from hedgerow_experiments.public.declared import AGGREGATE_RULES, SHIPPED, SIZES
from hedgerow_experiments.public.labels import tidy

NAME = next(iter(SIZES))


def rows(group, value):
    """One error a set, of a public error of 2."""
    found = []
    for code in AGGREGATE_RULES.datasets:
        key = Key(code, 0, "", 1.0, group)
        assert key in set(AGGREGATE_RULES.keys())
        found += tidy(AGGREGATE_RULES, key, {"public": 2.0, group: value(code)})
    return found


def line(*parts):
    text = pages(Evidence({AGGREGATE_RULES.name: [row for part in parts for row in part]}))["aggregate-rules.md"]
    return next(line for line in text.decode().splitlines() if line.startswith(f"| {NAME} |"))


def test_a_size_that_one_set_alone_speaks_for_is_not_chosen_without_it():
    found = line(rows(SHIPPED, lambda code: 1.0), rows(NAME, lambda code: 0.5 if code == "GAS" else 1.01))
    others = ", ".join(code for code in AGGREGATE_RULES.datasets if code != "GAS")
    assert found.endswith(f"| {others} |") and "| 0.5000 |" in found


def test_a_better_size_is_chosen_in_every_turn_and_a_worse_one_in_none():
    assert line(rows(SHIPPED, lambda code: 1.0), rows(NAME, lambda code: 0.9)).endswith("| every one |")
    assert line(rows(SHIPPED, lambda code: 1.0), rows(NAME, lambda code: 1.1)).endswith("| none |")


def test_without_rows_there_is_no_page():
    assert pages(Evidence({})) == {}


def test_sizes_reach_the_fit(monkeypatch):
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.random(4_000), "b": rng.random(4_000)})
    data = Dataset("made", X, np.asarray(X["a"] + (X["b"] > 0.5)), "y")
    monkeypatch.setattr(aggregate_rules, "draw", lambda code, split: draw(data, split, n_public=100))
    monkeypatch.setattr(aggregate_rules, "public_model", lambda case: Ridge())
    monkeypatch.setattr(aggregate_rules, "public_error", lambda case: 1.0)
    found = [aggregate_rules.compute(Key("made", 0, "", 4.0, group), 0)[group] for group in (SHIPPED, NAME)]
    assert all(map(math.isfinite, found)) and found[0] != found[1]
