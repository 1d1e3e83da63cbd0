"""The honest validation protocol. Statistical tests: 6 standard errors, a chance below 1e-8 each."""

import math

import numpy as np
import pandas as pd
import polars as pl
import pytest

from hedgerow import PrivateHistogramRegressor, validate_privately
from hedgerow.errors import HedgerowError
from hedgerow.randomness import SeededRandomness


class Constant:
    def __init__(self, value):
        self.value, self.asked = value, 0

    def predict(self, X):
        self.asked += len(X)
        return np.full(len(X), self.value)


@pytest.fixture
def holders():
    y = np.random.default_rng(0).uniform(0, 10, 6000)
    return np.zeros((6000, 1)), y


def test_each_holder_scores_one_model(holders):
    models = [Constant(v) for v in (0.0, 5.0, 10.0)]
    report = validate_privately(models, *holders, epsilon=1.0, label_bounds=(0, 10), random_state=0)
    assert [m.asked for m in models] == report.n_holders.tolist()
    assert report.n_holders.sum() == 6000
    assert report.best == 1


def test_assignment_does_not_depend_on_records_or_noise(holders):
    X, y = holders
    models = [Constant(0.0), Constant(5.0)]
    counts = [
        validate_privately(models, X, labels, epsilon=1.0, label_bounds=(0, 10), random_state=s).n_holders.tolist()
        for labels, s in ((y, 0), (y[::-1], 1), (np.zeros(6000), None))
    ]
    assert counts[0] == counts[1] == counts[2]
    other = validate_privately(models, X, y, epsilon=1.0, label_bounds=(0, 10), assignment=1, random_state=0)
    assert other.n_holders.tolist() != counts[0]


def test_estimates_are_unbiased_with_the_stated_error(holders):
    X, y = holders
    models, truths = [Constant(2.0), Constant(7.0)], []
    runs = [validate_privately(models, X, y, epsilon=1.0, label_bounds=(0, 10), random_state=s) for s in range(300)]
    own = SeededRandomness(0, ("validation",)).integers(2, 6000)
    truths = [np.mean((m.value - y[own == i]) ** 2) for i, m in enumerate(models)]
    errors = np.array([r.errors for r in runs])
    stated = np.mean([r.standard_errors for r in runs], axis=0)
    assert (np.abs(errors.mean(axis=0) - truths) < 6 * stated / math.sqrt(300)).all()
    # The relative error of a deviation from 300 runs is 1/sqrt(600); the stated one counts the holders' draw too.
    assert (np.abs(errors.std(axis=0) / stated - 1) < 6 / math.sqrt(600)).all()


def test_infinite_epsilon_is_exact_up_to_rounding(holders):
    X, y = holders
    report = validate_privately([Constant(5.0)], X, y, epsilon=math.inf, label_bounds=(0, 10), random_state=0)
    assert abs(report.errors[0] - np.mean((y - 5) ** 2)) < 6 * report.standard_errors[0]
    assert math.isinf(report.guarantee.epsilon)


def test_a_smaller_error_bound_is_more_precise(holders):
    X, y = holders
    wide, narrow = (
        validate_privately([Constant(5.0)], X, y, epsilon=1.0, label_bounds=(0, 10), error_bound=bound, random_state=0)
        for bound in (None, 25.0)
    )
    assert narrow.standard_errors[0] < wide.standard_errors[0] / 3
    assert abs(narrow.errors[0] - np.mean((y - 5) ** 2)) < 6 * narrow.standard_errors[0]


def test_guarantee_is_exactly_epsilon(holders):
    for seed, simulation in ((None, False), (1, True)):
        report = validate_privately([Constant(1.0)], *holders, epsilon=0.7, label_bounds=(0, 10), random_state=seed)
        assert (report.guarantee.epsilon, report.guarantee.delta) == (0.7, 0.0)
        assert report.guarantee.simulation is simulation
        assert (report.guarantee.trust, report.guarantee.neighbours) == ("local", "replace")


def test_bad_predictions_and_labels_still_send_a_report():
    X, y = np.zeros((50, 1)), np.full(50, 1e9)
    report = validate_privately([Constant(math.nan)], X, y, epsilon=math.inf, label_bounds=(0, 1), random_state=0)
    assert report.errors.tolist() == [1.0]


def test_frames_and_bounds_of_the_models():
    X, y = pd.DataFrame({"a": np.linspace(0, 1, 400)}), np.linspace(0, 1, 400)
    models = [
        PrivateHistogramRegressor(e, label_bounds=(0, 1), feature_bounds=(0, 1), random_state=0).fit(X, y)
        for e in (0.5, 20.0)
    ]
    for frame in (X, pl.from_pandas(X)):
        report = validate_privately(models, frame, y, epsilon=20.0, random_state=0)
        assert report.best == 1
    assert "best: 1" in str(report)


def test_more_models_than_holders():
    report = validate_privately(
        [Constant(0.5)] * 5, np.zeros((1, 1)), [0.5], epsilon=1.0, label_bounds=(0, 1), random_state=0
    )
    assert report.n_holders.sum() == 1 and np.isnan(report.errors).sum() == 4
    assert report.best == int(report.n_holders.argmax())


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"models": []}, "models"),
        ({"label_bounds": None}, "label_bounds"),
        ({"epsilon": 0}, "epsilon"),
        ({"error_bound": -1}, "error_bound"),
        ({"y": np.zeros((1, 2))}, "y"),
    ],
)
def test_wrong_arguments_are_named(options, name):
    good = {"models": [Constant(0)], "X": np.zeros((1, 1)), "y": [0.0], "epsilon": 1.0, "label_bounds": (0, 1)}
    with pytest.raises(HedgerowError, match=name):
        validate_privately(**(good | options))
