"""Rows like the public ones, with their errors: what trees are grown on, and what tells which leaves overlap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from hedgerow.portable.bumps import squared_distances
from hedgerow.sums.aims import left_open
from hedgerow.types import FloatArray

__all__ = ["Pool", "pool_rows"]

ROWS = 800  # public ones, and points between them if these are fewer: as many as a matrix of them is quick with
_NEIGHBOURS = 5  # of a public record, between which rows are made up
_FEW_VALUES = 12  # up to which a column is taken for codes: months have so many


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows (design, public prediction), with the error of the prediction.

    Attributes
    ----------
    root : array
        Of the covariance of errors that public records leave open, see :func:`~hedgerow.sums.aims.left_open`.
    """

    rows: FloatArray
    residual: FloatArray
    root: FloatArray


def pool_rows(
    F: FloatArray,
    residual: FloatArray,
    predict: Callable[[FloatArray], FloatArray],
    units: Callable[[FloatArray], FloatArray],
    seed: int,
) -> Pool:
    """Return public rows, and points between near ones if they are few, their errors in proportion.

    Parameters
    ----------
    F : array
        Design and public prediction of public records.
    residual : array
        Their errors. Labels are taken to be known up to the share of their variance that these leave.
    predict, units : callable
        Public prediction for a design, and the design in the units of a Gaussian process.

    Examples
    --------
    >>> F = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    >>> pool = pool_rows(F, np.array([1.0, 1.0, 1.0]), lambda D: D[:, 0], lambda D: D, 0)
    >>> pool.rows.shape, bool((pool.residual == 1).all()), pool.root.shape
    ((800, 2), True, (800, 800))
    """
    label = F[:, -1] + residual
    spread = float(np.var(label))
    noise = min(float(np.mean(residual**2)) / spread, 1.0) if spread > 0 else 1.0
    rows, errors = _rows(F, residual, predict, seed)
    known = units(rows[: min(len(F), ROWS), :-1])  # rows begin with the public ones
    return Pool(rows, errors, left_open(units(rows[:, :-1]), known, noise))


def _rows(
    F: FloatArray, residual: FloatArray, predict: Callable[[FloatArray], FloatArray], seed: int
) -> tuple[FloatArray, FloatArray]:
    rng = np.random.default_rng(seed)
    n = len(F)
    if n >= ROWS:
        chosen = rng.choice(n, ROWS, replace=False)
        return F[chosen], residual[chosen]
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
    return rows, np.concatenate([residual, errors])
