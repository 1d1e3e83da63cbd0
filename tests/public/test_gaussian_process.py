"""The Gaussian process of the public model: what it learns, and records that are hard on it."""

import numpy as np
import pytest

from hedgerow.public import gaussian_process
from hedgerow.public.curves import Curves
from hedgerow.public.evidence import covariance
from hedgerow.public.gaussian_process import GaussianProcess


def test_prediction_is_the_conditional_mean():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(30, 2)) * [1.0, 50.0] + [3.0, 0.0]
    y = 100 + X[:, 0] ** 2
    new = X[:5] + 0.3
    model = GaussianProcess().fit(X, y)
    assert np.array_equal(model.parameters_, model.fit(X, y).parameters_)
    rows = (np.vstack([X, new]) - X.mean(axis=0)) / X.std(axis=0)
    curves = Curves.of(X, X.mean(axis=0), X.std(axis=0))
    K = covariance(rows, curves(np.vstack([X, new])), model.parameters_)
    assert 0 < model.parameters_[-4] <= 1  # bent
    wanted = y.mean() + K[30:, :30] @ np.linalg.solve(K[:30, :30], y - y.mean())
    np.testing.assert_allclose(model.predict(new), wanted, rtol=1e-9)


def test_smooth_functions_of_one_of_many_columns_are_found():
    rng = np.random.default_rng(0)
    X = rng.random((160, 12))
    y = np.sin(6 * X[:, 3]) + 0.05 * rng.normal(size=160)
    error = np.mean((GaussianProcess().fit(X[:80], y[:80]).predict(X[80:]) - np.sin(6 * X[80:, 3])) ** 2)
    assert error < 0.02 * y.var()


def test_what_is_smooth_in_the_logarithm_of_a_column_is_learnt():
    rng = np.random.default_rng(0)
    X = np.exp(2 * rng.normal(size=(200, 2)))
    y = np.sin(np.log(X[:, 0]))
    model = GaussianProcess().fit(X[:60], y[:60])
    assert model.parameters_[-4] > 0.9
    assert np.mean((model.predict(X[60:]) - y[60:]) ** 2) < 0.05 * y.var()


@pytest.mark.parametrize("scale", [1e-150, 1e-9, 1e9, 1e150])
def test_units_do_not_matter(scale):
    rng = np.random.default_rng(0)
    X, new = rng.random((2, 40, 2))
    y = X[:, 0] + 0.1 * rng.normal(size=40)
    plain = GaussianProcess().fit(X, y).predict(new)
    np.testing.assert_allclose(GaussianProcess().fit(X, scale * y).predict(new) / scale, plain, rtol=1e-6)
    np.testing.assert_allclose(GaussianProcess().fit(1e6 + 1e3 * X, y).predict(1e6 + 1e3 * new), plain, rtol=1e-4)


@pytest.mark.parametrize(
    "case", ["constant column", "constant label", "copies", "one row", "two values", "more columns than rows", "tied"]
)
def test_awkward_records(case):
    rng = np.random.default_rng(0)
    X = rng.random((30, 3))
    y = X[:, 0] + 0.1 * rng.normal(size=30)
    if case == "constant column":
        X[:, 1] = 1e9
    elif case == "constant label":
        y[:] = 7.0
    elif case == "copies":
        X = np.repeat(X[:3], 10, axis=0)
    elif case == "one row":
        X, y = X[:1], y[:1]
    elif case == "two values":
        X = (X > 0.5).astype(float)
        y = X[:, 0]
    elif case == "more columns than rows":
        X = rng.random((30, 120))
    elif case == "tied":
        y = np.round(y)
    predicted = GaussianProcess().fit(X, y).predict(X)
    assert np.isfinite(predicted).all()
    assert predicted.min() > y.min() - 1 and predicted.max() < y.max() + 1
    if case == "constant label":
        assert predicted == pytest.approx(7.0)


def test_many_rows_cost_no_more_than_the_most(monkeypatch):
    monkeypatch.setattr(gaussian_process, "MOST_ROWS", 50)
    monkeypatch.setattr(gaussian_process, "TUNED_ROWS", 20)
    sizes = []
    found = gaussian_process.most_likely
    monkeypatch.setattr(gaussian_process, "most_likely", lambda *rows: (sizes.append(len(rows[0])), found(*rows))[1])
    X = np.random.default_rng(0).random((300, 2))
    model = GaussianProcess(3).fit(X, X[:, 0])
    assert sizes == [20] and model.smooth_.points.shape == (50, 2)
    other = GaussianProcess(4).fit(X, X[:, 0])
    assert not np.array_equal(model.smooth_.points, other.smooth_.points)  # which rows, by the seed
    assert np.abs(model.predict(X) - X[:, 0]).max() < 0.05
