r"""The most that one forged report can move a leaf.

A report enters a leaf's estimates as ``dD`` holders and ``dN`` label levels, which debiasing makes larger than one
honest holder: a set bit counts ``(1 - q)/(p - q)``. A forger may send any valid message, so the worst case is the
largest change over all of them. The mean is ``N/D``, whose change by (dN, dD) is largest at an extreme message.

Many forged reports change (N, D) by a sum of messages. A ratio of linear functions is largest at an extreme point, and
so if all are alike, as long as none of these sums makes D vanish; otherwise the mean may be anything within the bounds.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.digits import plain
from hedgerow.grid import LabelGrid
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.tasks.tree.encoding import Moments

__all__ = ["Forgery", "LeafForgery", "one_per_cent", "with_free_label"]


def one_per_cent(n: int) -> int:
    """Return how many reports are one per cent of ``n``, at least one.

    >>> one_per_cent(10_000), one_per_cent(101), one_per_cent(0)
    (100, 2, 1)
    """
    return max(1, -(-n // 100))


class Forgery:
    """The most that one forged report can do; ``str`` says it in words."""

    @property
    def count(self) -> float:
        """The most by which an estimated number of holders changes; an honest holder counts 1."""
        raise NotImplementedError

    def now(self, model: Any) -> str:
        """Say what further forged reports could do to this model: one, and one per cent of those there are."""
        return ""

    def rows(self, model: Any) -> list[dict[str, float]]:
        """Return, for each row of the model's table, the most by which one further report changes it.

        And one per cent of the reports there are, in ``forged_percent_shift``.
        """
        return []

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready content."""
        return {"count": self.count, "statement": str(self)}


@dataclass(frozen=True)
class LeafForgery(Forgery):
    """What one forged report can do to one leaf.

    Attributes
    ----------
    counts, sums : arrays
        The extreme messages: how each changes the number of holders, and their sum of label levels.
    numeric : bool
        Whether a mean of levels says something; False for classes, where the effect of many reports is not given.

    Examples
    --------
    >>> from hedgerow.tasks import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1),
    ...                         response="unary", max_depth=4)
    >>> forgery = task.influence()
    >>> round(forgery.count, 2)  # as many as this number of honest holders
    6.33
    """

    grid: LabelGrid
    counts: FloatArray
    sums: FloatArray
    numeric: bool = True

    @property
    def count(self) -> float:
        """The most by which a leaf's estimated number of holders changes."""
        return float(np.abs(self.counts).max())

    @property
    def label_sum(self) -> float:
        """The most by which a leaf's sum of (label - lower bound) changes, in label units."""
        return float(np.abs(self.sums).max() * self.grid.step)

    def rows(self, model: Any) -> list[dict[str, float]]:
        """Return the most by which further reports change the mean of each leaf, and its number of holders."""
        shifts = self.mean_shift(model.leaves.moments).tolist()
        rows = [{"forged_mean_shift": shift, "forged_count": self.count} for shift in shifts]
        if self.numeric:
            percent = self.mean_shift(model.leaves.moments, one_per_cent(model.n_reports)).tolist()
            rows = [{**row, "forged_percent_shift": shift} for row, shift in zip(rows, percent, strict=True)]
        return rows

    def now(self, model: Any) -> str:
        """Say what one per cent of forged reports could do to this model."""
        if not self.numeric:
            return ""
        many = one_per_cent(model.n_reports)
        shifts = self.mean_shift(model.leaves.moments, many)
        return (
            f"After {model.n_reports:,} reports, {many:,} forged ones (1 % more) could move the mean that reports "
            f"suggest for a leaf by up to {plain(float(shifts.max()), 3)}, for half of the leaves by at most "
            f"{plain(float(np.median(shifts)), 3)}."
        )

    def mean_shift(self, moments: Moments, many: int = 1) -> FloatArray:
        """Return, for each leaf, the most by which ``many`` further reports change its mean (from reports alone)."""
        before = self._mean(moments.numerator, moments.denominator)
        D = moments.denominator + many * self.counts[:, None]
        after = self._mean(moments.numerator + many * self.sums[:, None], D)
        shift = np.abs(after - before).max(axis=0)
        if many > 1:
            anything = (D <= 0).any(axis=0) | (moments.denominator <= 0)
            shift = np.where(anything, np.maximum(before, self.grid.n_steps - before), shift)
        return np.asarray(shift * self.grid.step)

    def _mean(self, N: FloatArray, D: FloatArray) -> FloatArray:
        ratio = np.divide(N, D, out=np.full(D.shape, self.grid.n_steps / 2), where=D > 0)
        return np.asarray(np.clip(ratio, 0.0, self.grid.n_steps))

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready content."""
        return {"count": self.count, "label_sum": self.label_sum, "statement": str(self)}

    def __str__(self) -> str:
        return (
            f"One forged report can change the estimated number of holders of a leaf by at most {self.count:.3g} "
            f"and its sum of labels by at most {plain(self.label_sum, 3)}; if 1 % of all reports are forged, a leaf "
            f"may seem to gain or lose {plain(self.count, 3)} % of all holders."
        )


def with_free_label(grid: LabelGrid, units: list[float], reach: int) -> LeafForgery:
    """Return the bounds for messages with a free noisy label: every extreme unit with either extreme label."""
    ends = (-reach, grid.n_steps + reach)
    counts = np.array([u for u in units for _ in ends])
    return LeafForgery(grid, counts, np.array([u * v for u in units for v in ends]))
