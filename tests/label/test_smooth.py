"""A smooth learner of noisy errors."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow import LabelPrivateRegressor, PublicModel
from hedgerow.export import to_sklearn
from hedgerow.label.residual import learn_residuals
from hedgerow.label.smooth import SmoothErrors, widths_of
from hedgerow.portable import Matern
from hedgerow.portable.bumps import matern, squared_distances

NONE = np.zeros((0, 2))


def made(n, seed, noise=1.0):
    rng = np.random.default_rng(seed)
    X = rng.random((n, 2))
    return X, np.sin(6 * X[:, 0]) + noise * rng.normal(size=n), np.sin(6 * X[:, 0])


def test_predictions_are_those_of_the_whole_process_where_every_record_is_a_point():
    X, y, _ = made(300, 0)
    model = SmoothErrors(Matern(NONE, np.zeros(0), [0.0, 0.0], [0.5, 0.5])).fit(X, y)
    U = model.smooth_.units(X)
    K = matern(squared_distances(U, U))
    r = y - y.mean()
    ratios = 10.0 ** np.arange(-4.0, 1.25, 0.25)
    found = [y.mean() + K @ np.linalg.solve(K + np.eye(300) / q, r) for q in ratios]
    assert min(np.abs(model.predict(X) - f).max() for f in found) < 1e-3


def test_noise_as_large_as_units_is_that_of_the_whole_process():
    X, y, truth = made(300, 0)
    units = np.where(X[:, 1] > 0.5, 3.0, 0.3)
    y = truth + units * (y - truth)
    widths = Matern(NONE, np.zeros(0), [0.0, 0.0], [0.5, 0.5])
    model = SmoothErrors(widths).fit(X, y, units)
    U = model.smooth_.units(X)
    K = matern(squared_distances(U, U))
    mean = np.average(y, weights=units**-2)
    ratios = 10.0 ** np.arange(-4.0, 1.25, 0.25)
    found = [mean + K @ np.linalg.solve(K + np.diag(units**2) / q, y - mean) for q in ratios]
    assert min(np.abs(model.predict(X) - f).max() for f in found) < 1e-3
    plain = SmoothErrors(widths).fit(X, y)
    assert np.mean((model.predict(X) - truth) ** 2) < np.mean((plain.predict(X) - truth) ** 2)


def test_evidence_chooses_height_and_width():
    X, y, truth = made(6000, 1, noise=3.0)
    wide = SmoothErrors(Matern(NONE, np.zeros(0), [0.0, 0.0], [0.5, 0.5])).fit(X, y)
    assert np.mean((wide.predict(X) - truth) ** 2) < 0.05
    nothing = SmoothErrors(wide.widths).fit(X, y - truth)
    assert np.std(nothing.predict(X)) < 0.1
    rough = np.sign(np.sin(40 * X[:, 0]))
    fine = SmoothErrors(Matern(NONE, np.zeros(0), [0.0, 0.0], [0.5, 5.0])).fit(X, rough)
    assert fine.smooth_.scale.tolist() == [0.25, 2.5]


@pytest.fixture(scope="module")
def public():
    X, y, _ = made(60, 2, noise=0.1)
    return PublicModel(random_state=0).fit(X, y)


def test_widths_are_those_of_the_public_process_and_its_prediction(public):
    X = made(500, 3)[0]
    g = public.predict(X)
    widths = widths_of(public, np.column_stack([X, g]))
    own = next(part for part in public.portable_.parts if isinstance(part, Matern))
    assert np.array_equal(widths.scale[:2], own.scale) and widths.scale[2] == pytest.approx(2 * g.std())
    units = widths.units(np.column_stack([X, g]))
    assert np.allclose(units[:, :2], own.units(X))
    assert widths_of(public, np.column_stack([X, np.zeros(500)])) is None
    assert widths_of(object(), X) is None


def test_it_takes_part_and_is_exported(public):
    X, y, _ = made(900, 4, noise=0.1)
    model = LabelPrivateRegressor(epsilon=4.0, label_bounds=(-4, 4), public_model=public, random_state=0)
    found = model.fit(X, y + 0.8 * np.sin(9 * X[:, 0]))
    assert any(isinstance(learner, SmoothErrors) for learner in found.regressor_.learners)
    # Other records: a cut may lie at the public prediction of a training record, where the last bit decides the side.
    new = made(50, 5)[0]
    assert np.allclose(to_sklearn(found).predict(new), found.predict(new), atol=1e-8)


def test_it_is_told_the_units_of_reports(public):
    X = made(600, 6)[0]
    F = np.column_stack([X, public.predict(X)])
    units = np.where(X[:, 1] > 0.5, 3.0, 0.3)
    noisy = 0.1 * np.sin(9 * X[:, 0]) + 0.01 * units
    found = learn_residuals(public, None, F, noisy, units=units)
    smooth = next(learner for learner in found.learners if isinstance(learner, SmoothErrors))
    assert smooth.mean_ == pytest.approx(np.average(noisy, weights=units**-2))


def test_a_given_regressor_is_alone(public):
    X = made(600, 5)[0]
    F = np.column_stack([X, public.predict(X)])
    model = learn_residuals(public, Ridge(), F, X[:, 1] - 0.5)
    assert [type(learner).__name__ for learner in model.learners] == ["Ridge"]
