"""Clopper-Pearson: bounds of a probability that hold with a stated confidence whatever it is."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import FloatArray

__all__ = ["at_least", "at_most", "loss_bound"]


def at_least(count: npt.ArrayLike, n: int, alpha: float) -> FloatArray:
    """Return ``p`` such that the true probability is below it with probability at most ``alpha``.

    The ``alpha`` quantile of Beta(count, n - count + 1); 0 where nothing was seen.

    >>> round(float(at_least(10, 10, 0.05)), 4)  # all of ten: 0.05 ** (1/10)
    0.7411
    """
    from scipy.special import betaincinv

    k = np.asarray(count, dtype=np.float64)
    bound = betaincinv(np.maximum(k, 1), n - np.maximum(k, 1) + 1, alpha)
    return np.where(k > 0, bound, 0.0)


def at_most(count: npt.ArrayLike, n: int, alpha: float) -> FloatArray:
    """Return ``p`` such that the true probability is above it with probability at most ``alpha``.

    The ``1 - alpha`` quantile of Beta(count + 1, n - count); 1 where all were seen.

    >>> round(float(at_most(0, 10, 0.05)), 4)  # none of ten: 1 - 0.05 ** (1/10)
    0.2589
    """
    from scipy.special import betainccinv

    k = np.asarray(count, dtype=np.float64)
    bound = betainccinv(np.minimum(k, n - 1) + 1, n - np.minimum(k, n - 1), alpha)
    return np.where(k < n, bound, 1.0)


def loss_bound(more: npt.ArrayLike, less: npt.ArrayLike, n: int, delta: float, alpha: float) -> Any:
    """Return lower bounds of ``log((P - delta) / Q)`` from the counts of an event in two samples of ``n``.

    Each of the two probabilities may be off with probability ``alpha / 2``; 0 where nothing is shown.
    """
    top = at_least(more, n, alpha / 2) - delta
    bottom = at_most(less, n, alpha / 2)
    return np.log(np.maximum(top, bottom) / bottom)
