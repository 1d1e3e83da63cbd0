"""What a label mechanism gave out: noisy labels, how they were made, and what that cost."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hedgerow.guarantee import Guarantee
from hedgerow.label.prior import LabelPrior, fidelity
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.types import FloatArray

__all__ = ["LabelRelease", "Part"]


@dataclass(frozen=True)
class Part:
    """Some of the holders, and the task that they answered (``holders`` is None for all of them)."""

    task: LabelTask
    holders: npt.NDArray[np.int64] | None = None


@dataclass(frozen=True, eq=False)
class LabelRelease:
    """Noisy labels with their provenance.

    Attributes
    ----------
    labels : array
        One noisy label a record.
    parts : tuple of Part
        Which mechanism made which of them.
    prior : LabelPrior or None
        What was known or learnt about the labels.
    spends : tuple of (purpose, Guarantee)
        What was spent on what; ``guarantee`` is their sum, or their maximum over disjoint groups.
    """

    labels: FloatArray
    parts: tuple[Part, ...]
    prior: LabelPrior | None
    guarantee: Guarantee
    spends: tuple[tuple[str, Guarantee], ...] = field(default=())

    def calibrated(self, averaging: float = math.inf, explained: float = 1.0) -> FloatArray:
        """Return the labels after the best affine map for a learner that averages over so many labels.

        Infinite averaging undoes the shrinkage towards the centre wholly; less shrinks again, as far as the
        noise that remains makes it worth while; ``explained`` is the share of the labels' variance that features are
        thought to explain. Post-processing: only the prior and the public law are used.
        """
        if self.prior is None:
            return self.labels
        out = self.labels.copy()
        for part in self.parts:
            a, b = fidelity(part.task.mechanism, part.task.grid, self.prior).calibration(averaging, explained)
            chosen = slice(None) if part.holders is None else part.holders
            out[chosen] = a + b * out[chosen]
        return out
