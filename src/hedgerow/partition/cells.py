"""The cells of one level of a growing tree, and how a split divides them.

All arrays have one row a cell, so that a rule works on a whole level at once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.kernels import native
from hedgerow.space import FeatureSpace
from hedgerow.types import BoolArray, FloatArray, IndexArray, Int32Array

if TYPE_CHECKING:
    from hedgerow.partition.tree import Partition

__all__ = ["Cells", "Splits", "leaf_cells"]


@dataclass
class Splits:
    """One split a cell: ``feature`` -1 means none; ``goes_left`` is read at categorical splits only."""

    feature: Int32Array
    threshold: FloatArray
    goes_left: BoolArray
    values: npt.NDArray[Any] | None = None  # of the records, along the column their cell is split; see send_right

    @classmethod
    def none(cls, space: FeatureSpace, n_cells: int) -> Splits:
        """Return splits that split nothing yet."""
        width = int(space.n_categories.max())
        return cls(np.full(n_cells, -1, dtype=np.int32), np.zeros(n_cells), np.zeros((n_cells, width), dtype=bool))

    def send_right(self, space: FeatureSpace, Z: npt.NDArray[np.floating[Any]], where: IndexArray) -> BoolArray:
        """Return which records go right; ``where`` is their cell, one past the last for none."""
        x, right = self._compare(Z, where)
        self.values = x
        if not space.is_categorical[self.feature].any():
            return right
        feature = np.append(self.feature, -1).take(where)
        rows = np.flatnonzero((feature >= 0) & space.is_categorical[feature])
        right[rows] = ~self.goes_left[where[rows], x[rows].astype(np.intp)]
        return right

    def _compare(
        self, Z: npt.NDArray[np.floating[Any]], where: IndexArray
    ) -> tuple[npt.NDArray[np.floating[Any]], BoolArray]:
        """Return each record's value in the column that its cell is split along, and whether it reaches the cut."""
        kernels = native()
        if kernels is not None and Z.flags.c_contiguous and Z.dtype in (np.float32, np.float64):
            x = np.empty(len(Z), dtype=Z.dtype)
            right = np.empty(len(Z), dtype=bool)
            column = np.ascontiguousarray(self.feature, dtype=np.int32)
            cut = np.ascontiguousarray(self.threshold)
            cells = np.ascontiguousarray(where, dtype=np.int64)
            kernels.gather(Z, Z.shape[1], Z.dtype == np.float64, cells, column, cut, x, right)
            return x, right
        feature = np.append(self.feature, -1).take(where)
        x = Z[np.arange(len(Z)), np.maximum(feature, 0)]
        return x, (feature >= 0) & (x >= np.append(self.threshold, 0.0).take(where))


@dataclass
class Cells:
    """Boxes, category sets, and how often each numeric edge was cut on the way."""

    space: FeatureSpace
    low: FloatArray
    high: FloatArray
    cuts: npt.NDArray[np.int16]
    allowed: dict[int, BoolArray]

    @classmethod
    def root(cls, space: FeatureSpace) -> Cells:
        """Return the whole space as one cell."""
        allowed = {j: np.ones((1, k), dtype=bool) for j, k in enumerate(space.n_categories.tolist()) if k}
        cuts = np.zeros((1, len(space)), dtype=np.int16)
        return cls(space, space.low[None], space.high[None], cuts, allowed)

    def __len__(self) -> int:
        return len(self.low)

    @property
    def midpoints(self) -> FloatArray:
        """Return the middle of each edge; halves are added so that no range overflows."""
        return self.low / 2 + self.high / 2

    def lengths(self) -> FloatArray:
        """Return edge lengths in units of the public range; -1 where an edge cannot be split.

        A numeric edge cut ``h`` times has length ``2**-h``, exactly; a categorical one has the share of its
        categories that are left. Correctly rounded division maps equal fractions to equal floats and
        different ones (denominators below 2**26) to different floats, so comparing floats is exact.
        """
        lengths = np.ldexp(1.0, -self.cuts.astype(np.int32))
        middle = self.midpoints
        lengths[(middle <= self.low) | (middle >= self.high)] = -1.0
        for j, allowed in self.allowed.items():
            left = allowed.sum(axis=1)
            lengths[:, j] = np.where(left > 1, left / allowed.shape[1], -1.0)
        return lengths

    def longest(self) -> BoolArray:
        """Return which edges are the longest of their cell, the set M of the paper; none if none splits."""
        lengths = self.lengths()
        return np.asarray((lengths == lengths.max(axis=1, keepdims=True)) & (lengths > 0))

    def split(self, splits: Splits) -> Cells:
        """Return the children of the cells that are split: left, right, left, right, ..."""
        parents = np.flatnonzero(splits.feature >= 0)
        both = np.repeat(parents, 2)
        low = self.low[both]
        high = self.high[both]
        cuts = self.cuts[both]
        allowed = {j: mask[both] for j, mask in self.allowed.items()}
        feature = splits.feature[parents]
        numeric = np.flatnonzero(~self.space.is_categorical[feature])
        column = feature[numeric]
        cut = splits.threshold[parents[numeric]]
        high[2 * numeric, column] = cut
        low[2 * numeric + 1, column] = cut
        for side in (0, 1):
            cuts[2 * numeric + side, column] += 1
        for j, mask in allowed.items():
            rows = np.flatnonzero(feature == j)
            goes_left = splits.goes_left[parents[rows], : mask.shape[1]]
            mask[2 * rows] &= goes_left
            mask[2 * rows + 1] &= ~goes_left
        return Cells(self.space, low, high, cuts, allowed)


def leaf_cells(tree: Partition, levels: Sequence[IndexArray]) -> tuple[FloatArray, FloatArray, dict[int, BoolArray]]:
    """Replay the splits of a tree from its root; return low, high and categories of each leaf."""
    space = tree.space
    n = tree.n_leaves
    low = np.empty((n, len(space)))
    high = np.empty((n, len(space)))
    cells = Cells.root(space)
    categories = {j: np.empty((n, mask.shape[1]), dtype=bool) for j, mask in cells.allowed.items()}
    for level in levels:
        leaf = tree.leaf_of_node[level]
        ends = leaf >= 0
        low[leaf[ends]], high[leaf[ends]] = cells.low[ends], cells.high[ends]
        for j, mask in cells.allowed.items():
            categories[j][leaf[ends]] = mask[ends]
        cells = cells.split(_splits_of(tree, level))
    return low, high, categories


def _splits_of(tree: Partition, level: IndexArray) -> Splits:
    splits = Splits.none(tree.space, len(level))
    splits.feature = tree.feature[level]
    splits.threshold = tree.threshold[level]
    for row in np.flatnonzero(tree.subset_offset[level] >= 0):
        subset = tree.subset(int(level[row]))
        splits.goes_left[row, : len(subset)] = subset
    return splits
