"""CART's variance reduction, grown level by level from columns sorted once."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from hedgerow.partition.cells import Cells, Splits
from hedgerow.partition.growing import TIE, check_limits, check_public, grow_levels, label_rows
from hedgerow.partition.max_edge import between, category_sums, leading, sums
from hedgerow.partition.tree import Partition
from hedgerow.space import FeatureSpace
from hedgerow.types import BoolArray, FloatArray, IndexArray, RealArray

__all__ = ["grow_cart"]


def grow_cart(
    space: FeatureSpace,
    Z: RealArray,
    y: npt.ArrayLike,
    *,
    max_depth: int,
    min_samples_leaf: int,
) -> Partition:
    """Split each cell where the sum of squared errors falls most.

    Over all columns and cut points with at least ``min_samples_leaf`` records on BOTH sides,

        argmax of  S_left^2 / n_left + S_right^2 / n_right

    (ties: the lowest column, then the lowest cut). Cuts are halfway between neighbouring distinct values.
    The categories of a cell are ordered by mean label and the best prefix goes left (Breiman: no subset is
    better); categories without records go to the larger side. A cell is left whole if the error would not
    fall by more than rounding.

    Parameters
    ----------
    space : FeatureSpace
        Public ranges and categories.
    Z : float array of shape (n, d)
        Encoded public records.
    y : array of n labels, or of shape (n, k)
        Public labels; the errors of several columns add up (one-hot classes: the Gini impurity).
    max_depth : int
        Levels of splits, 0 .. 20.
    min_samples_leaf : int
        Fewest public records on each side of a split.

    Examples
    --------
    >>> space = FeatureSpace.from_bounds((0, 1), ["a", "b"])
    >>> Z = np.array([[0.1, 0.1], [0.2, 0.9], [0.8, 0.2], [0.9, 0.8]])
    >>> print(grow_cart(space, Z, [0, 0, 0, 5], max_depth=1, min_samples_leaf=1).export_text())
    |--- a < 0.85
    |   |--- leaf 0
    |--- a >= 0.85
    |   |--- leaf 1
    """
    check_limits(max_depth, min_samples_leaf)
    Z = check_public(space, Z)
    rule = _Cart(space, Z, label_rows(y, len(Z)), int(min_samples_leaf))
    return grow_levels(space, rule, Z, max_depth=max_depth, min_samples_leaf=min_samples_leaf)


@dataclass
class _Level:
    """Totals of the cells of a level; records sorted by cell occupy ``start .. start + count``."""

    count: IndexArray
    total: FloatArray
    start: IndexArray
    cell: IndexArray

    @classmethod
    def of(cls, where: IndexArray, labels: FloatArray, n: int) -> _Level:
        count = np.bincount(where, minlength=n)[:n]
        total = np.stack([sums(where, row, n)[1] for row in labels])
        return cls(count, total, np.cumsum(count) - count, np.repeat(np.arange(n), count))


class _Cart:
    def __init__(self, space: FeatureSpace, Z: RealArray, labels: FloatArray, min_leaf: int) -> None:
        self.space = space
        self.Z = Z
        self.labels = labels
        self.min_leaf = min_leaf
        numeric = np.flatnonzero(~space.is_categorical).tolist()
        # Each column's records sorted by cell, then by value; kept so from level to level.
        self.order = {j: np.argsort(Z[:, j], kind="stable") for j in numeric}

    def choose(self, cells: Cells, where: IndexArray | None) -> Splits:
        assert where is not None
        level = _Level.of(where, self.labels, len(cells))
        splits = Splits.none(self.space, len(cells))
        # What a split has to beat: the score of the whole cell.
        best = between(level.count.astype(np.float64), level.total).sum(axis=0)
        for j in range(len(self.space)):
            if j in self.order:
                score, cut = self._numeric(j, level)
            else:
                score, goes_left = self._categorical(j, cells.allowed[j], level, where)
            better = score > best * (1 + TIE)
            best[better], splits.feature[better] = score[better], j
            if j in self.order:
                splits.threshold[better] = cut[better]
            else:
                splits.goes_left[better, : goes_left.shape[1]] = goes_left[better]
        return splits

    def _numeric(self, j: int, level: _Level) -> tuple[FloatArray, FloatArray]:
        """Return the best score of column ``j`` in each cell (-inf: no cut) and its cut."""
        n = len(level.count)
        score = np.full(n, -np.inf)
        cut = np.zeros(n)
        order = self.order[j]
        value = self.Z[order, j].astype(np.float64)
        ahead = np.arange(1, len(order) + 1) - level.start[level.cell]
        behind = level.count[level.cell] - ahead
        enough = (ahead >= self.min_leaf) & (behind >= self.min_leaf)
        at = np.flatnonzero(enough[:-1] & (value[:-1] < value[1:]))
        if not at.size:
            return score, cut
        cell = level.cell[at]
        scores = np.zeros(len(at))
        for labels, total in zip(self.labels, level.total, strict=True):
            sums = np.concatenate([[0.0], np.cumsum(labels[order])])
            left = sums[at + 1] - sums[level.start[cell]]
            scores += left**2 / ahead[at] + (total[cell] - left) ** 2 / behind[at]
        first, best = _first_best(scores, cell)
        score[cell[first]] = best
        below = value[at[first]]
        above = value[at[first] + 1]
        middle = below / 2 + above / 2
        # Between neighbouring floats the middle rounds to one of them: the upper one keeps below < cut.
        cut[cell[first]] = np.where(middle > below, middle, above)
        return score, cut

    def _categorical(
        self, j: int, allowed: BoolArray, level: _Level, where: IndexArray
    ) -> tuple[FloatArray, BoolArray]:
        """Return the best score of column ``j`` in each cell and the categories that go left."""
        parts = [category_sums(self.Z[:, j], where, row, allowed.shape) for row in self.labels]
        count = parts[0][0]
        totals = [total for _, total in parts]
        present = count > 0
        mean = np.where(present, leading(count, totals) / np.maximum(count, 1), np.inf)
        order = np.argsort(mean, axis=1, kind="stable")
        n_left = np.take_along_axis(count, order, axis=1).cumsum(axis=1)
        n_right = level.count[:, None] - n_left
        scores = np.zeros(order.shape)
        for total, whole in zip(totals, level.total, strict=True):
            left = np.take_along_axis(total, order, axis=1).cumsum(axis=1)
            scores += between(n_left, left) + between(n_right, whole[:, None] - left)
        scores[(n_left < self.min_leaf) | (n_right < self.min_leaf)] = -np.inf
        last = (scores >= scores.max(axis=1, keepdims=True) * (1 - TIE)).argmax(axis=1)
        rows = np.arange(len(allowed))
        rank = np.empty_like(order)
        np.put_along_axis(rank, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
        absent_left = (n_left >= n_right)[rows, last]
        goes_left = allowed & np.where(present, rank <= last[:, None], absent_left[:, None])
        return scores[rows, last], goes_left

    def follow(self, cells: Cells, where: IndexArray, splits: Splits, parent: IndexArray) -> None:
        """Regroup each column by the new cells; a stable sort keeps the values in order."""
        n = len(cells)
        # NumPy sorts 16-bit keys by radix, in linear time.
        key = where.astype(np.uint16) if n < 1 << 16 else where
        for j, order in self.order.items():
            order = order[where[order] < n]
            self.order[j] = order[np.argsort(key[order], kind="stable")]


def _first_best(scores: FloatArray, cell: IndexArray) -> tuple[IndexArray, FloatArray]:
    """Return, for each run of equal ``cell``, where its best score first occurs, and that score."""
    starts = np.flatnonzero(np.concatenate([[True], cell[1:] != cell[:-1]]))
    best = np.maximum.reduceat(scores, starts)
    run = np.repeat(np.arange(len(starts)), np.diff(np.append(starts, len(cell))))
    winners = np.flatnonzero(scores >= best[run] * (1 - TIE))
    first = np.concatenate([[True], run[winners[1:]] != run[winners[:-1]]])
    return winners[first], scores[winners[first]]
