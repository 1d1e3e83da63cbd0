"""The max-edge rule with variance reduction (section 2.3 of the LPDT paper)."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.partition.cells import Cells, Splits
from hedgerow.partition.growing import TIE, check_limits, check_public, grow_levels, label_rows
from hedgerow.partition.sides import Sides
from hedgerow.partition.tree import Partition
from hedgerow.space import FeatureSpace
from hedgerow.types import BoolArray, FloatArray, IndexArray, RealArray

__all__ = ["cut_in_half", "first_half", "grow_max_edge"]


def grow_max_edge(
    space: FeatureSpace,
    Z: RealArray | None,
    y: npt.ArrayLike | None,
    *,
    max_depth: int,
    min_samples_leaf: int,
) -> Partition:
    """Halve the longest edge of each cell, among several the one that reduces the variance most.

    With ``M`` the longest edges of a cell, in units of the public range, the edge split is

        argmin over l in M of  SSE(left half along l) + SSE(right half along l)

    (ties: the lowest column), at its midpoint. Only then are the records counted: if EITHER half holds
    fewer than ``min_samples_leaf`` the cell stays whole, and no other edge is tried. A column whose range is
    one point cannot be split. The length of a categorical edge is the share of its categories left in the
    cell; its left half are those with the lowest mean label in the cell (the smaller half, if odd; ties by
    code; categories without records count as average).

    Parameters
    ----------
    space : FeatureSpace
        Public ranges and categories.
    Z : float array of shape (n, d), or None
        Encoded public records. None: no public data; the first of the longest edges, nothing pruned.
    y : array of n labels or of shape (n, k), or None
        Public labels (the errors of several columns add up); None exactly if ``Z`` is.
    max_depth : int
        Levels of splits, 0 .. 20.
    min_samples_leaf : int
        Fewest public records on each side of a split.

    Examples
    --------
    >>> space = FeatureSpace.from_bounds((0, 1), ["a", "b"])
    >>> Z = np.array([[0.1, 0.1], [0.2, 0.9], [0.8, 0.2], [0.9, 0.8]])
    >>> tree = grow_max_edge(space, Z, [0, 5, 0, 5], max_depth=1, min_samples_leaf=1)
    >>> print(tree.export_text())
    |--- b < 0.5
    |   |--- leaf 0
    |--- b >= 0.5
    |   |--- leaf 1
    >>> grow_max_edge(space, None, None, max_depth=3, min_samples_leaf=1).n_leaves
    8
    """
    check_limits(max_depth, min_samples_leaf)
    if (Z is None) != (y is None):
        missing = "Z" if Z is None else "y"
        raise HedgerowError(f"max_edge needs both public 'Z' and 'y', or neither. '{missing}' is None.")
    rule: _FirstLongest | _LeastVariance = _FirstLongest()
    if Z is not None:
        Z = check_public(space, Z)
        rule = _LeastVariance(space, Z, label_rows(np.asarray(y), len(Z)))
    return grow_levels(space, rule, Z, max_depth=max_depth, min_samples_leaf=min_samples_leaf)


def cut_in_half(cells: Cells, chosen: IndexArray, possible: BoolArray) -> Splits:
    """Return the midpoint splits along the chosen columns where they are possible.

    Categorical halves are in code order.
    """
    splits = Splits.none(cells.space, len(cells))
    rows = np.arange(len(cells))
    splits.feature = np.where(possible[rows, chosen], chosen, -1).astype(np.int32)
    splits.threshold = cells.midpoints[rows, chosen]
    for j, allowed in cells.allowed.items():
        rows = np.flatnonzero(splits.feature == j)
        splits.goes_left[rows, : allowed.shape[1]] = first_half(allowed[rows], np.zeros((len(rows), 1)))
    return splits


def first_half(allowed: BoolArray, key: FloatArray) -> BoolArray:
    """Return the half of the allowed categories with the lowest keys, ties in code order."""
    order = np.argsort(np.where(allowed, key, np.inf), axis=1, kind="stable")
    rank = np.empty_like(order)
    np.put_along_axis(rank, order, np.broadcast_to(np.arange(order.shape[1]), order.shape), axis=1)
    return np.asarray(rank < allowed.sum(axis=1, keepdims=True) // 2)


class _FirstLongest:
    """Without public data: the first of the longest edges."""

    def choose(self, cells: Cells, where: IndexArray | None) -> Splits:
        longest = cells.longest()
        return cut_in_half(cells, longest.argmax(axis=1), longest)

    def follow(self, cells: Cells, where: IndexArray, splits: Splits, parent: IndexArray) -> None:
        """Nothing to remember."""


class _LeastVariance:
    """With public data: among the longest edges the least sum of squared errors.

    ``SSE = sum y^2 - (S_left^2 / n_left + S_right^2 / n_right)``, so the bracket, the score, is maximised.
    """

    def __init__(self, space: FeatureSpace, Z: RealArray, labels: FloatArray) -> None:
        self.space = space
        self.Z = Z
        self.labels = labels
        self.sides = Sides(Z, Cells.root(space).midpoints[0])

    def choose(self, cells: Cells, where: IndexArray | None) -> Splits:
        assert where is not None
        n = len(cells)
        halves = {j: self._half(j, allowed, where) for j, allowed in cells.allowed.items()}
        score = np.zeros((n, len(self.space)))
        for labels in self.labels:
            count, total = sums(where, labels, n)
            right_count, right_total = self.sides.right_sums(where, labels, n)
            for j, half in halves.items():
                counts, totals = category_sums(self.Z[:, j], where, labels, half.shape)
                right_count[:, j] = np.where(half, 0, counts).sum(axis=1)
                right_total[:, j] = np.where(half, 0, totals).sum(axis=1)
            score += between(right_count, right_total)
            score += between(count[:, None] - right_count, total[:, None] - right_total)
        longest = cells.longest()
        score[~longest] = -np.inf
        chosen = (score >= score.max(axis=1, keepdims=True) * (1 - TIE)).argmax(axis=1)
        splits = cut_in_half(cells, chosen, longest)
        for j, half in halves.items():
            rows = np.flatnonzero(splits.feature == j)
            splits.goes_left[rows, : half.shape[1]] = half[rows]
        return splits

    def _half(self, j: int, allowed: BoolArray, where: IndexArray) -> BoolArray:
        """Return the categories of column ``j`` that would go left in each cell."""
        parts = [category_sums(self.Z[:, j], where, row, allowed.shape) for row in self.labels]
        counts = parts[0][0]
        totals = leading(parts[0][0], [total for _, total in parts])
        average = (totals.sum(axis=1) / np.maximum(counts.sum(axis=1), 1))[:, None]
        return first_half(allowed, np.where(counts > 0, totals / np.maximum(counts, 1), average))

    def follow(self, cells: Cells, where: IndexArray, splits: Splits, parent: IndexArray) -> None:
        """Compare the records of a cell cut along a numeric edge with the midpoint of their new half."""
        # Two children a parent that was split; the records of categorical splits keep their sides.
        column = np.repeat(splits.feature[splits.feature >= 0], 2)
        column[self.space.is_categorical[column]] = -1
        assert splits.values is not None
        self.sides.move(where, splits.values, column, cells.midpoints[np.arange(len(cells)), column])


def sums(key: IndexArray, labels: FloatArray, size: int) -> tuple[FloatArray, FloatArray]:
    """Return number and label sum of the records with each key below ``size``."""
    counts: FloatArray = np.bincount(key, minlength=size)[:size].astype(np.float64)
    totals: npt.NDArray[Any] = np.bincount(key, labels, minlength=size)[:size]
    return counts, totals


def between(count: FloatArray, total: FloatArray) -> FloatArray:
    """Return ``S^2 / n``, 0 for an empty side (whose sum is 0)."""
    return total * total / np.maximum(count, 1)


def leading(count: FloatArray, totals: list[FloatArray]) -> FloatArray:
    """Return the label sums, among several label columns, that differ most between categories."""
    if len(totals) == 1:
        return totals[0]
    spread = [float((between(count, t).sum(axis=1) - between(count.sum(axis=1), t.sum(axis=1))).sum()) for t in totals]
    return totals[int(np.argmax(spread))]


def category_sums(
    codes: RealArray, where: IndexArray, labels: FloatArray, shape: tuple[int, ...]
) -> tuple[FloatArray, FloatArray]:
    """Return number and label sum of the records of each cell and category."""
    n_cells, width = shape
    key = where * width + codes.astype(np.intp)
    size = n_cells * width
    counts, totals = sums(key, labels, size)
    return counts.reshape(n_cells, width), totals.reshape(n_cells, width)
