"""Rows like the public ones, with their errors: what trees are grown on, and what tells which leaves overlap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hedgerow.portable.bumps import squared_distances
from hedgerow.types import FloatArray

__all__ = ["Pool", "pool_rows"]

N_BETWEEN = 1200  # rows between public ones (AGGREGATE.md's recipe, chosen there)
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
    """Return public rows and points between near ones, their errors in proportion."""
    rng = np.random.default_rng(seed)
    n = len(F)
    D = F[:, :-1]
    spread = D.std(axis=0)
    U = (D - D.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    near = np.argsort(squared_distances(U, U), axis=1)[:, 1 : 1 + _NEIGHBOURS]
    own = rng.integers(n, size=N_BETWEEN)
    other = near[own, rng.integers(near.shape[1], size=N_BETWEEN)] if n > 1 else own
    share = rng.random(N_BETWEEN)
    few = np.array([len(np.unique(column)) <= _FEW_VALUES for column in D.T], dtype=bool)
    between = D[own] + share[:, None] * (D[other] - D[own])
    either = np.where(rng.random((N_BETWEEN, D.shape[1])) < share[:, None], D[other], D[own])
    new = np.where(few, either, between)
    errors = residual[own] + share * (residual[other] - residual[own])
    rows = np.concatenate([F, np.column_stack([new, predict(new)])])
    return Pool(rows, np.concatenate([residual, errors]))
