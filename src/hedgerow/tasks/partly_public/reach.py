"""Which cells a holder can be in, as far as its public features tell."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.partition.structure import node_levels
from hedgerow.partition.tree import Partition
from hedgerow.types import BoolArray

__all__ = ["blocks", "candidates"]

_SCRATCH = 1 << 23  # bytes of scratch memory: 8 MB
_STRIPE = 32  # cells turned into columns at a time: half a line of the cache; up to four times as fast as all


def candidates(partition: Partition, Z: npt.NDArray[Any], private: BoolArray) -> BoolArray:
    """Return ``V_i``, the cells of each holder that agree with its public features, as a boolean matrix.

    A record goes down the tree; at a split on one of its private features it goes both ways. Cells of a tree are
    never empty, so exactly the cells are reached that some record with these public features is in. Private
    entries of ``Z`` are not read.

    Examples
    --------
    >>> from hedgerow.space import FeatureSpace
    >>> from hedgerow.partition import grow
    >>> tree = grow("max_edge", FeatureSpace.from_bounds((0, 1), 2), None, None, max_depth=2)
    >>> candidates(tree, np.array([[0.2, np.nan]]), np.array([[False, True]])).astype(int).tolist()
    [[1, 1, 0, 0]]
    """
    known = np.where(private, partition.space.low, Z).T
    hidden = np.ascontiguousarray(private.T)
    reach = np.zeros((partition.n_nodes, len(Z)), dtype=bool)  # one row a node
    reach[0] = True
    for level in node_levels(partition.feature, partition.left):
        inner = level[partition.feature[level] >= 0]
        column = partition.feature[inner]
        right = known[column] >= partition.threshold[inner, None]
        for row in np.flatnonzero(partition.subset_offset[inner] >= 0):
            subset = partition.subset(int(inner[row]))
            right[row] = ~subset[np.clip(known[column[row]], 0, len(subset) - 1).astype(np.intp)]
        either = hidden[column]
        here = reach[inner]
        child = partition.left[inner]
        reach[child + 1] = here & (either | right)
        reach[child] = here & (either | ~right)
    leaf = partition.leaf_of_node
    nodes = np.empty(partition.n_leaves, dtype=np.intp)
    nodes[leaf[leaf >= 0]] = np.flatnonzero(leaf >= 0)
    out = np.empty((len(Z), partition.n_leaves), dtype=bool)
    for start in range(0, partition.n_leaves, _STRIPE):
        stripe = slice(start, start + _STRIPE)
        out[:, stripe] = reach[nodes[stripe]].T
    return out


def blocks(n: int, n_cells: int) -> Iterator[slice]:
    """Yield slices of rows such that rows x cells stays within a few megabytes."""
    size = max(1, _SCRATCH // max(1, 2 * n_cells))
    for start in range(0, n, size):
        yield slice(start, min(start + size, n))
