"""What trees are grown for: errors that public records leave open."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hedgerow.portable import PortableModel
from hedgerow.portable.bumps import Matern
from hedgerow.tasks.sums.process import JITTER, correlation
from hedgerow.types import FloatArray

__all__ = ["left_open", "process_units"]


def process_units(model: PortableModel, design: FloatArray) -> Matern:
    """Return the units of the model's Gaussian process, without its bumps; without one, columns are standardised.

    Those are over the root of their number, so that two rows are as far apart on average however many columns there
    are.

    >>> from hedgerow.portable import Linear
    >>> design = np.array([[0.0], [2.0]])
    >>> process_units(PortableModel(1, [0], [-1], 0.0, (Linear([1.0]),)), design).units(design).tolist()
    [[-1.0], [1.0]]
    """
    none = np.zeros((0, design.shape[1]))
    for part in model.parts:
        if isinstance(part, Matern):
            return replace(part, points=none, weights=np.zeros(0))
    center = design.mean(axis=0)
    spread = design.std(axis=0) * np.sqrt(max(design.shape[1], 1))
    return Matern(none, np.zeros(0), center, np.where(spread > 0, spread, 1.0))


def left_open(rows: FloatArray, public: FloatArray, noise: float) -> FloatArray:
    r"""Return a matrix L for which ``L z``, z standard normal, is an error that public records leave open.

    A Gaussian process whose values at ``public`` are known up to a variance of ``noise`` times its own has at ``rows``
    the covariance

    .. math:: L L' = k(R, R) - k(R, P) (k(P, P) + noise\, I)^{-1} k(P, R).

    Examples
    --------
    >>> L = left_open(np.array([[0.0], [5.0]]), np.array([[0.0]]), 0.01)
    >>> np.diag(L @ L.T).round(2).tolist()
    [0.01, 1.0]
    """
    seen = correlation(public, public) + max(noise, JITTER) * np.eye(len(public))
    white = np.linalg.solve(np.linalg.cholesky(seen), correlation(public, rows))
    left = correlation(rows, rows) - white.T @ white
    found: FloatArray = np.linalg.cholesky(left + JITTER * np.eye(len(rows)))
    return found
