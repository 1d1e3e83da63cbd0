"""Rows like the public ones: what trees are grown on, and what tells which leaves overlap."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hedgerow.portable.bumps import Matern, squared_distances
from hedgerow.sums.aims import left_open
from hedgerow.tasks.sums.process import Process
from hedgerow.types import FloatArray

__all__ = ["Pool", "pool_rows"]

GROWN = 800  # on which trees are grown: as many as a matrix of them is quick with
ROWS = 1600
"""In all. Which leaves overlap, and how much, is a mean over rows; the weights of rows are what holders' counts make of
them (:func:`~hedgerow.tasks.sums.told.row_weights`), and few rows cannot follow these.

With 1e5 holders at epsilon 4, where noise matters least, 400 public records, two splits of CAL and GAS in a script:
.34 and .41 of the gap with 400 points between alone, .42 and .51 with 800 rows around beside them; instead of them, .38
and .44 with 400 rows around, .42 and .54 with 1,200, .43 and .55 with 2,000, all with the same trees. Other trees move
CAL by .05. By hand: a task grows with them."""
_NEIGHBOURS = 5  # of a public record, towards which rows are made up; 10 and 20 gave the same to .015 (the same script)
_FAR = 1e6  # lengths, within which rows are kept: no two that are so far apart tell of each other
_LEAST = 1e-12  # of the variance: labels may be known exactly
_FEW_VALUES = 12  # up to which a column is taken for codes: months have so many


@dataclass(frozen=True, eq=False)
class Pool:
    """Rows (design, public prediction), of which the first are public.

    Attributes
    ----------
    residual : array
        Errors of the prediction for the public ones.
    root : array
        Of the covariance of errors that public records leave open, for the first rows, see
        :func:`~hedgerow.sums.aims.left_open`.
    process, bumps : Process and Matern, or None
        The rows in the units of a Gaussian process, and bumps of no height around its centres.
    """

    rows: FloatArray
    residual: FloatArray
    root: FloatArray
    process: Process | None = None
    bumps: Matern | None = None


def pool_rows(
    F: FloatArray,
    residual: FloatArray,
    predict: Callable[[FloatArray], FloatArray],
    units: Matern,
    seed: int,
) -> Pool:
    """Return public rows in random order; if they are few, then points between near ones, then rows around them.

    Trees follow errors that public records leave open, which are largest far from them: grown on rows around, leaves
    would be where few holders are.

    Parameters
    ----------
    F : array
        Design and public prediction of public records.
    residual : array
        Their errors. Labels are taken to be known up to the share of their variance that these leave.
    predict : callable
        Public prediction for a design.
    units : Matern
        The units of a Gaussian process over the design, without bumps.

    Examples
    --------
    >>> F = np.array([[0.0, 0.0], [1.0, 1.0], [5.0, 5.0]])
    >>> units = Matern(np.zeros((0, 1)), [], [0.0], [1.0])
    >>> pool = pool_rows(F, np.array([1.0, 1.0, 1.0]), lambda D: D[:, 0], units, 0)
    >>> pool.rows.shape, pool.residual.shape, pool.root.shape, pool.process.points.shape, pool.bumps.points.shape
    ((1600, 2), (3,), (800, 800), (1600, 1), (400, 1))
    """
    label = F[:, -1] + residual
    spread = float(np.var(label))
    noise = min(float(np.mean(residual**2)) / spread, 1.0) if spread > 0 else 1.0
    rng = np.random.default_rng(seed)
    chosen = rng.permutation(len(F))[:ROWS]
    D = F[:, :-1]
    between = made_up(D, max(GROWN - len(D), 0), rng, rng.random)
    others = made_up(D, ROWS - len(chosen) - len(between), rng, around(rng))
    made = np.concatenate([between, others])
    g = predict(made) if len(made) else np.zeros(0)
    rows = np.concatenate([F[chosen], np.column_stack([made, g])])
    U = np.clip(units.units(rows[:, :-1]), -_FAR, _FAR)
    root = left_open(U[:GROWN], U[: min(len(chosen), GROWN)], noise)
    if not D.shape[1]:
        return Pool(rows, residual[chosen], root)
    process = Process(D.shape[1], U.astype(np.float32), len(chosen), max(noise, _LEAST))
    centres = process.centres
    bumps = replace(units, points=centres, weights=np.zeros(len(centres)))
    return Pool(rows, residual[chosen], root, process, bumps)


def made_up(D: FloatArray, n: int, rng: np.random.Generator, steps: Callable[[int], FloatArray]) -> FloatArray:
    r"""Return rows ``a + s (b - a)``, a a public one and b one of its neighbours, cut to the range of each column.

    Codes are those of a or b.

    Parameters
    ----------
    steps : callable
        Draws so many of s.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> D = np.column_stack([np.append(rng.random(50), 9 + rng.random(50)), np.repeat([0.0, 1.0], 50)])
    >>> rows = made_up(D, 500, rng, rng.random)  # of two places, each with a code
    >>> bool(((rows[:, 0] <= 1) | (rows[:, 0] >= 9)).all()), np.unique(rows[:, 1]).tolist()
    (True, [0.0, 1.0])
    """
    spread = D.std(axis=0)
    U = (D - D.mean(axis=0)) / np.where(spread > 0, spread, 1.0)
    near = np.argsort(squared_distances(U, U), axis=1)[:, 1 : 1 + _NEIGHBOURS]
    own = rng.integers(len(D), size=n)
    other = near[own, rng.integers(near.shape[1], size=n)] if len(D) > 1 else own
    share = steps(n)[:, None]
    few = np.array([len(np.unique(column)) <= _FEW_VALUES for column in D.T], dtype=bool)
    moved = np.clip(D[own] + share * (D[other] - D[own]), D.min(axis=0), D.max(axis=0))
    either = np.where(rng.random((n, D.shape[1])) < share, D[other], D[own])
    return np.where(few, either, moved)


def around(rng: np.random.Generator) -> Callable[[int], FloatArray]:
    """Return what draws steps after which rows spread as the neighbours of a row do.

    They are normal with a variance of 1/2, for a difference of two rows of one place has twice the covariance of the
    rows there. Points between two rows, with steps of 0 to 1, lie closer together than rows do.
    """
    return lambda n: rng.normal(size=n) / np.sqrt(2)
