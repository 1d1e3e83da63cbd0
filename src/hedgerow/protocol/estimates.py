"""From noisy sums to leaf means with honest intervals: pure post-processing."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from hedgerow.bounds import LabelGrid
from hedgerow.errors import HedgerowError
from hedgerow.protocol.encoding import FloatArray, Moments

__all__ = ["LeafEstimates", "fieller"]


def fieller(moments: Moments, level: float) -> tuple[FloatArray, FloatArray]:
    r"""Return Fieller's interval for every ratio N/D, possibly infinite.

    ``N - r D`` is nearly normal with variance ``V(r) = var_n - 2 r cov + r^2 var_d`` at the true ratio r, so the
    set :math:`\{r : (N - rD)^2 \le z^2 V(r)\}` covers r with the stated probability even where D is mostly
    noise: there it is unbounded, which is the honest answer.
    """
    if not 0 < level < 1:
        raise HedgerowError(f"The 'level' parameter must be between 0 and 1. Got {level!r} instead.")
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    a = moments.denominator**2 - z2 * moments.var_d
    b = moments.numerator * moments.denominator - z2 * moments.cov
    c = moments.numerator**2 - z2 * moments.var_n
    root = np.sqrt(np.maximum(b * b - a * c, 0.0))
    bounded = a > 0
    safe = np.where(bounded, a, 1.0)
    low = np.where(bounded, (b - root) / safe, -np.inf)
    high = np.where(bounded, (b + root) / safe, np.inf)
    return low, high


@dataclass(frozen=True)
class LeafEstimates:
    """Estimates for every leaf, in label units.

    Attributes
    ----------
    mean : array
        ``N/D`` clipped to the label bounds; the middle of the bounds where D is not positive.
    count, count_sd : array
        Estimated number of holders and the standard deviation of that estimate.
    """

    grid: LabelGrid
    moments: Moments
    n_reports: int

    @property
    def count(self) -> FloatArray:
        """Return the estimated number of holders (may be negative: it is noisy)."""
        return self.moments.denominator

    @property
    def count_sd(self) -> FloatArray:
        """Return the standard deviation of :attr:`count`."""
        return np.sqrt(np.maximum(self.moments.var_d, 0.0))

    @property
    def mass(self) -> FloatArray:
        """Return the estimated share of holders in each leaf, clipped to [0, 1]."""
        return np.clip(self.count / max(self.n_reports, 1), 0.0, 1.0)

    @property
    def mean(self) -> FloatArray:
        """Return the leaf means, equation (5) of the paper, clipped to the label bounds."""
        D, middle = self.moments.denominator, self.grid.n_steps / 2
        ratio = np.divide(self.moments.numerator, D, out=np.full(len(D), middle), where=D > 0)
        return self.grid.values(np.clip(ratio, 0.0, self.grid.n_steps))

    @property
    def mean_sd(self) -> FloatArray:
        """Return the standard deviation of the leaf means by the delta method, at most half the label range."""
        D, m = self.moments.denominator, self.moments
        r = (self.mean - self.grid.low) / self.grid.step
        variance = np.maximum(m.var_n - 2 * r * m.cov + r * r * m.var_d, 0.0)
        half = self.grid.n_steps / 2
        sd: FloatArray = np.divide(np.sqrt(variance), D, out=np.full(len(D), half), where=D > 0)
        return np.minimum(sd, half) * np.float64(self.grid.step)

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return a confidence interval for each leaf mean, cut to the label bounds."""
        low, high = fieller(self.moments, level)
        steps = self.grid.n_steps
        low, high = np.clip(low, 0.0, steps), np.clip(high, 0.0, steps)
        return self.grid.values(low), self.grid.values(high)
