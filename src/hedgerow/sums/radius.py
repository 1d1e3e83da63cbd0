"""What errors are clipped to: a small radius makes less noise, a large one less bias."""

from __future__ import annotations

import numpy as np

from hedgerow.tasks.sums.told import Leaves
from hedgerow.types import FloatArray

__all__ = ["SHARES", "choose_share", "least_radius", "tail_bias"]

SHARES = (0.5, 0.6, 0.7, 0.8, 0.9, 0.95)
"""Of public errors within the radius, that are tried. Up to half of 400 records still tell their own share."""

_COUNTS = 0.01  # of the public model's squared error: less is no harm, and so no gain, that counts


def least_radius(residuals: FloatArray) -> float:
    """Return the least that errors are clipped to: a correction as large as that makes a difference that counts.

    Where most errors are 0, as of a model that is sure of its class, their median is 0 too, and would cut off all.

    >>> least_radius(np.array([0.0, 0.0, 0.0, 2.0]))
    0.1
    """
    return float(np.sqrt(_COUNTS * np.mean(residuals**2)))


def choose_share(residuals: FloatArray, leaves: Leaves, noise: float) -> float:
    r"""Return the share of public errors that the radius is to hold: that of the least noise and squared bias.

    Means over a leaf of errors clipped to c, of which a share p is not cut, are read as ``clipped / p`` and have a
    deviation in proportion to ``c / p``. That is least for the smallest c: a median varies least. But tails that differ
    from leaf to leaf then look like errors; by how much, public errors tell (:func:`tail_bias`).

    Parameters
    ----------
    residuals : array
        Errors of public records.
    leaves : Leaves
        That these records are in.
    noise : float
        Variance of the mean of a leaf, in squared radii.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> leaves = Leaves(rng.integers(4, size=(400, 8)), (4,) * 8)
    >>> errors = rng.laplace(size=400)
    >>> choose_share(errors, leaves, noise=0.01)
    0.5
    >>> skewed = np.where(leaves.places[:, 0] > 1, 1, -1) * (rng.exponential(size=400) - 1)
    >>> choose_share(skewed, Leaves(leaves.places[:, :1], (4,)), noise=1e-4) >= 0.9
    True
    """
    costs = []
    least = least_radius(residuals)
    for quantile in SHARES:
        radius = max(float(np.quantile(np.abs(residuals), quantile)), least)
        share = max(float(np.mean(np.abs(residuals) <= radius)), quantile)
        cut = np.clip(residuals, -radius, radius) / share - residuals
        costs.append(noise * (radius / share) ** 2 + tail_bias(cut, leaves))
    return SHARES[int(np.argmin(costs))]


def tail_bias(cut: FloatArray, leaves: Leaves) -> float:
    """Return the variance between leaves of what clipping makes of errors, on average over trees, without bias.

    >>> cut = np.array([1.0, 1.0, 3.0, 3.0])
    >>> tail_bias(cut, Leaves(np.array([[0], [0], [1], [1]]), (2,)))
    1.0
    """
    rows = len(cut)
    found = []
    for tree, size in enumerate(leaves.sizes):
        place = leaves.places[:, tree].astype(np.int64)
        count = np.bincount(place, minlength=size)
        total = np.bincount(place, cut, size)
        used = int(np.sum(count > 0))
        within = float(np.sum(cut**2) - np.sum(total**2 / np.maximum(count, 1)))
        between = float(np.sum(total**2 / np.maximum(count, 1)) - cut.sum() ** 2 / rows)
        chance = (used - 1) * within / max(rows - used, 1)
        found.append((between - chance) / rows)
    return max(float(np.mean(found)), 0.0) if found else 0.0
