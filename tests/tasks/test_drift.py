"""What is believed of values that may have drifted: the closed form, its limits, and its coverage."""

import itertools

import numpy as np
import pytest

from hedgerow.tasks.drift import SHIFT_SD, Believed, believe, spreads


def made(seed, m=6):
    rng = np.random.default_rng(seed)
    return rng.normal(size=m), rng.uniform(0.01, 0.1, m), rng.normal(size=m), rng.uniform(0.05, 0.5, m)


@pytest.mark.parametrize("seed", range(3))
def test_it_is_the_posterior_of_the_dense_model(seed):
    known, known_var, seen, seen_var = made(seed)
    width = 5.0
    got = believe(known, known_var, seen, seen_var, width)
    tau2, prior = spreads(1 / seen_var, width)
    fits = []
    for k, t in enumerate(tau2):
        A = np.diag(known_var + t) + (SHIFT_SD * width) ** 2  # delta adds the same to every value
        C = A + np.diag(seen_var)
        fits.append(-0.5 * (np.linalg.slogdet(C)[1] + (seen - known) @ np.linalg.solve(C, seen - known)))
        np.testing.assert_allclose(got.mean[k], known + A @ np.linalg.solve(C, seen - known), rtol=1e-8, atol=1e-10)
        np.testing.assert_allclose(got.variance[k], np.diag(A - A @ np.linalg.solve(C, A)), rtol=1e-6)
    weights = prior * np.exp(np.array(fits) - max(fits))
    np.testing.assert_allclose(got.weights, weights / weights.sum(), rtol=1e-8)


def test_the_prior_of_the_spread_is_uniform():
    tau2, prior = spreads(np.full(4, 100.0), 10.0)
    most = (SHIFT_SD * 10.0) ** 2
    assert tau2[-1] == pytest.approx(most)
    assert prior.sum() == pytest.approx(1)
    for end in (0.1, 0.25, 0.5):  # a point of the log grid is up to a third of what lies below it
        assert prior[tau2 < end * most].sum() == pytest.approx(end, rel=0.4)


def test_values_that_are_seen_clearly_are_as_seen():
    known, known_var, seen, _ = made(1)
    low, high = believe(known, known_var, seen, np.full(6, 1e-10), 5.0).interval(0.9)
    np.testing.assert_allclose((low + high) / 2, seen, atol=1e-6)
    np.testing.assert_allclose(high - low, 2 * 1.6449 * 1e-5, rtol=1e-3)


def test_without_knowledge_it_is_what_is_seen():
    _, _, seen, seen_var = made(2)
    low, high = believe(np.zeros(6), np.full(6, 1e9), seen, seen_var, 1e4).interval(0.9)
    np.testing.assert_allclose(low, seen - 1.6449 * np.sqrt(seen_var), atol=1e-3)
    np.testing.assert_allclose(high, seen + 1.6449 * np.sqrt(seen_var), atol=1e-3)


def test_where_nothing_is_seen_anything_near_is_possible():
    low, high = believe(np.zeros(2), np.zeros(2), np.array([99.0, 99.0]), np.full(2, np.inf), 1.0).interval(0.9)
    np.testing.assert_allclose(low, -high, atol=1e-9)
    assert (high > 0.25).all() and (high < 1).all()  # public labels off by a quarter of the range are no surprise


def test_a_shift_of_all_is_found_and_is_no_spread():
    known = np.linspace(0, 1, 20)
    fair = believe(known, np.full(20, 1e-4), known + 0.01 * np.sin(9 * known), np.full(20, 1e-2), 2.0)
    moved = believe(known, np.full(20, 1e-4), known + 0.3 + 0.01 * np.sin(9 * known), np.full(20, 1e-2), 2.0)
    for one, other in zip(fair.interval(0.9), moved.interval(0.9), strict=True):
        np.testing.assert_allclose(other - one, 0.3, atol=0.01)


def test_intervals_are_nested():
    found = believe(*made(3), 5.0)
    ends = [found.interval(level) for level in (0.5, 0.8, 0.9, 0.99)]
    for (low, high), (lower, higher) in itertools.pairwise(ends):
        assert (lower < low).all() and (high < higher).all()


def test_quantiles_of_a_mixture():
    two = Believed(np.array([0.5, 0.5]), np.array([[-10.0], [10.0]]), np.array([[1.0], [1.0]]))
    assert two.quantile(0.25)[0] == pytest.approx(-10, abs=1e-6)
    assert two.quantile(0.75)[0] == pytest.approx(10, abs=1e-6)
    assert two.total_variance[0] == pytest.approx(101)


@pytest.mark.parametrize("bias", [0.0, 0.1, 0.2])
def test_coverage_whatever_the_bias(bias):
    # 8 values, 400 times: were the coverage .9, fewer than .85 in all would come up with chance below 1e-6, even if
    # all 8 of a time were hit or missed together (400 draws: 6.0 deviations are .09; they are nearly independent).
    rng = np.random.default_rng(7)
    covered = []
    widths = []
    for _ in range(400):
        truth = rng.uniform(0.2, 0.8, 8)
        known = truth + bias + 0.02 * rng.standard_normal(8)
        seen = truth + 0.08 * rng.standard_normal(8)
        low, high = believe(known, np.full(8, 0.0004), seen, np.full(8, 0.0064), 1.0).interval(0.9)
        covered.append((low <= truth) & (truth <= high))
        widths.append(high - low)
    assert np.mean(covered) > 0.85
    assert np.mean(widths) < 0.8 * 2 * 1.6449 * 0.08  # that of what is seen alone


@pytest.mark.parametrize("stray", [0.0, 0.5, 1.0, 2.0])
def test_coverage_whatever_the_strays(stray):
    # 16 values, 150 times, strays on one side or the other and as large as the noise: the worst of all laws. Nominal
    # is .8, and .79 is the least of a long run (6 draws of 10,000). Of 2,400 nearly independent hits fewer than .74
    # would come up with chance below 1e-6 (5 deviations of .0083 are .042). The uniform prior of the share of shrinkage
    # has .72 here.
    rng = np.random.default_rng(11)
    covered = []
    for _ in range(150):
        truth = stray * np.sign(rng.standard_normal(16)) + rng.normal()
        seen = truth + rng.standard_normal(16)
        low, high = believe(np.zeros(16), np.zeros(16), seen, np.ones(16), 60.0).interval(0.8)
        covered.append((low <= truth) & (truth <= high))
    assert np.mean(covered) > 0.74
