"""The model of a sums task: the public model, corrected by a chain of forests as far as noisy sums carry evidence."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.tasks.gate import SLACK, safe_scale
from hedgerow.tasks.models import About, Model
from hedgerow.tasks.rules import reports
from hedgerow.tasks.sums.learn import Learnt, learn, shares_of
from hedgerow.tasks.sums.noisy import MOST, SERVERS
from hedgerow.tasks.sums.steps import Step, corrections
from hedgerow.tasks.sums.task import SumsTask
from hedgerow.types import FloatArray

__all__ = ["SumsModel"]


@dataclass(frozen=True, eq=False)
class SumsModel(Model, what="sums model", format="hedgerow/sums-model", version=1):
    """A public model with what a chain of groups adds to it, of which this group is the last so far.

    Attributes
    ----------
    task : SumsTask
        What the group was asked.
    n_reports : int
        Reports of this group.
    sums : tuple of int
        What both servers released.
    """

    task: SumsTask
    n_reports: int
    sums: tuple[int, ...]
    simulation: bool
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.sums) != self.task.length or any(abs(value) > MOST for value in self.sums):
            raise FormatError("the sums of this model are not of its task.")

    @property
    def noise(self) -> float:
        """The variance of the noise of each sum: that of both servers."""
        return SERVERS * float(self.task.variance)

    @property
    def _signs(self) -> tuple[FloatArray, FloatArray]:
        """Sums of residuals rounded up, and down, by leaf."""
        both = np.array(self.sums, dtype=np.float64).reshape(-1, 2)
        return both[:, 1], both[:, 0]

    @cached_property
    def learnt(self) -> Learnt:
        """What this group adds, in units of the radius."""
        task = self.task
        up, down = self._signs
        left = max(task.residuals.mean_square - task.spread, 0.3 * task.residuals.mean_square)
        return learn(
            up, down, task.trees.value, task.reference, task.trees.n_leaves, self.n_reports, self.noise,
            left / task.radius**2, task.residuals.n_public,
        )  # fmt: skip

    @cached_property
    def scale(self) -> float:
        """The share of the steps that a group that checks lets pass; 1 for one that learns."""
        if not self.task.levels:
            return 1.0
        task = self.task
        up, down = self._signs
        f = np.array(task.levels)
        n = max(self.n_reports, 1)
        shares = shares_of(up + down, task.trees.value, task.trees.n_leaves, n, 2 * self.noise)
        square = float(shares @ f**2)
        left = task.radius * float((up - down) @ f) / n  # E[(r - f) f]
        sd = task.radius * math.sqrt(2 * self.noise * float(f @ f) + n * square) / n
        return safe_scale(square, left + square, sd, SLACK * task.residuals.mean_square)

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All that is added to the public model."""
        task = self.task
        if task.levels:
            return tuple(_scaled(step, self.scale) for step in task.steps)
        values = task.radius * self.learnt.values
        if not values.any():
            return task.steps
        return (*task.steps, Step(replace(task.trees, value=values), task.radius))

    def predict(self, X: object) -> FloatArray:
        """Predict labels."""
        return self._predict(self.task.space.encode(X))

    def _predict(self, Z: Any) -> FloatArray:
        task = self.task
        g = task.public_model.predict_within(Z, task.label_bounds)
        columns = corrections(task.steps, task.public_model.design(Z), g)
        f = columns[:, -1] * self.scale
        if not task.levels:
            f = f + self.steps[-1].added(columns) if len(self.steps) > len(task.steps) else f
        found: FloatArray = np.clip(g + f, *task.label_bounds)
        return found

    def predict_public(self, X: object) -> FloatArray:
        """Predict with the public model alone."""
        return self.task.public_model.predict_within(self.task.space.encode(X), self.task.label_bounds)

    def about(self) -> About:
        """Return what was made, in short."""
        facts = {"steps": len(self.steps), "scale": self.scale}
        return About(reports(self.n_reports), facts)


def _scaled(step: Step, scale: float) -> Step:
    return Step(replace(step.trees, value=scale * step.trees.value), scale * step.bound)
