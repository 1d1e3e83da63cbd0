"""How answers about a public model's errors are read, and what they say of mean errors. Post-processing."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.level import LevelMechanism
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.intervals import Ends, believe_leaves, cut
from hedgerow.tasks.tree.estimates import LeafEstimates
from hedgerow.types import FloatArray

__all__ = ["Reading"]

_NEAR = 0.25  # root mean squares over which the slope is taken: some ten public errors of 100 lie as near to any point
_STEPS = 2001  # of shifts in an interval; as for assisted tasks
_FLAT = 1e-9  # of the radius: answers that differ by less do not depend on the error


@dataclass(frozen=True, eq=False)
class Reading:
    r"""Noisy errors from answers: ``(answer - E M)/E M' + E r``, means over public errors r.

    M(r) is the mean answer to an error r, known exactly from the law of the mechanism. If all errors move by b, answers
    move by ``E M(r + b) - E M(r)``: the reading is right on average for a small b, however strongly M is drawn in, and
    intervals undo the rest (:meth:`in_units`).

    Attributes
    ----------
    usual, slope : float
        ``E M`` and ``E M'``.
    """

    grid: LabelGrid
    mechanism: LevelMechanism
    residuals: Residuals
    label_bounds: tuple[float, float]

    def mean_answers(self, errors: FloatArray) -> FloatArray:
        """Return M: linear between levels, to which errors are rounded at random."""
        places, _ = self.mechanism.moments()
        places = places[: self.grid.n_steps + 1]  # the same for every group of private values, where these are told
        at = np.linspace(self.grid.low, self.grid.high, self.grid.n_steps + 1)
        return np.interp(errors, at, self.grid.values(places))

    def _moved(self, by: FloatArray) -> FloatArray:
        """Return the mean answer to public errors that are all moved."""
        errors = np.array(self.residuals.quantiles)
        return np.asarray(self.mean_answers(errors + by[:, None]).mean(axis=1))

    @property
    def usual(self) -> float:
        """The mean answer to public errors."""
        return float(self._moved(np.zeros(1))[0])

    @property
    def slope(self) -> float:
        """By how much mean answers move with errors; 0 where they do not."""
        near = _NEAR * float(np.sqrt(self.residuals.mean_square)) or self.grid.step
        less, more = self._moved(np.array([-near, near]))
        found = float(more - less) / (2 * near)
        return found if found * near > _FLAT * self.grid.high else 0.0

    def read(self, answers: FloatArray) -> FloatArray:
        """Return noisy errors; those of public records where answers say nothing."""
        slope = self.slope
        if slope == 0:
            return np.full(len(answers), self.residuals.mean)
        return np.asarray((answers - self.usual) / slope + self.residuals.mean)

    def in_units(self, ends: Ends) -> Ends:
        """Return an interval of mean errors from one of mean answers, which move less than in proportion.

        An answer at the very end says no more than that errors are at least so large.
        """
        least, most = self.label_bounds
        width = most - least
        by = np.linspace(-width, width, _STEPS)
        moved = self._moved(by)
        inner = np.flatnonzero(np.abs(np.diff(moved)) > _FLAT * self.grid.high)
        if not inner.size:
            return np.full(len(ends[0]), -width), np.full(len(ends[1]), width)
        first = float(moved[inner[0]])
        last = float(moved[inner[-1] + 1])
        rising = moved + _FLAT * self.grid.high * by / width
        errors = by + self.residuals.mean
        down = np.interp(np.minimum(ends[0], last), rising, errors)
        up = np.interp(np.maximum(ends[1], first), rising, errors)
        return np.where(ends[0] <= first, -width, down), np.where(ends[1] >= last, width, up)

    def believed(self, leaves: LeafEstimates, level: float) -> Ends:
        """Return an interval for the mean error in each group, which strays from public ones as far as reports tell."""
        steps = self.grid.n_steps
        same = np.full(len(leaves.count), (self.usual - self.grid.low) / self.grid.step)
        # Answers may be anywhere in their range, all of them: it is not wide, as a label's is.
        found = believe_leaves(leaves.moments, leaves.n_reports, same, 0.0 * same, 2.0 * steps)
        low, high = cut(found.interval(level), (0.0, steps))
        return self.in_units((self.grid.values(low), self.grid.values(high)))
