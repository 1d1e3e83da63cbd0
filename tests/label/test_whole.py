"""A learner of whole labels, for errors of a public model."""

import numpy as np
import pytest
from sklearn.ensemble import HistGradientBoostingRegressor
from sklearn.linear_model import Ridge

from hedgerow import LabelPrivateRegressor, PublicModel
from hedgerow.export import to_sklearn
from hedgerow.label import halves, regressor
from hedgerow.label.whole import WholeLabels


def made(n, seed, noise=1.0):
    """Return records with a public prediction of which a wave is made up, noisy errors and true ones."""
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    wave = np.sin(50 * X[:, 1])
    return np.column_stack([X, 3 * X[:, 0] + wave]), noise * rng.normal(size=n) - wave, -wave


def boosting(n, noise):
    return HistGradientBoostingRegressor(
        max_iter=300, learning_rate=0.1, max_leaf_nodes=31, min_samples_leaf=max(5, n // 300),
        l2_regularization=n * noise / 150, early_stopping=False, random_state=0,
    )  # fmt: skip


def test_what_the_public_model_made_up_is_found_better_than_as_an_error():
    F, noisy, true = made(4000, 0)
    F_test, _, true_test = made(2000, 1)
    whole = WholeLabels(0.5).fit(F, noisy).predict(F_test)
    error = boosting(4000, np.var(noisy) / 0.5).fit(F, noisy).predict(F_test)
    assert np.mean((whole - true_test) ** 2) < 0.9 * np.mean((error - true_test) ** 2)
    assert np.mean((whole - true_test) ** 2) < 0.2 * np.mean(true**2)


def test_a_public_label_weighs_as_much_as_the_noise_of_reports():
    F, noisy, _ = made(900, 0, noise=2.0)
    told, _, _ = made(40, 1)
    labels = np.linspace(0.0, 9.0, 40)
    model = WholeLabels(0.5, told, labels).fit(F, noisy)
    noise = np.var(noisy) / 0.5
    rows = np.vstack([told[:, :2], F[:, :2]])
    weights = np.repeat([noise, 1.0], [40, 900])
    same = boosting(900, noise).fit(rows, np.append(labels, F[:, 2] + noisy), sample_weight=weights)
    assert noise > 8 and np.allclose(model.predict(F), same.predict(F[:, :2]) - F[:, 2])


def test_noise_is_never_below_that_of_labels():
    F, noisy, _ = made(600, 0)
    few = WholeLabels(1e9).fit(F, noisy)
    same = boosting(600, 1.0).fit(F[:, :2], F[:, 2] + noisy)
    assert np.allclose(few.predict(F), same.predict(F[:, :2]) - F[:, 2])


@pytest.fixture(scope="module")
def records():
    rng = np.random.default_rng(2)
    X = rng.random((3060, 2))
    return X, np.sign(X[:, 0] - 0.5) + X[:, 1] + 0.1 * rng.normal(size=len(X))


def test_it_takes_part_and_is_exported(records):
    X, y = records
    model = LabelPrivateRegressor(epsilon=4.0, label_bounds=(-3, 4), random_state=0)
    found = model.fit(X[60:], y[60:], X[:60], y[:60])
    whole = next(learner for learner in found.regressor_.learners if isinstance(learner, WholeLabels))
    assert np.array_equal(whole.labels, y[:60]) and np.allclose(whole.records[:, :2], X[:60])
    other = np.random.default_rng(3).random((50, 2))
    assert np.allclose(to_sklearn(found).predict(other), found.predict(other), atol=1e-8)


@pytest.mark.parametrize("told", [True, False])
def test_public_labels_reach_every_fit(records, monkeypatch, told):
    X, y = records
    base = PublicModel(Ridge(), random_state=0).fit(X[:60], y[:60])
    given = []
    for module in (regressor, halves):
        monkeypatch.setattr(module, "learn_residuals", lambda *args: given.append(args[-1]))
    model = LabelPrivateRegressor(epsilon=4.0, label_bounds=(-3, 4), public_model=base, random_state=0)
    model.fit(X[60:], y[60:], *((X[:60], y[:60]) if told else ()))
    model._halves._fit(np.arange(100))
    if told:
        assert all(np.array_equal(labels, y[:60]) and len(rows) == 60 for rows, labels in given)
    assert len(given) == 2 and all((one is None) != told for one in given)
