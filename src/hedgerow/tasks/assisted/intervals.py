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

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from hedgerow.tasks.drift import SHIFT_SD, Believed, spreads
from hedgerow.tasks.intervals import Ends
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.model import AssistedModel
    from hedgerow.tasks.assisted.residuals import Residuals

__all__ = [
    "ALLOWANCE",
    "Attained",
    "CorrectionLaw",
    "Parts",
    "attained",
    "attained_curve",
    "believed_law",
    "correction_ends",
    "overlap_doubt",
]

ALLOWANCE = 1.25
"""Factor of deviations for strays that are not normal, and not spread alike in all leaves. Not derived: of the cells of
``hedgerow bench run coverage`` with 20,000 reports it is what the worst needed (1.22 at epsilon 8 and a bias of 20 %;
1.05 without bias), so that figures there are no test of it."""
_UNKNOWN = 1e299  # variance of a tree that nobody answered for
_STEPS = 801  # of the curve of clipped means, over all shifts within the label's range: 1/400 of it a step
_BLOCK = 4096  # records at a time: 40 parts of a mixture for each


@dataclass(frozen=True, eq=False)
class Parts:
    """A law of corrections as numbers: for each part of the mixture, of the sum a of a record's directions.

    Its mean is ``shift + slope a``, its variance ``max(tau2 - gone a^2, 0) + (1 - told a)^2 doubt``, and deviations
    are ``stretch`` times as large.
    """

    directions: FloatArray
    weights: FloatArray
    tau2: FloatArray
    shift: FloatArray
    slope: FloatArray
    gone: FloatArray
    told: FloatArray
    doubt: FloatArray
    stretch: float = 1.0

    def at(self, places: npt.NDArray[np.int64]) -> Believed:
        """Return the law of the correction of records in these leaves, one column a tree."""
        along = self.directions[:, places].sum(axis=2)
        mean = self.shift[:, None] + self.slope @ along
        left = self.tau2[:, None] - self.gone @ along**2
        variance = np.maximum(left, 0.0) + (1.0 - self.told @ along) ** 2 * self.doubt[:, None]
        return Believed(self.weights, mean, variance).stretched(self.stretch)


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

    def alone(self) -> Parts:
        r"""Return the law from reports alone: they speak for themselves where :math:`\tau` may be half the range."""
        return self._mixed(np.array([self.width**2 / 4]), np.ones(1))

    def believed(self, noise: float) -> Parts:
        """Return the law; ``noise`` is that of the reports alone."""
        return self._mixed(*spreads(np.array([1.0 / noise]), self.width))

    def _mixed(self, tau2: FloatArray, prior: FloatArray) -> Parts:
        t = tau2[:, None] / self.n_trees
        anchor = 1.0 / (SHIFT_SD * self.width) ** 2
        total = 1.0 + t * self.strength**2
        precision = (self.ones**2 / total).sum(axis=1) + anchor
        shift = (self.ones * self.told / total).sum(axis=1) / precision
        off = self.told - shift[:, None] * self.ones
        fit = np.log(total).sum(axis=1) + (off**2 / total).sum(axis=1) + np.log(precision) + shift**2 * anchor
        weights = prior * np.exp(-0.5 * (fit - fit.min()))
        gain = t * self.strength / total
        return Parts(
            self.directions,
            weights / weights.sum(),
            tau2,
            shift,
            slope=gain * off,
            gone=t * gain * self.strength,
            told=gain * self.ones,
            doubt=1.0 / precision,
        )


def believed_law(model: AssistedModel) -> Parts:
    """Return what is believed of corrections."""
    law = model.correction_law
    places = _first(model) + model.task.reference.astype(np.int64)
    noise = float(law.alone().at(places).variance.mean())
    first = law.believed(noise)
    doubted = model.doubted_law(float(first.weights @ first.tau2))
    return replace(doubted.believed(noise), stretch=ALLOWANCE)


def overlap_doubt(reference: npt.NDArray[np.integer], leaves: tuple[int, ...], M: FloatArray) -> FloatArray:
    r"""Return what rough overlaps add to the variance of each leaf's correction, for :math:`\tau^2 = 1`.

    A leaf's share M of the records of another is told by its m reference records. With independent corrections of
    variance 1/T, the error of those shares adds :math:`\sum M (1 - M) / (T m)`; a leaf without any such record tells
    nothing of the other trees' corrections there.

    >>> rows = np.array([[0, 0], [0, 1], [1, 1], [1, 1]])
    >>> from hedgerow.tasks.assisted.pool import overlaps
    >>> overlap_doubt(rows, (2, 2), overlaps(rows, (2, 2))[0]).round(3).tolist()
    [0.125, 0.0, 0.0, 0.074]
    """
    T = len(leaves)
    count = np.concatenate([np.bincount(reference[:, t], minlength=n) for t, n in enumerate(leaves)])
    spread = (M * (1.0 - M)).sum(axis=1) / T
    return np.where(count > 0, spread / np.maximum(count, 1), (T - 1) / T)


def _first(model: AssistedModel) -> npt.NDArray[np.int64]:
    """Return the place of the first leaf of each tree among all leaves."""
    return np.asarray(np.cumsum((0, *model.task.trees.n_leaves[:-1])), dtype=np.int64)


def correction_ends(model: AssistedModel, leaf: npt.NDArray[np.int64], level: float, *, alone: bool = False) -> Ends:
    """Return an interval for the correction of each record, in label units."""
    law = model.correction_law.alone() if alone else believed_law(model)
    # Records in the same leaves have the same correction: there are few such groups.
    groups, group = np.unique(leaf, axis=0, return_inverse=True)
    places = groups + _first(model)
    blocks = [places[at : at + _BLOCK] for at in range(0, len(places), _BLOCK)]
    found = [law.at(block).interval(level) for block in blocks]
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
    curve = attained_curve(res, radius, label_bounds)
    down = np.interp(np.minimum(low, curve.last), curve.line, curve.errors)
    up = np.interp(np.maximum(high, curve.first), curve.line, curve.errors)
    return np.where(low <= curve.first, -curve.width, down), np.where(high >= curve.last, curve.width, up)


@dataclass(frozen=True, eq=False)
class Attained:
    """Mean errors by the correction that they lead to; beyond ``first`` and ``last`` they may be as large as can be."""

    line: FloatArray
    errors: FloatArray
    first: float
    last: float
    width: float


def attained_curve(res: Residuals, radius: float, label_bounds: tuple[float, float]) -> Attained:
    """Return the curve that :func:`attained` reads."""
    least, most = label_bounds
    b = np.linspace(least - most, most - least, _STEPS)
    moved = np.clip(np.array(res.quantiles) + b[:, None], -radius, radius).mean(axis=1)
    line = (moved - np.interp(0.0, b, moved)) / res.inside + res.mean + 1e-9 * b
    inner = np.flatnonzero(np.abs(np.diff(moved)) > 1e-9 * radius)
    return Attained(line, b + res.mean, float(line[inner[0]]), float(line[inner[-1] + 1]), most - least)
