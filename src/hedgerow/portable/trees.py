"""Sums of binary regression trees, as flat arrays in breadth-first order."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any, ClassVar

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError
from hedgerow.types import FloatArray, IntArray

__all__ = ["Trees", "breadth_first"]


_BLOCK = 1 << 13  # records at a time: the node of each and its values stay in the cache


@dataclass(frozen=True, eq=False)
class Trees:
    """The sum over trees of the value of the leaf that a record reaches.

    Nodes are listed tree by tree, level by level, so that the children of the ``r``-th inner node of a tree are its
    nodes ``2 r + 1`` and ``2 r + 2``: no pointers are stored, and every list that passes the checks is a tree. A record
    goes left if ``x[feature] <= threshold``.

    Parameters
    ----------
    sizes : array of int
        Number of nodes of each tree.
    feature : array of int
        Column of each node's split, -1 at leaves.
    threshold : array of float
        One for each inner node.
    value : array of float
        One for each leaf.
    single : bool
        Whether records are rounded to float32 before they are compared, as scikit-learn's forests do. Thresholds are
        then rounded *down* to float32, which changes no comparison.

    Examples
    --------
    >>> stump = Trees([3], [0, -1, -1], [0.5], [1.0, 2.0], single=False)
    >>> stump.predict(np.array([[0.2], [0.5], [0.9]])).tolist()
    [1.0, 1.0, 2.0]
    """

    sizes: IntArray
    feature: IntArray
    threshold: FloatArray
    value: FloatArray
    single: bool = True
    kind: ClassVar[str] = "trees"

    def __post_init__(self) -> None:
        object.__setattr__(self, "sizes", np.asarray(self.sizes, dtype=np.int64))
        object.__setattr__(self, "feature", np.asarray(self.feature, dtype=np.int64))
        threshold = np.asarray(self.threshold, dtype=np.float64)
        object.__setattr__(self, "threshold", round_down(threshold) if self.single else threshold)
        object.__setattr__(self, "value", np.asarray(self.value, dtype=np.float64))
        self._check()

    def _check(self) -> None:
        inner = self.feature >= 0
        ranks = self._ranks
        fits = (
            (self.sizes > 0).all()
            and self.sizes.sum() == len(self.feature)
            and (self.feature >= -1).all()
            and len(self.threshold) == inner.sum()
            and len(self.value) == (~inner).sum()
            and np.isfinite(self.threshold).all()
            and np.isfinite(self.value).all()
        )
        # Node i of a tree exists only if some earlier inner node has it as a child: i <= 2 (inner nodes before i).
        if not fits or (self._position > 2 * ranks).any() or (self.sizes != 2 * self._inner_counts + 1).any():
            raise FormatError("portable model: the arrays of a sum of trees do not describe trees.")

    @cached_property
    def _starts(self) -> IntArray:
        starts: IntArray = np.cumsum(self.sizes) - self.sizes
        return starts

    @cached_property
    def _position(self) -> IntArray:
        position: IntArray = np.arange(self.sizes.sum()) - np.repeat(self._starts, self.sizes)
        return position

    @cached_property
    def _ranks(self) -> IntArray:
        """Number of inner nodes before each node, in its own tree."""
        if self.sizes.sum() != len(self.feature) or not (self.sizes > 0).all():
            raise FormatError("portable model: the sizes of trees do not add up to their nodes.")
        before = np.concatenate([[0], np.cumsum(self.feature >= 0)])
        ranks: IntArray = before[:-1] - np.repeat(before[self._starts], self.sizes)
        return ranks

    @property
    def _inner_counts(self) -> IntArray:
        counts: IntArray = np.add.reduceat(self.feature >= 0, self._starts, dtype=np.int64)
        return counts

    @property
    def n_features(self) -> int:
        """Fewest columns a record must have."""
        return int(self.feature.max(initial=-1)) + 1

    @cached_property
    def _walk(self) -> tuple[Any, Any, Any, Any, list[int]]:
        """Child, column, threshold and value of every node (a leaf leads to itself), and the depth of each tree."""
        inner = self.feature >= 0
        left = np.where(inner, np.repeat(self._starts, self.sizes) + 2 * self._ranks + 1, np.arange(len(inner)))
        limit = np.full(len(inner), np.inf)
        limit[inner] = self.threshold
        value = np.zeros(len(inner))
        value[~inner] = self.value
        depth = np.zeros(len(inner), dtype=np.int64)
        for k in np.flatnonzero(inner).tolist():  # parents come before their children
            depth[left[k]] = depth[left[k] + 1] = depth[k] + 1
        deepest = np.maximum.reduceat(depth, self._starts).tolist()
        limits = limit.astype(np.float32) if self.single else limit
        return left.astype(np.int32), np.maximum(self.feature, 0).astype(np.int32), limits, value, deepest

    def predict(self, X: FloatArray) -> FloatArray:
        """Return the sum for each row of a finite matrix."""
        if not len(self.sizes):
            return np.zeros(len(X))
        X = np.asarray(X, dtype=np.float32 if self.single else np.float64)
        out = np.zeros(len(X))
        for start in range(0, len(X), _BLOCK):
            out[start : start + _BLOCK] = self._block(X[start : start + _BLOCK])
        return out

    def _block(self, X: npt.NDArray[Any]) -> FloatArray:
        value = self._walk[3]
        out = np.zeros(len(X))
        for node in self._reached(X):
            out += value.take(node)
        return out

    def _reached(self, X: npt.NDArray[Any]) -> Iterator[npt.NDArray[np.int32]]:
        """Yield the node that each row ends in, tree by tree."""
        left, feature, limit, _, depths = self._walk
        flat = np.ascontiguousarray(X).ravel()
        base = np.arange(len(X), dtype=np.int32) * X.shape[1]
        for root, depth in zip(self._starts.tolist(), depths, strict=True):
            node = np.full(len(X), root, dtype=np.int32)
            for _ in range(depth):
                right = flat.take(base + feature.take(node)) > limit.take(node)
                node = left.take(node)
                node += right
            yield node

    def apply(self, X: FloatArray) -> IntArray:
        """Return the leaf of each row in each tree, of shape (n, trees); leaves of a tree are numbered from 0.

        >>> Trees([3, 1], [0, -1, -1, -1], [0.5], [0.0, 0.0, 0.0]).apply(np.array([[0.2], [0.9]])).tolist()
        [[0, 0], [1, 0]]
        """
        X = np.asarray(X, dtype=np.float32 if self.single else np.float64)
        number: IntArray = self._position - self._ranks  # leaves before each node, in its own tree
        out = np.empty((len(X), len(self.sizes)), dtype=np.int64)
        for start in range(0, len(X), _BLOCK):
            part = slice(start, start + _BLOCK)
            for t, node in enumerate(self._reached(X[part])):
                out[part, t] = number[node]
        return out

    @property
    def n_leaves(self) -> tuple[int, ...]:
        """Number of leaves of each tree."""
        return tuple(((self.sizes + 1) // 2).tolist())

    def arrays(self) -> dict[str, npt.NDArray[Any]]:
        """Return what is stored, in the types in which it is stored."""
        kind = "<f4" if self.single else "<f8"
        return {
            "sizes": self.sizes.astype("<u4"),
            "feature": self.feature.astype("<i2"),
            "threshold": self.threshold.astype(kind),
            "value": self.value.astype("<f8"),
        }

    @classmethod
    def from_arrays(cls, arrays: dict[str, npt.NDArray[Any]]) -> Trees:
        """Undo :meth:`arrays`."""
        return cls(**arrays, single=arrays["threshold"].dtype == np.float32)


def round_down(threshold: FloatArray) -> FloatArray:
    """Return the largest float32 at most each threshold: ``x <= t`` is the same for every float32 ``x``."""
    with np.errstate(over="ignore"):
        near = threshold.astype(np.float32)
        down = np.where(near.astype(np.float64) > threshold, np.nextafter(near, np.float32(-np.inf)), near)
    return down.astype(np.float64)


def breadth_first(left: npt.ArrayLike, right: npt.ArrayLike, leaf: npt.ArrayLike) -> IntArray:
    """Return the nodes of one tree level by level, children of one node side by side.

    >>> breadth_first([1, -1, 3, -1, -1], [2, -1, 4, -1, -1], [False, True, False, True, True]).tolist()
    [0, 1, 2, 3, 4]
    """
    lefts = np.asarray(left)
    rights = np.asarray(right)
    leaves = np.asarray(leaf, dtype=bool)
    level = np.zeros(1, dtype=np.int64)
    levels = [level]
    while True:
        inner = level[~leaves[level]]
        if not inner.size:
            return np.concatenate(levels)
        level = np.column_stack([lefts[inner], rights[inner]]).ravel().astype(np.int64)
        levels.append(level)
