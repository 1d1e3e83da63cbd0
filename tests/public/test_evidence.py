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
    curves = np.tanh(X) * [1.0, 0.5, 0.0]
    return X, curves, np.sin(2 * X[:, 0]) + X[:, 2] + 0.1 * rng.normal(size=40)


def somewhere(evidence, seed):
    """Return parameters that the prior allows."""
    rng = np.random.default_rng(seed)
    found = evidence.mean + 0.5 * known(evidence) * rng.normal(size=len(evidence.mean))
    found[-4] = rng.random()
    return found


def known(evidence):
    """Return the spreads of the priors, 1 for the share of the curves, of which nothing is known."""
    return np.where(np.isfinite(evidence.spread), evidence.spread, 1.0)


def prior(evidence, at):
    return np.delete(norm(evidence.mean, known(evidence)).logpdf(at), -4).sum()


@pytest.mark.parametrize("seed", range(3))
def test_evidence_is_the_normal_density_times_the_prior(rows, seed):
    X, curves, y = rows
    evidence = Evidence(*rows)
    at = somewhere(evidence, seed)
    density = multivariate_normal(cov=covariance(X, curves, at)).logpdf(y) + prior(evidence, at)
    start = multivariate_normal(cov=covariance(X, curves, evidence.mean)).logpdf(y)
    start += prior(evidence, evidence.mean)
    assert evidence(evidence.mean)[0] - evidence(at)[0] == pytest.approx(density - start, rel=1e-9)


@pytest.mark.parametrize("seed", range(3))
def test_gradient_is_that_of_the_value(rows, seed):
    evidence = Evidence(*rows)
    at = somewhere(evidence, seed)
    steps = 1e-5 * np.eye(len(at))
    slopes = [(evidence(at + step)[0] - evidence(at - step)[0]) / 2e-5 for step in steps]
    np.testing.assert_allclose(evidence(at)[1], slopes, rtol=1e-5, atol=1e-5)


def test_parameters_tell_columns_that_matter_from_others_and_signal_from_noise(rows):
    X, curves, y = rows
    found = most_likely(X, curves, y)
    assert found[0] < found[1] - 1  # the first column matters, the second does not
    noise = most_likely(X, curves, np.random.default_rng(1).normal(size=40))
    assert noise[-1] > found[-1] + 2
    assert Evidence(*rows)(found)[0] < Evidence(*rows)(Evidence(*rows).mean)[0]


def test_curves_are_used_as_far_as_the_labels_ask_for_them():
    X = np.random.default_rng(0).normal(size=(60, 1))
    curves = np.exp(X) - X
    assert most_likely(X, curves, np.sin(2 * np.exp(X[:, 0])))[-4] > 0.9
    assert most_likely(X, curves, np.sin(2 * X[:, 0]))[-4] < 0.1
