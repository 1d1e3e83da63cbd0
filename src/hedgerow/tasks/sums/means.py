"""The mean error in each leaf, from sums of both signs: what a group tells without any belief."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from hedgerow.types import FloatArray

__all__ = ["LeafMeans", "leaf_means"]

_SURE = 3.0  # deviations that a number of holders must be above 0 to be divided by: 1 in 700 leaves by chance


@dataclass(frozen=True, eq=False)
class LeafMeans:
    """Mean clipped errors by leaf, leaves numbered through all trees.

    Attributes
    ----------
    mean, sd : arrays
        In label units; the deviation is infinite where the number of holders cannot be told from none.
    radius : float
        No mean of clipped errors is beyond it.
    """

    mean: FloatArray
    sd: FloatArray
    radius: float

    def ends(self, places: npt.NDArray[np.int64], level: float) -> tuple[FloatArray, FloatArray]:
        """Return the interval of the mean over trees, for rows of leaves.

        Deviations of trees add up as if all erred the same way, for one person is in a leaf of each.
        """
        half = NormalDist().inv_cdf((1 + level) / 2) * self.sd
        low = np.maximum(self.mean - half, -self.radius)
        high = np.minimum(self.mean + half, self.radius)
        return low[places].mean(axis=1), high[places].mean(axis=1)


def leaf_means(signs: tuple[FloatArray, FloatArray], noise: float, radius: float) -> LeafMeans:
    """Return mean clipped errors; ``noise`` is the variance of each sum.

    Examples
    --------
    >>> found = leaf_means((np.array([70.0, 1.0]), np.array([30.0, 2.0])), 4.0, 2.0)
    >>> found.mean.round(2).tolist(), found.sd.round(2).tolist()
    ([0.8, 0.0], [0.19, inf])
    """
    up, down = signs
    number = up + down
    seen = number > _SURE * np.sqrt(2 * noise)
    safe = np.where(seen & (number > 0), number, 1.0)
    mean = np.where(seen, np.clip((up - down) / safe, -1.0, 1.0), 0.0)
    variance = (2 * noise * (1 + mean**2) + safe * (1 - mean**2)) / safe**2
    sd = np.where(seen & (number > 0), np.sqrt(variance), np.inf)
    return LeafMeans(radius * mean, radius * sd, radius)
