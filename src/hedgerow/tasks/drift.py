r"""Values that were known beforehand and may have drifted: what noisy sights of them say, with honest intervals.

Value j was known as ``known_j`` with variance ``known_var_j`` (a public mean), and is seen as ``seen_j`` with variance
``seen_var_j`` (from reports). How far the two populations differ is not known:

.. math:: \mu_j \sim N(known_j + \delta,\; V_j + \tau^2), \qquad seen_j \sim N(\mu_j, S_j)

with :math:`\delta \sim N(0, (width/4)^2)` a shift that all values share and :math:`\tau^2` how far single ones stray
from it, uniform up to :math:`(width/4)^2`. That prior (Stein's harmonic one, were there no end) is the one whose
intervals cover what they claim whatever :math:`\tau^2` is (Morris and Tang 2011, Estimating random effects via
adjustment for density maximization); priors that favour small ones cover up to 6 points less where strays are as large
as the noise. Both unknowns are integrated over. A single best :math:`\tau^2` would do harm: where reports are few it is
0, and the interval believes public records as if nothing could differ. Whatever else is wrong with what was known, such
as a mean of leaves that were chosen on the same records, is a stray too. The coverage is that of all values together,
not of each: one that strays alone is seen less well.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.types import FloatArray

__all__ = ["SHIFT_SD", "Believed", "believe", "spreads"]

SHIFT_SD = 0.25
"""Standard deviation of the shift that all values share, and most that single ones stray, in widths: a uniform law over
the whole range has .29. By hand; it matters only where reports are mostly noise."""

_SPREADS = 40  # points of the log grid of tau^2, a factor 2.3 apart at most: no posterior of it is as narrow
_LEAST = 1e-3  # below a thousandth of the noise, tau^2 changes no interval
_HALVINGS = 40  # of a range of 12 deviations round all parts: the ends are exact to 1e-11 of it


@dataclass(frozen=True, eq=False)
class Believed:
    r"""A mixture of normal laws for every value: one part for each :math:`\tau^2` of the grid.

    Attributes
    ----------
    weights : array of shape (k,)
        Of the parts; they add up to 1.
    mean, variance : array of shape (k, m)
        Of every part and value.
    """

    weights: FloatArray
    mean: FloatArray
    variance: FloatArray

    @property
    def total_variance(self) -> FloatArray:
        """Return the variance of every value, over all parts."""
        middle = self.weights @ self.mean
        return np.asarray(self.weights @ (self.variance + (self.mean - middle) ** 2))

    def stretched(self, factor: float) -> Believed:
        """Return it with deviations so many times as large."""
        return Believed(self.weights, self.mean, factor**2 * self.variance)

    def interval(self, level: float) -> tuple[FloatArray, FloatArray]:
        """Return the interval between the ``(1 - level)/2`` and ``(1 + level)/2`` quantiles of every value."""
        return self.quantile((1 - level) / 2), self.quantile((1 + level) / 2)

    def quantile(self, share: float) -> FloatArray:
        """Return the point below which this share of every value's law lies, by bisection."""
        from scipy.special import ndtr

        sd = np.sqrt(self.variance)
        low = (self.mean - 12 * sd).min(axis=0)
        high = (self.mean + 12 * sd).max(axis=0)
        safe = np.maximum(sd, 1e-300)
        for _ in range(_HALVINGS):
            middle = (low + high) / 2
            below = self.weights @ ndtr((middle - self.mean) / safe) < share
            low = np.where(below, middle, low)
            high = np.where(below, high, middle)
        return np.asarray((low + high) / 2)


def believe(known: FloatArray, known_var: FloatArray, seen: FloatArray, seen_var: FloatArray, width: float) -> Believed:
    r"""Return what is believed of every value, :math:`\delta` and :math:`\tau^2` integrated over.

    Parameters
    ----------
    known, known_var : array of shape (m,)
        What was known beforehand.
    seen, seen_var : array of shape (m,)
        What is seen; a variance of ``inf`` says that nothing is.
    width : float
        How far a value can be off at all: the range of the label.

    Examples
    --------
    What is seen clearly counts; what is not seen is moved with the others.

    >>> seen_var = np.append(np.full(8, 1e-6), np.inf)
    >>> found = believe(np.zeros(9), np.full(9, 1e-6), np.full(9, 2.0), seen_var, 10.0)
    >>> low, high = found.interval(0.9)
    >>> low[-2:].round(1).tolist(), high[-2:].round(1).tolist()
    ([2.0, 2.0], [2.0, 2.0])
    """
    sight = 1.0 / np.maximum(seen_var, 1e-14 * width**2)  # 0 where nothing is seen
    told = np.where(sight > 0, seen, known) - known
    tau2, prior = spreads(sight, width)
    anchor = 1.0 / (SHIFT_SD * width) ** 2
    strays = known_var + tau2[:, None]
    # How precisely each value tells delta: 1 / (S + V + tau^2), which is 0 for one that is not seen.
    tells = sight / (1.0 + sight * strays)
    precision = tells.sum(axis=1) + anchor
    shift = (tells @ told) / precision
    # What delta leaves, and the price of having it found, as in restricted maximum likelihood.
    off = told - shift[:, None]
    fit = np.log1p(sight * strays).sum(axis=1) + (tells * off**2).sum(axis=1)
    fit += np.log(precision) + shift**2 * anchor
    weights = prior * np.exp(-0.5 * (fit - fit.min()))
    weights /= weights.sum()
    kept = sight * strays / (1.0 + sight * strays)
    mean = known + shift[:, None] + kept * off
    variance = strays * (1.0 - kept) + (1.0 - kept) ** 2 / precision[:, None]
    return Believed(weights, mean, variance)


def spreads(sight: FloatArray, width: float) -> tuple[FloatArray, FloatArray]:
    r"""Return the grid of :math:`\tau^2` and its prior weights, from one over the noise."""
    seen = sight[sight > 0]
    most = (SHIFT_SD * width) ** 2
    noise = most
    if len(seen):
        noise = min(max(len(seen) / float(seen.sum()), 1e-12 * width**2), most)
    tau2 = np.geomspace(_LEAST * noise, most, _SPREADS)
    # Uniform: on a log grid a point stands for tau^2 times a constant.
    return tau2, tau2 / tau2.sum()
