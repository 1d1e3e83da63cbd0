"""The page on private labels with a public model: gaps, harm by run, and what it says of them."""

from __future__ import annotations

import pytest

from hedgerow_experiments.data.datasets import find_dataset
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public.declared import LABEL, MANY
from hedgerow_experiments.public.labels import compute, tidy
from hedgerow_experiments.public.labels_page import pages
from tests.small import few_corrections, few_public_trees


def rows(code, setting, epsilon, repeat, public, label, alone):
    key = Key(code, repeat, setting, epsilon, "label")
    assert key in set(LABEL.keys())
    return list(tidy(LABEL, key, {"public": public, "ceiling": 1.0, "label": label, "no public model": alone}))


def test_the_page_counts_harm_by_run_and_averages_gaps():
    found = rows("GAS", MANY, 1.0, 0, 3.0, 2.0, 4.0) + rows("GAS", MANY, 1.0, 1, 3.0, 1.0, 3.0)
    found += rows("WHI", "large labels", 4.0, 0, 2.0, 2.1, 2.0)
    text = pages(Evidence({LABEL.name: found}))["public-label.md"].decode()
    assert "| GAS |  | 0.75 (-0.25), goal 0.68 |  |  | 2 |" in text
    assert "Harmful: 1 of 3 runs; the worst is 1.050 of the public model's error (WHI, large labels" in text
    assert "| large labels | 4 | 1.050 | 1.050 | 1 of 1 | 1.050 |" in text


@pytest.mark.shared
@pytest.mark.skipif(find_dataset("FIS") is None, reason="the papers' data are not here")
def test_one_run_is_measured_against_its_own_ends(monkeypatch):
    monkeypatch.delenv("HEDGEROW_BENCH_CACHE", raising=False)  # small models are not kept
    few_public_trees(monkeypatch)
    few_corrections(monkeypatch)
    found = compute(Key("FIS", 0, "none", 4.0, "label"), 0)
    assert set(found) == {"public", "ceiling", "label", "no public model"}
    assert found["label"] < 1.01 * found["public"]
