"""RPWithPrior: the optimal interval for a prior, and the response within it."""

from __future__ import annotations

import math
from dataclasses import KW_ONLY, dataclass
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.checks import OneOf, Real, Rule
from hedgerow.errors import HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.label.base import PriorMechanism
from hedgerow.label.prior import GridPrior, fidelity
from hedgerow.mechanisms.interval import OUTSIDE, IntervalResponse
from hedgerow.tasks.labels.task import LabelTask

__all__ = ["RPWithPrior", "optimal_interval"]


def optimal_interval(masses: npt.ArrayLike, widths: npt.ArrayLike, offset: float) -> tuple[int, int]:
    r"""Return the run of steps ``i .. j`` (inclusive) that maximises mass over (offset + width).

    .. math:: F(i, j) = \frac{\sum_{l=i}^{j} m_l}{c + \sum_{l=i}^{j} w_l}

    With ``c = 2 zeta e**epsilon`` this is the paper's F up to a constant; as it is a ratio of affine functions
    of either end within a step, its optimum is at nodes. Dinkelbach: for the best ratio ``t`` so far, the run
    of the largest ``sum(m - t w)`` (one pass: the largest rise of a running sum) has a better ratio or none
    has; a handful of passes of O(k) instead of all O(k^2) pairs.

    Examples
    --------
    >>> optimal_interval([0.1, 0.5, 0.3, 0.1], [1, 1, 1, 4], 1.5)
    (1, 2)
    """
    m = np.asarray(masses, dtype=np.float64)
    w = np.asarray(widths, dtype=np.float64)
    best = (0, m.size - 1)
    ratio = m.sum() / (offset + w.sum())
    while True:
        run = np.concatenate([[0.0], np.cumsum(m - ratio * w)])
        lowest = np.minimum.accumulate(run[:-1])
        j = int(np.argmax(run[1:] - lowest))
        i = int(np.argmin(run[: j + 1]))
        better = m[i : j + 1].sum() / (offset + w[i : j + 1].sum())
        if better <= ratio * (1 + 1e-13):
            return best
        best = (i, j)
        ratio = better


@dataclass(frozen=True)
class RPWithPrior(PriorMechanism):
    r"""Response privacy with a prior (RPWithPrior): answer near the label, within the best interval.

    For a radius zeta the interval ``[A1, A2]`` maximises the probability to answer within zeta of the label,

    .. math:: F(A_1, A_2) = \frac{2\zeta}{2\zeta + e^{-\varepsilon} (A_2 - A_1)} \int_{A_1}^{A_2} f_Y(y)\,dy

    (:func:`optimal_interval`); law and proof are in
    :class:`~hedgerow.mechanisms.interval.IntervalResponse`.

    Parameters
    ----------
    radius : float or "auto"
        zeta in units of the label; "auto" takes the one of least expected error under the prior, in closed
        form. With ``averaging``, the error that matters is that of a learner which averages over so many
        labels (see :class:`~hedgerow.label.prior.Fidelity`), and intervals between quantiles of the prior
        compete with the paper's.
    outside : {"project", "uniform"}
        What labels outside the interval answer: as its nearest end, (3.6), or uniformly, (3.7).

    Examples
    --------
    >>> prior = ([8, 4, 2, 1, 1], [0, 10, 20, 30, 40, 50])
    >>> mechanism = RPWithPrior(2.0, label_bounds=(0, 50), prior=prior)
    >>> mechanism.interval, mechanism.zeta
    ((0.0, 29.8828125), 5.859375)
    >>> unknown = RPWithPrior(2.0, label_bounds=(0, 50))
    >>> unknown.guarantee.trust, [claim.epsilon for purpose, claim in unknown.spends(1000)]  # disjoint holders
    ('local', [2.0, 2.0])
    >>> paper = RPWithPrior(2.0, label_bounds=(0, 50), trust="central")
    >>> paper.guarantee.trust, [claim.epsilon for purpose, claim in paper.spends(1000)]
    ('central', [1.0, 1.0])
    """

    _: KW_ONLY
    radius: float | str = "auto"
    outside: str = "project"

    _parameters: ClassVar[dict[str, Rule]] = {
        "radius": Real(0, ends="low") | OneOf("auto"),
        "outside": OneOf(*OUTSIDE),
    }

    @property
    def interval(self) -> tuple[float, float]:
        """The interval ``(A1, A2)``."""
        core = self._core
        low, high = self.grid.values([core.low, core.high])
        return float(low), float(high)

    @property
    def zeta(self) -> float:
        """The radius in units of the label."""
        return self._core.radius * self.grid.step

    @property
    def _core(self) -> IntervalResponse:
        core = self.task.mechanism
        if not isinstance(core, IntervalResponse):
            raise HedgerowError("there is no interval without noise: epsilon is infinite.")
        return core

    def _design(self) -> LabelTask:
        steps = self.n_steps or 256
        grid = self._grid(steps)
        known = self._known.on_grid(grid)
        if self.radius == "auto":
            radii = sorted({0, *np.unique(np.geomspace(1, steps, 40).round().astype(int)).tolist()})
        else:
            radii = [min(steps, round(float(self.radius) / grid.step))]
        candidates = [c for r in radii for c in self._candidates(r, steps, known)]
        best = min(candidates, key=lambda core: self._error(core, grid, known))
        return LabelTask(grid, best)

    def _candidates(self, radius: int, steps: int, known: GridPrior) -> list[IntervalResponse]:
        # On levels: near outputs 2r+1 of weight e**eps, far ones high - low, one less than the levels of I.
        weight = (2 * radius + 1) * math.exp(min(self.epsilon, 200.0))
        intervals = {optimal_interval(known.pmf, np.ones(steps + 1), weight - 1)}
        if self.averaging is not None:
            below = np.cumsum(known.pmf)
            for tail in (0.0, 0.01, 0.03, 0.1, 0.2, 0.3, 0.4):
                ends = np.searchsorted(below, [tail, 1 - tail - 1e-12])
                intervals.add((int(ends[0]), int(min(ends[1], steps))))
        ends_of = ((i, max(i, j)) for i, j in sorted(intervals))
        return [IntervalResponse(self.epsilon, steps, i, j, radius, self.outside) for i, j in ends_of]

    def _error(self, core: IntervalResponse, grid: LabelGrid, known: Any) -> float:
        value = fidelity(core, grid, known)
        return value.squared_error if self.averaging is None else value.calibrated_error(self.averaging)
