"""Intervals of corrections: the posterior of the dense model, and errors that are clipped."""

import numpy as np
import pytest

from hedgerow.tasks.assisted.intervals import CorrectionLaw, attained
from hedgerow.tasks.assisted.pool import overlaps
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.drift import SHIFT_SD, spreads

LEAVES = (3, 4, 2)


def made(seed):
    rng = np.random.default_rng(seed)
    M, _ = overlaps(np.column_stack([rng.integers(k, size=50) for k in LEAVES]), LEAVES)
    return M, rng.normal(size=9), rng.uniform(0.05, 0.5, 9)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_posterior_of_the_dense_model(seed):
    M, d, V = made(seed)
    places = np.array([[0, 3, 7], [2, 6, 8]])
    width, noise = 4.0, 0.2
    got = CorrectionLaw.of(d, V, M, 3, width).believed(noise).at(places)
    tau2, prior = spreads(np.array([1 / noise]), width)
    at = np.zeros((2, 9))
    at[[[0], [1]], places] = 1
    fits = []
    for k, t in enumerate(tau2):
        design = np.column_stack([np.ones(9), M])
        before = np.diag([(SHIFT_SD * width) ** 2, *[t / 3] * 9])
        C = design @ before @ design.T + np.diag(V)
        gain = before @ design.T @ np.linalg.inv(C)
        left = before - gain @ design @ before
        rows = np.column_stack([np.ones(2), at])
        np.testing.assert_allclose(got.mean[k], rows @ gain @ d, rtol=1e-6, atol=1e-9)
        np.testing.assert_allclose(got.variance[k], np.diag(rows @ left @ rows.T), rtol=1e-5, atol=1e-9)
        fits.append(-0.5 * (np.linalg.slogdet(C)[1] + d @ np.linalg.solve(C, d)))
    weights = prior * np.exp(np.array(fits) - max(fits))
    np.testing.assert_allclose(got.weights, weights / weights.sum(), rtol=1e-6)


def test_trees_that_nobody_answered_for_tell_nothing():
    M, d, V = made(1)
    silent = CorrectionLaw.of(np.append(d[:7], [99.0, 99.0]), np.append(V[:7], [1e300, 1e300]), M, 3, 4.0)
    same = CorrectionLaw.of(d, np.append(V[:7], [1e300, 1e300]), M, 3, 4.0)
    places = np.array([[0, 3, 7]])
    np.testing.assert_allclose(silent.alone().at(places).mean, same.alone().at(places).mean)


def test_clipped_errors_that_all_move_are_found_again():
    rng = np.random.default_rng(0)
    errors = rng.normal(0, 0.1, 20_000)
    res = Residuals.summarise(errors, 0.15, 2)
    for moved in (-0.12, 0.0, 0.05, 0.12):
        seen = np.mean(np.clip((errors + moved) / 0.15, -1, 1))
        linear = (seen - res.clipped_mean) * 0.15 / res.inside + res.mean
        low, high = attained(res, 0.15, (0.0, 1.0), (np.array([linear]), np.array([linear])))
        assert low[0] == pytest.approx(moved, abs=0.01) and high[0] == pytest.approx(moved, abs=0.01)
    beyond = np.array([9.0])
    low, high = attained(res, 0.15, (0.0, 1.0), (-beyond, beyond))
    assert (low[0], high[0]) == (-1.0, 1.0)  # at the very end errors may be anything
    low, _ = attained(res, 0.15, (0.0, 1.0), (beyond, beyond))
    assert 0.15 < low[0] < 1.0  # all are beyond the radius, and no more is known
