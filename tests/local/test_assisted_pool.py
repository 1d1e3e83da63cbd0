"""Corrections pooled over trees, against the same posterior by brute force."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.linear_model import Ridge

from hedgerow import FeatureSpace
from hedgerow.local.assisted import design_assisted
from hedgerow.local.assisted.reference import N_REFERENCE, reference_rows
from hedgerow.portable import Linear, PortableModel
from hedgerow.tasks.assisted.pool import GRID, SPIKE, overlaps, pool, rake, smoothed
from hedgerow.tasks.holder import privatize_many


def made(seed, leaves=(3, 4, 2), rows=50):
    rng = np.random.default_rng(seed)
    reference = np.column_stack([rng.integers(k, size=rows) for k in leaves])
    return reference, rng.normal(size=sum(leaves)), rng.uniform(0.05, 0.5, sum(leaves))


@pytest.mark.parametrize("seed", range(4))
def test_posterior_is_that_of_the_dense_model(seed):
    reference, z, V = made(seed)
    M, _ = overlaps(reference, (3, 4, 2))
    got = pool(z, V, M, 2.0, 3)
    fits, means = [], []
    for t2 in np.concatenate([[0.0], 2.0 * GRID]) / 3:
        C = t2 * M @ M.T + np.diag(V)
        fits.append(-0.5 * (np.linalg.slogdet(C)[1] + z @ np.linalg.solve(C, z)))
        gain = t2 * M.T @ np.linalg.inv(C)
        means.append(gain @ z)
    weights = np.array([SPIKE, *[(1 - SPIKE) / len(GRID)] * len(GRID)]) * np.exp(np.array(fits) - max(fits))
    weights /= weights.sum()
    assert got.nothing == pytest.approx(weights[0])
    np.testing.assert_allclose(got.u, weights @ np.array(means), rtol=1e-9, atol=1e-12)
    assert 0 < got.kept < 1


@pytest.mark.parametrize("size", [0.1, 1.0, 3.0])
def test_the_response_is_the_derivative_of_the_corrections(size):
    """By differences: how noise in z moves u, the weights of tau included."""
    reference, z, V = made(5)
    z = size * z
    M, _ = overlaps(reference, (3, 4, 2))
    step = 1e-5
    columns = []
    for each in step * np.eye(len(z)):
        columns.append((pool(z + each, V, M, 2.0, 3, 0.1).u - pool(z - each, V, M, 2.0, 3, 0.1).u) / (2 * step))
    np.testing.assert_allclose(pool(z, V, M, 2.0, 3, 0.1).response, np.array(columns).T, atol=1e-7)


def test_overlaps_are_shares_of_rows():
    reference, _, _ = made(1)
    M, G = overlaps(reference, (3, 4, 2))
    start = (0, 3, 7)
    for t, s in ((0, 1), (2, 0), (1, 1)):
        for j in range((3, 4, 2)[t]):
            rows = reference[reference[:, t] == j]
            share = np.bincount(rows[:, s], minlength=(3, 4, 2)[s]) / len(rows)
            np.testing.assert_allclose(M[start[t] + j, start[s] : start[s] + (3, 4, 2)[s]], share)
    assert G.trace() == pytest.approx(3)
    alone, _ = overlaps(np.zeros((1, 2), int), (2, 2))
    assert alone[1].tolist() == [0, 1, 0, 0]  # nobody is known to be there


def test_smoothed_overlaps_are_shares_with_half_a_record_more():
    reference, _, _ = made(2)
    leaves = (3, 4, 2)
    M, G = overlaps(reference, leaves)
    p = np.diag(G)
    records = np.linspace(1, 9, 9)
    got = smoothed(M, leaves, p, records)
    np.testing.assert_array_equal(got[3:7, 3:7], np.eye(4))  # a tree's own leaves do not overlap
    np.testing.assert_allclose(got[3, :3], (4 * M[3, :3] + 0.5 * p[:3]) / 4.5)
    np.testing.assert_allclose(got.sum(axis=1), 3)


def test_raked_rows_have_the_shares_of_holders():
    rng = np.random.default_rng(0)
    rows = np.column_stack([rng.integers(3, size=900), rng.integers(4, size=900)])
    truth = rng.uniform(0.2, 3, 900)
    truth /= truth.sum()
    share = np.concatenate([np.bincount(c, truth, k) for c, k in zip(rows.T, (3, 4), strict=True)])
    weights = rake(rows, (3, 4), share)
    M, G = overlaps(rows, (3, 4), weights)
    np.testing.assert_allclose(np.diag(G), share, atol=1e-9)
    assert M[:3, 3:].sum(axis=1) == pytest.approx(np.ones(3)) and weights.sum() == pytest.approx(1)
    inside = rows[:, 0] == 1
    expected = np.bincount(rows[inside, 1], weights[inside], 4) / weights[inside].sum()
    np.testing.assert_allclose(M[1, 3:], expected)


def test_pooling_separates_what_trees_share():
    """Two trees that overlap each see the other's effect; averages would give either half of it."""
    rng = np.random.default_rng(0)
    a = rng.integers(2, size=(4000, 2))
    reference = np.column_stack([a[:, 0], np.where(rng.random(4000) < 0.8, a[:, 0], a[:, 1])])
    truth = np.array([0.7, -0.7, 0.0, 0.0])
    M, _ = overlaps(reference, (2, 2))
    u = pool(M @ truth, np.full(4, 1e-4), M, 1.0, 2).u
    for row in reference[:50]:
        assert abs(u[row[0]] + u[2 + row[1]] - truth[row[0]]) < 0.05
        average = ((M @ truth)[row[0]] + (M @ truth)[2 + row[1]]) / 2
        assert row[0] == row[1] or abs(average - truth[row[0]]) > 0.3


def test_reference_rows_lie_between_public_ones():
    rng = np.random.default_rng(0)
    D = np.column_stack([rng.random(60), rng.integers(3, size=60)])
    F = np.column_stack([D, D.sum(axis=1)])
    rows = reference_rows(F, lambda A: A.sum(axis=1), 1)
    assert len(rows) == N_REFERENCE and set(rows[:, 1]) <= {0.0, 1.0, 2.0}
    assert len(np.unique(rows[:, 0])) > 1000 and D[:, 0].min() <= rows[:, 0].min() <= rows[:, 0].max() <= D[:, 0].max()
    np.testing.assert_array_equal(rows[:, 2], rows[:, :2].sum(axis=1))
    assert reference_rows(np.zeros((1, 2)), lambda A: A[:, 0], 0).shape == (N_REFERENCE, 2)


def test_reference_rows_fill_the_boxes_between_neighbours():
    """Public rows on a diagonal: rows between them are off it, by less than the fifth neighbour is away."""
    D = np.repeat(np.arange(60.0)[:, None], 2, axis=1)
    rows = reference_rows(np.column_stack([D, D[:, 0]]), lambda A: A[:, 0], 1)
    off = np.abs(rows[:, 0] - rows[:, 1])
    assert 0.5 < off.mean() < 2 and off.max() < 5


@pytest.mark.parametrize("n", [1500, 2000, 7000])
def test_many_public_records_are_reference_rows_themselves(n):
    many = np.column_stack([np.random.default_rng(0).random((n, 2)), np.zeros(n)])
    kept = reference_rows(many, lambda A: A[:, 0], 1)
    assert len(kept) == min(n, N_REFERENCE) == len(np.unique(kept[:, 0])) and set(kept[:, 0]) <= set(many[:, 0])


def test_noise_alone_is_not_believed():
    """Holders whom the public model fits: at 30 seeds the noise of 500 reports at epsilon 1 moves little."""
    rng = np.random.default_rng(0)
    X = rng.random((300, 2))
    y = X[:, 0] + rng.normal(0, 0.2, 300)
    task = design_assisted(
        X, y, epsilon=1.0, label_bounds=(-1, 2), n_holders=500, public_model=Ridge(1e-6), random_state=0
    )
    Z = rng.random((500, 2))
    labels = Z[:, 0] + rng.normal(0, 0.2, 500)
    moved = []
    for seed in range(30):
        model = task.simulate(Z, labels, seed).model()
        moved.append(np.mean((model.predict(Z) - model.predict_public(Z)) ** 2))
    assert np.mean(moved) < 0.1 * task.residuals.mean_square


@pytest.mark.parametrize("epsilon", [1.0, 6.0])
def test_a_public_model_that_overflows_keeps_nobody_from_answering(epsilon):
    rng = np.random.default_rng(0)
    X = rng.random((100, 1))
    task = design_assisted(X, X[:, 0], epsilon=epsilon, label_bounds=(0, 1), n_holders=5000, public_model=Ridge())
    wild = PortableModel(1, [0], [-1], 0.0, (Linear([1e308]), Linear([-1e308])))
    space = FeatureSpace.from_bounds((0, 20), ["x"])
    task = replace(task, public_model=wild, space=space)
    with np.errstate(all="ignore"):
        reports = privatize_many(task, np.array([[0.5], [20.0]]), [0.5, 0.5], 0)
    assert len(reports) == 2
