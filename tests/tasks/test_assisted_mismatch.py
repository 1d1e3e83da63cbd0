"""What decoding takes as known, and how much of a correction is safe."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow.local.assisted import design_assisted
from hedgerow.tasks.assisted.choose import choices, expected_share
from hedgerow.tasks.assisted.mismatch import (
    decoding_bias,
    largest_square,
    leaves_scale,
    level_scale,
    size_variance,
    with_share_errors,
)
from hedgerow.tasks.assisted.pool import Pooled, overlaps, pool
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.gate import SLACK, Estimate, safe_share


@pytest.fixture(scope="module")
def task():
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = X[:, 0] + (X[:, 1] > 0.5) + rng.exponential(0.4, 300)
    return design_assisted(X, y, epsilon=2.0, label_bounds=(-1, 6), n_holders=4000, public_model=Ridge(), n_trees=3)


def test_subsets_leave_half_of_the_leaves_out_and_most_errors_are_within_the_radius():
    residuals = np.random.default_rng(0).standard_t(3, 500)
    for K in (1, 2, 3, 8):
        for choice in choices(residuals, 0.5, K):
            assert choice.randomizer == "levels" or choice.parameter <= max(1, K / 2)
            assert np.mean(np.abs(residuals) < choice.radius) >= 0.5


def test_with_more_reports_bias_counts_more_and_the_radius_grows():
    rng = np.random.default_rng(1)
    X = rng.random((400, 2))
    y = X[:, 0] + rng.exponential(1.0, 400)
    options = {"epsilon": 4.0, "label_bounds": (-1, 12), "public_model": Ridge()}
    few, many = (design_assisted(X, y, n_holders=n, **options) for n in (500, 500_000))
    assert few.residuals.inside >= 0.5
    assert many.radius > 1.3 * few.radius


def test_nothing_is_added_where_nothing_is_clipped(task):
    wide = replace(task, radius=100.0, residuals=Residuals.summarise(np.array(task.residuals.quantiles), 100.0, 2))
    assert decoding_bias(wide) == pytest.approx(0.0, abs=1e-12)
    excess = task.residuals.excess(task.radius)
    assert decoding_bias(task) == expected_share(max(task.trees.n_leaves)) * excess > 0


def test_shares_that_reports_do_not_tell_make_corrections_uncertain(task):
    rng = np.random.default_rng(2)
    X = rng.random((4000, 2))
    found = task.simulate(X, X[:, 0] + rng.normal(size=4000), 0).model().corrections
    res = task.residuals
    middle = res.clipped_mean * task.radius / res.inside - res.mean
    V = np.concatenate(found.V)
    for level in (-middle, 1.0):  # where decoded errors are 0 on average, shares do not matter
        off = np.concatenate(found.share_variance) / np.concatenate(found.p) ** 2
        expected = V + (middle + level) ** 2 * off
        np.testing.assert_allclose(with_share_errors(task, found, level), expected, rtol=1e-9)


def test_the_gain_of_pooled_corrections_is_estimated_without_bias(monkeypatch):
    # One tree of four leaves: E[r f] is known. The mean of 8,000 estimates is within five standard errors of it, which
    # happens but for a chance below 1e-6; without the trace it is 1.3 noise variances off, more than sixty errors.
    seen = []
    monkeypatch.setattr("hedgerow.tasks.assisted.mismatch.safe_share", lambda found, _: seen.append(found) or 1.0)
    rng = np.random.default_rng(3)
    p = np.array([0.1, 0.2, 0.3, 0.4])
    truth = np.array([0.5, -0.2, 0.0, 0.1])
    V = np.array([4.0, 2.0, 1.0, 1.0])
    C = np.diag([0.2, 0.3, 0.4, 0.4]) + 0.02
    gap = []
    for _ in range(8_000):
        z = truth + np.sqrt(V) * rng.normal(size=4)
        leaves_scale(1.0, Pooled(C @ z, 0.0, 0.0, C), z, np.diag(V), p, np.diag(p), 0.7)
        found = seen.pop()
        assert found.square == pytest.approx(float(p @ (C @ z) ** 2)) and found.square_sd == 0.7
        gap.append((found.product - float((C @ z * p) @ truth), found.product_sd))
    error = np.array(gap)
    assert abs(error[:, 0].mean()) < 5 * error[:, 0].std() / np.sqrt(len(gap))
    assert np.sqrt(np.mean(error[:, 1] ** 2)) == pytest.approx(error[:, 0].std(), rel=0.1)


def test_the_estimate_is_without_bias_where_the_size_of_corrections_is_learnt(monkeypatch):
    # As above, with tau by evidence: errors that look large let tau grow. The mean of 8,000 estimates is within five
    # standard errors; with the weights of tau taken as fixed it is more than fifteen off.
    seen = []
    monkeypatch.setattr("hedgerow.tasks.assisted.mismatch.safe_share", lambda found, _: seen.append(found) or 1.0)
    rng = np.random.default_rng(5)
    M, G = overlaps(np.arange(2)[:, None], (2,))
    truth = np.array([0.3, -0.3])
    V = np.ones(2)
    p = np.full(2, 0.5)
    error = []
    for _ in range(8_000):
        z = truth + rng.normal(size=2)
        pooled = pool(z, V, M, 1.0, 1)
        leaves_scale(1.0, pooled, z, np.diag(V), p, G)
        error.append(seen.pop().product - float((pooled.u * p) @ truth))
    assert abs(np.mean(error)) < 5 * np.std(error) / np.sqrt(len(error))


@pytest.mark.parametrize("noise", [0.05, 1.0, 20.0])
def test_noise_alone_seldom_harms(noise):
    # Nothing to correct in 16 leaves, and reports with this variance by leaf, in units of the public squared error.
    rng = np.random.default_rng(4)
    unit = 0.25
    rows = np.arange(16)[:, None]
    M, G = overlaps(rows, (16,))
    p = np.full(16, 1 / 16)
    V = np.full(16, noise * unit)
    harmed = 0
    for _ in range(1500):
        z = np.sqrt(V) * rng.normal(size=16)
        pooled = pool(z, V, M, unit, 1)
        u = pooled.u * leaves_scale(unit, pooled, z, np.diag(V), p, G)
        harmed += float(u @ G @ u) > (SLACK + 1e-9) * unit
    # At most the chance would be 3.75; 18 have a probability below 1e-6.
    assert harmed <= 17


def test_the_level_has_half_the_chance_on_either_side():
    assert level_scale(2.0, 0.3, 0.4, 0.01) == safe_share(Estimate(0.09, 0.12, 0.03), 2.0, sides=2)
    assert level_scale(2.0, -0.3, -0.4, 0.01) == level_scale(2.0, 0.3, 0.4, 0.01)


def test_the_size_of_a_correction_is_as_rough_as_leaf_shares_are():
    # Two trees of two leaves, told by other holders each: E f^2 is the mean of what both trees say. With shares off by
    # normal errors of these variances the variance of 20,000 draws is within 6 % of the stated one (its own relative
    # deviation is 1 %).
    rng = np.random.default_rng(6)
    at = np.array([[0, 2], [0, 3], [1, 2], [1, 3]])
    weights = np.full(4, 0.25)
    f = np.array([2.0, 1.0, 0.5, -3.0])
    variance = np.array([0.01, 0.0, 0.002, 0.03])
    inside = np.array([weights[(at == leaf).any(axis=1)] @ f[(at == leaf).any(axis=1)] ** 2 for leaf in range(4)]) / 0.5
    shares = 0.5 + np.sqrt(variance) * rng.normal(size=(20_000, 4))
    drawn = shares @ inside / 2
    assert drawn.mean() == pytest.approx(weights @ f**2, rel=0.02)
    assert size_variance(f, at, weights, variance) == pytest.approx(drawn.var(), rel=0.06)


def test_no_overlap_of_leaves_makes_a_larger_correction():
    rng = np.random.default_rng(6)
    leaves = (3, 4, 2)
    for _ in range(50):
        reference = np.column_stack([rng.integers(k, size=200) for k in leaves])
        G = overlaps(reference, leaves)[1]
        u = rng.normal(size=sum(leaves))
        assert u @ G @ u <= largest_square(u, np.diag(G), 3) * (1 + 1e-12)
    same = np.repeat(rng.integers(3, size=200)[:, None], 3, axis=1)
    G = overlaps(same, (3, 3, 3))[1]
    u = np.tile([1.0, -2.0, 0.5], 3)
    assert u @ G @ u == pytest.approx(largest_square(u, np.diag(G), 3))


def test_where_holders_are_elsewhere_corrections_count_as_large_as_they_can_be(task, monkeypatch):
    seen = []
    monkeypatch.setattr("hedgerow.tasks.assisted.mismatch.safe_share", lambda found, *_, **__: seen.append(found) or 1)
    rng = np.random.default_rng(7)
    for low, shifted in ((0.0, False), (0.7, True)):
        X = low + (1 - low) * rng.random((40_000, 2))
        model = task.simulate(X, X[:, 0] + 3 * (X[:, 1] > 0.5), 1).model()
        assert (model.corrections.shift > 0) == shifted and model.safe == 1
        u, p = model.pooled.u, np.concatenate(model.corrections.p)
        G = model._overlaps[1]
        expected = largest_square(u, p, 3) if shifted else float(u @ G @ u)
        assert seen[-1].square == pytest.approx(expected)
        assert not shifted or expected > 1.01 * float(u @ G @ u)
