"""The evidence for a Gaussian process: its value, its gradient, and what maximises it."""

import numpy as np
import pytest
from scipy.stats import multivariate_normal, norm

from hedgerow.public.evidence import Evidence, covariance, most_likely


@pytest.fixture
def rows():
    rng = np.random.default_rng(0)
    X = rng.normal(size=(40, 3))
    X[:, 2] = X[:, 2] > 0  # an indicator
    X[5] = X[6]  # a record that occurs twice
    return X, np.sin(2 * X[:, 0]) + X[:, 2] + 0.1 * rng.normal(size=40)


def somewhere(evidence, seed):
    return evidence.mean + 0.5 * evidence.spread * np.random.default_rng(seed).normal(size=len(evidence.mean))


@pytest.mark.parametrize("seed", range(3))
def test_evidence_is_the_normal_density_times_the_prior(rows, seed):
    X, y = rows
    evidence = Evidence(X, y)
    at = somewhere(evidence, seed)
    density = (
        multivariate_normal(cov=covariance(X, at)).logpdf(y) + norm(evidence.mean, evidence.spread).logpdf(at).sum()
    )
    start = multivariate_normal(cov=covariance(X, evidence.mean)).logpdf(y)
    start += norm(evidence.mean, evidence.spread).logpdf(evidence.mean).sum()
    assert evidence(evidence.mean)[0] - evidence(at)[0] == pytest.approx(density - start, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_is_that_of_the_value(rows, seed):
    evidence = Evidence(*rows)
    at = somewhere(evidence, seed)
    steps = 1e-5 * np.eye(len(at))
    slopes = [(evidence(at + step)[0] - evidence(at - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(evidence(at)[1], slopes, rtol=1e-5, atol=1e-5)


def test_parameters_tell_columns_that_matter_from_others_and_signal_from_noise(rows):
    X, y = rows
    found = most_likely(X, y)
    assert found[0] < found[1] - 1  # the first column matters, the second does not
    noise = most_likely(X, np.random.default_rng(1).normal(size=40))
    assert noise[-1] > found[-1] + 2
    assert Evidence(X, y)(found)[0] < Evidence(X, y)(Evidence(X, y).mean)[0]
