"""From totals to corrections: leaf shares, unbiased corrections with their noise, and how far to believe them.

All of it is post-processing of the reports: it costs no privacy.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.mechanisms.joint import JointMechanism
from hedgerow.tasks.assisted.chi_square import chi_square_limit
from hedgerow.tasks.assisted.pool import GRID, SPIKE, overlaps
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.types import FloatArray, IntArray

__all__ = [
    "Corrections",
    "Posterior",
    "ShareContrast",
    "busyness",
    "estimate",
    "find_shift",
    "likely_shift",
    "mixed_shares",
    "posterior",
    "share_contrast",
    "told_shares",
]


_UNTOLD = 1e-12  # an own chance that differs less from another's says nothing: it is rounding
_CLEARLY = 3.0  # standard deviations: a chance of .0013 where shares are the same
_LEAST = 0.25  # of a public share: sums are divided by shares, and noise may say that there is none; by hand


@dataclass(frozen=True, eq=False)
class Corrections:
    """For each tree: corrections ``d`` of the public model by leaf, their variances ``V``, and leaf shares ``p``.

    ``share_variance`` says how well the shares are known; ``shift`` is above 0 where reports contradict the public
    ones, see :func:`find_shift`; ``busyness`` is :func:`busyness`.
    """

    d: list[FloatArray]
    V: list[FloatArray]
    p: list[FloatArray]
    share_variance: list[FloatArray]
    shift: float = 0.0
    busyness: float = 1.0


def _naming(joint: JointMechanism, busy: FloatArray) -> tuple[FloatArray, float]:
    """Return by how much more likely holders of a leaf name it than others do, and how likely those do."""
    if joint.naming is None:
        other = float(1 - joint.kappa) * (joint.n_levels - 1)
        return float(joint.kappa) * busy, other / (joint.n_leaves * (joint.n_levels - 1) + 1)
    own, other = (float(x) for x in joint.naming)
    return np.full(joint.n_leaves, own - other), other


def private_shares(task: AssistedTask, sums: IntArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return leaf shares among the holders, with variances, from how often leaves are named (inf: no information)."""
    out = []
    at = 0
    for joint, (n, _, named) in zip(task.encoding.joint, task.encoding.split(sums), strict=True):
        busy = np.array(task.busy[at : at + joint.n_leaves])
        at += joint.n_leaves
        own, other = _naming(joint, busy)
        rate = named / max(n, 1)
        known = own > _UNTOLD if joint.n_leaves > 1 else np.zeros(1, dtype=bool)
        safe = np.where(known, own, 1.0)
        variance = np.where(known, (rate * (1 - rate) + 1 / max(n, 1)) / max(n, 1) / safe**2, np.inf)
        out.append(((rate - other) / safe, variance))
    return out


def busyness(task: AssistedTask, sums: IntArray) -> float:
    r"""Return how many times as often as public errors those of holders seem to round to another level than 0.

    Reports with levels name a leaf where the error is not near 0. Decoded by how often that is so among public records
    (``busy``), leaf shares of the holders do not add up to 1 but to

    .. math:: \hat c = \sum_t \frac{n_t}{n} \sum_j \frac{rate_{tj} - other}{own_{tj}}

    and all of them are wrong by that factor. Of its difference from 1 so much is believed as is beyond chance (of the
    reports, and of the public records that ``busy`` stands on), but no less than the standard deviation of the reports:
    shares are divided by it.
    """
    total = 0.0
    noise = 0.0
    n_all = max(sum(n for n, _, _ in task.encoding.split(sums)), 1)
    at = 0
    for joint, (n, _, named) in zip(task.encoding.joint, task.encoding.split(sums), strict=True):
        busy = np.array(task.busy[at : at + joint.n_leaves])
        at += joint.n_leaves
        if joint.naming is not None or not n:
            return 1.0
        own, other = _naming(joint, busy)
        if not (own > _UNTOLD).all():
            return 1.0
        rate = named / n
        total += n / n_all * float(np.sum((rate - other) / own))
        # A report names one leaf at most. The totals of forged ones may say otherwise: no variance is below 0.
        spread = max(float(np.sum(rate / own**2) - np.sum(rate / own) ** 2), 0.0)
        noise += n / n_all**2 * (spread + float(np.sum(1 / own**2)) / n)
    whole = float(np.array(task.busy) @ task.trees.value) / len(task.shares)
    chance = noise + (1 / whole - 1) / max(task.residuals.n_public, 1)
    believed = max(0.0, 1 - chance / max((total - 1) ** 2, 1e-300))
    return max(1 + believed * (total - 1), math.sqrt(noise))


def told_shares(task: AssistedTask, sums: IntArray) -> list[tuple[FloatArray, FloatArray]]:
    """Return :func:`private_shares` for holders whose errors are as large as reports say, see :func:`busyness`."""
    factor = busyness(task, sums)
    return [(share / factor, variance / factor**2) for share, variance in private_shares(task, sums)]


def mixed_shares(task: AssistedTask, sums: IntArray) -> list[tuple[FloatArray, FloatArray]]:
    r"""Return leaf shares, a precision-weighted mix of public ones and what the reports say, and their variances.

    A public share has variance ``(1/n_public + shift) p (1-p)`` in the mix, see :func:`likely_shift`. The variance that
    is returned is that of the reports alone, where they tell any: public shares may be wrong by as much as reports
    cannot rule out.
    """
    private = told_shares(task, sums)
    public = [np.asarray(p) for p in task.shares]
    shift = likely_shift(share_contrast(task, sums))
    out = []
    for (share, variance), p in zip(private, public, strict=True):
        prior = p * (1 - p) * (1 / max(task.residuals.n_public, 1) + shift)
        told = np.isfinite(variance)
        weight = np.where(told, prior / (prior + variance + 1e-300), 0.0)
        mixed = np.maximum(p + weight * (np.where(weight > 0, share, p) - p), _LEAST * p)
        out.append((mixed / mixed.sum(), np.where(told, variance, prior)))
    return out


@dataclass(frozen=True, eq=False)
class ShareContrast:
    r"""How the leaf shares that reports tell differ from the public ones.

    With ``z_j`` the difference of the two shares of leaf j over its standard deviation, ``Q = sum z_j^2`` has mean m,
    the number of leaves, and variance ``2 sum R_ij^2``, R the correlations of the differences. These are not 0: the
    public shares of all trees come from the same records, so that overlapping leaves err together.

    Attributes
    ----------
    share, public, expected : arrays
        The two shares of every leaf, tree by tree, and the variance of their difference by chance.
    known : bool array
        Leaves about which the reports tell anything.
    spread : array
        The part of ``expected`` that is due to the public shares.
    """

    task: AssistedTask
    share: FloatArray
    public: FloatArray
    expected: FloatArray
    known: npt.NDArray[np.bool_]
    spread: FloatArray

    @property
    def z(self) -> FloatArray:
        """The difference of each leaf in standard deviations; 0 where nothing is known."""
        return np.where(self.known, (self.share - self.public) / np.sqrt(self.expected), 0.0)

    @property
    def variance(self) -> float:
        """The variance of ``Q``."""
        R = _correlations(self.task, self.spread / self.expected)[np.ix_(self.known, self.known)]
        return 2.0 * float(np.sum(R**2))


def share_contrast(task: AssistedTask, sums: IntArray) -> ShareContrast:
    """Return how the leaf shares that reports tell differ from the public ones."""
    share, noise = (np.concatenate(parts) for parts in zip(*told_shares(task, sums), strict=True))
    known = np.isfinite(noise)
    p = np.concatenate(task.shares)
    n = max(task.residuals.n_public, 1)
    busy = np.array(task.busy)
    # What is decoded from the public records of a leaf is as uncertain as its share is, and with it.
    spread = p * (1 - p) / n + p**2 * (1 / busy - 1) / (n * p + 5)
    expected = np.where(known, noise, 1.0) + spread
    return ShareContrast(task, share, p, expected, known, spread)


def likely_shift(found: ShareContrast) -> float:
    r"""Return the variance, in units of p (1-p), by which public shares seem to differ from the holders' beyond chance.

    It is what brings Q (:class:`ShareContrast`) down to m, or 0. Where nothing differs it is above 0 every other time,
    and then noise comes into shares by which next to nothing is divided; where something does, but not so much that
    reports could be sure, sums would be divided by shares that are many times too small.
    """
    known = found.known
    if not known.any():
        return 0.0
    p = found.public
    beyond = float(np.sum(found.z[known] ** 2)) - int(known.sum())
    return max(0.0, beyond / float(np.sum((p * (1 - p) / found.expected)[known])))


def find_shift(task: AssistedTask, sums: IntArray) -> float:
    r"""Return :func:`likely_shift` where it is clear, else 0.

    That is where Q (:class:`ShareContrast`) is beyond what a multiple of chi-square with its moments reaches at three
    standard deviations (of its cube root, which is nearly normal).
    """
    found = share_contrast(task, sums)
    known = found.known
    if not known.any():
        return 0.0
    Q = float(np.sum(found.z[known] ** 2))
    m = int(known.sum())
    if chi_square_limit(m, 2.0 * m, _CLEARLY) >= Q:  # correlations only widen what chance may do
        return 0.0
    if chi_square_limit(m, found.variance, _CLEARLY) >= Q:
        return 0.0
    return likely_shift(found)


def _correlations(task: AssistedTask, public: FloatArray) -> FloatArray:
    """Return correlations of share differences, ``public`` the part of their variance that is due to public shares.

    Public shares: as leaves overlap in the reference rows. Reports: trees have different holders; in a tree, naming a
    leaf is at the cost of the others.
    """
    leaves = np.array(task.trees.n_leaves)
    G = overlaps(task.reference, task.trees.n_leaves)[1]
    C = G - np.outer(np.diag(G), np.diag(G))
    sd = np.sqrt(np.maximum(np.diag(C), 0.0))
    scale = np.divide(np.sqrt(public), sd, out=np.zeros(len(sd)), where=sd > 0)
    tree = np.repeat(np.arange(len(leaves)), leaves)
    size = np.repeat(leaves, leaves)
    named = (tree[:, None] == tree) * -np.sqrt(np.outer(1 - public, 1 - public)) / np.maximum(size - 1, 1)
    R = C * np.outer(scale, scale) + named
    np.fill_diagonal(R, 1.0)
    return np.asarray(R)


def estimate(task: AssistedTask, sums: IntArray) -> Corrections:
    r"""Return the corrections that the totals suggest, without bias where the public model is right on average.

    With ``m_j`` the estimate of ``E[v; leaf j]``, v the clipped residual over the radius r, ``m0`` and ``gamma`` the
    public mean of v and share of residuals within r,

    .. math:: d_j = \Big(\frac{m_j}{p_j} - m_0\Big) \frac{r}{\gamma} + \overline{res}, \qquad
              V_j = \Big(\frac{r}{\gamma}\Big)^2 \frac{p_j A + (1 - p_j) B}{n_t p_j^2}

    because a residual that moves by a little moves the mean of v by gamma/r of it.
    """
    res = task.residuals
    mixed = mixed_shares(task, sums)
    shares = [share for share, _ in mixed]
    gain = task.radius / res.inside
    d = []
    V = []
    for joint, p, (n, score, _) in zip(task.encoding.joint, shares, task.encoding.split(sums), strict=True):
        mean = score / (float(joint.kappa) * joint.top * max(n, 1))
        A, B = joint.moments(res.level_square)
        known = n > 0
        d.append((mean / p - res.clipped_mean) * gain + res.mean if known else np.zeros(len(p)))
        V.append(gain**2 * (p * A + (1 - p) * B) / (max(n, 1) * p**2) if known else np.full(len(p), 1e300))
    return Corrections(d, V, shares, [variance for _, variance in mixed], find_shift(task, sums), busyness(task, sums))


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
    grid = np.concatenate([[0.0], max(scale, 1e-300) * GRID])
    total = grid[:, None] + np.maximum(V, 1e-300)
    fit = -0.5 * (np.log(total) + d**2 / total).sum(axis=1)
    slab = (1 - SPIKE) * GRID**-0.5 / np.sum(GRID**-0.5)
    weights = np.concatenate([[SPIKE], slab]) * np.exp(fit - fit.max())
    return Posterior(grid, weights / weights.sum())
