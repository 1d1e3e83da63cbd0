"""Rows like the public ones, with their errors: what trees are grown on, and what tells which leaves overlap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hedgerow.portable.bumps import squared_distances
from hedgerow.types import FloatArray

__all__ = ["Pool", "pool_rows"]

ROWS = 800  # public ones, and points between them if these are fewer: as many as a matrix of them is quick with
_NEIGHBOURS = 5  # of a public record, between which rows are made up
_FEW_VALUES = 12  # up to which a column is taken for codes: months have so many


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows (design, public prediction), with the error of the prediction and the label."""

    rows: FloatArray
    residual: FloatArray

    @property
    def label(self) -> FloatArray:
        """What the label is, or is likely to be."""
        return self.rows[:, -1] + self.residual


def pool_rows(F: FloatArray, residual: FloatArray, predict: Callable[[FloatArray], FloatArray], seed: int) -> Pool:
    """Return public rows, and points between near ones if they are few, their errors in proportion.

    Examples
    --------
    >>> F = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    >>> pool = pool_rows(F, np.array([1.0, 1.0, 1.0]), lambda D: D[:, 0], 0)
    >>> pool.rows.shape, bool((pool.residual == 1).all())
    ((800, 2), True)
    """
    rng = np.random.default_rng(seed)
    n = len(F)
    if n >= ROWS:
        chosen = rng.choice(n, ROWS, replace=False)
        return Pool(F[chosen], residual[chosen])
    more = ROWS - n
    D = F[:, :-1]
    spread = D.std(axis=0)
    U = (D - D.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    near = np.argsort(squared_distances(U, U), axis=1)[:, 1 : 1 + _NEIGHBOURS]
    own = rng.integers(n, size=more)
    other = near[own, rng.integers(near.shape[1], size=more)] if n > 1 else own
    share = rng.random(more)
    few = np.array([len(np.unique(column)) <= _FEW_VALUES for column in D.T], dtype=bool)
    between = D[own] + share[:, None] * (D[other] - D[own])
    either = np.where(rng.random((more, D.shape[1])) < share[:, None], D[other], D[own])
    new = np.where(few, either, between)
    errors = residual[own] + share * (residual[other] - residual[own])
    rows = np.concatenate([F, np.column_stack([new, predict(new)])])
    return Pool(rows, np.concatenate([residual, errors]))
