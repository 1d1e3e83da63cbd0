"""What the curator gets of one batch: the sum of both servers' noisy totals."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.content import Content
from hedgerow.discrete_gaussian import discrete_gaussian
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.randomness import Randomness
from hedgerow.types import IntArray

if TYPE_CHECKING:
    from hedgerow.tasks.sums.task import SumsTask

__all__ = ["MOST", "SERVERS", "NoisySums", "release"]

SERVERS = 2
"""Each adds the whole noise, for the curator may be in league with the other."""
MOST = 1 << 53
"""Of a sum: so far whole numbers are exact in every language."""


def release(task: SumsTask, sums: IntArray, n: int, source: Randomness) -> NoisySums:
    """Return what two servers release of sums over ``n`` holders: one noise each, drawn once.

    It is refused for fewer than the task's least batch, as both servers do.
    """
    if n < task.min_batch_size:
        raise HedgerowError(f"a batch of {n} is below this task's least, {task.min_batch_size}: nothing is released.")
    noisy = np.array(sums, dtype=np.int64)
    for _ in range(SERVERS):
        noisy += discrete_gaussian(task.variance, task.length, source)
    return NoisySums(task.id, n, tuple(noisy.tolist()), source.simulation)


@dataclass(frozen=True)
class NoisySums(Content, what="noisy sums", format="hedgerow/noisy-sums", version=1):
    """The totals of one batch with the noise of both servers: all that ever leaves them.

    Attributes
    ----------
    task : str
        Its id.
    n_reports : int
        Reports in the batch: public, for both servers see ids.
    sums : tuple of int
        One for each bit of the vector; noise may make them negative.
    simulation : bool
        True if the noise came from a seed, and so protects nobody.
    """

    task: str
    n_reports: int
    sums: tuple[int, ...]
    simulation: bool = False

    def __post_init__(self) -> None:
        if self.n_reports < 0 or any(abs(value) > MOST for value in (self.n_reports, *self.sums)):
            raise FormatError("these are not the sums of a batch of reports.")

    def of(self, task: Any) -> NoisySums:
        """Return self; refuse sums of another task, or of another length."""
        if self.task != task.id or len(self.sums) != task.length:
            raise FormatError("these sums belong to another task.")
        return self
