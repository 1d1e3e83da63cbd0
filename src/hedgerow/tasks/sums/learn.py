r"""What noisy sums say about the error of a model: a posterior mean, by the evidence of the sums themselves.

Holders are asked in which leaves of T trees they are; an error is looked for among sums of the leaf values of another,
larger forest. With :math:`\varphi` the indicators of the leaves of trees that a record is in, over :math:`\sqrt T`,
:math:`\psi` those of the forest, m holders and c the radius, the differences of both signs are, over :math:`\sqrt T`,

.. math:: s = \frac{m}{c} E[\varphi(\psi'\theta - f)] + \text{noise}, \qquad
          \text{noise} \sim N(0, \sigma_s^2 I + m E[\varphi\varphi'])

for an error :math:`\psi'\theta` of the public model, of which the group was sent a correction f. All groups so far tell
of one :math:`\theta`, and the posterior mean is given all of their sums. Means are over rows like the public ones,
weighted so that leaves have the shares that the *holders* have: the sums of both signs tell. All of it is
post-processing of what was released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.tasks.assisted.pool import rake
from hedgerow.types import FloatArray

__all__ = ["LEAST", "LEAST_CHECKED", "Learnt", "Leaves", "Told", "learn", "shares_of"]

STEPS = np.logspace(-3, 0, 25)  # of the prior variance, eight a decade, up to all of the residual variance
_FEWEST = 0.02  # of its public share a leaf is taken to have at least: noise may make counts negative
LEAST_CHECKED = 0.5  # the same where a later group checks all corrections: .27 of GAS's gap instead of .26
LEAST = 3.0  # of the log-likelihood, that a correction must gain: nothing gains as much one time in 100


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
    """

    up: FloatArray
    down: FloatArray
    asked: Leaves
    n: int
    variance: float
    radius: float
    sent: FloatArray
    open: float

    def shares(self) -> FloatArray:
        """Return shares of holders by leaf, as far as the sums tell."""
        rows = self.asked.places.astype(np.int64)
        public = [np.bincount(rows[:, t], minlength=size) / len(rows) for t, size in enumerate(self.asked.sizes)]
        return shares_of(self.up + self.down, np.concatenate(public), self.asked.sizes, self.n, 2 * self.variance)

    def white(self, psi: FloatArray, n_public: int) -> tuple[FloatArray, FloatArray, FloatArray]:
        """Return sums, their slopes in theta, and the covariance of mismatch for a prior variance of 1.

        All are over what sums vary by anyway: the noise, and rounding at random. Mismatch is what so many public
        records leave open of the overlaps of leaves; the less of the error is open, the less it matters.
        """
        T = len(self.asked.sizes)
        weights = rake(self.asked.places, self.asked.sizes, self.shares())
        A = self.asked.indicators()
        Aw = weights[:, None] * A
        overlap = Aw.T @ A
        one = np.eye(A.shape[1])
        # Without noise leaves of two trees tell the same: a whole number is taken to be off by one.
        own = self.radius**2 * (self.n * overlap + max(2 * self.variance, 1.0) / T * one)
        rows = min(n_public, len(weights)) / float(np.sum(weights**2)) / len(weights)
        mismatch = self.open * self.n**2 / (T * rows) * (overlap + one / rows)
        root = np.linalg.inv(np.linalg.cholesky(own))
        told = self.radius * (self.up - self.down) / np.sqrt(T) + self.n * Aw.T @ self.sent
        return root @ told, root @ (self.n * Aw.T @ psi), root @ mismatch @ root.T


@dataclass(frozen=True, eq=False)
class Learnt:
    """What all groups so far teach.

    Attributes
    ----------
    values : array
        What each leaf of the forest adds, in label units; a record adds those of all its leaves.
    gain : float
        How much more likely the sums are than without an error, as a logarithm.
    open : float
        The share of the prior variance of the error that is still open.
    """

    values: FloatArray
    gain: float
    open: float


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


def learn(groups: Sequence[Told], forest: Leaves, most: float, n_public: int, least: float = LEAST) -> Learnt:
    """Return the posterior mean of the error of the public model.

    Parameters
    ----------
    groups : sequence of Told
        One or more, over the same rows.
    forest : Leaves
        Of these rows, in the forest.
    most : float
        The residual variance: an error cannot have more.
    n_public : int
        Public records behind the rows.
    least : float
        Gain below which nothing is learnt.
    """
    psi = forest.indicators()
    whitened = [group.white(psi, n_public) for group in groups]
    told = np.concatenate([sums for sums, _, _ in whitened])
    slopes = np.concatenate([slope for _, slope, _ in whitened])
    signal = slopes @ slopes.T
    first = 0
    for sums, _, mismatch in whitened:
        own = slice(first, first + len(sums))
        signal[own, own] += mismatch
        first += len(sums)
    e, Q = np.linalg.eigh(signal)
    along = Q.T @ told
    prior = most * STEPS
    total = 1 + prior[:, None] * np.maximum(e, 0.0)
    gains = -0.5 * np.sum(np.log(total) + along**2 / total - along**2, axis=1)
    best = int(np.argmax(gains))
    if gains[best] < least:
        return Learnt(np.zeros(psi.shape[1]), max(float(gains[best]), 0.0), 1.0)
    theta = prior[best] * slopes.T @ (Q @ (along / total[best]))
    known = (Q.T @ (slopes @ psi.T)) ** 2 / total[best][:, None]
    left = min(max(1 - prior[best] * float(known.sum(axis=0).mean()), 0.0), 1.0)
    return Learnt(theta / np.sqrt(len(forest.sizes)), float(gains[best]), left)
