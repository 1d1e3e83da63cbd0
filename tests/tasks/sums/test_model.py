"""Models from noisy sums: what they predict, say and cover."""

from dataclasses import replace

import numpy as np
import pytest

from hedgerow.errors import FormatError
from hedgerow.export import to_sklearn
from hedgerow.tasks.registry import read_model
from hedgerow.tasks.sums.class_model import SumsClassModel
from hedgerow.tasks.sums.examples import example_task

X = np.linspace(0, 1, 400)[:, None]
Y = np.where(X[:, 0] < 0.5, 0.1, 0.9)
MANY = np.tile(X, (50, 1))
TASK = example_task(4.0)
MODEL = TASK.model(TASK.simulate(MANY, np.tile(Y, 50), 1))


def test_a_model_is_its_json():
    again = read_model(MODEL.to_json())
    assert again.to_json() == MODEL.to_json() and np.array_equal(again.predict(X), MODEL.predict(X))
    with pytest.raises(FormatError):
        read_model(MODEL.to_json().replace('"sums":[', '"sums":[1,'))


def test_sums_correct_the_public_model():
    before = np.mean((MODEL.predict_public(X) - Y) ** 2)
    assert MODEL.gate and np.mean((MODEL.predict(X) - Y) ** 2) < 0.6 * before


def test_without_evidence_the_public_model_predicts():
    last = TASK.steps[-1]
    task = replace(TASK, steps=(replace(last, trees=replace(last.trees, value=np.zeros(2))),))
    public = MODEL.predict_public(X)
    rng = np.random.default_rng(0)
    found = task.model(task.simulate(X, np.clip(public + rng.uniform(-0.1, 0.1, len(X)), 0, 1), 2))
    assert not found.gate and np.allclose(found.predict(X), public)


def test_what_a_group_told_is_kept_for_those_after_it():
    after = replace(TASK, group=1, steps=MODEL.steps, earlier=(MODEL.told,))
    again = type(after).from_json(after.to_json())
    assert again.id == after.id and np.array_equal(again.sent, after.sent) and again.open == MODEL.learnt.open < 1
    nobody = after.model(after.simulate(X[:2], Y[:2], 1))
    assert np.allclose(nobody.predict(X), MODEL.predict(X), atol=0.02), "two more people change next to nothing"


@pytest.mark.parametrize(
    "wrong",
    [
        {"sizes": (2,)},
        {"sizes": ()},
        {"sizes": (2, 257)},
        {"sums": (1,) * 7},
        {"sums": (1 << 54,) * 8},
        {"n_reports": 0},
        {"radius": 0.0},
        {"sent": (0.0,)},
        {"sent": (0.0, 0.0, 1e101)},
        {"open": 1.5},
        {"left": -0.5},
    ],
)
def test_what_no_group_told_is_refused(wrong):
    with pytest.raises(FormatError):
        replace(MODEL.told, **wrong)


def test_earlier_groups_have_the_rows_of_the_task():
    told = replace(MODEL.told, reference=MODEL.told.reference[:2], sent=MODEL.told.sent[:2])
    with pytest.raises(FormatError, match="its rows"):
        replace(TASK, earlier=(told,))


def test_no_correction_is_beyond_its_bound():
    moved = MODEL.predict(X) - MODEL.predict_public(X)
    assert np.abs(moved).max() <= TASK.steps[0].bound + 1e-12


def test_intervals_hold_the_prediction_and_the_corrected_mean():
    low, high = MODEL.predict_interval(X)
    predicted = MODEL.predict(X)
    assert (low <= predicted).all() and (predicted <= high).all() and (low >= 0).all() and (high <= 1).all()
    inner = MODEL.reports_interval(X, 0.5)
    outer = MODEL.reports_interval(X, 0.99)
    assert (outer[0] <= inner[0]).all() and (inner[1] <= outer[1]).all()
    wide = MODEL.predict_label_interval(X)
    assert (wide[0] <= low).all() and (high <= wide[1]).all()


def test_reports_cover_the_mean_error_of_leaves():
    """One leaf alone, 300 draws at 90 %: at least 79 % cover, false alarm below 1e-6."""
    task = example_task(1.0)
    x, y = np.full((2000, 1), 0.2), np.full(2000, 0.6)
    columns = task.columns(x[:1])[0]
    truth = columns[-2] + columns[-1] + np.clip(0.6 - columns[-2] - columns[-1], -task.radius, task.radius)
    hits = 0
    for seed in range(300):
        low, high = task.model(task.simulate(x, y, seed)).reports_interval(x[:1], 0.9)
        hits += bool(low[0] <= truth <= high[0])
    assert hits >= 237


def test_what_it_computes_is_what_it_predicts():
    assert np.allclose(to_sklearn(MODEL).predict(X), MODEL.predict(X), atol=1e-12)
    parts = MODEL.anatomy()
    assert len(parts.parts) == 1 + len(MODEL.steps)


def test_it_says_what_was_done():
    said = str(MODEL.explain())
    assert "no group has checked that yet" in said and "aggregate privacy" in said.lower()
    assert len(MODEL.table()) == 4 and MODEL.summary() and MODEL.card()
    assert {row["tree"] for row in MODEL.table()} == {0, 1}


def test_a_shift_of_holders_is_seen():
    # A public prediction of at most .4 is a feature of at most .3.
    task = replace(TASK, trees=replace(TASK.trees, value=np.array([0.5, 0.5, 0.3, 0.7])))
    crowd = task.model(task.simulate(np.full((20_000, 1), 0.9), np.full(20_000, 0.7), 3))
    alike = task.model(task.simulate(MANY, np.tile(Y, 50), 3))
    assert crowd.shift().shifted and not alike.shift().shifted


def test_classes_are_brought_to_a_sum_of_one():
    three = SumsClassModel(("a", "b", "c"), (MODEL, MODEL, MODEL))
    assert np.allclose(three.predict_proba(X).sum(axis=1), 1)
    two = SumsClassModel(("no", "yes"), (MODEL,))
    assert np.allclose(two.predict_proba(X)[:, 1], MODEL.predict(X))
    assert read_model(two.to_json()).predict(X).tolist() == two.predict(X).tolist()
    assert "Class 'yes'" in str(two.explain())
    with pytest.raises(FormatError):
        SumsClassModel(("a", "b", "c"), (MODEL,))
