"""Which nodes of a large tree are worth drawing: those that tell the most people apart by the most; the rest is folded.

Starting from the root, the node is opened whose leaves differ most, each weighted by its share, until there are as many
ends as fit a page. A fold stands for all leaves below it. Shares and values are those that were released, or public.
"""

from __future__ import annotations

import heapq
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.partition.export import node_means
from hedgerow.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from hedgerow.partition.tree import Partition

__all__ = ["fold", "leaves_below"]


def fold(tree: Partition, most: int, values: FloatArray | None = None, shares: FloatArray | None = None) -> BoolArray:
    """Return which inner nodes are opened, so that there are at most ``most`` ends: leaves and folds.

    Without values the node with the largest share is opened first; without shares all leaves count alike.

    Examples
    --------
    >>> from hedgerow.space import FeatureSpace
    >>> from hedgerow.partition import grow
    >>> tree = grow("max_edge", FeatureSpace.from_bounds((0, 1), ["a"]), None, None, max_depth=2)
    >>> fold(tree, 3, np.array([1.0, 1.0, 5.0, 9.0])).nonzero()[0].tolist()  # the root, and its right child
    [0, 2]
    """
    weights = np.ones(tree.n_leaves) if shares is None else np.maximum(shares, 0.0)
    known = np.zeros(tree.n_leaves) if values is None else values
    _, variance, weight = node_means(tree, known, weights)
    n_below = leaves_below(tree)
    opened = np.zeros(tree.n_nodes, dtype=bool)
    ends = 1
    waiting: list[tuple[float, float, int, int]] = []

    def wait(node: int) -> None:
        if tree.feature[node] >= 0:
            spread = float(variance[node] * weight[node])
            heapq.heappush(waiting, (-spread, -float(weight[node]), -int(n_below[node]), node))

    wait(0)
    while waiting and ends < most:
        node = heapq.heappop(waiting)[-1]
        opened[node] = True
        ends += 1
        wait(int(tree.left[node]))
        wait(int(tree.left[node]) + 1)
    return opened


def leaves_below(tree: Partition) -> IntArray:
    """Return how many leaves are at or below each node."""
    found = (tree.feature < 0).astype(np.int64)
    for node in np.flatnonzero(tree.feature >= 0)[::-1]:  # children come after their parents
        left = int(tree.left[node])
        found[node] = found[left] + found[left + 1]
    return found
