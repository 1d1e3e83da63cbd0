"""Cases of few public records: what is shifted, and that nothing is in two parts."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from hedgerow_experiments.data.datasets import Dataset
from hedgerow_experiments.public import DESIGN, KEPT_OUT, SHIFTS, draw


@pytest.fixture(scope="module")
def data() -> Dataset:
    rng = np.random.default_rng(0)
    X = pd.DataFrame({"a": rng.normal(size=2_000), "b": rng.integers(0, 5, 2_000), "row": np.arange(2_000.0)})
    return Dataset("made", X, np.asarray(3.0 * X["a"] + X["b"]), "y")


def _frame(data: Dataset, shift: str):
    return draw(data, 1, shift, n_public=100)


@pytest.mark.parametrize("shift", SHIFTS)
def test_every_record_is_in_one_part(data, shift):
    case = _frame(data, shift)
    rows = np.concatenate([case.X_public["row"], case.X["row"], case.X_test["row"]])
    assert sorted(rows) == list(range(2_000))
    assert len(case.y_public) == 100
    assert len(case.y_test) == 400
    assert case.label_bounds[0] <= case.y_public.min()
    assert case.y_public.max() <= case.label_bounds[1]


def test_test_records_are_the_same_where_only_labels_are_changed(data):
    fair = _frame(data, "none")
    for shift in ("label level", "label spread"):
        assert np.array_equal(_frame(data, shift).X_test["row"], fair.X_test["row"])


@pytest.mark.parametrize("shift", ["large labels", "small labels", "feature end"])
def test_holders_are_like_test_records_of_a_small_set_too(data, shift):
    """Of 300 records the half that is public takes most of one end: it is missed in both parts, or in neither.

    Means over 20 splits, whose difference is within five deviations: false alarm below 1e-6.
    """
    small = Dataset("made", data.X[:300], data.y[:300], "y")
    cases = [draw(small, split, shift, n_public=150) for split in range(20)]
    differ = np.array([case.y.mean() - case.y_test.mean() for case in cases])
    assert abs(differ.mean()) < 5 * differ.std() / np.sqrt(len(cases) - 1)
    assert all(abs(case.y_public.mean() - case.y.mean()) > 1 for case in cases)


def test_shifts_move_what_they_name(data):
    fair = _frame(data, "none")
    assert _frame(data, "large labels").y_public.mean() > fair.y_public.mean() + 2
    assert _frame(data, "small labels").y_public.mean() < fair.y_public.mean() - 2
    assert _frame(data, "feature end").X_public["a"].mean() < -1
    assert _frame(data, "label level").y_public.mean() == pytest.approx(fair.y_public.mean() + fair.y_public.std() / 2)
    assert _frame(data, "label spread").y_public.std() == pytest.approx(1.5 * fair.y_public.std())
    share = np.mean(_frame(data, "rare category").X_public["b"] >= 3)
    assert share < 0.2 < np.mean(fair.X_public["b"] >= 3)


def test_sets_kept_out_of_choices_are_in_no_choice():
    assert not set(DESIGN) & set(KEPT_OUT)
