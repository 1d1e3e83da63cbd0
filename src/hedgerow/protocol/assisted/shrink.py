"""From totals to corrections: leaf shares, unbiased corrections with their noise, and how far to believe them.

All of it is post-processing of the reports: it costs no privacy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.protocol.assisted.task import AssistedTask
from hedgerow.protocol.encoding import IntArray

__all__ = ["Corrections", "Posterior", "estimate", "mixed_shares", "posterior"]

FloatArray = npt.NDArray[np.float64]

_SPIKE = 0.3
_GRID = np.logspace(-3, 1, 17)
_SHIFTED = 2.0
_LEAST = 0.25


@dataclass(frozen=True, eq=False)
class Corrections:
    """For each tree: corrections ``d`` of the public model by leaf, their variances ``V``, and leaf shares ``p``.

    ``shift`` is above 0 where reports contradict the public leaf shares, see :func:`mixed_shares`.
    """

    d: list[FloatArray]
    V: list[FloatArray]
    p: list[FloatArray]
    shift: float = 0.0


def private_shares(task: AssistedTask, sums: IntArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return leaf shares among the holders, with variances, from how often leaves are named (inf: no information)."""
    out, at = [], 0
    for joint, (n, _, named) in zip(task.encoding.joint, task.encoding.split(sums), strict=True):
        busy = np.array(task.busy[at : at + joint.n_leaves])
        at += joint.n_leaves
        if joint.naming is None:
            own, other = float(joint.kappa) * busy, float(1 - joint.kappa) * (joint.n_levels - 1)
            other /= joint.n_leaves * (joint.n_levels - 1) + 1
        else:
            a, other = (float(x) for x in joint.naming)
            own = np.full(joint.n_leaves, a - other)
        rate = named / max(n, 1)
        known = own > 1e-12 if joint.n_leaves > 1 else np.zeros(1, dtype=bool)
        safe = np.where(known, own, 1.0)
        variance = np.where(known, (rate * (1 - rate) + 1 / max(n, 1)) / max(n, 1) / safe**2, np.inf)
        out.append(((rate - other) / safe, variance))
    return out


def mixed_shares(task: AssistedTask, sums: IntArray) -> list[FloatArray]:
    r"""Return leaf shares: a precision-weighted mix of public shares and what the reports say.

    A public share has variance ``(1/n_public + shift) p (1-p)``; the shift, 0 unless the reports contradict the
    public shares by more than two standard deviations in all, is what brings the weighted squared differences to their
    expectation.
    """
    private, public = private_shares(task, sums), [np.asarray(p) for p in task.shares]
    shift = _shift(task, private, public)
    out = []
    for (share, variance), p in zip(private, public, strict=True):
        prior = p * (1 - p) * (1 / max(task.residuals.n_public, 1) + shift)
        weight = np.where(np.isfinite(variance), prior / (prior + variance + 1e-300), 0.0)
        mixed = np.maximum(p + weight * (np.where(weight > 0, share, p) - p), _LEAST * p)
        out.append(mixed / mixed.sum())
    return out


def _shift(task: AssistedTask, private: list[tuple[FloatArray, FloatArray]], public: list[FloatArray]) -> float:
    z, scale = [], []
    for (share, variance), p in zip(private, public, strict=True):
        known = np.isfinite(variance)
        expected = (variance + p * (1 - p) / max(task.residuals.n_public, 1))[known]
        z += ((share - p)[known] ** 2 / expected).tolist()
        scale += ((p * (1 - p))[known] / expected).tolist()
    if not z:
        return 0.0
    excess = np.sum(np.array(z) - 1)
    return float(excess / np.sum(scale)) if excess > _SHIFTED * np.sqrt(2 * len(z)) else 0.0


def estimate(task: AssistedTask, sums: IntArray) -> Corrections:
    r"""Return the corrections that the totals suggest, without bias where the public model is right on average.

    With ``m_j`` the estimate of ``E[v; leaf j]``, v the clipped residual over the radius r, ``m0`` and ``gamma`` the
    public mean of v and share of residuals within r,

    .. math:: d_j = \Big(\frac{m_j}{p_j} - m_0\Big) \frac{r}{\gamma} + \overline{res}, \qquad
              V_j = \Big(\frac{r}{\gamma}\Big)^2 \frac{p_j A + (1 - p_j) B}{n_t p_j^2}

    because a residual that moves by a little moves the mean of v by gamma/r of it.
    """
    res, shares = task.residuals, mixed_shares(task, sums)
    gain = task.radius / res.inside
    d, V = [], []
    for joint, p, (n, score, _) in zip(task.encoding.joint, shares, task.encoding.split(sums), strict=True):
        mean = score / (float(joint.kappa) * joint.top * max(n, 1))
        A, B = joint.moments(res.level_square)
        known = n > 0
        d.append((mean / p - res.clipped_mean) * gain + res.mean if known else np.zeros(len(p)))
        V.append(gain**2 * (p * A + (1 - p) * B) / (max(n, 1) * p**2) if known else np.full(len(p), 1e300))
    shift = _shift(task, private_shares(task, sums), [np.asarray(p) for p in task.shares])
    return Corrections(d, V, shares, shift)


@dataclass(frozen=True, eq=False)
class Posterior:
    """What is believed of the variance of true corrections: 0 with some weight, else on a grid."""

    grid: FloatArray
    weights: FloatArray

    @property
    def nothing(self) -> float:
        """The weight of "there is nothing to correct"."""
        return float(self.weights[0])

    def factor(self, noise: npt.ArrayLike) -> FloatArray:
        """Return the share of an estimate to keep, ``E[t2/(t2 + noise)]``."""
        signal = self.grid[:, None]
        kept = signal / np.maximum(signal + np.atleast_1d(np.asarray(noise, dtype=np.float64)), 1e-300)
        return np.asarray(self.weights @ kept)


def posterior(d: FloatArray, V: FloatArray, scale: float) -> Posterior:
    """Return the posterior of t2 given ``d_j ~ N(0, t2 + V_j)``.

    The prior puts .3 on 0 and .7 on ``scale`` times a log grid, falling with the square root of t2: large errors of a
    public model need evidence.

    >>> quiet = posterior(np.array([0.1, -0.1]), np.ones(2), 1.0)
    >>> loud = posterior(np.array([9.0, -9.0]), np.ones(2), 1.0)
    >>> quiet.nothing > 0.3 > loud.nothing
    True
    """
    grid = np.concatenate([[0.0], max(scale, 1e-300) * _GRID])
    total = grid[:, None] + np.maximum(V, 1e-300)
    fit = -0.5 * (np.log(total) + d**2 / total).sum(axis=1)
    slab = (1 - _SPIKE) * _GRID**-0.5 / np.sum(_GRID**-0.5)
    weights = np.concatenate([[_SPIKE], slab]) * np.exp(fit - fit.max())
    return Posterior(grid, weights / weights.sum())
