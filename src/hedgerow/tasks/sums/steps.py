"""What is added to the public model: a chain of forests, each learnt from the noisy sums of one group of holders."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.grid import LARGEST
from hedgerow.tasks.assisted.task import PublicTrees
from hedgerow.types import FloatArray

__all__ = ["Step", "corrections"]


@dataclass(frozen=True, eq=False)
class Step(Content, what="step"):
    """The sum of the values of the leaves that a record is in, cut to ``-bound .. bound``.

    Attributes
    ----------
    trees : Trees
        Of (design of the record, public prediction, what earlier steps add).
    bound : float
        No record is corrected by more: it holds nine tenths of public errors, and a level that sums found beyond them.
    """

    trees: PublicTrees
    bound: float

    def __post_init__(self) -> None:
        if not 0 <= self.bound <= LARGEST:
            raise FormatError(f"'bound' of a step must be in 0 .. {LARGEST:g}. Got {self.bound!r} instead.")

    def added(self, columns: FloatArray) -> FloatArray:
        """Return what the step adds for rows of these columns."""
        found: FloatArray = np.clip(self.trees.predict(columns), -self.bound, self.bound)
        return found


def corrections(steps: Sequence[Step], design: FloatArray, g: FloatArray) -> FloatArray:
    """Return the columns of which trees are made: design, public prediction g, and the sum of all steps.

    Examples
    --------
    >>> from hedgerow.portable import Trees
    >>> stump = Trees([3], [0, -1, -1], [0.5], [-1.0, 2.0], single=False)
    >>> again = Trees([3], [2, -1, -1], [0.0], [0.25, 0.5], single=False)
    >>> corrections([Step(stump, 1.0), Step(again, 1.0)], np.array([[0.2], [0.7]]), np.array([5.0, 5.0])).tolist()
    [[0.2, 5.0, -0.75], [0.7, 5.0, 1.5]]
    """
    columns = np.column_stack([design, g, np.zeros(len(g))])
    for step in steps:
        columns[:, -1] += step.added(columns)
    return columns
