"""Sums of trees as terms: walks by comparisons alone, whatever the trees came from.

A record goes to the right child if ``x >= threshold`` in double precision. Trees over float32 compare ``x <= t`` there:
the same as ``x >= t'`` going right, for t' the next float32 after t. Categorical splits become columns of 0 and 1, one
for each set of categories that some split asks for.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.formula.terms import Term, join, lookup
from hedgerow.partition.tree import Partition
from hedgerow.portable.trees import Trees
from hedgerow.types import FloatArray, IntArray

__all__ = ["codes_of", "each_tree", "leaf_sum", "tree_sum"]


@dataclass(frozen=True, eq=False)
class _Flat:
    """Nodes of one tree, the root first; a leaf is its own left child, a right child follows the left one."""

    feature: IntArray
    threshold: FloatArray
    left: IntArray
    value: FloatArray  # one row a node


def tree_sum(records: Term, partitions: Sequence[Partition], values: Sequence[npt.ArrayLike]) -> Term:
    """Return the sum over trees of the values of the leaf that each record is in.

    ``values`` has one entry a tree: one number a leaf, or one row of numbers.

    Examples
    --------
    >>> from hedgerow.space import FeatureSpace
    >>> from hedgerow.formula.terms import records
    >>> tree = Partition(FeatureSpace.from_bounds((0, 1), ["x"]), [0, -1, -1], [0.5, 0, 0], [1, 1, 2], [-1] * 3, [])
    >>> term = tree_sum(records(), [tree], [[3.0, 4.0]])
    >>> term.data["value"].ravel().tolist(), term.data["threshold"].tolist()
    ([0.0, 3.0, 4.0], [0.5, inf, inf])
    """
    space = partitions[0].space
    subsets: dict[tuple[int, bytes], int] = {}
    flat = [_flat(tree, np.asarray(v, dtype=np.float64), subsets) for tree, v in zip(partitions, values, strict=True)]
    columns = [records]
    for j in np.flatnonzero(space.is_categorical).tolist():
        sets = [key for column, key in subsets if column == j]
        if sets:
            table = np.array([np.frombuffer(key, dtype=bool) for key in sets]).T
            columns.append(lookup(records.pick([j]), table))
    place = _places(subsets, len(space))
    moved = [
        _Flat(np.array([place.get(int(f), f) for f in one.feature]), one.threshold, one.left, one.value) for one in flat
    ]
    return _trees(join(*columns), moved)


def _places(subsets: dict[tuple[int, bytes], int], n_columns: int) -> dict[int, int]:
    """Return which column each set of categories has: beyond the records' own, feature by feature."""
    ordered = sorted(subsets, key=lambda key: key[0])  # stable: within a feature, as they were found
    return {-2 - subsets[key]: n_columns + i for i, key in enumerate(ordered)}


def _flat(tree: Partition, values: FloatArray, subsets: dict[tuple[int, bytes], int]) -> _Flat:
    """Return the nodes of a partition; a split by categories number k has the feature -2 - k for now."""
    rows = values.reshape(tree.n_leaves, -1)
    leaf = tree.leaf_of_node
    ends = leaf >= 0
    value = np.zeros((tree.n_nodes, rows.shape[1]))
    value[ends] = rows[leaf[ends]]
    feature = np.where(ends, 0, tree.feature).astype(np.int64)
    threshold = np.where(ends, np.inf, tree.threshold)
    for node in np.flatnonzero(tree.subset_offset >= 0).tolist():
        goes_right = ~tree.subset(node)
        key = (int(tree.feature[node]), goes_right.tobytes())
        feature[node] = -2 - subsets.setdefault(key, len(subsets))
        threshold[node] = 0.5
    return _Flat(feature, threshold, tree.left.astype(np.int64), value)


def leaf_sum(design: Term, trees: Trees, values: Sequence[npt.ArrayLike] | None = None) -> Term:
    """Return the sum of portable trees; with ``values``, of those in the place of the trees' own, one entry a tree.

    An entry has one number a leaf, or one row of numbers.
    """
    if not len(trees.sizes):
        return design.pick([0]) * 0.0
    return _trees(_compared(design, trees), _portable(trees, values))


def each_tree(design: Term, trees: Trees, values: Sequence[npt.ArrayLike]) -> list[Term]:
    """Return, of each portable tree, the entry of the leaf that a record is in, see :func:`leaf_sum`."""
    columns = _compared(design, trees)
    return [_trees(columns, [one]) for one in _portable(trees, values)]


def _compared(design: Term, trees: Trees) -> Term:
    """Return the columns in the precision in which the trees compare."""
    return design.apply("single") if trees.single else design


def _portable(trees: Trees, values: Sequence[npt.ArrayLike] | None) -> list[_Flat]:
    """Return the nodes of each tree."""
    own = trees.value if values is None else np.concatenate([np.asarray(v, dtype=np.float64) for v in values])
    rows = own.reshape(len(own), -1)
    inner = trees.feature >= 0
    value = np.zeros((len(inner), rows.shape[1]))
    value[~inner] = rows
    threshold = np.full(len(inner), np.inf)
    cut = trees.threshold.astype(np.float32) if trees.single else trees.threshold
    threshold[inner] = np.nextafter(cut, cut.dtype.type(np.inf)).astype(np.float64)
    feature = np.maximum(trees.feature, 0)
    found = []
    for start, size in zip(np.cumsum(trees.sizes) - trees.sizes, trees.sizes, strict=True):
        part = slice(int(start), int(start + size))
        before: IntArray = np.cumsum(inner[part]) - inner[part]
        left = np.where(inner[part], 2 * before + 1, np.arange(size))
        found.append(_Flat(feature[part], threshold[part], left, value[part]))
    return found


def codes_of(column: Term, cuts: FloatArray) -> Term:
    """Return how many of the sorted cuts are at or below each value of a column: a search by halves, as a tree.

    Examples
    --------
    >>> from hedgerow.formula.terms import records
    >>> term = codes_of(records(), np.array([1.0, 2.0, 5.0]))
    >>> term.data["threshold"].tolist(), term.data["value"].ravel().tolist()
    ([2.0, 1.0, 5.0, inf, inf, inf, inf], [0.0, 0.0, 0.0, 0.0, 1.0, 2.0, 3.0])
    """
    depth = len(cuts).bit_length()
    width = 1 << depth
    padded = np.concatenate([cuts, np.full(width - 1 - len(cuts), np.inf)])
    threshold = np.full(2 * width - 1, np.inf)
    for level in range(depth):
        step = width >> (level + 1)
        first = (1 << level) - 1
        threshold[first : 2 * first + 1] = padded[step - 1 :: 2 * step]
    nodes = np.arange(2 * width - 1)
    left = np.where(nodes < width - 1, 2 * nodes + 1, nodes)
    value = np.where(nodes < width - 1, 0.0, nodes - (width - 1.0))
    return _trees(column, [_Flat(np.zeros(len(nodes), dtype=np.int64), threshold, left, value[:, None])])


def _trees(columns: Term, trees: Sequence[_Flat]) -> Term:
    """Return the sum of trees as one term: their nodes one after the other."""
    sizes = np.array([len(tree.feature) for tree in trees])
    roots = np.cumsum(sizes) - sizes
    data: dict[str, npt.NDArray[Any]] = {
        "roots": roots,
        "feature": np.concatenate([tree.feature for tree in trees]).astype(np.int64),
        "threshold": np.concatenate([tree.threshold for tree in trees]),
        "left": np.concatenate([tree.left + root for tree, root in zip(trees, roots, strict=True)]),
        "value": np.concatenate([tree.value for tree in trees]),
        "depth": np.array(max(_depth(tree.left) for tree in trees)),
    }
    return Term("trees", (columns,), data)


def _depth(left: IntArray) -> int:
    """Return the number of splits on the longest way to a leaf."""
    level = np.zeros(1, dtype=np.int64)
    depth = 0
    while (inner := level[left[level] != level]).size:
        level = np.concatenate([left[inner], left[inner] + 1])
        depth += 1
    return depth
