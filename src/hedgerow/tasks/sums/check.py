"""The last group's check: how much of what earlier groups added is let pass."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.tasks.gate import SLACK, safe_scale
from hedgerow.tasks.sums.told import shares_of
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.tasks.sums.task import SumsTask

__all__ = ["checked"]


def checked(task: SumsTask, signs: tuple[FloatArray, FloatArray], n: int, noise: float) -> float:
    """Return the largest share of the steps that seldom harms, by people who had no part in them.

    With f what the steps add, in bins, and r the error of the public model, differences of both signs tell
    ``E[(r - f) f]`` without bias (but for clipping), and their sums ``E f^2`` among holders; for the rest see
    :func:`~hedgerow.tasks.gate.safe_scale`.
    """
    if not n:
        return 0.0
    up, down = signs
    f = np.array(task.levels)
    shares = shares_of(up + down, task.trees.value, task.trees.n_leaves, n, 2 * noise)
    square = float(shares @ f**2)
    left = task.radius * float((up - down) @ f) / n
    sd = task.radius * math.sqrt(2 * noise * float(f @ f) + n * square) / n
    return safe_scale(square, left + square, sd, SLACK * task.residuals.mean_square)
