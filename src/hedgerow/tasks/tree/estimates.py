"""From noisy sums to leaf means with honest intervals: pure post-processing."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.tasks.tree.encoding import Moments
from hedgerow.types import FloatArray

__all__ = ["LeafEstimates", "blend", "fieller", "shift_variance"]


def fieller(moments: Moments, level: float, top: float) -> tuple[FloatArray, FloatArray]:
    r"""Return the smallest interval that holds Fieller's set for every ratio N/D, within ``0 .. top``.

    ``N - r D`` is nearly normal with variance ``V(r) = var_n - 2 r cov + r^2 var_d`` at the true ratio r, so the
    set :math:`\{r : (N - rD)^2 \le z^2 V(r)\}` covers r with the stated probability even where D is mostly
    noise. There it is unbounded: all numbers, or all but a gap, of which ``0 .. top`` may see one side only.
    Where both sides show, the interval spans the gap and covers more often than stated.
    """
    if not 0 < level < 1:
        raise HedgerowError(f"The 'level' parameter must be between 0 and 1. Got {level!r} instead.")
    N = moments.numerator
    D = moments.denominator
    z2 = NormalDist().inv_cdf(0.5 + level / 2) ** 2
    # The set is a r^2 - 2 b r + c <= 0.
    a = D**2 - z2 * moments.var_d
    b = N * D - z2 * moments.cov
    c = N**2 - z2 * moments.var_n
    inside = b * b - a * c
    root = np.sqrt(np.maximum(inside, 0.0))
    safe = np.where(a == 0, 1.0, a)
    first, last = np.sort([(b - root) / safe, (b + root) / safe], axis=0)
    bounded = a > 0
    gap = (a < 0) & (inside > 0)
    gap &= (first >= 0) | (last <= top)  # a gap wider than the range would leave nothing
    low = np.where(bounded, first, np.where(gap & (first < 0), last, 0.0))
    high = np.where(bounded, last, np.where(gap & (last > top), first, top))
    # The estimate itself belongs to the set; after clipping it may not.
    ratio = np.divide(N, D, out=np.full(len(D), np.nan), where=D > 0)
    low = np.fmin(low, ratio)
    high = np.fmax(high, ratio)
    return np.clip(low, 0.0, top), np.clip(high, 0.0, top)


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
        D = self.moments.denominator
        middle = self.grid.n_steps / 2
        ratio = np.divide(self.moments.numerator, D, out=np.full(len(D), middle), where=D > 0)
        return self.grid.values(np.clip(ratio, 0.0, self.grid.n_steps))

    @property
    def mean_sd(self) -> FloatArray:
        """Return the standard deviation of the leaf means by the delta method, at most half the label range."""
        D = self.moments.denominator
        m = self.moments
        r = (self.mean - self.grid.low) / self.grid.step
        variance = np.maximum(m.var_n - 2 * r * m.cov + r * r * m.var_d, 0.0)
        half = self.grid.n_steps / 2
        sd: FloatArray = np.divide(np.sqrt(variance), D, out=np.full(len(D), half), where=D > 0)
        return np.minimum(sd, half) * np.float64(self.grid.step)

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return a confidence interval for each leaf mean, cut to the label bounds."""
        low, high = fieller(self.moments, level, self.grid.n_steps)
        return self.grid.values(low), self.grid.values(high)


_EVIDENCE = 6.0  # in log-likelihood: 12 is exceeded by chi-square of one degree with a chance of 5e-4


def _residual(moments: Moments, prior: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return ``N - m D``, its variance at the prior mean m, and ``D^2`` freed of its noise."""
    error = moments.numerator - prior * moments.denominator
    variance = moments.var_n - 2 * prior * moments.cov + prior * prior * moments.var_d
    square = np.maximum(moments.denominator**2 - moments.var_d, 0.0)
    return error, np.maximum(variance, 1e-12), square


def shift_variance(moments: Moments, prior: FloatArray, prior_var: FloatArray, steps: int) -> float:
    r"""Return how far private leaf means stray from public ones beyond chance, as a variance.

    The marginal likelihood of :math:`N - mD \sim \mathcal N(0, V + D^2 (V_0 + \tau^2))` over the leaves is
    maximised over a grid of :math:`\tau^2` from 0 to the squared label range; without clear evidence (a gain of 6 in
    log-likelihood, a chance below 1 in 1,000) it is 0, because mistrusting good public data costs more than it saves.
    """
    error, variance, square = _residual(moments, prior)
    grid = np.concatenate([[0.0], np.geomspace(1e-6, 1.0, 49)]) * steps**2
    total = variance[:, None] + square[:, None] * (prior_var[:, None] + grid)
    likelihood = -0.5 * (np.log(total) + error[:, None] ** 2 / total).sum(axis=0)
    best = int(np.argmax(likelihood))
    return float(grid[best]) if likelihood[best] - likelihood[0] > _EVIDENCE else 0.0


def blend(moments: Moments, prior: FloatArray, prior_var: FloatArray, steps: int) -> FloatArray:
    r"""Return leaf means that weigh reports against public records by their precision (empirical Bayes).

    .. math:: \hat\mu = \frac{(ND - \mathrm{cov})/V + m/V_0'}{(D^2 - \mathrm{var}_D)/V + 1/V_0'},
              \qquad V_0' = V_0 + \tau^2

    with m and :math:`V_0` the public mean and its variance. Where D is lost in noise the public mean remains; where
    private means stray from public ones (:func:`shift_variance`) the public records lose their weight.
    """
    tau2 = shift_variance(moments, prior, prior_var, steps)
    error, variance, square = _residual(moments, prior)
    weight = square / variance
    # (N D - cov) - m (D^2 - var_d), the step away from the prior mean, without the noise's own product.
    step = error * moments.denominator - (moments.cov - prior * moments.var_d)
    gain = np.where(square > 0, step / variance, 0.0)
    mean = prior + gain / (weight + 1.0 / np.maximum(prior_var + tau2, 1e-12))
    return np.clip(mean, 0.0, steps)
