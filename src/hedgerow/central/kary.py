"""Trees that cut a whole column into equal bins at once: what DP-RF and DP-DF are made of."""

from __future__ import annotations

import numpy as np

from hedgerow.central.candidates import bin_of
from hedgerow.central.scores import Target
from hedgerow.mechanisms.selection import Selection
from hedgerow.partition.tree import Partition
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.types import IntArray, RealArray

__all__ = ["grow_kary"]


def grow_kary(
    space: FeatureSpace,
    Z: RealArray,
    target: Target,
    choice: Selection,
    *,
    depth: int,
    n_bins: int,
    max_features: int | None,
    randomness: Randomness,
) -> Partition:
    """Grow a tree whose nodes have a child for each bin (or category) of a privately chosen column.

    A column is used once on a path. Each level costs ``choice.epsilon`` under add/remove: a cell's choice is made
    among columns, by the total cost of their children, each of which a record raises by 0 .. sensitivity, and a
    record is in one child. The tree is written down as a binary one.
    """
    sizes = np.where(space.is_categorical, space.n_categories, n_bins)
    codes = [_codes(space, Z, j, n_bins) for j in range(len(space))]
    builder = _Binary(space, n_bins)
    pending: list[tuple[int, IntArray, tuple[int, ...]]] = [(0, np.arange(len(Z)), ())]
    for _ in range(depth):
        below = []
        for node, rows, used in pending:
            free = [j for j in range(len(space)) if j not in used and sizes[j] > 1]
            if not free:
                continue
            order = np.argsort(randomness.integers(1 << 62, len(free)))
            offered = [free[i] for i in order[: max_features or len(free)]]
            costs = [_cost(target, rows, codes[j][rows], int(sizes[j])) for j in offered]
            j = offered[int(choice.choose(np.array([costs]), randomness=randomness)[0])]
            for value, child in enumerate(builder.split(node, j, int(sizes[j]))):
                below.append((child, rows[codes[j][rows] == value], (*used, j)))
        pending = below
    return builder.build()


def _codes(space: FeatureSpace, Z: RealArray, j: int, n_bins: int) -> IntArray:
    if space.is_categorical[j]:
        return Z[:, j].astype(np.int64)
    low = space.low[j : j + 1]
    high = space.high[j : j + 1]
    return bin_of(Z[:, j], low, high, n_bins)


def _cost(target: Target, rows: IntArray, codes: IntArray, size: int) -> int:
    """Return the sum of the children's costs (each against an empty other side)."""
    table = target.histogram(rows, codes, size)
    return int(target.costs(table, table).sum())


class _Binary:
    """Writes nodes of many children as chains of binary splits, then in breadth-first order."""

    def __init__(self, space: FeatureSpace, n_bins: int) -> None:
        self.space = space
        self.n_bins = n_bins
        self.feature = [-1]
        self.cut = [0.0]
        self.children = [(-1, -1)]
        self.subset: list[list[bool]] = [[]]

    def _add(self) -> int:
        self.feature.append(-1)
        self.cut.append(0.0)
        self.children.append((-1, -1))
        self.subset.append([])
        return len(self.feature) - 1

    def split(self, node: int, j: int, size: int) -> list[int]:
        """Split a leaf into ``size`` leaves; return them in the order of the bins."""
        return self._halve(node, j, size, 0, size)

    def _halve(self, node: int, j: int, size: int, start: int, stop: int) -> list[int]:
        if stop - start == 1:
            return [node]
        middle = (start + stop) // 2
        self.feature[node] = j
        if self.space.is_categorical[j]:
            self.subset[node] = [k < middle for k in range(size)]
        else:
            share = middle / size
            self.cut[node] = float(self.space.low[j] * (1 - share) + self.space.high[j] * share)
        left = self._add()
        right = self._add()
        self.children[node] = (left, right)
        return self._halve(left, j, size, start, middle) + self._halve(right, j, size, middle, stop)

    def build(self) -> Partition:
        order = [0]
        place = {0: 0}
        for node in order:  # grows while it is walked: breadth first
            for child in self.children[node] if self.feature[node] >= 0 else ():
                place[child] = len(order)
                order.append(child)
        feature = [self.feature[k] for k in order]
        left = [place[self.children[k][0]] if self.feature[k] >= 0 else i for i, k in enumerate(order)]
        offset: list[int] = []
        subsets: list[bool] = []
        for k in order:
            offset.append(len(subsets) if self.subset[k] else -1)
            subsets += self.subset[k]
        cuts = [self.cut[k] for k in order]
        return Partition(self.space, feature, cuts, left, offset, subsets)  # type: ignore[arg-type]
