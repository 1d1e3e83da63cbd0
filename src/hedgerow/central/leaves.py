"""Leaf statistics: noisy counts, and values that borrow from the ancestors' counts."""

from __future__ import annotations

from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.central.scores import IntArray
from hedgerow.mechanisms.base import Law
from hedgerow.mechanisms.selection import dyadic_ratio
from hedgerow.partition.structure import node_levels
from hedgerow.partition.tree import Partition
from hedgerow.randomness import Randomness
from hedgerow.samplers import ONE, discrete_laplace

__all__ = ["NoisyCounts", "leaf_shares", "plain_shares"]

Float64Array = npt.NDArray[np.float64]


class NoisyCounts:
    r"""Release counts with discrete Laplace noise.

    .. math:: P(c + k \mid c) = \frac{1-r}{1+r}\, r^{|k|}, \qquad r \ge e^{-\varepsilon/\text{unit}}

    Proof that it is epsilon-DP under add/remove: a record adds ``unit`` in all, to the counts of one leaf (a label
    ``v`` of a grid with G steps adds ``v`` and ``G - v``). Noise is independent, so a likelihood ratio is at most
    ``r**-unit <= e**epsilon``. Empty leaves get noise like all others.

    Examples
    --------
    >>> from hedgerow.randomness import as_randomness
    >>> NoisyCounts(1.0, 1).release(np.array([[0, 5], [9, 1]]), as_randomness(0)).shape
    (2, 2)
    """

    name = "leaf counts"

    def __init__(self, epsilon: float | Fraction, unit: int) -> None:
        self.epsilon, self.unit = epsilon, unit
        self.ratio = dyadic_ratio(epsilon, unit)

    def release(self, counts: IntArray, randomness: Randomness) -> IntArray:
        """Return all counts with independent noise."""
        noise = discrete_laplace(self.ratio, counts.size, randomness)
        return np.asarray(counts + noise.reshape(counts.shape))

    @property
    def deviation(self) -> float:
        """Standard deviation of the noise, in records."""
        r = self.ratio / ONE
        return float(np.sqrt(2 * r) / (1 - r)) / self.unit

    def law(self, count: int, reach: int) -> Law:
        """Return the exact law of one noisy count, clamped to ``-reach .. reach`` (post-processing)."""
        top = reach + abs(count)
        powers = [self.ratio**k << 64 * (top - k) for k in range(top + 1)]
        outputs = range(-reach, reach + 1)
        ends = (-reach, reach)
        return Law(
            tuple(outputs),
            tuple(powers[abs(o - count)] * (ONE if o in ends else ONE - self.ratio) for o in outputs),
        )


def leaf_shares(
    tree: Partition, noisy: IntArray, unit: int, deviation: float, prior: Float64Array, strength: float
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


def plain_shares(noisy: IntArray, unit: int) -> tuple[Float64Array, Float64Array]:
    """Return the noisy shares of each leaf on its own (equal shares where no count is positive), and its size."""
    positive = np.maximum(noisy, 0) / unit
    whole = positive.sum(axis=1, keepdims=True)
    equal = np.full(positive.shape, 1 / positive.shape[1])
    return np.divide(positive, whole, out=equal, where=whole > 0), np.maximum(noisy.sum(axis=1) / unit, 0.0)
