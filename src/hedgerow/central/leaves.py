"""Leaf values from noisy counts, borrowing from the ancestors' counts (all of it post-processing)."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.partition.structure import node_levels
from hedgerow.partition.tree import Partition
from hedgerow.types import FloatArray, IntArray

__all__ = ["leaf_noise", "leaf_shares", "plain_shares"]


def leaf_shares(
    tree: Partition, noisy: IntArray, unit: int, deviation: float, prior: FloatArray, strength: float
) -> Any:
    r"""Return the shares of the columns in each leaf, pulled towards its ancestors', and the number of records.

    From the root down, with ``t`` the noisy number of records below a node, ``s`` the standard deviation of its
    noise (a sum over the leaves below) and ``m`` its noisy shares:

    .. math:: v = v_{parent} + \frac{t^2}{t^2 + \kappa s^2} (m - v_{parent})

    All of it is computed from released counts: post-processing.
    """
    levels = node_levels(tree.feature, tree.left)
    total, leaves = _node_totals(tree, levels, noisy / unit)
    size = np.maximum(total.sum(axis=1), 0.0)
    positive = np.maximum(total, 0.0)
    whole = positive.sum(axis=1, keepdims=True)
    share = np.divide(positive, whole, out=np.broadcast_to(prior, total.shape).copy(), where=whole > 0)
    trust = _trust(size, strength * deviation**2 * leaves)[:, None]
    value = np.broadcast_to(prior, total.shape).copy()
    value[0] += trust[0] * (share[0] - value[0])
    for level in levels:
        inner = level[tree.feature[level] >= 0]
        for child in (tree.left[inner], tree.left[inner] + 1):
            value[child] = value[inner] + trust[child] * (share[child] - value[inner])
    at = _leaf_nodes(tree)
    return value[at], size[at]


def leaf_noise(tree: Partition, noisy: IntArray, unit: int, deviation: float, strength: float | None) -> FloatArray:
    r"""Return a bound for the standard deviation of the noise in each leaf's shares, from released counts alone.

    A share ``m = a/t`` of noisy counts has noise of variance :math:`s^2 ((1-m)^2 + (k-1) m^2)/t^2` (k columns, noise of
    variance :math:`s^2` in each), and at most 1/4. What a leaf borrows from its ancestors is a weighted mean of
    their shares; their noise is shared, so that deviations are added as if it were the same.
    """
    levels = node_levels(tree.feature, tree.left)
    total, leaves = _node_totals(tree, levels, noisy / unit)
    size = np.maximum(total.sum(axis=1), 0.0)
    positive = np.maximum(total, 0.0)
    whole = positive.sum(axis=1, keepdims=True)
    share = np.divide(positive, whole, out=np.full(total.shape, 0.5), where=whole > 0)
    spread = ((1 - share) ** 2 + (noisy.shape[1] - 1) * share**2).max(axis=1)
    noise = deviation**2 * leaves
    own = np.sqrt(np.divide(noise * spread, size**2, out=np.full(len(size), 0.25), where=size > 0))
    own = np.minimum(own, 0.5)
    if strength is not None:
        trust = _trust(size, strength * noise)
        bound = trust * own
        for level in levels:
            inner = level[tree.feature[level] >= 0]
            for child in (tree.left[inner], tree.left[inner] + 1):
                bound[child] += (1 - trust[child]) * bound[inner]
        own = bound
    return np.asarray(own[_leaf_nodes(tree)])


def _node_totals(tree: Partition, levels: list[Any], counts: FloatArray) -> tuple[FloatArray, FloatArray]:
    """Return the noisy counts below each node, and the number of leaves."""
    total = np.zeros((tree.n_nodes, counts.shape[1]))
    leaves = np.ones(tree.n_nodes)
    ends = tree.leaf_of_node >= 0
    total[ends] = counts[tree.leaf_of_node[ends]]
    for level in reversed(levels):
        inner = level[tree.feature[level] >= 0]
        first = tree.left[inner]
        total[inner] = total[first] + total[first + 1]
        leaves[inner] = leaves[first] + leaves[first + 1]
    return total, leaves


def _trust(size: FloatArray, noise: FloatArray) -> FloatArray:
    return np.divide(size**2, size**2 + noise, out=np.zeros_like(size), where=size > 0)


def _leaf_nodes(tree: Partition) -> Any:
    """Return the node of each leaf."""
    order = np.flatnonzero(tree.leaf_of_node >= 0)
    at = np.empty_like(order)
    at[tree.leaf_of_node[order]] = order
    return at


def plain_shares(noisy: IntArray, unit: int) -> tuple[FloatArray, FloatArray]:
    """Return the noisy shares of each leaf on its own (equal shares where no count is positive), and its size."""
    positive = np.maximum(noisy, 0) / unit
    whole = positive.sum(axis=1, keepdims=True)
    equal = np.full(positive.shape, 1 / positive.shape[1])
    return np.divide(positive, whole, out=equal, where=whole > 0), np.maximum(noisy.sum(axis=1) / unit, 0.0)
