"""DECONV. Statistical tests: 6 standard errors, a chance below 1e-8 each."""

import math
import tracemalloc
import warnings

import numpy as np
import pandas as pd
import pytest
from sklearn.utils.estimator_checks import check_estimator

from hedgerow import DeconvolutionRegressor
from hedgerow.baselines.deconvolution import deconvolution_kernel
from hedgerow.errors import HedgerowError
from hedgerow.randomness import SeededRandomness
from hedgerow.samplers import ONE, discrete_laplace


def regressor(epsilon=8.0, **options):
    options = {"label_bounds": (0, 4), "feature_bounds": (0, 1), "random_state": 0} | options
    return DeconvolutionRegressor(epsilon, **options)


@pytest.fixture
def line():
    X = np.random.default_rng(0).random((3000, 1))
    return X, 4 * X[:, 0]


def test_check_estimator():
    model = DeconvolutionRegressor(1.0, label_bounds=(-1000, 1000), feature_bounds=(-1000, 1000))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        check_estimator(model)


@pytest.mark.parametrize("ratio", [0.2, 0.9, 0.99])
@pytest.mark.parametrize("step", [0.01, 0.3])
def test_the_kernel_averages_to_a_gaussian(ratio, step):
    k = np.arange(-6000, 6001)
    noise = (1 - ratio) / (1 + ratio) * ratio ** np.abs(k)
    for u in (-1.3, 0.0, 0.4):
        average = noise @ deconvolution_kernel(u + step * k, ratio / (1 - ratio) ** 2, step)
        assert average == pytest.approx(math.exp(-(u**2) / 2), abs=1e-9)


def test_the_kernel_of_a_fine_grid_is_the_textbook_one():
    u, b, step = np.linspace(-3, 3, 13), 1.5, 1e-3
    r = math.exp(-step / b)
    fine = deconvolution_kernel(u, r / (1 - r) ** 2, step)
    assert fine == pytest.approx(np.exp(-(u**2) / 2) * (1 - b**2 * (u**2 - 1)), abs=1e-4)


def test_the_kernel_is_unbiased_over_the_shipped_noise():
    noise = discrete_laplace(int(0.8 * ONE), 400_000, SeededRandomness(0))
    weights = deconvolution_kernel(0.5 + 0.2 * noise, 0.8 / 0.2**2, 0.2)
    assert abs(weights.mean() - math.exp(-0.125)) < 6 * weights.std() / math.sqrt(weights.size)
    weaker = discrete_laplace(int(0.75 * ONE), 400_000, SeededRandomness(0))
    weights = deconvolution_kernel(0.5 + 0.2 * weaker, 0.8 / 0.2**2, 0.2)
    assert abs(weights.mean() - math.exp(-0.125)) > 6 * weights.std() / math.sqrt(weights.size)


def test_without_noise_it_is_kernel_regression(line):
    X, y = line
    model = regressor(math.inf, bandwidth=0.05).fit(X, y)
    assert model.predict([[0.3], [0.7]]) == pytest.approx([1.2, 2.8], abs=0.05)
    assert math.isinf(model.guarantee_.epsilon)


def test_more_budget_is_more_accurate(line):
    X, y = line
    errors = [np.mean((regressor(e, bandwidth=0.2).fit(X, y).predict(X[:200]) - y[:200]) ** 2) for e in (1.0, 20.0)]
    assert errors[1] < errors[0]


def test_only_noisy_reports_are_kept(line):
    X, y = line
    model = regressor(2.0).fit(X, y)
    assert model.reports_.shape == (3000, 2)
    kept = [v for v in vars(model).values() if isinstance(v, np.ndarray)]
    assert all(a is model.reports_ for a in kept if len(a) == 3000)
    # Half of the budget each: the noise of both columns has deviation sqrt(2) * range / 1, and clipped labels less.
    steps = model.grid_.n_steps
    for j, truth in enumerate((X[:, 0], y / 4)):
        spread = (model.reports_[:, j] / steps - truth).std()
        assert spread == pytest.approx(math.sqrt(2), rel=0.15)


def test_blocks_do_not_change_predictions(line, monkeypatch):
    X, y = line
    model = regressor().fit(X, y)
    whole = model.predict(X[:50])
    for records, reports in ((1, 1 << 20), (7, 3)):
        monkeypatch.setattr("hedgerow.baselines.deconvolution._RECORDS", records)
        monkeypatch.setattr("hedgerow.baselines.deconvolution._REPORTS", reports)
        assert model.predict(X[:50]) == pytest.approx(whole)


@pytest.mark.parametrize("bandwidth", [0.002, 0.05, 1.0])
def test_leaving_far_reports_out_changes_nothing(line, bandwidth):
    X, y = line
    model = regressor(bandwidth=bandwidth).fit(X, y)
    steps, r = model.grid_.n_steps, model.mechanism_.parts[0].ratio / ONE
    u = (np.linspace(0, 1, 40)[:, None] - model.reports_[:, 0] / steps) / bandwidth
    weight = deconvolution_kernel(u, r / (1 - r) ** 2, 1 / (steps * bandwidth))
    below, above = weight.sum(axis=1), weight @ (model.reports_[:, -1] - steps / 2)
    sure = below > 1e-9 * np.abs(weight).sum(axis=1)
    level = np.divide(above, below, out=np.zeros(40), where=sure) + steps / 2
    expected = model.grid_.values(np.clip(level, 0, steps))
    assert model.predict(np.linspace(0, 1, 40)[:, None]) == pytest.approx(expected)


def test_memory_is_bounded():
    """100,000 reports and 20 blocks of records: blocks of 2**16 numbers, tables and the reports, not 1e5 x 200."""
    rng = np.random.default_rng(0)
    X, y = rng.random((100_000, 3)), rng.random(100_000)
    model = regressor(4.0, label_bounds=(0, 1)).fit(X, y)
    tracemalloc.start()
    model.predict(X[:200])
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert peak < 60e6


def test_many_features_do_not_overflow():
    rng = np.random.default_rng(0)
    X, y = rng.random((200, 105)), rng.random(200)
    model = regressor(0.5, label_bounds=(0, 1), bandwidth=0.02).fit(X, y)
    prediction = model.predict(X[:20])
    assert np.isfinite(prediction).all() and ((prediction >= 0) & (prediction <= 1)).all()


def test_guarantee_frames_and_constant_columns(line):
    X, y = line
    frame = pd.DataFrame({"a": X[:, 0], "b": 1.0})
    model = regressor(random_state=None, feature_bounds={"a": (0, 1), "b": (0, 2)}).fit(frame, y)
    assert (model.guarantee_.epsilon, model.guarantee_.simulation, model.guarantee_.trust) == (8.0, False, "local")
    assert regressor().fit(X, y).guarantee_.simulation
    assert len(model.predict(frame[:3])) == 3


@pytest.mark.parametrize(
    ("options", "name"),
    [
        ({"label_bounds": None}, "label_bounds"),
        ({"feature_bounds": None}, "feature_bounds"),
        ({"bandwidth": 0.0}, "bandwidth"),
        ({"bandwidth": None}, "bandwidth"),
        ({"epsilon": -1}, "epsilon"),
    ],
)
def test_wrong_arguments_are_named(line, options, name):
    with pytest.raises(HedgerowError, match=name):
        regressor(**options).fit(*line)
