"""Rows like the public ones."""

from __future__ import annotations

import numpy as np

from hedgerow.portable.bumps import Matern
from hedgerow.sums.rows import GROWN, ROWS, around, made_up, pool_rows


def pool_of(n):
    """n public rows whose prediction is ten times their number, and whose error is their number."""
    number = np.arange(n, dtype=float)
    F = np.column_stack([number, 10 * number])
    return pool_rows(F, number, lambda D: 10 * D[:, 0], Matern(np.zeros((0, 1)), [], [0.0], [1.0]), 0)


def test_rows_around_spread_as_rows_of_one_place_do_and_rows_between_less():
    """Across a thin line, of which all rows are one place: the variance doubles, or falls to two thirds."""
    rng = np.random.default_rng(0)
    along = np.linspace(0, 1, 4000)
    D = np.column_stack([along, along + 1e-3 * rng.normal(size=4000)])
    # Neighbours are near along the line, and by chance across it (nearness decides on a hundredth of the width).
    D[:, 0] *= 1e6
    across = [(rows[:, 1] - rows[:, 0] / 1e6).var() / 1e-6 for rows in (
        made_up(D, 20_000, rng, around(rng)), made_up(D, 20_000, rng, rng.random))]  # fmt: skip
    assert 1.5 < across[0] < 2.2
    assert across[1] < 0.9


def test_rows_stay_within_the_range_of_each_column():
    D = np.linspace(0, 1, 40)[:, None]
    rng = np.random.default_rng(0)
    rows = made_up(D, 5000, rng, around(rng))
    assert rows.min() == 0 and rows.max() == 1


def test_the_first_rows_are_the_public_ones_with_their_errors():
    pool = pool_of(30)
    assert len(pool.rows) == ROWS and len(pool.root) == GROWN
    np.testing.assert_array_equal(pool.rows[:30, 0], pool.residual)
    assert sorted(pool.residual) == list(range(30))
    np.testing.assert_allclose(pool.rows[:, 1], 10 * pool.rows[:, 0])
    np.testing.assert_allclose(pool.process.points, pool.rows[:, :1], rtol=1e-6)
    assert pool.process.n_public == 30 and not pool.bumps.weights.any()
    np.testing.assert_array_equal(pool.bumps.points, pool.process.centres)


def test_of_many_public_rows_random_ones_are_taken_and_none_is_made_up():
    pool = pool_of(2 * ROWS)
    assert len(pool.rows) == len(pool.residual) == len(set(pool.residual)) == ROWS
    np.testing.assert_array_equal(pool.rows[:, 0], pool.residual)
    assert pool.residual[:GROWN].max() > 1.5 * ROWS  # those trees are grown on are not the first of a sorted file


def test_one_public_row_stands_for_all():
    assert (pool_of(1).rows == 0).all()
