r"""Corrections pooled over trees: what is added to the public model, from leaf means of trees that overlap.

Each tree sees the same error of the public model through other leaves. With ``u_sl`` what leaf l of tree s adds, and
``M`` the share of the records of leaf (t, j) that are in leaf (s, l), the correction suggested at (t, j) is

.. math:: z_{tj} = \sum_{s,l} M_{tj,sl} u_{sl} + e_{tj}, \qquad e_{tj} \sim N(0, V_{tj}), \qquad
          u_{sl} \sim N(0, \tau^2/T)

so the best linear prediction of u is a ridge regression whose penalty is known up to tau. What decoding is wrong by
(:mod:`~hedgerow.tasks.assisted.mismatch`) agrees over trees as the public model's error does, and looks like it: it is
another such u, with a variance that is known, and no evidence of an error. All of it is post-processing of the reports,
and M is known from public records: it costs no privacy.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.types import FloatArray

__all__ = ["Pooled", "overlaps", "places", "pool", "rake", "smoothed"]


SWEEPS = 50  # of raking; by hand, weights are taken as they are after so many
SPIKE = 0.3  # prior chance that leaves do not differ; by hand
HALF = 0.5
"""Records that are added to the public ones of a leaf (:func:`smoothed`), as in Jeffreys's prior of a share.

Of 0, 1/2, 1, 2 and 4 at epsilon 2, 4 and 8 (400 public records of ABA, CAL, CCP, GAS and MET, two forests, three draws
each, in a script) 1/2 left no set's mean error above that of 0 and was up to .005 below it at epsilon 8; 1 was up to
.008 below it, and .001 above it on MET. With MET left out 1 would be chosen, with any other left out 1/2."""
GRID = np.logspace(-3, 1, 17)
"""Of tau^2, in units of the public mean squared error, four a decade; where leaves differ, each is as likely."""


@dataclass(frozen=True, eq=False)
class Pooled:
    """What leaves add to the public model.

    Attributes
    ----------
    u : array
        For every leaf, tree by tree; a prediction adds those of the leaves it is in.
    nothing : float
        Posterior weight of "leaves do not differ".
    kept : float
        Degrees of freedom that are kept, of the number of leaves.
    response : array
        The derivative J of u by z: ``u = C z``, and C depends on z by the weights of tau^2.
    """

    u: FloatArray
    nothing: float
    kept: float
    response: FloatArray


def overlaps(
    reference: npt.NDArray[np.integer], leaves: tuple[int, ...], weights: FloatArray | None = None
) -> tuple[FloatArray, FloatArray]:
    """Return ``(M, G)``: shares of each leaf's rows by leaf, and the mean of ``a a'`` over rows, a their indicators.

    A leaf without rows overlaps with itself alone. Weights of rows add up to 1; without them all rows weigh the same.

    Examples
    --------
    >>> M, G = overlaps(np.array([[0, 0], [0, 1], [1, 1], [1, 1]]), (2, 2))
    >>> M.tolist()[0], M.tolist()[3]
    ([1.0, 0.0, 0.5, 0.5], [0.3333333333333333, 0.6666666666666666, 0.0, 1.0])
    """
    at = places(reference, leaves)
    n, T = at.shape
    size = sum(leaves)
    each = np.full(n, 1 / n) if weights is None else weights
    pairs = at[:, :, None] * size + at[:, None, :]
    counted = np.bincount(pairs.ravel(), np.repeat(each, T * T), size * size)
    G: FloatArray = counted.astype(np.float64).reshape(size, size)
    share = np.diag(G).copy()
    empty = share == 0
    M = G / np.where(empty, 1.0, share)[:, None]
    M[empty, empty] = 1.0
    return M, G


def smoothed(M: FloatArray, leaves: tuple[int, ...], shares: FloatArray, records: FloatArray) -> FloatArray:
    r"""Return overlaps with half a record more in each leaf, that is in leaves of other trees by their shares.

    .. math:: \frac{m M + \frac12 p}{m + \frac12}

    with m the number of public records of a leaf (``records``) and p the shares of leaves: what a handful of records
    say of where a leaf's holders are in other trees is rough.

    >>> M, _ = overlaps(np.array([[0, 0], [0, 0], [1, 1], [1, 1]]), (2, 2))
    >>> smoothed(M, (2, 2), np.full(4, 0.5), np.array([2.0, 2.0, 1e9, 1e9])).round(3).tolist()[::2]
    [[1.0, 0.0, 0.9, 0.1], [1.0, 0.0, 1.0, 0.0]]
    """
    tree = np.repeat(np.arange(len(leaves)), leaves)
    weight = (HALF / (records + HALF))[:, None]
    return np.where(tree[:, None] == tree, M, (1 - weight) * M + weight * shares)


def places(reference: npt.NDArray[np.integer], leaves: tuple[int, ...]) -> npt.NDArray[np.int64]:
    """Return the leaves of rows, counted through all trees."""
    return np.cumsum((0, *leaves[:-1])) + reference.astype(np.int64)


def rake(reference: npt.NDArray[np.integer], leaves: tuple[int, ...], shares: FloatArray) -> FloatArray:
    """Return weights of rows whose leaves have these shares, as nearly as may be in all trees at once.

    Raking (iterative proportional fitting), all trees at a time: holders may crowd in other leaves than public records,
    and then other leaves overlap.

    Examples
    --------
    >>> rows = np.array([[0, 0], [0, 1], [1, 0], [1, 1]])
    >>> rake(rows, (2, 2), np.array([0.8, 0.2, 0.5, 0.5])).round(3).tolist()
    [0.4, 0.4, 0.1, 0.1]
    """
    at = places(reference, leaves)
    weights = np.full(len(reference), 1 / len(reference))
    for _ in range(SWEEPS):
        now = np.bincount(at.ravel(), np.repeat(weights, at.shape[1]), len(shares))
        factor = np.log(np.maximum(shares, 1e-12) / np.where(now > 0, now, 1.0))
        weights *= np.exp(factor[at].mean(axis=1))
        weights /= weights.sum()
    return weights


def pool(z: FloatArray, V: FloatArray, M: FloatArray, scale: float, n_trees: int, bias: float = 0.0) -> Pooled:
    r"""Return the posterior mean of u given ``z``; ``bias`` is the variance of what decoding is wrong by.

    tau^2 is 0 with prior weight .3, else anywhere on ``scale`` times a log grid: how much leaves tell of a public
    model's errors is not known beforehand, and what is too much the gate takes back. Everything is diagonal with
    ``V^-1/2 M M' V^-1/2 = U S^2 U'``: ``U' V^-1/2 z`` has variances ``1 + (tau^2 + bias)/T S^2``. With weights w_k of
    tau_k^2 and ``C = sum_k w_k C_k``, the derivative of ``u = C z`` is

    .. math:: J = C + \sum_k w_k\, (C_k z)(g_k - \bar g)', \qquad g_k = \nabla_z \log p(z \mid \tau_k), \quad
              \bar g = \sum_k w_k g_k .

    Examples
    --------
    >>> M, _ = overlaps(np.array([[0, 0], [0, 1], [1, 0], [1, 1]]), (2, 2))
    >>> truth = np.array([1.0, -1.0, 0.0, 0.0])  # only the first tree's leaves differ
    >>> found = pool(M @ truth, np.full(4, 1e-6), M, 1.0, 2)
    >>> bool(np.allclose(found.u, truth, atol=1e-3)), found.nothing < 1e-9
    (True, True)
    >>> pool(M @ truth, np.full(4, 1e6), M, 1.0, 2).nothing > 0.29
    True
    """
    root = np.sqrt(np.maximum(V, 1e-300))
    A = M / root[:, None]
    square, U = np.linalg.eigh(A @ A.T)
    square = np.maximum(square, 0.0)  # of which rounding may leave a little less
    seen = U.T @ (z / root)
    t2 = np.concatenate([[0.0], max(scale, 1e-300) * GRID])[:, None] / n_trees
    total = 1 + (t2 + bias / n_trees) * square
    fit = -0.5 * (np.log(total) + seen**2 / total).sum(axis=1)
    weights = np.concatenate([[SPIKE], np.full(len(GRID), (1 - SPIKE) / len(GRID))]) * np.exp(fit - fit.max())
    weights /= weights.sum()
    smoother = A.T @ ((U * (weights @ (t2 / total))) @ (U.T / root))
    means = (t2 / total * seen) @ U.T @ A  # of u, for each tau
    slopes = -(seen / total) @ U.T / root
    response = smoother + (weights[:, None] * means).T @ (slopes - weights @ slopes)
    kept = weights @ (t2 * square / total).mean(axis=1)
    return Pooled(smoother @ z, float(weights[0]), float(kept), response)
