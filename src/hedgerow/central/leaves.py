"""Leaf values from noisy counts, borrowing from the ancestors' counts (all of it post-processing)."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.partition.structure import node_levels
from hedgerow.partition.tree import Partition
from hedgerow.types import FloatArray, IntArray

__all__ = ["leaf_shares", "plain_shares"]


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
    total = np.zeros((tree.n_nodes, noisy.shape[1]))
    leaves = np.ones(tree.n_nodes)
    ends = tree.leaf_of_node >= 0
    total[ends] = noisy[tree.leaf_of_node[ends]] / unit
    for level in reversed(levels):
        inner = level[tree.feature[level] >= 0]
        first = tree.left[inner]
        total[inner], leaves[inner] = total[first] + total[first + 1], leaves[first] + leaves[first + 1]
    size = np.maximum(total.sum(axis=1), 0.0)
    positive = np.maximum(total, 0.0)
    whole = positive.sum(axis=1, keepdims=True)
    share = np.divide(positive, whole, out=np.broadcast_to(prior, total.shape).copy(), where=whole > 0)
    noise = strength * deviation**2 * leaves
    trust = np.divide(size**2, size**2 + noise, out=np.zeros_like(size), where=size > 0)[:, None]
    value = np.broadcast_to(prior, total.shape).copy()
    value[0] += trust[0] * (share[0] - value[0])
    for level in levels:
        inner = level[tree.feature[level] >= 0]
        for child in (tree.left[inner], tree.left[inner] + 1):
            value[child] = value[inner] + trust[child] * (share[child] - value[inner])
    order = np.flatnonzero(ends)
    at = np.empty_like(order)
    at[tree.leaf_of_node[order]] = order
    return value[at], size[at]


def plain_shares(noisy: IntArray, unit: int) -> tuple[FloatArray, FloatArray]:
    """Return the noisy shares of each leaf on its own (equal shares where no count is positive), and its size."""
    positive = np.maximum(noisy, 0) / unit
    whole = positive.sum(axis=1, keepdims=True)
    equal = np.full(positive.shape, 1 / positive.shape[1])
    return np.divide(positive, whole, out=equal, where=whole > 0), np.maximum(noisy.sum(axis=1) / unit, 0.0)
