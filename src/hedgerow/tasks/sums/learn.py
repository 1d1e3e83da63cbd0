r"""What noisy sums say about the error of a model: a posterior mean, by the evidence of the sums themselves.

Holders are asked in which leaves of T trees they are; an error is looked for among sums of the leaf values of another,
larger forest, and bumps of a Gaussian process. With :math:`\varphi` the indicators of the leaves of trees that a record
is in, over :math:`\sqrt T`, :math:`\psi` those of the forest beside features of the process, m holders, and c the
radius, the differences of both signs are, over :math:`\sqrt T`,

.. math:: s = \frac{m}{c} E[\varphi(\psi'\theta - f)] + \text{noise}, \qquad
          \text{noise} \sim N(0, \sigma_s^2 I + m E[\varphi\varphi'])

for an error :math:`\psi'\theta` of the public model, of which the group was sent a correction f; what clipping does to
it is in :class:`~hedgerow.tasks.assisted.residuals.Clipping`. All groups so far tell of one :math:`\theta`, and the
posterior mean is given all of their sums. Means are over rows like the public ones, weighted so that leaves have the
shares that the *holders* have: the sums of both signs of all groups tell. All of it is post-processing of what was
released.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from hedgerow.tasks.sums.process import Process
from hedgerow.tasks.sums.told import Leaves, Told, row_weights
from hedgerow.types import FloatArray

__all__ = ["LEAST", "LEAST_CHECKED", "Learnt", "learn"]

STEPS = np.logspace(-3, 0, 25)  # of the prior variance, eight a decade, up to all of the residual variance
_TINY = 1e-200  # of a variance: a radius may be as small as 1e-100
_COARSE = 4  # first every fourth of them is tried, then those next to the best: 11 matrices instead of 25
LEAST_CHECKED = 0.5  # the same where a later group checks all corrections: .27 of GAS's gap instead of .26
LEAST = 3.0  # of the log-likelihood, that a correction must gain: nothing gains as much one time in 100


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
    weights : array
        Heights of the bumps of a process, of which a record adds those that it is near; empty without one.
    """

    values: FloatArray
    gain: float
    open: float
    weights: FloatArray


def learn(
    groups: Sequence[Told],
    forest: Leaves,
    most: float,
    n_public: int,
    least: float = LEAST,
    process: Process | None = None,
) -> Learnt:
    """Return the posterior mean of the error of the public model.

    With a process half of the prior variance is that of the forest, and half that of the process: errors have steps as
    well as slopes. Even, not chosen. Gaps closed at epsilon 1 on two splits, three seeds each, of CAL, GAS, MET and CCP
    in a script: .148, .307, .337, .049 with the forest alone, .151, .275, .311, .034 with the process alone, .168,
    .372, .339, .048 with both.

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
    process : Process or None
        Over the same rows.
    """
    groups = [group for group in groups if not group.cut] or groups  # those with a wider radius know better
    psi, back = _believed(forest, process)
    weights = row_weights(groups)
    white = [group.white(n_public, weights) for group in groups]
    sums = np.concatenate([group.sums for group in white])
    means = np.concatenate([group.means for group in white])
    leaves = means @ psi
    signal = leaves @ leaves.T
    first = 0
    for group in white:
        own = slice(first, first + len(group.sums))
        signal[own, own] += group.mismatch
        first += len(group.sums)
    everybody = means.sum(axis=1)
    level = _level(groups)
    base = np.eye(len(sums)) + level * np.outer(everybody, everybody)
    best = _likeliest(base, signal, sums, most)
    if best.gain < least:
        return Learnt(np.zeros(sum(forest.sizes)), max(best.gain, 0.0), 1.0, np.zeros(len(back)))
    root = np.linalg.inv(best.factor)
    solved = root.T @ (root @ sums)
    theta = best.prior * leaves.T @ solved
    known = best.prior * float(np.sum((root @ leaves @ psi.T) ** 2, axis=0).mean())
    T = len(forest.sizes)
    leaf_part, smooth_part = np.split(np.sqrt(_share(process)) * theta, [sum(forest.sizes)])
    values = leaf_part / np.sqrt(T) + level * float(everybody @ solved) / T
    return Learnt(values, best.gain, min(max(1 - known, 0.0), 1.0), back @ smooth_part)


def _share(process: Process | None) -> float:
    """Return the share of the prior variance that each kind of correction has."""
    return 1.0 if process is None else 0.5


def _believed(forest: Leaves, process: Process | None) -> tuple[FloatArray, FloatArray]:
    """Return what an error is a combination of, at every row, and the heights of bumps that each of the last makes."""
    psi = forest.indicators()
    if process is None:
        return psi, np.zeros((0, 0))
    smooth, back = process.features()
    return np.sqrt(_share(process)) * np.hstack([psi, smooth]), back


@dataclass(frozen=True, eq=False)
class _Prior:
    """A prior variance, the Cholesky factor of the covariance of the sums under it, and how much likelier they are."""

    prior: float
    factor: FloatArray
    gain: float


def _level(groups: Sequence[Told]) -> float:
    """Return the prior variance of the mean error: what its square, as all groups tell it, has above its variance."""
    told = [group.level for group in groups]
    weight = sum(1 / max(variance, _TINY) for _, variance in told)
    mean = sum(level / max(variance, _TINY) for level, variance in told) / weight
    return float(max(mean**2 - 1 / weight, 0.0))


def _likeliest(base: FloatArray, signal: FloatArray, sums: FloatArray, most: float) -> _Prior:
    """Return the likeliest prior variance of those tried."""
    tried: dict[int, _Prior] = {}

    def gain(step: int) -> float:
        if step not in tried:
            tried[step] = _under(most * float(STEPS[step]), base, signal, sums)
        return tried[step].gain

    best = max(range(0, len(STEPS), _COARSE), key=gain)
    width = _COARSE // 2
    while width:
        near = [step for step in (best - width, best, best + width) if 0 <= step < len(STEPS)]
        best = max(near, key=gain)
        width //= 2
    return tried[best]


def _under(prior: float, base: FloatArray, signal: FloatArray, sums: FloatArray) -> _Prior:
    """Return the likelihood under one prior variance, over that under none.

    The last row of the factor of the covariance with the sums as one more row is what they are over their root.
    """
    N = len(sums)
    square = float(sums @ sums)
    bordered = np.empty((N + 1, N + 1))
    bordered[:N, :N] = base + prior * signal
    bordered[N, :N] = sums
    bordered[:N, N] = sums
    bordered[N, N] = square + 1  # more than the sums can take of it, for no variance is below 1
    factor = np.asarray(np.linalg.cholesky(bordered), dtype=np.float64)
    taken = float(factor[N, :N] @ factor[N, :N])
    gain = 0.5 * (square - taken) - float(np.log(np.diag(factor)[:N]).sum())
    return _Prior(prior, factor[:N, :N], gain)
