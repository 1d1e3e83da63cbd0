"""PrivateAnova's rules, each set held out in turn: what the page makes of rows, and one fit."""

import math

import pytest

from hedgerow.compare.scores import Row
from hedgerow_experiments.anova import rules_page
from hedgerow_experiments.anova.declared import BEFORE, EBM, FOREST, PURE, PURE_VARIANTS, RULES, SETS, SHIPPED, VARIANTS
from hedgerow_experiments.anova.sets import known, split
from hedgerow_experiments.anova.variants import compute
from hedgerow_experiments.data.datasets import find_dataset
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence


def rows(method, value, repeats=1):
    """One error a set, epsilon and split; ``value`` is by set."""
    return [
        Row("anova-rules", code, "", method, epsilon, None, "", repeat, "mse", value(code))
        for code in SETS
        for epsilon in (1.0, 10.0)
        for repeat in range(repeats)
    ]


def page(*parts):
    found = Evidence({"anova-rules": [row for part in parts for row in part]})
    return rules_page.pages(found)["anova-rules.md"].decode()


def test_ratios_are_geometric_means_over_splits_and_sets():
    text = page(rows(BEFORE, lambda code: 0.02, 2), rows(SHIPPED, lambda code: 0.01 if code == "AIR" else 0.02, 2))
    assert "| AIR | 0.01000 | 0.500 (2) | 0.01000 | 0.500 (2) |" in text
    whole = 0.5 ** (1 / len(SETS))
    assert f"| **all** ({len(SETS)}) |  | **{whole:.3f}** |" in text
    assert f"| **nearly without noise** (6) |  | **{0.5 ** (1 / 6):.3f}** |" in text


def test_a_number_that_one_set_alone_speaks_for_is_not_chosen_without_it():
    name = next(iter(VARIANTS))
    lucky = rows(name, lambda code: 0.001 if code == "AIR" else 0.0201)  # no set is harmed by more than 2 %
    text = page(rows(BEFORE, lambda code: 0.02), rows(SHIPPED, lambda code: 0.02), lucky)
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    others = ", ".join(code for code in SETS if code != "AIR")
    assert line.endswith(f"| {others} |")


def test_a_number_that_harms_a_set_is_chosen_without_that_set_only():
    name = next(iter(VARIANTS))
    better = rows(name, lambda code: 0.021 if code == "DIA" else 0.015)
    text = page(rows(BEFORE, lambda code: 0.02), rows(SHIPPED, lambda code: 0.02), better)
    line = next(line for line in text.splitlines() if line.startswith(f"| {name} |"))
    assert line.endswith("| DIA 1.050 | DIA |")


def test_pure_fits_are_compared_with_forests():
    text = page(rows(PURE, lambda code: 0.03 if code == "AIR" else 0.02), rows(FOREST, lambda code: 0.02))
    assert "| AIR | 1.500 (1) | 1.500 (1) |" in text and f"| **all** | **{1.5 ** (1 / len(SETS)):.3f}** |" in text


def test_without_rows_there_is_no_page():
    assert rules_page.pages(Evidence({})) == {}


@pytest.mark.shared
@pytest.mark.skipif(find_dataset("PYR") is None, reason="the papers' data are not here")
def test_one_fit_by_other_numbers_and_by_the_shipped_ones():
    assert {g.name for g in RULES.groups} == {SHIPPED, BEFORE, EBM, PURE, FOREST, *VARIANTS, *PURE_VARIANTS}
    errors = [compute(Key("PYR", 0, "", 1.0, group), 0)[group] for group in (SHIPPED, "full .2")]
    pure = [compute(Key("CON", 0, "", 1.0, group), 0)[group] for group in (PURE, "pure explained .8")]
    assert all(math.isfinite(error) for error in pure) and pure[0] != pure[1]
    assert all(math.isfinite(error) for error in errors) and errors[0] != errors[1]


def test_sets_are_scaled_and_split_without_overlap():
    data = known("steps")
    assert data.X.shape == (5000, 4) and data.y.min() == 0 and data.y.max() == 1
    train, test = split(len(data.y), 1)
    assert not set(train.tolist()) & set(test.tolist()) and (train.size, test.size) == (4000, 1000)
