"""What is added to the public model: forests and bumps, learnt from the noisy sums of groups of holders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.grid import LARGEST
from hedgerow.portable import PortableModel
from hedgerow.portable.bumps import Matern
from hedgerow.tasks.assisted.task import PublicTrees
from hedgerow.types import FloatArray

__all__ = ["Step", "corrections", "smooth_part"]


def smooth_part(*parts: Matern) -> PortableModel:
    """Return bumps over the columns of a design as a step holds them; without any, 0 whatever the record."""
    d = parts[0].n_features if parts else 0
    return PortableModel(d, np.arange(d), np.full(d, -1), 0.0, parts)


@dataclass(frozen=True, eq=False)
class Step(Content, what="step"):
    """The values of the leaves that a record is in, and bumps, added up and cut to ``-bound .. bound``.

    Attributes
    ----------
    trees : Trees
        Of (design of the record, public prediction, what earlier steps add).
    bound : float
        No record is corrected by more: it holds nine tenths of public errors, and a level that sums found beyond them.
    smooth : PortableModel
        One part of bumps over the design of the record, or none.
    """

    trees: PublicTrees
    bound: float
    smooth: PortableModel = field(default_factory=smooth_part)

    def __post_init__(self) -> None:
        if not 0 <= self.bound <= LARGEST:
            raise FormatError(f"'bound' of a step must be in 0 .. {LARGEST:g}. Got {self.bound!r} instead.")
        parts = self.smooth.parts
        fits = all(isinstance(part, Matern) for part in parts) and len(parts) <= 1
        if not fits or self.smooth != smooth_part(*parts):  # type: ignore[arg-type]
            raise FormatError("'smooth' of a step must be one part of bumps over all columns, or none.")

    @property
    def bumps(self) -> Matern | None:
        """The smooth part, if there is one."""
        for part in self.smooth.parts:
            if isinstance(part, Matern):
                return part
        return None

    @property
    def adds(self) -> bool:
        """Whether anything is added to any record."""
        return bool(self.trees.value.any()) or (self.bumps is not None and bool(self.bumps.weights.any()))

    def valued(self, values: FloatArray, weights: FloatArray) -> Step:
        """Return the step with other values of leaves, and heights of bumps."""
        trees = replace(self.trees, value=values)
        if self.bumps is None:
            return replace(self, trees=trees)
        return replace(self, trees=trees, smooth=smooth_part(replace(self.bumps, weights=weights)))

    def raw(self, columns: FloatArray) -> FloatArray:
        """Return what the step says for rows of these columns, before it is cut; 0 where large parts cancel.

        A task may hold numbers that overflow for some records. They get a report too: silence would tell on them.
        """
        with np.errstate(all="ignore"):
            said = self.trees.predict(columns) + self.smooth.predict_design(columns[:, :-2])
        found: FloatArray = np.where(np.isnan(said), 0.0, said)
        return found

    def added(self, columns: FloatArray) -> FloatArray:
        """Return what the step adds for rows of these columns."""
        return np.clip(self.raw(columns), -self.bound, self.bound)


def corrections(steps: Sequence[Step], design: FloatArray, g: FloatArray) -> FloatArray:
    """Return the columns of which trees are made: design, public prediction g, and the sum of all steps.

    Examples
    --------
    >>> from hedgerow.portable import Trees
    >>> stump = Trees([3], [0, -1, -1], [0.5], [-1.0, 2.0], single=False)
    >>> again = Trees([3], [2, -1, -1], [0.0], [0.25, 0.5], single=False)
    >>> corrections([Step(stump, 1.0), Step(again, 1.0)], np.array([[0.2], [0.7]]), np.array([5.0, 5.0])).tolist()
    [[0.2, 5.0, -0.75], [0.7, 5.0, 1.5]]
    >>> bump = Step(stump, 2.0, smooth_part(Matern([[0.0]], [0.5], [0.2], [1.0])))
    >>> corrections([bump], np.array([[0.2], [0.7]]), np.array([5.0, 5.0])).round(3).tolist()
    [[0.2, 5.0, -0.5], [0.7, 5.0, 2.0]]
    """
    columns = np.column_stack([design, g, np.zeros(len(g))])
    for step in steps:
        columns[:, -1] += step.added(columns)
    return columns
