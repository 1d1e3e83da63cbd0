"""The size of a public model's errors, by public records."""

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow import LabelPrivateRegressor
from hedgerow.label.scale import error_scale
from hedgerow.randomness import as_randomness


def uneven(n, seed):
    rng = np.random.default_rng(seed)
    F = rng.random((n, 2))
    size = 0.1 + F[:, 0] ** 2
    return F, size * rng.laplace(size=n), size


def test_sizes_are_found_and_keep_the_mean_square():
    F, errors, size = uneven(500, 0)
    scale = error_scale(F, errors)
    assert np.mean((errors / scale.public) ** 2) == pytest.approx(np.mean(errors**2))
    new, _, size = uneven(2000, 1)
    found = scale(new)
    assert np.corrcoef(np.log(found), np.log(size))[0, 1] > 0.9
    assert found[size < 0.15].mean() < 0.4 * found[size > 0.9].mean()


def test_sizes_stay_within_those_of_public_records():
    F, errors, _ = uneven(300, 0)
    scale = error_scale(F, errors)
    far = scale(np.array([[-50.0, 0.0], [50.0, 0.0]]))
    assert scale.public.min() <= far.min() and far.max() <= scale.public.max()


def test_nothing_is_told_by_even_few_or_no_errors():
    F, errors, _ = uneven(400, 2)
    told = [error_scale(F, np.random.default_rng(seed).laplace(size=400)) for seed in range(10)]
    assert sum(scale is None for scale in told) >= 7
    assert error_scale(F[:50], errors[:50]) is None
    assert error_scale(F, np.zeros(400)) is None


class Zero:
    def __init__(self, residuals):
        self.residuals_ = residuals

    def predict(self, X):
        return np.zeros(len(X))


def fit(model, X, y, *public):
    found = LabelPrivateRegressor(Ridge(), epsilon=2.0, label_bounds=(-9, 9), public_model=model, random_state=0)
    return found.fit(X, y, *public)


def test_holders_report_in_units_of_the_errors_around_them():
    """Where errors are small, so is the noise of reports; it is 0.65 of that elsewhere with one unit for all."""
    F, errors, size = uneven(400, 3)
    X, y, size = uneven(3000, 4)
    halves = []
    for public in ((), (F, errors)):
        noisy = fit(Zero(errors), X, y, *public)._halves.labels
        halves.append(np.std(noisy[size < 0.15]) / np.std(noisy[size > 0.9]))
    assert halves[1] < 0.6 * halves[0]


def test_noisy_errors_in_units_have_the_level_of_public_errors():
    """The same draws, read in units, and moved by what public errors leave untold."""
    F, errors, _ = uneven(400, 3)
    X, y, _ = uneven(500, 4)
    errors = errors + np.where(F[:, 0] > 0.7, 3 * (errors > 0.5), 0.0)
    found = fit(Zero(errors), X, y, F, errors)
    scale = error_scale(np.column_stack([F, np.zeros(400)]), errors)
    unit = scale(np.column_stack([X, np.zeros(500)]))
    drawn = found.response_.randomize(y / unit, as_randomness(0).child("labels", 0))
    level = np.mean(errors - scale.public * found.response_.expected(errors / scale.public))
    assert abs(level) > 1e-3
    assert found._halves.labels == pytest.approx(unit * drawn + level)


def test_records_that_a_fitted_model_was_not_fitted_to_are_left_aside():
    F, errors, _ = uneven(400, 3)
    X, y, _ = uneven(500, 4)
    found = [fit(Zero(errors), X, y, *public)._halves.labels for public in ((), (F[:399], errors[:399]))]
    assert np.array_equal(*found)
