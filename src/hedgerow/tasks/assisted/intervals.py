r"""Intervals for the correction of a public model, with what is unknown of it integrated over. Post-processing.

What is covered is the public model's prediction plus its *best correction by the trees*: the sum of one value a leaf,
of all the leaves that a record is in, that is nearest to the public model's error in the population of the holders
(least squares). With ``d`` the mean errors that reports suggest by leaf, ``V`` their noise and ``M`` the overlaps of
leaves (:mod:`~hedgerow.tasks.assisted.pool`),

.. math:: d = 1\,\delta + M u + e, \qquad e \sim N(0, V), \qquad u \sim N(0, \tau^2/T), \qquad
          \delta \sim N(0, (width/4)^2)

The prediction's priors say that large errors of a public model need evidence, which helps the prediction and would make
intervals too short. Here :math:`\tau^2` has the prior of :mod:`hedgerow.tasks.drift`, the noise in it being that of the
correction of a reference record where the reports speak for themselves: trees overlap, and so tell less than each.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hedgerow.tasks.drift import SHIFT_SD, Believed, spreads
from hedgerow.tasks.intervals import Ends
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.model import AssistedModel
    from hedgerow.tasks.assisted.residuals import Residuals

__all__ = ["ALLOWANCE", "CorrectionLaw", "attained", "correction_ends"]

ALLOWANCE = 1.5
"""Factor of deviations for what the law takes as known: overlaps and shares of leaves, and that errors are spread alike
in all of them. Without it, 61 to 75 % were covered at a level of 80 % with 20,000 reports at epsilon 8."""
_UNKNOWN = 1e299  # variance of a tree that nobody answered for
_STEPS = 801  # of the curve of clipped means, over all shifts within the label's range: 1/400 of it a step
_BLOCK = 4096  # records at a time: 40 parts of a mixture for each


@dataclass(frozen=True, eq=False)
class CorrectionLaw:
    """What reports say of the corrections, in the directions in which their noise is independent.

    With ``V^-1/2 M = U S W'``: ``told = U' V^-1/2 d`` and ``ones = U' V^-1/2 1``.
    """

    told: FloatArray
    ones: FloatArray
    strength: FloatArray
    directions: FloatArray
    n_trees: int
    width: float

    @classmethod
    def of(cls, d: FloatArray, V: FloatArray, M: FloatArray, n_trees: int, width: float) -> CorrectionLaw:
        """Return the law of corrections ``d`` with variances ``V``; leaves that nobody answered for are left out."""
        known = V < _UNKNOWN
        root = np.sqrt(np.maximum(V[known], 1e-14 * width**2))
        U, S, Wt = np.linalg.svd(M[known] / root[:, None], full_matrices=False)
        return cls(U.T @ (d[known] / root), U.T @ (1 / root), S, Wt, n_trees, width)

    def alone(self, places: npt.NDArray[np.int64]) -> Believed:
        r"""Return the law of the correction of records in these leaves, one column a tree, from reports alone.

        They speak for themselves where :math:`\tau` may be half the label's range.
        """
        return self._mixed(places, np.array([self.width**2 / 4]), np.ones(1))

    def believed(self, places: npt.NDArray[np.int64], noise: float) -> Believed:
        """Return the law of the correction of records in these leaves; ``noise`` is that of the reports alone."""
        return self._mixed(places, *spreads(np.array([1.0 / noise]), self.width))

    def _mixed(self, places: npt.NDArray[np.int64], tau2: FloatArray, prior: FloatArray) -> Believed:
        t = tau2[:, None] / self.n_trees
        anchor = 1.0 / (SHIFT_SD * self.width) ** 2
        total = 1.0 + t * self.strength**2
        precision = (self.ones**2 / total).sum(axis=1) + anchor
        shift = (self.ones * self.told / total).sum(axis=1) / precision
        off = self.told - shift[:, None] * self.ones
        fit = np.log(total).sum(axis=1) + (off**2 / total).sum(axis=1) + np.log(precision) + shift**2 * anchor
        weights = prior * np.exp(-0.5 * (fit - fit.min()))
        along = self.directions[:, places].sum(axis=2)
        gain = t * self.strength / total
        mean = shift[:, None] + (gain * off) @ along
        left = tau2[:, None] - (t * gain * self.strength) @ along**2
        variance = np.maximum(left, 0.0) + (1.0 - (gain * self.ones) @ along) ** 2 / precision[:, None]
        return Believed(weights / weights.sum(), mean, variance)


def correction_ends(model: AssistedModel, leaf: npt.NDArray[np.int64], level: float, *, alone: bool = False) -> Ends:
    """Return an interval for the correction of each record, in label units."""
    law = model.correction_law
    first = np.cumsum((0, *model.task.trees.n_leaves[:-1]))
    noise = float(law.alone(first + model.task.reference.astype(np.int64)).variance.mean())
    # Records in the same leaves have the same correction: there are few such groups.
    groups, group = np.unique(leaf, axis=0, return_inverse=True)
    places = groups + first
    blocks = [places[at : at + _BLOCK] for at in range(0, len(places), _BLOCK)]
    laws = [law.alone(block) if alone else law.believed(block, noise).stretched(ALLOWANCE) for block in blocks]
    found = [each.interval(level) for each in laws]
    low = np.concatenate([np.empty(0), *(ends[0] for ends in found)])[group.ravel()]
    high = np.concatenate([np.empty(0), *(ends[1] for ends in found)])[group.ravel()]
    task = model.task
    return attained(task.residuals, task.radius, task.label_bounds, (low, high))


def attained(res: Residuals, radius: float, label_bounds: tuple[float, float], ends: Ends) -> Ends:
    r"""Return mean errors for corrections that take clipped errors as if they moved in proportion.

    Reports hold errors clipped to the radius. If all errors move by b, the mean of clipped ones moves by
    :math:`\varphi(b) - \varphi(0)`, :math:`\varphi(b) = E\,clip(res + b)`, which public residuals tell: less than in
    proportion where b is not small. A mean at the very end says no more than that errors are at least so large.
    """
    low, high = ends
    least, most = label_bounds
    b = np.linspace(least - most, most - least, _STEPS)
    moved = np.clip(np.array(res.quantiles) + b[:, None], -radius, radius).mean(axis=1)
    line = (moved - np.interp(0.0, b, moved)) / res.inside + res.mean + 1e-9 * b
    inner = np.flatnonzero(np.abs(np.diff(moved)) > 1e-9 * radius)
    first = line[inner[0]]
    last = line[inner[-1] + 1]
    down = np.interp(np.minimum(low, last), line, b + res.mean, left=least - most)
    up = np.interp(np.maximum(high, first), line, b + res.mean, right=most - least)
    down = np.where(low <= first, least - most, down)
    up = np.where(high >= last, most - least, up)
    return down, up
