"""Rows like the public ones, to know which leaves of different trees overlap."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from hedgerow.portable.bumps import squared_distances
from hedgerow.types import FloatArray

__all__ = ["N_REFERENCE", "reference_rows"]


# By hand; reference rows are made of public records, and bear on accuracy alone.
N_REFERENCE = 6000
"""Rows. Of trees with 64 leaves each has 94, and 1,500 rows left 23 to tell which of 448 others they overlap with.

With 400 public records of ABA (one split), CAL, CCP, GAS and MET (two), two forests each in a script, reports were the
same: at epsilon 6 and 8 .9378 and .9187 of the public model's error were left with 1,500 rows on lines, .9359 and .9162
with 6,000, .9348 and .9152 with 6,000 in boxes (see below), .9330 and .9127 with rows of the holders themselves."""
_MANY = 1500  # public records from which they are rows themselves, and none are made up
_NEIGHBOURS = 5  # of a public record, between which rows are made up
_FEW_VALUES = 12  # up to which a column is taken for codes: months have so many


def reference_rows(F: FloatArray, predict: Callable[[FloatArray], FloatArray], seed: int) -> FloatArray:
    """Return rows (design, public prediction): public ones, or points between near public ones if these are few.

    A few hundred public records leave most pairs of leaves empty. A new row lies between a public row and one of its
    five nearest: anywhere in the box between them, in each column of at most twelve values at one of the two. The
    public model predicts for it.

    Parameters
    ----------
    F : array of shape (n_public, n_columns + 1)
        Design of the public records, and the public prediction as the last column.
    predict : function of designs
        The public model.

    Examples
    --------
    >>> F = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    >>> rows = reference_rows(F, lambda D: D[:, 0], 0)
    >>> rows.shape, bool((rows[:, 0] == rows[:, 1]).all()), float(rows.min()), float(rows.max())
    ((6000, 2), True, 0.0, 5.0)
    """
    rng = np.random.default_rng(seed)
    n = len(F)
    if n >= _MANY:
        return F[rng.choice(n, min(n, N_REFERENCE), replace=False)]
    D = F[:, :-1]
    spread = D.std(axis=0)
    U = (D - D.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    near = np.argsort(squared_distances(U, U), axis=1)[:, 1 : 1 + _NEIGHBOURS]
    own = np.arange(N_REFERENCE) % n
    other = near[own, rng.integers(near.shape[1], size=N_REFERENCE)] if n > 1 else own
    few = np.array([len(np.unique(column)) <= _FEW_VALUES for column in D.T], dtype=bool)
    between = D[own] + rng.random((N_REFERENCE, D.shape[1])) * (D[other] - D[own])
    either = np.where(rng.random((N_REFERENCE, D.shape[1])) < 0.5, D[own], D[other])
    new = np.where(few, either, between)
    return np.column_stack([new, predict(new)])
