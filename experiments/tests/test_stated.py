"""Bounds stated beforehand: they are used, for label and categories too, and the page compares split by split."""

import numpy as np
import pytest

from hedgerow.compare.scores import Row
from hedgerow_experiments.data.datasets import find_dataset
from hedgerow_experiments.diprime.compute import prepare
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.stated import page
from hedgerow_experiments.stated.compute import compute, outside
from hedgerow_experiments.stated.declared import CLASSES, NUMBERS, OWN, STATED


def rows(dataset, setting, values, metric="mse", epsilon=1.0, method="DiPriMeFlip"):
    return [
        Row("stated-bounds", dataset, setting, method, epsilon, None, "", i, metric, v) for i, v in enumerate(values)
    ]


def made(*parts):
    found = Evidence({"stated-bounds": [row for part in parts for row in part]})
    return page.pages(found)["stated_bounds.md"].decode()


def test_ratios_are_of_the_splits_that_both_have():
    text = made(rows("ABA", OWN, [1.0, 2.0, 9.0]), rows("ABA", STATED, [2.0, 8.0]))
    assert "| ABA | 1 | 1.5, 5, 2.828 (2) |" in text and "**2.828** (1 sets)" in text
    assert "Splits a cell: 2 to 3, which is few" in text
    assert "Dearest for each method: DiPriMeFlip ABA at epsilon 1, 2.83." in text


def test_accuracies_are_compared_by_difference_and_shares_outside_are_told():
    text = made(
        rows("BAN", OWN, [0.9], "accuracy", 2.0), rows("BAN", STATED, [0.8], "accuracy", 2.0),
        rows("BAN", STATED, [0.0123], "outside", 2.0), rows("BAN", OWN, [0.0], "outside", 2.0),
    )  # fmt: skip
    assert "| BAN | 2 | 0.900, 0.800, -0.100 (1) |" in text
    assert "| BAN | 1.23% | `*` | -20 to 20 |" in text and "| BUI | not run here | `V-1` | 1 to 20 |" in text


def test_without_rows_there_is_no_page():
    assert page.pages(Evidence({})) == {}


def test_stated_bounds_take_the_place_of_the_data_s_and_leave_the_records():
    own, stated = prepare("DIA"), prepare("DIA", True)
    assert np.array_equal(own.X, stated.X) and np.array_equal(own.y, stated.y)
    assert own.label_bounds == (0.0, 1.0) and np.array_equal(own.bounds[1], own.X.max(axis=0))
    assert stated.bounds.tolist() == [[-0.25] * 10, [0.25] * 10]
    low, high = stated.label_bounds  # 0 and 400, where the scores go from 25 to 346
    assert low == pytest.approx(-25 / 321) and high == pytest.approx(375 / 321)
    assert not outside(stated.X, stated.bounds).any()


@pytest.mark.parametrize("method", ["DiPriMeFlip", "PrivateAnova"])
def test_stated_bounds_reach_the_learner(method):
    own, stated = (compute(Key("DIA", 0, setting, 10.0, method), 0)["mse"] for setting in (OWN, STATED))
    assert own != stated and 0.1 < own / stated < 10


@pytest.mark.shared
@pytest.mark.skipif(find_dataset("ABA") is None, reason="the papers' data are not here")
def test_categories_are_the_declared_ones():
    own, stated = prepare("ABA"), prepare("ABA", True)
    assert own.categories == stated.categories == {0: [0, 1, 2]} and np.array_equal(own.X, stated.X)
    assert stated.bounds[:, 0].tolist() == [0.0, 2.0] and stated.bounds[:, 3].tolist() == [0.0, 0.5]


def test_the_sets_are_those_of_the_central_tables():
    from hedgerow_experiments.anova import declared as anova
    from hedgerow_experiments.diprime import declared as diprime

    assert set(NUMBERS) == {*diprime.TABLE_1, *diprime.PEERS, *anova.NUMBERS}
    assert set(CLASSES) == {*diprime.TABLE_2, *anova.CLASSES}
