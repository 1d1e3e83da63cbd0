r"""What decoding takes as known and is not, and how much of the corrections it leaves safe to apply.

Reports hold clipped errors, and are decoded as if errors were spread alike in all leaves. That is wrong by something
that no number of reports averages away, that agrees over trees, and that looks like an error of the public model. They
are divided by leaf shares, which are partly those of the public records. All of it is post-processing of the reports.
"""

from __future__ import annotations

import numpy as np

from hedgerow.tasks.assisted.choose import expected_share
from hedgerow.tasks.assisted.pool import Pooled
from hedgerow.tasks.assisted.shrink import Corrections
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.gate import Estimate, safe_share
from hedgerow.types import FloatArray, IntArray

__all__ = ["decoding_bias", "largest_square", "leaves_scale", "level_scale", "size_variance", "with_share_errors"]


def decoding_bias(task: AssistedTask) -> float:
    r"""Return the variance between leaves of what clipping adds to errors, as far as the design expects it.

    .. math:: \varphi(K)\, \mathrm{var}(\mathrm{clip}(res)/\gamma - res)

    with phi as in the design, see :func:`~hedgerow.tasks.assisted.choose.expected_share`.
    """
    return expected_share(max(task.trees.n_leaves)) * task.residuals.excess(task.radius)


def with_share_errors(task: AssistedTask, found: Corrections, level: float) -> FloatArray:
    r"""Return the variances of corrections, with what is unknown of leaf shares.

    .. math:: V_j + (\mu_0 + d_0)^2\, \mathrm{var}(p_j)/p_j^2

    Where leaf j has the share ``(1 + e) p_j``, its sum of errors over ``p_j`` is off by e times the mean of decoded
    errors there. That is mu_0 beyond their true mean in public records, and d_0 (``level``) more among all holders.
    """
    res = task.residuals
    middle = res.clipped_mean * task.radius / res.inside - res.mean + level
    parts = zip(found.V, found.share_variance, found.p, strict=True)
    return np.concatenate([V + middle**2 * variance / p**2 for V, variance, p in parts])


def size_variance(f: FloatArray, places: IntArray, weights: FloatArray, variance: FloatArray) -> float:
    r"""Return the variance of ``E f^2``, which is told by reference records weighted to have the holders' leaf shares.

    .. math:: \frac1{T^2} \sum_{t,j} \mathrm{var}(p_{tj})\, E[f^2 \mid tj]^2

    Each tree tells ``sum_j p_j E[f^2 | j]`` by other holders. Where these crowd in leaves with few public records,
    shares and with them the size of a correction are known roughly.

    Parameters
    ----------
    f, places, weights : arrays
        The correction at each reference record, its leaf in each tree (counted through all trees), and its weight.
    variance : array
        Of leaf shares, tree by tree.
    """
    T = places.shape[1]
    each = np.repeat(weights, T)
    within = np.bincount(places.ravel(), each, len(variance))
    squares = np.bincount(places.ravel(), each * np.repeat(f**2, T), len(variance))
    mean = squares / np.where(within > 0, within, 1.0)
    return float(variance @ mean**2 / T**2)


def largest_square(u: FloatArray, p: FloatArray, n_trees: int) -> float:
    r"""Return the largest ``E f^2`` of corrections u, however leaves of different trees overlap.

    .. math:: E f^2 = E \Big(\sum_t u_t\Big)^2 \le T \sum_t E u_t^2 = T \sum_{t,j} p_{tj} u_{tj}^2

    by Cauchy and Schwarz. Shares of leaves are told by reports; which leaves overlap is known from public records, and
    where these are elsewhere than the holders hardly any have the leaves that holders have together.

    >>> largest_square(np.array([1.0, -1.0, 1.0, -1.0]), np.full(4, 0.5), 2)  # of two trees that always agree
    4.0
    """
    return float(n_trees * (p @ u**2))


def level_scale(mean_square: float, kept: float, level: float, variance: float) -> float:
    """Return the share of a correction ``kept`` over all records that is safe, see :mod:`hedgerow.tasks.gate`.

    ``level`` is what reports say, with this variance. They also say in which direction: half the chance on either side.
    """
    return safe_share(Estimate(kept**2, kept * level, abs(kept) * variance**0.5), mean_square, sides=2)


def leaves_scale(
    mean_square: float,
    pooled: Pooled,
    z: FloatArray,
    covariance: FloatArray,
    p: FloatArray,
    G: FloatArray,
    square_sd: float = 0.0,
    least_square: float = 0.0,
) -> float:
    r"""Return the share of the pooled corrections that is safe, see :mod:`hedgerow.tasks.gate`.

    With u the corrections that leaves add, J their derivative by z, and P the shares of leaves, ``E f^2 = u' G u`` and
    ``E[r f]`` is u' P times the true means by leaf. Of these z is an estimate with errors of covariance Sigma, which u
    has taken in, and which have a say in how large u is thought to be:

    .. math:: u' P z - \mathrm{tr}(P J \Sigma), \qquad sd^2 \approx u' P \Sigma P u + \mathrm{tr}(P J \Sigma P J \Sigma)

    is without bias (Stein's estimate of a loss). It is as if each leaf were judged by reports it was not learnt from.

    Parameters
    ----------
    mean_square : float
        The public model's squared error.
    z, covariance : arrays
        The differences of leaves from the overall correction, and the covariance of their errors.
    p, G : arrays
        Shares of leaves, tree by tree, and the mean of ``a a'`` over records, a their indicators.
    square_sd : float
        Standard deviation of ``u' G u``, see :func:`size_variance`.
    least_square : float
        What ``E f^2`` is taken to be if ``u' G u`` is less, see :func:`largest_square`.
    """
    weighted = pooled.u * p
    taken = (p[:, None] * pooled.response) @ covariance
    product = float(weighted @ z - np.trace(taken))
    variance = float(weighted @ covariance @ weighted + np.sum(taken * taken.T))
    square = max(float(pooled.u @ G @ pooled.u), least_square)
    return safe_share(Estimate(square, product, max(variance, 0.0) ** 0.5, square_sd), mean_square)
