"""Curves that make columns normal: exact at the edges, none where there is nothing to bend."""

import numpy as np
import pytest
from scipy.stats import norm

from hedgerow.public.curves import N_EDGES, Curves


def bent(X, at=None):
    center = X.mean(axis=0)
    spread = X.std(axis=0)
    at = X if at is None else at
    return (at - center) / spread + Curves.of(X, center, spread)(at)


def test_edges_get_their_normal_scores_and_records_keep_their_order():
    X = np.exp(3 * np.random.default_rng(0).normal(size=(16 * 8 + 1, 2)))
    U = bent(X)
    order = np.argsort(X[:, 0])
    assert (np.diff(U[order, 0]) > 0).all()
    ranks = np.arange(0, 16 * 8 + 1, 8)
    np.testing.assert_allclose(U[order[ranks], 0], norm.ppf((ranks + 1) / (len(X) + 1)), atol=1e-9)


def test_ties_get_the_score_of_their_middle_rank():
    X = np.repeat([[0.0], [1.0], [5.0]], [60, 30, 10], axis=0)
    np.testing.assert_allclose(bent(X)[[0, 60, 90], 0], norm.ppf(np.array([30.5, 75.5, 95.5]) / 101), atol=1e-9)


def test_columns_of_two_values_or_one_are_left_alone():
    X = np.column_stack([np.arange(40) % 2, np.full(40, 3.0)]).astype(float)
    curves = Curves.of(X, np.zeros(2), np.ones(2))
    assert curves.edges.shape == (N_EDGES, 2) and not curves.bends.any() and not curves(X).any()


def test_beyond_the_records_columns_go_on_as_they_are():
    X = np.random.default_rng(0).random((50, 1)) ** 4
    ends = bent(X, np.array([[X.min() - 2], [X.min() - 1], [X.max() + 1], [X.max() + 2]]))[:, 0]
    np.testing.assert_allclose([ends[1] - ends[0], ends[3] - ends[2]], 1 / X.std(), rtol=1e-9)


@pytest.mark.parametrize(("far", "most"), [(1e3, 4), (1e8, 4), (1e12, 10)])
def test_steep_pieces_do_not_cost_digits(far, most):
    # All records but one are within a range that is tiny beside it; in the end too tiny to tell them apart.
    X = np.append(np.random.default_rng(0).random(99), far)[:, None]
    U = bent(X)
    assert np.isfinite(U).all() and U.max() < most
    assert (np.diff(U[np.argsort(X[:, 0]), 0]) > -1e-6).all()
