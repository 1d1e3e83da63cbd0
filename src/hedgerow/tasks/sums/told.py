"""What one group told: noisy sums of both signs by leaf, and how they vary."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt

from hedgerow.tasks.assisted.pool import rake
from hedgerow.tasks.assisted.residuals import Clipping
from hedgerow.types import FloatArray

__all__ = ["Leaves", "Told", "White", "mean_sign", "row_weights", "shares_of", "sign_sd"]

_ROUNDING = 1e-12  # of a variance, that a factor of some hundred rows may be off by
_FEWEST = 0.02  # of its public share a leaf is taken to have at least: noise may make counts negative


@dataclass(frozen=True, eq=False)
class Leaves:
    """The leaves of some trees that rows are in: one column a tree."""

    places: npt.NDArray[np.integer]
    sizes: tuple[int, ...]

    def indicators(self) -> FloatArray:
        """Return 1 over the root of the number of trees where a row is in a leaf, leaves numbered through all trees."""
        rows = len(self.places)
        found = np.zeros((rows, sum(self.sizes)))
        first = np.cumsum((0, *self.sizes[:-1]))
        found[np.arange(rows)[:, None], first + self.places.astype(np.int64)] = 1 / np.sqrt(len(self.sizes))
        return found


@dataclass(frozen=True, eq=False)
class Told:
    """What the servers released of one group, and what it had been asked.

    Attributes
    ----------
    up, down : arrays
        Noisy sums of residuals that were rounded up, and down, for every leaf, tree by tree.
    asked : Leaves
        Of rows like the public ones, in the trees that the group was asked about.
    n : int
        Reports.
    variance : float
        Of the noise of each sum.
    radius : float
        Residuals were clipped to it.
    sent : array
        What had been added to the public model when the group was asked, for the same rows.
    open : float
        The share of the prior variance of the error that was open then.
    clip : Clipping
        How clipped errors are read.
    cut : bool
        Whether all errors may have been beyond the radius, so that sums tell a least level only.
    """

    up: FloatArray
    down: FloatArray
    asked: Leaves
    n: int
    variance: float
    radius: float
    sent: FloatArray
    open: float
    clip: Clipping = field(default_factory=Clipping)
    cut: bool = False

    @property
    def level(self) -> tuple[float, float]:
        """The mean error of the public model that the group tells, and its variance."""
        T = len(self.asked.sizes)
        unit = self.radius / self.clip.inside
        mean = unit * mean_sign(self.up, self.down, self.n, T) - self.clip.offset + float(np.mean(self.sent))
        return mean, (unit * sign_sd(self.variance, len(self.up), self.n, T)) ** 2 + self.clip.variance

    def shares(self) -> FloatArray:
        """Return shares of holders by leaf, as far as the sums tell."""
        rows = self.asked.places.astype(np.int64)
        public = [np.bincount(rows[:, t], minlength=size) / len(rows) for t, size in enumerate(self.asked.sizes)]
        return shares_of(self.up + self.down, np.concatenate(public), self.asked.sizes, self.n, 2 * self.variance)

    def white(self, n_public: int, weights: FloatArray) -> White:
        """Return the sums over their deviations, where rows weigh so much.

        Mismatch is what so many public records leave open of the overlaps of leaves; the less of the error is open, the
        less it matters.
        """
        T = len(self.asked.sizes)
        A = self.asked.indicators()
        Aw = weights[:, None] * A
        means = self.n * Aw.T
        everybody = means.sum(axis=1)
        overlap = Aw.T @ A
        one = np.eye(A.shape[1])
        unit = self.radius / self.clip.inside
        # Without noise leaves of two trees tell the same: a whole number is taken to be off by one.
        own = unit**2 * (self.n * overlap + max(2 * self.variance, 1.0) / T * one)
        own += self.clip.variance * np.outer(everybody, everybody)
        own += _ROUNDING * float(np.mean(np.diag(own))) * one  # a tiny radius beside that variance is lost in rounding
        rows = min(n_public, len(weights)) / float(np.sum(weights**2)) / len(weights)
        mismatch = self.open * self.n**2 / (T * rows) * (overlap + one / rows)
        root = np.linalg.inv(np.linalg.cholesky(own))
        told = unit * (self.up - self.down) / np.sqrt(T) - self.clip.offset * everybody + means @ self.sent
        return White(root @ told, root @ means, root @ mismatch @ root.T)


@dataclass(frozen=True, eq=False)
class White:
    """Sums of a group over what they vary by anyway: the noise, and rounding at random.

    Attributes
    ----------
    sums : array
        Of errors of the public model.
    means : array of shape (sums, rows)
        How much of the error at each row is in each sum.
    mismatch : array
        Covariance of what sums are off by where overlaps are known from public records, for a prior variance of 1.
    """

    sums: FloatArray
    means: FloatArray
    mismatch: FloatArray


def row_weights(groups: Sequence[Told]) -> FloatArray:
    """Return weights of rows whose leaves have the shares that holders have, in the trees of all groups at once.

    Holders of all groups are drawn alike, so that what one tells of where they are holds for the others.

    Examples
    --------
    >>> rows = np.array([[0], [0], [1], [1]]), np.array([[0], [1], [0], [1]])
    >>> sums = np.array([900.0, 100.0]), np.array([500.0, 500.0])
    >>> groups = [Told(s / 2, s / 2, Leaves(at, (2,)), 1000, 1.0, 1.0, np.zeros(4), 1.0) for at, s in zip(rows, sums)]
    >>> row_weights(groups).round(2).tolist()
    [0.45, 0.45, 0.05, 0.05]
    """
    places = np.concatenate([group.asked.places for group in groups], axis=1)
    sizes = tuple(size for group in groups for size in group.asked.sizes)
    return rake(places, sizes, np.concatenate([group.shares() for group in groups]))


def shares_of(counts: FloatArray, public: FloatArray, leaves: tuple[int, ...], n: int, noise: float) -> FloatArray:
    """Return shares of holders by leaf: public ones, corrected as far as noisy counts contradict them.

    Relative deviations from public shares have a variance that is estimated over all leaves; 0 leaves public shares.

    Examples
    --------
    >>> public = np.array([0.5, 0.5])
    >>> shares_of(np.array([900.0, 100.0]), public, (2,), 1000, 1.0).round(2).tolist()
    [0.9, 0.1]
    >>> shares_of(np.array([520.0, 480.0]), public, (2,), 1000, 2000.0).round(2).tolist()
    [0.5, 0.5]
    """
    expected = n * public
    excess = float(np.sum((counts - expected) ** 2 - noise - expected))
    relative = max(0.0, excess) / float(np.sum(expected**2))
    prior = relative * expected**2
    kept = prior / (prior + noise + expected) if relative > 0 else np.zeros(len(public))
    found = np.maximum(expected + kept * (counts - expected), _FEWEST * expected)
    ends = np.cumsum(leaves)[:-1]
    return np.concatenate([part / part.sum() for part in np.split(found, ends)])


def mean_sign(up: FloatArray, down: FloatArray, n: int, n_trees: int) -> float:
    """Return the mean of all clipped errors of a group, over the radius.

    >>> mean_sign(np.array([70.0, 20.0]), np.array([30.0, 80.0]), 100, 2)
    -0.1
    """
    return min(max(float(np.sum(up) - np.sum(down)) / max(n * n_trees, 1), -1.0), 1.0)


def sign_sd(variance: float, n_leaves: int, n: int, n_trees: int) -> float:
    """Return the standard deviation of that mean: of the noise of all sums, and of rounding at random."""
    return float(np.sqrt(2 * variance * n_leaves / (n * n_trees) ** 2 + 1 / n))
