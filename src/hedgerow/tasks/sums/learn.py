r"""What noisy sums say about the error of a model: a posterior mean, by the evidence of the sums themselves.

With :math:`\varphi` the indicators of the leaves that a record is in, over :math:`\sqrt T`, m holders and c the radius,
the differences of both signs are, over :math:`\sqrt T`,

.. math:: s = \frac{m}{c} G \theta + \text{noise}, \qquad G = E[\varphi\varphi'], \qquad
          \text{noise} \sim N(0, \sigma_s^2 I + m G)

for an error :math:`\varphi'\theta`. In the eigenvectors of G, with eigenvalues e, everything is diagonal. G is that of
rows like the public ones, weighted so that leaves have the shares that the *holders* have: the sums of both signs tell.
All of it is post-processing of what was released.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.tasks.assisted.pool import rake
from hedgerow.types import FloatArray

__all__ = ["Learnt", "learn", "shares_of"]

POWERS = (0.0, 0.5, 1.0, 2.0)  # of eigenvalues, in the prior: an error may be rough or smooth; by evidence
STEPS = np.logspace(-3, 0, 25)  # of the prior variance, eight a decade, up to all of the residual variance
_TINY = 1e-9  # an eigenvalue, of a trace of 1: rounding leaves less than 1e-12, and one record in a million more
LEAST_CHECKED = 0.5  # the same where a later group checks all corrections: .27 of GAS's gap instead of .26
LEAST = 3.0  # of the log-likelihood, that a correction must gain: nothing gains as much one time in 100


@dataclass(frozen=True, eq=False)
class Learnt:
    """What one group teaches.

    Attributes
    ----------
    values : array
        What each leaf adds, in units of the radius; a record adds those of all its leaves.
    gain : float
        How much more likely the sums are than without an error, as a logarithm.
    shares : array
        Shares of holders in each leaf, as far as the sums tell.
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
    found = np.maximum(expected + kept * (counts - expected), 0.02 * expected)
    ends = np.cumsum(leaves)[:-1]
    return np.concatenate([part / part.sum() for part in np.split(found, ends)])


def learn(
    signs: tuple[FloatArray, FloatArray],
    public: FloatArray,
    reference: npt.NDArray[np.integer],
    leaves: tuple[int, ...],
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
    variance : float
        Of the noise of each sum.
    most : float
        The residual variance over the squared radius: an error cannot have more.
    n_public : int
        Public records behind the reference.
    least : float
        Gain below which nothing is learnt.
    """
    up, down = signs
    T = len(leaves)
    shares = shares_of(up + down, public, leaves, n, 2 * variance)
    weights = rake(reference, leaves, shares)
    first = np.cumsum((0, *leaves[:-1]))
    A = np.zeros((len(reference), sum(leaves)))
    A[np.arange(len(reference))[:, None], first + reference.astype(np.int64)] = 1 / np.sqrt(T)
    G = (A.T * weights) @ A
    e, Q = np.linalg.eigh(G)
    e = np.maximum(e, 0.0)
    u = Q.T @ ((up - down) / np.sqrt(T))
    own = 2 * variance / T + n * e
    rows = 1 / float(np.sum(weights**2)) / len(reference) * n_public
    mismatch = 4 / T * n**2 * (e + 1 / rows) / rows
    nothing = _fit(u, own)
    best = (0.0, np.zeros(len(e)))
    for power in POWERS:
        w = np.where(e > _TINY, np.maximum(e, _TINY) ** power, 0.0)
        w = w / float(np.sum(w * e))
        for tau2 in most * STEPS:
            total = own + tau2 * (n**2 * w * e**2 + mismatch)
            gain = _fit(u, total) - nothing
            if gain > best[0]:
                best = (gain, tau2 * w * n * e * u / total)
    gain, theta = best
    if gain < least:
        theta = np.zeros(len(e))
    return Learnt(Q @ theta / np.sqrt(T), gain, shares)


def _fit(u: FloatArray, variance: FloatArray) -> float:
    return float(-0.5 * np.sum(np.log(variance) + u**2 / variance))
