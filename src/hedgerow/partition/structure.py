"""The shape of a flat tree: what makes it valid, its levels, and the order of its leaves.

A tree arrives as four arrays over its nodes and may come from a file or the network. Everything that walks
it relies on the checks here, so that no array can send a walk out of range or round a loop.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.space import FeatureSpace
from hedgerow.types import BoolArray, FloatArray, IndexArray, Int32Array

__all__ = [
    "MAX_NODES",
    "MAX_WALK",
    "check_structure",
    "leaf_numbers",
    "node_levels",
]

MAX_WALK = 64
"""Deepest tree accepted: the work of one walk is bounded whoever wrote the tree."""
MAX_NODES = 1 << 22  # of a tree that is read: twice those of the deepest tree that is grown, 2**21


def check_structure(
    space: FeatureSpace,
    feature: Int32Array,
    threshold: FloatArray,
    left: Int32Array,
    subset_offset: Int32Array,
    subsets: BoolArray,
) -> None:
    """Raise :class:`FormatError` unless the arrays describe exactly one binary tree over ``space``.

    If every inner node's children have larger indices, and every node but the root is the child of exactly
    one node, then following parents from any node strictly falls and ends at the root: it is a tree.
    """
    n = len(feature)
    _require(1 <= n <= MAX_NODES, f"the number of nodes must be in 1 .. {MAX_NODES}", n)
    lengths = {"threshold": len(threshold), "left": len(left), "subset_offset": len(subset_offset)}
    _require(set(lengths.values()) == {n}, f"all node arrays must have {n} entries", lengths)
    _require(feature.min() >= -1 and feature.max() < len(space), f"features must be in -1 .. {len(space) - 1}")
    _require(bool(np.isfinite(threshold).all()), "thresholds must be finite")
    _check_children(feature, left)
    _check_splits(space, feature, threshold, subset_offset, subsets)


def _check_children(feature: Int32Array, left: Int32Array) -> None:
    nodes = np.arange(len(feature))
    inner = feature >= 0
    _require(bool((left[~inner] == nodes[~inner]).all()), "'left' of a leaf must be the leaf itself")
    first = left[inner].astype(np.intp)
    later = (first > nodes[inner]) & (first < len(feature) - 1)
    _require(bool(later.all()), "children must come after their parent and inside the tree")
    parents = np.bincount(np.concatenate([first, first + 1]), minlength=len(feature))
    _require(parents[0] == 0 and bool((parents[1:] == 1).all()), "every node must be reached exactly once")
    level = np.zeros(1, dtype=np.intp)
    depth = 0
    while (level := level[inner[level]]).size:
        level = np.concatenate([left[level], left[level] + 1])
        depth = depth + 1
        _require(depth <= MAX_WALK, f"the tree must not be deeper than {MAX_WALK}")


def _check_splits(
    space: FeatureSpace,
    feature: Int32Array,
    threshold: FloatArray,
    subset_offset: Int32Array,
    subsets: BoolArray,
) -> None:
    """One spelling for each tree: offsets in node order without gaps, 0 where there is no threshold."""
    by_subset = (feature >= 0) & space.is_categorical[feature]
    sizes = np.where(by_subset, space.n_categories[feature], 0)
    expected = np.where(by_subset, np.cumsum(sizes) - sizes, -1)
    _require(
        bool((subset_offset == expected).all()) and len(subsets) == sizes.sum(),
        "subsets must be stored one after the other in node order, one entry a category",
    )
    _require(
        bool((threshold[by_subset | (feature < 0)] == 0).all()),
        "thresholds of leaves and of categorical splits must be 0",
    )


def _require(holds: bool | np.bool_, rule: str, got: Any = None) -> None:
    if not holds:
        tail = "" if got is None else f" Got {got} instead."
        raise FormatError(f"partition: {rule}.{tail} Rebuild the task; this one is damaged or forged.")


def node_levels(feature: Int32Array, left: Int32Array) -> list[IndexArray]:
    """Return the nodes of each level, left to right."""
    levels = [np.zeros(1, dtype=np.intp)]
    while (inner := levels[-1][feature[levels[-1]] >= 0]).size:
        first = left[inner].astype(np.intp)
        levels.append(np.column_stack([first, first + 1]).ravel())
    return levels


def leaf_numbers(feature: Int32Array, left: Int32Array, levels: list[IndexArray]) -> Int32Array:
    """Return the numbers ``0 .. L-1`` of the leaves from left to right; inner nodes get -1."""
    size = np.ones(len(feature), dtype=np.int32)
    start = np.zeros(len(feature), dtype=np.int32)
    inner_levels = [level[feature[level] >= 0] for level in levels]
    for inner in reversed(inner_levels):
        size[inner] = size[left[inner]] + size[left[inner] + 1]
    for inner in inner_levels:
        start[left[inner]] = start[inner]
        start[left[inner] + 1] = start[inner] + size[left[inner]]
    return np.where(feature < 0, start, -1).astype(np.int32)
