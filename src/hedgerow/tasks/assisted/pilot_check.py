"""Whether the holders' errors are like the public ones; if not, how much larger or smaller, and around what.

From public records and the pilot's totals alone: it costs no privacy beyond the pilot's reports.
"""

from __future__ import annotations

from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
import numpy.typing as npt

from hedgerow.tasks.assisted.chi_square import chi_square_limit
from hedgerow.tasks.assisted.pilot_totals import PilotTotals
from hedgerow.types import FloatArray

__all__ = ["FALSE_ALARM", "PilotCheck", "check_pilot"]


FALSE_ALARM = 0.001  # where public and private errors have one law
# The prior, by hand: errors differ in size by a factor of 3 and in place by their public root mean square, a standard
# deviation each way; the grid reaches from an eighth to 16 times, and four deviations of the place, in eighths.
_SCALES = 2.0 ** np.arange(-3, 4.01, 0.125)
_PLACES = np.arange(-4, 4.01, 0.125)
_SD_SCALE = np.log(3.0)
_SD_PLACE = 1.0  # public root mean squares


@dataclass(frozen=True)
class PilotCheck:
    """What a pilot says of the holders' errors.

    Attributes
    ----------
    statistic, threshold : float
        Squared distance to the public errors in standard deviations, and what it must exceed to say anything.
    scale, place : float
        Errors of holders are taken to be distributed as ``place + scale * public error``; (1, 0) if the statistic is
        not above the threshold.
    """

    statistic: float
    threshold: float
    scale: float = 1.0
    place: float = 0.0

    @property
    def differs(self) -> bool:
        """Whether private errors are unlike the public ones."""
        return self.statistic > self.threshold

    def apply(self, residuals: FloatArray) -> FloatArray:
        """Return public residuals as they would be among the holders; the very same ones if nothing differs."""
        return self.place + self.scale * residuals if self.differs else residuals


def check_pilot(pilot: PilotTotals, residuals: npt.ArrayLike) -> PilotCheck:
    r"""Compare the pilot's shares s of bins with the shares p of public out-of-fold residuals.

    .. math:: T = (s - p)^T \big(C + (\mathrm{diag}(p) - p p^T)/n_{public}\big)^{-1} (s - p)

    over all bins but the last, where C is the covariance of s if the true shares are p (each bin gets half a public
    record more, so that none is impossible). With holders like the public, T is about chi-square with one degree of
    freedom a bin but one; the threshold is its 99.9 % quantile (by Wilson and Hilferty's approximation). Beyond it,
    scale and place are posterior means over a grid, given the counts and priors of a factor of 3 and of one public
    root mean square around "no difference".

    Examples
    --------
    >>> from hedgerow import PublicModel
    >>> from hedgerow.local.assisted import design_pilot
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X, noise = rng.random((4400, 2)), rng.normal(size=4400)
    >>> base = PublicModel(Ridge(), random_state=0).fit(X[:400], noise[:400])
    >>> task = design_pilot(X[:400], noise[:400], epsilon=2.0, label_bounds=(-20, 20), public_model=base)
    >>> for scale in (1, 3):
    ...     check = check_pilot(task.simulate(X[400:], scale * noise[400:], 0).model(), base.residuals_)
    ...     print(check.differs, round(check.scale, 1))
    False 1.0
    True 3.1
    """
    res = np.sort(np.asarray(residuals, dtype=np.float64))
    k = len(pilot.sums)
    threshold = chi_square_limit(k - 1, 2.0 * (k - 1), NormalDist().inv_cdf(1 - FALSE_ALARM))
    if not pilot.n_reports:
        return PilotCheck(0.0, threshold)
    p = _shares(pilot, res, np.ones(1), np.zeros(1))[0, 0]
    spread = pilot.covariance(p) + (np.diag(p) - np.outer(p, p)) / len(res)
    gap = (pilot.shares - p)[:-1]
    statistic = float(gap @ np.linalg.solve(spread[:-1, :-1], gap))
    if statistic <= threshold:
        return PilotCheck(statistic, threshold)
    S = float(np.sqrt(np.mean(res**2))) or 1e-6
    # Once nearly all errors are in the middle bin, smaller ones look the same: a radius too large costs least.
    scales = _SCALES[np.abs(pilot.task.edges).min() / 2 <= S * _SCALES]
    message = pilot.task.encoding
    shares = _shares(pilot, res, scales, S * _PLACES)
    fit = np.log(float(message.response.q) + message.kappa * shares) @ np.array(pilot.sums, dtype=np.float64)
    fit -= 0.5 * ((np.log(scales)[:, None] / _SD_SCALE) ** 2 + (_PLACES / _SD_PLACE) ** 2)
    weight = np.exp(fit - fit.max())
    weight /= weight.sum()
    scale = np.exp(weight.sum(axis=1) @ np.log(scales))
    place = weight.sum(axis=0) @ _PLACES
    return PilotCheck(statistic, threshold, float(scale), float(S * place))


def _shares(pilot: PilotTotals, res: FloatArray, scales: FloatArray, places: FloatArray) -> FloatArray:
    """Return the shares of bins of ``place + scale * res`` (sorted), by scale and place."""
    cut = (np.array(pilot.task.edges) - places[None, :, None]) / scales[:, None, None]
    below = np.searchsorted(res, cut)
    ends = [np.zeros((*below.shape[:2], 1)), below, np.full((*below.shape[:2], 1), len(res))]
    count = np.diff(np.concatenate(ends, axis=2), axis=2)
    return np.asarray((count + 0.5) / (len(res) + 0.5 * count.shape[2]))
