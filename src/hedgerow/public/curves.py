"""Curves that make columns normal, as piecewise linear functions."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.types import FloatArray

__all__ = ["N_EDGES", "Curves"]


N_EDGES = 17  # ends of 16 pieces with equally many records: 6 of 100; by hand
_CLOSEST = 1e-9  # of a column's range, between edges: sums of steep pieces then round by 1e-7 of a standard deviation


@dataclass(frozen=True, eq=False)
class Curves:
    """What is to be added to standardised columns so that they have the normal law: ``normal score - (x - m)/s``.

    A column such as an age in days, of which most are small, is so spread out evenly. Between the edges the function
    is linear, beyond them constant. Columns of two values have none: they are on a line already.

    Attributes
    ----------
    start : array of shape (d,)
        The function up to the first edge.
    edges, bends : arrays of shape (17, d)
        Where the function's slope changes, and by how much.

    Examples
    --------
    >>> x = np.exp(np.random.default_rng(0).normal(size=(500, 1)))
    >>> standardised = (x - x.mean()) / x.std()
    >>> bent = standardised + Curves.of(x, x.mean(axis=0), x.std(axis=0))(x)
    >>> bool(abs(np.mean(standardised**3)) > 3 > 0.5 > abs(np.mean(bent**3)))
    True
    """

    start: FloatArray
    edges: FloatArray
    bends: FloatArray

    @classmethod
    def of(cls, X: FloatArray, center: FloatArray, spread: FloatArray) -> Curves:
        """Return the curves of these records' columns."""
        start = np.zeros(X.shape[1])
        edges = np.zeros((N_EDGES, X.shape[1]))
        bends = np.zeros((N_EDGES, X.shape[1]))
        for j, column in enumerate(np.sort(X, axis=0).T):
            at = _distinct(column)
            if len(at) < 3:
                continue
            added = _scores(column, at) - (at - center[j]) / spread[j]
            slopes = np.concatenate([[0.0], np.diff(added) / np.diff(at), [0.0]])
            start[j] = added[0]
            edges[: len(at), j] = at
            bends[: len(at), j] = np.diff(slopes)
        return cls(start, edges, bends)

    def __call__(self, X: FloatArray) -> FloatArray:
        """Return what is to be added to each record."""
        out = np.tile(self.start, (len(X), 1))
        for edge, bend in zip(self.edges, self.bends, strict=True):
            out += bend * np.maximum(X - edge, 0.0)
        return out


def _distinct(column: FloatArray) -> FloatArray:
    """Return quantiles of sorted values, without those that are next to the one before."""
    found = np.unique(np.quantile(column, np.linspace(0.0, 1.0, N_EDGES), method="nearest"))
    far = np.diff(found, prepend=-np.inf) > _CLOSEST * (column[-1] - column[0])
    return np.asarray(found[far], dtype=np.float64)


def _scores(column: FloatArray, at: FloatArray) -> FloatArray:
    """Return the normal quantiles of the middle ranks of some values among sorted ones."""
    from scipy.special import ndtri

    ranks = (np.searchsorted(column, at, "left") + np.searchsorted(column, at, "right")) / 2
    return np.asarray(ndtri((ranks + 0.5) / (len(column) + 1)), dtype=np.float64)
