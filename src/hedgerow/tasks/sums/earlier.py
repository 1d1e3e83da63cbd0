"""What an earlier group of a chain was asked, and told: later groups are judged together with it."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from hedgerow.content import Content
from hedgerow.errors import FormatError
from hedgerow.grid import LARGEST, SMALLEST
from hedgerow.mechanisms.bit_sums import BitSums
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.assisted.task import LeafNumbers
from hedgerow.tasks.sums.noisy import MOST, SERVERS
from hedgerow.tasks.sums.told import Leaves, Told, mean_sign, sign_sd
from hedgerow.types import FloatArray

__all__ = ["Earlier", "both_signs"]

SURE = 3.0  # deviations by which a mean may be farther than sums say: 1 in 700 by chance
MOST_LEAVES = 256  # of a tree: a leaf number has one byte


def both_signs(sums: tuple[int, ...]) -> tuple[FloatArray, FloatArray]:
    """Return sums of residuals rounded up, and down, by leaf.

    >>> both_signs((1, 2, 3, 4))[0].tolist()
    [2.0, 4.0]
    """
    both = np.array(sums, dtype=np.float64).reshape(-1, 2)
    return both[:, 1], both[:, 0]


@dataclass(frozen=True, eq=False)
class Earlier(Content, what="earlier group"):
    """A group that was asked before; holders do not need it.

    Attributes
    ----------
    sizes : tuple of int
        Leaves of each tree that it was asked about.
    reference : array of shape (rows, trees)
        Leaves of the rows of the task, in these trees.
    sums : tuple of int
        What both servers released.
    n_reports : int
        Of the group.
    radius : float
        Residuals were clipped to it.
    sent : tuple of float
        What the last step added when the group was asked, for the rows of the task.
    open, left : float
        The shares of the prior variance of the error that were open then, and after the group.
    """

    sizes: tuple[int, ...]
    reference: LeafNumbers
    sums: tuple[int, ...]
    n_reports: int
    radius: float
    sent: tuple[float, ...]
    open: float
    left: float

    def __post_init__(self) -> None:
        if not self.sizes or not 1 <= min(self.sizes) <= max(self.sizes) <= MOST_LEAVES:
            raise FormatError(f"'sizes' of an earlier group must be in 1 .. {MOST_LEAVES}.")
        if isinstance(self.reference, bytes):
            if len(self.reference) != len(self.sent) * len(self.sizes):
                raise FormatError("'reference' of an earlier group must name a leaf of each tree, for every row.")
            object.__setattr__(self, "reference", np.frombuffer(self.reference, "u1").reshape(len(self.sent), -1))
        object.__setattr__(self, "reference", np.asarray(self.reference).astype("u1"))
        inside = self.reference.shape == (len(self.sent), len(self.sizes)) and len(self.sent)
        if not inside or (self.reference >= np.array(self.sizes)).any():
            raise FormatError("'reference' of an earlier group must name a leaf of each tree, for every row.")
        if len(self.sums) != 2 * sum(self.sizes) or any(abs(value) > MOST for value in self.sums):
            raise FormatError("the sums of an earlier group are not of its trees.")
        if not 1 <= self.n_reports <= MOST or not SMALLEST <= self.radius <= LARGEST:
            raise FormatError("'n_reports' or 'radius' of an earlier group are out of range.")
        if not 0 <= self.open <= 1 or not 0 <= self.left <= 1:
            raise FormatError("'open' and 'left' of an earlier group must be in 0 .. 1.")
        if any(abs(value) > LARGEST for value in self.sent):
            raise FormatError(f"'sent' of an earlier group must be in -{LARGEST:g} .. {LARGEST:g}.")

    def told(self, epsilon: float, delta: float, residuals: Residuals) -> Told:
        """Return what it told; the noise follows from epsilon, delta and the trees, clipping from public residuals."""
        leaves = Leaves(self.reference, self.sizes)
        noise = BitSums(epsilon, delta, len(self.sizes), len(self.sums)).variance
        sent = np.array(self.sent)
        up, down = both_signs(self.sums)
        variance = SERVERS * float(noise)
        mean = mean_sign(up, down, self.n_reports, len(self.sizes))
        farthest = min(abs(mean) + SURE * sign_sd(variance, len(up), self.n_reports, len(self.sizes)), 1.0)
        within = residuals.clipping(self.radius, math.copysign(farthest, mean)).inside
        cut = within * (residuals.n_public + 1) <= 1
        clip = residuals.clipping(self.radius, mean)
        return Told(up, down, leaves, self.n_reports, variance, self.radius, sent, self.open, clip, cut)
