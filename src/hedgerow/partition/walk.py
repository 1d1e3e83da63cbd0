"""Sending records down a tree, in NumPy, as fast as compiled code does it one record at a time.

A block of rows that fits the cache moves down level by level. Children are adjacent, so one step is
``node = left[node] + (x[node's feature] >= threshold[node])``; a leaf is its own left child and has the
threshold NaN, so it stays put. Where the top levels are complete (heap order), the step is
``node = 2 * node + (x >= threshold)`` and the look-up of ``left`` is saved. The compiled kernel walks trees without
categorical splits the same way, row by row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.kernels import native
from hedgerow.types import BoolArray, IndexArray, Int32Array, RealArray

if TYPE_CHECKING:
    from hedgerow.partition.tree import Partition
    from hedgerow.space import FeatureSpace

__all__ = ["Walk", "round_up"]


# Measured: 8k-32k rows at d = 10 are within noise of each other; wide rows need smaller blocks to stay in
# the second-level cache.
_BLOCK_ROWS = 16384
_BLOCK_VALUES = 1 << 18


def round_up(threshold: npt.NDArray[np.float64], dtype: npt.DTypeLike) -> RealArray:
    """Return the smallest numbers of ``dtype`` not below ``threshold``.

    For any ``x`` of that type, ``x < round_up(t)`` holds exactly when ``x < t`` does: no number of the type
    lies between the two.

    Examples
    --------
    >>> float(round_up(np.array([0.1]), np.float32)[0]) >= 0.1
    True
    >>> float(round_up(np.array([0.5]), np.float32)[0])
    0.5
    """
    with np.errstate(over="ignore"):
        cast: RealArray = np.asarray(threshold).astype(dtype)
        low = cast.astype(np.float64) < threshold
        return np.where(low, np.nextafter(cast, cast.dtype.type(np.inf)), cast)


@dataclass(frozen=True)
class _Buffers:
    """Scratch arrays for one block, reused for all."""

    node: IndexArray
    index: IndexArray
    base: IndexArray
    x: RealArray
    threshold: RealArray
    right: BoolArray

    @classmethod
    def make(cls, rows: int, d: int, dtype: npt.DTypeLike) -> _Buffers:
        node = np.empty(rows, dtype=np.intp)
        index = np.empty(rows, dtype=np.intp)
        x = np.empty(rows, dtype=dtype)
        threshold = np.empty(rows, dtype=dtype)
        return cls(node, index, np.arange(rows) * d, x, threshold, np.empty(rows, dtype=bool))

    def head(self, rows: int) -> _Buffers:
        return _Buffers(
            self.node[:rows],
            self.index[:rows],
            self.base[:rows],
            self.x[:rows],
            self.threshold[:rows],
            self.right[:rows],
        )


class Walk:
    """A tree laid out for walking rows of one floating type."""

    def __init__(self, tree: Partition, dtype: npt.DTypeLike) -> None:
        inner = tree.feature >= 0
        by_subset = tree.subset_offset >= 0
        # NumPy casts other index types to intp on every take.
        self.feature = np.where(inner, tree.feature, 0).astype(np.intp)
        self.left = tree.left.astype(np.intp)
        self.threshold = round_up(tree.threshold, dtype)
        self.threshold[~inner | by_subset] = np.nan
        self.leaf: Int32Array = tree.leaf_of_node
        self.depth = tree.depth
        self.has_subsets = bool(by_subset.any())
        self.offset = tree.subset_offset.astype(np.intp)
        self.last_code = np.where(by_subset, tree.space.n_categories[self.feature] - 1, 0)
        self.goes_right = ~tree.subsets
        self.n_complete = 0 if self.has_subsets else _complete_levels(tree.left)
        self._clips_nothing: bool | None = None
        self._packed = (np.empty(0), np.empty(0)) if self.has_subsets else self._pack()

    def _pack(self) -> tuple[npt.NDArray[Any], npt.NDArray[Any]]:
        """Return the nodes as the kernel reads them, and the complete top levels once more, closer together."""
        kind = self.threshold.dtype.str
        fields = [("cut", kind), ("column", "<i4"), ("left", "<i4"), ("leaf", "<i4")]
        nodes = np.zeros(len(self.left), dtype=np.dtype([*fields, ("none", "<i4")] if kind == "<f8" else fields))
        nodes["cut"], nodes["column"] = self.threshold, self.feature
        nodes["left"], nodes["leaf"] = self.left, self.leaf
        return nodes, nodes[["cut", "column"]][: (1 << self.n_complete) - 1].astype([("cut", kind), ("column", "<i4")])

    def rows(self, Z: npt.NDArray[Any], *, check: bool = False) -> Int32Array | None:
        """Return the leaf of each row of ``Z``; with ``check`` None if a value is not finite.

        Only the compiled kernel checks (it reads every value on its way): see :attr:`checks`.
        """
        n, d = Z.shape
        if (kernels := native()) is not None and not self.has_subsets:
            return self._native_rows(kernels, Z, check)
        out = np.empty(n, dtype=np.int32)
        size = max(1, min(n, _BLOCK_ROWS, max(1024, _BLOCK_VALUES // d)))
        buffers = _Buffers.make(size, d, self.threshold.dtype)
        for start in range(0, n, size):
            block = np.ascontiguousarray(Z[start : start + size], dtype=self.threshold.dtype)
            scratch = buffers if len(block) == size else buffers.head(len(block))
            self._block(block.reshape(-1), scratch)
            self.leaf.take(scratch.node, out=out[start : start + size], mode="clip")
        return out

    @property
    def checks(self) -> bool:
        """Whether :meth:`rows` can look for NaN and infinity."""
        return native() is not None and not self.has_subsets

    def clips_nothing(self, space: FeatureSpace) -> bool:
        """Whether every cut lies above the low and not above the high end of its column's range.

        Clipping then leaves every comparison as it is: below the range ``x < cut`` holds before and after,
        above it ``x >= cut`` does.
        """
        if self._clips_nothing is None:
            inner = ~np.isnan(self.threshold)
            with np.errstate(over="ignore"):
                low, high = (end.astype(self.threshold.dtype)[self.feature[inner]] for end in (space.low, space.high))
            cut = self.threshold[inner]
            self._clips_nothing = not space.is_categorical.any() and bool(((low < cut) & (cut <= high)).all())
        return self._clips_nothing

    def _native_rows(self, kernels: Any, Z: npt.NDArray[Any], check: bool) -> Int32Array | None:
        n, d = Z.shape
        out = np.empty(n, dtype=np.int32)
        kind = self.threshold.dtype
        direct = Z.dtype == kind and Z.flags.c_contiguous
        size = max(n, 1) if direct else max(1024, _BLOCK_VALUES // d)
        nodes, top = self._packed
        for start in range(0, n, size):
            block = np.ascontiguousarray(Z[start : start + size], dtype=kind)
            part = out[start : start + size]
            if not kernels.walk(block, d, nodes, top, self.n_complete, self.depth, part, kind == np.float64, check):
                return None
        return out

    def _block(self, values: RealArray, b: _Buffers) -> None:
        """Leave the final node of each row of a block in ``b.node``.

        ``mode="clip"`` never clips anything here: the structure was checked. It lets ``take`` write
        straight to ``out`` where the default mode makes a copy first.
        """
        b.node.fill(0)
        for level in range(self.n_complete):
            # Within a complete level nodes are numbered from its first one, 2**level - 1.
            self._compare(values, b, (1 << level) - 1)
            np.add(b.node, b.node, out=b.node)
            np.add(b.node, b.right, out=b.node)
        np.add(b.node, (1 << self.n_complete) - 1, out=b.node)
        for _ in range(self.n_complete, self.depth):
            self._compare(values, b, 0)
            if self.has_subsets:
                self._compare_subsets(b)
            self.left.take(b.node, out=b.index, mode="clip")
            np.add(b.index, b.right, out=b.node)

    def _compare(self, values: RealArray, b: _Buffers, first: int) -> None:
        self.feature[first:].take(b.node, out=b.index, mode="clip")
        np.add(b.index, b.base, out=b.index)
        values.take(b.index, out=b.x, mode="clip")
        self.threshold[first:].take(b.node, out=b.threshold, mode="clip")
        np.greater_equal(b.x, b.threshold, out=b.right)

    def _compare_subsets(self, b: _Buffers) -> None:
        rows = np.flatnonzero(self.offset.take(b.node) >= 0)
        node = b.node[rows]
        code = np.clip(b.x[rows], 0, self.last_code[node]).astype(np.intp)
        b.right[rows] = self.goes_right[self.offset[node] + code]


def _complete_levels(left: Int32Array) -> int:
    """Return how many levels from the top are complete and in heap order (children of i: 2i+1, 2i+2)."""
    level = 0
    while True:
        first = (1 << level) - 1
        end = (1 << (level + 1)) - 1
        if end > len(left) or not np.array_equal(left[first:end], 2 * np.arange(first, end) + 1):
            return level
        level += 1


class ScalarWalk:
    """The same walk in plain Python, for a few records: no array is as quick as five comparisons."""

    def __init__(self, tree: Partition) -> None:
        self.feature: list[int] = tree.feature.tolist()
        self.threshold: list[float] = tree.threshold.tolist()
        self.left: list[int] = tree.left.tolist()
        self.offset: list[int] = tree.subset_offset.tolist()
        self.subsets: list[bool] = tree.subsets.tolist()
        self.leaf: list[int] = tree.leaf_of_node.tolist()
        self.n_categories: list[int] = tree.space.n_categories.tolist()

    def row(self, values: list[float]) -> int:
        """Return the leaf of one row."""
        node = 0
        while (column := self.feature[node]) >= 0:
            offset = self.offset[node]
            if offset < 0:
                right = values[column] >= self.threshold[node]
            else:
                code = min(max(int(values[column]), 0), self.n_categories[column] - 1)
                right = not self.subsets[offset + code]
            node = self.left[node] + right
        return self.leaf[node]
