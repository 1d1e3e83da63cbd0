r"""What noisy sums say about the error of a model: a posterior mean, by the evidence of the sums themselves.

Holders are asked in which leaves of T trees they are; an error is looked for among sums of the leaf values of another,
larger forest. With :math:`\varphi` the indicators of the leaves of trees that a record is in, over :math:`\sqrt T`,
:math:`\psi` those of the forest, m holders and c the radius, the differences of both signs are, over :math:`\sqrt T`,

.. math:: s = \frac{m}{c} E[\varphi\psi'] \theta + \text{noise}, \qquad
          \text{noise} \sim N(0, \sigma_s^2 I + m E[\varphi\varphi'])

for an error :math:`\psi'\theta`. Means are over rows like the public ones, weighted so that leaves have the shares that
the *holders* have: the sums of both signs tell. All of it is post-processing of what was released.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.tasks.assisted.pool import rake
from hedgerow.types import FloatArray

__all__ = ["LEAST", "LEAST_CHECKED", "Leaves", "Learnt", "learn", "shares_of"]

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
class Learnt:
    """What one group teaches.

    Attributes
    ----------
    values : array
        What each leaf of the forest adds, in units of the radius; a record adds those of all its leaves.
    gain : float
        How much more likely the sums are than without an error, as a logarithm.
    shares : array
        Shares of holders in each leaf that they were asked about, as far as the sums tell.
    """

    values: FloatArray
    gain: float
    shares: FloatArray


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


def learn(
    signs: tuple[FloatArray, FloatArray],
    public: FloatArray,
    asked: Leaves,
    forest: Leaves,
    n: int,
    variance: float,
    most: float,
    n_public: int,
    least: float = LEAST,
) -> Learnt:
    """Return the posterior mean of the error.

    Parameters
    ----------
    signs : pair of arrays
        Noisy sums of residuals that were rounded up, and down, for every leaf, tree by tree.
    public : array
        Public shares of the leaves.
    asked, forest : Leaves
        Of rows like the public ones: in the trees that holders were asked about, and in the forest.
    variance : float
        Of the noise of each sum.
    most : float
        The residual variance over the squared radius: an error cannot have more.
    n_public : int
        Public records behind the rows.
    least : float
        Gain below which nothing is learnt.
    """
    up, down = signs
    T = len(asked.sizes)
    shares = shares_of(up + down, public, asked.sizes, n, 2 * variance)
    weights = rake(asked.places, asked.sizes, shares)
    A = asked.indicators()
    B = forest.indicators()
    Aw = weights[:, None] * A
    overlap = Aw.T @ A
    one = np.eye(A.shape[1])
    H = n * Aw.T @ B
    own = n * overlap + max(2 * variance, 1.0) / T * one  # without noise leaves of two trees tell the same
    rows = min(n_public, len(weights)) / float(np.sum(weights**2)) / len(weights)
    mismatch = n**2 / (T * rows) * (overlap + one / rows)
    white = np.linalg.inv(np.linalg.cholesky(own))
    seen = white @ ((up - down) / np.sqrt(T))
    signal, Q = np.linalg.eigh(white @ (H @ H.T + mismatch) @ white.T)
    along = Q.T @ seen
    gain = 0.0
    values = np.zeros(B.shape[1])
    for tau2 in most * STEPS:
        total = 1 + tau2 * np.maximum(signal, 0.0)
        found = float(-0.5 * np.sum(np.log(total) + along**2 / total - along**2))
        if found > max(gain, least):
            gain = found
            values = tau2 * H.T @ (white.T @ (Q @ (along / total))) / np.sqrt(len(forest.sizes))
    return Learnt(values, gain, shares)
