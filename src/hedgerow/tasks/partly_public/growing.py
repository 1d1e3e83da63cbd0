"""Growing the tree of the second round from noisy labels and the features that each holder left public."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.partition.cells import Cells, Splits
from hedgerow.partition.growing import TIE, check_limits, grow_levels
from hedgerow.partition.max_edge import cut_in_half, first_half
from hedgerow.partition.random import Integers
from hedgerow.partition.tree import Partition
from hedgerow.space import FeatureSpace
from hedgerow.types import BoolArray, FloatArray, IndexArray

__all__ = ["RULES", "grow_masked"]

RULES = ("max_edge", "cart", "random_max_edge")


def grow_masked(
    space: FeatureSpace,
    Z: FloatArray,
    levels: npt.NDArray[np.int64],
    private: BoolArray,
    columns: npt.ArrayLike,
    *,
    rule: str,
    max_depth: int,
    min_samples_leaf: int = 1,
    balance: float = 0.0,
    randomness: Integers | None = None,
) -> Partition:
    r"""Grow a tree over ``columns``; a split along ``l`` is judged by, and passes on, those with ``l`` public.

    Algorithm 1 of the paper. The score of a split is the reduction of the sum of squared errors,

    .. math:: \Delta = \frac{S_L^2}{n_L} + \frac{S_R^2}{n_R} - \frac{S^2}{n} = \frac{n_L n_R}{n} (m_L - m_R)^2,

    over the holders of the cell whose feature l is public. Without signal its mean is the noise variance whatever
    the number of holders, so columns that few left public are not preferred for being few. "max_edge" halves one
    of the longest edges, "cart" cuts anywhere, "random_max_edge" halves a random longest edge and reads no record.
    A split needs ``min_samples_leaf`` public records, and the share ``balance`` of them, on both sides: where labels
    are mostly noise the best score is likely to be at the edge, and a cell of few holders has little to say.

    Examples
    --------
    >>> space = FeatureSpace.from_bounds((0, 1), ["a", "b"])
    >>> Z = np.array([[0.1, 0.1], [0.2, 0.9], [0.8, 0.2], [0.9, 0.8]])
    >>> levels, private = np.array([0, 5, 0, 5]), np.zeros((4, 2), dtype=bool)
    >>> tree = grow_masked(space, Z, levels, private, [0, 1], rule="max_edge", max_depth=1)
    >>> int(tree.feature[0]), float(tree.threshold[0])
    (1, 0.5)
    """
    check_limits(max_depth, min_samples_leaf)
    if not 0 <= balance < 0.5:
        raise HedgerowError(f"The 'balance' parameter must be at least 0 and below 0.5. Got {balance!r} instead.")
    if rule not in RULES:
        raise HedgerowError(f"The 'rule' parameter must be one of {list(RULES)}. Got {rule!r} instead.")
    usable = np.zeros(len(space), dtype=bool)
    usable[np.asarray(columns, dtype=np.intp)] = True
    chooser: _RandomEdge | _Masked
    if rule == "random_max_edge":
        if randomness is None:
            raise HedgerowError("'randomness' is required by the rule 'random_max_edge'.")
        chooser = _RandomEdge(usable, randomness)
    else:
        # Centred at a whole number: sums stay exact, and small, whatever the order of the records.
        centred = levels - round(levels.mean()) if levels.size else levels
        chooser = _Masked(Z, centred.astype(np.float64), private, usable, rule == "cart", min_samples_leaf, balance)
    return grow_levels(space, chooser, None, max_depth=max_depth, min_samples_leaf=1)


def _longest(cells: Cells, usable: BoolArray) -> BoolArray:
    lengths = np.where(usable, cells.lengths(), -1.0)
    return np.asarray((lengths == lengths.max(axis=1, keepdims=True)) & (lengths > 0))


class _RandomEdge:
    def __init__(self, usable: BoolArray, randomness: Integers) -> None:
        self.usable = usable
        self.randomness = randomness

    def choose(self, cells: Cells, where: IndexArray | None) -> Splits:
        mask = _longest(cells, self.usable)
        ticket = self.randomness.integers(1 << 32, len(mask)) * mask.sum(axis=1) >> 32
        return cut_in_half(cells, (mask.cumsum(axis=1) > ticket[:, None]).argmax(axis=1), mask)

    def follow(self, cells: Cells, where: IndexArray, splits: Splits, parent: IndexArray) -> None:
        """Nothing to remember."""


class _Masked:
    """Keeps each record's cell itself; a record drops out at a split along a feature that is private for it."""

    def __init__(
        self,
        Z: FloatArray,
        levels: FloatArray,
        private: BoolArray,
        usable: BoolArray,
        cart: bool,
        least: int,
        balance: float,
    ) -> None:
        self.Z = Z
        self.levels = levels
        self.private = private
        self.usable = usable
        self.cart = cart
        self.least = least
        self.balance = balance
        self.where = np.zeros(len(Z), dtype=np.intp)
        public = [np.flatnonzero(~private[:, j]) if usable[j] else np.empty(0, np.intp) for j in range(len(usable))]
        # Each column's public records, sorted by value once (a halving rule does not need the order).
        self.rows = [r[np.argsort(Z[r, j], kind="stable")] if cart else r for j, r in enumerate(public)]

    def choose(self, cells: Cells, where: IndexArray | None) -> Splits:
        splits = Splits.none(cells.space, len(cells))
        best = np.full(len(cells), 0.0 if self.cart else -1.0)  # a half is made even if it gains nothing
        possible = np.where(self.usable, cells.lengths(), -1.0) > 0 if self.cart else _longest(cells, self.usable)
        for j in np.flatnonzero(possible.any(axis=0)).tolist():
            rows = self.rows[j][self.where[self.rows[j]] < len(cells)]
            rows = rows[possible[self.where[rows], j]]
            if not rows.size:
                continue
            if cells.space.is_categorical[j]:
                score, goes_left = self._categories(j, rows, cells.allowed[j])
            else:
                score, cut = self._cut(j, rows, cells) if self.cart else self._halve(j, rows, cells)
            better = score > best + TIE * np.maximum(best, 1.0)  # ties but for rounding: the lower column
            best[better], splits.feature[better] = score[better], j
            if cells.space.is_categorical[j]:
                splits.goes_left[better, : goes_left.shape[1]] = goes_left[better]
            else:
                splits.threshold[better] = cut[better]
        self._descend(cells.space, splits)
        return splits

    def follow(self, cells: Cells, where: IndexArray, splits: Splits, parent: IndexArray) -> None:
        """Nothing more to remember."""

    def _halve(self, j: int, rows: IndexArray, cells: Cells) -> tuple[FloatArray, FloatArray]:
        middle = cells.midpoints[:, j]
        right = self.Z[rows, j] >= middle[self.where[rows]]
        key = 2 * self.where[rows] + right
        n = len(cells)
        count = np.bincount(key, minlength=2 * n).reshape(n, 2).astype(np.float64)
        total = np.bincount(key, self.levels[rows], minlength=2 * n).reshape(n, 2)
        return self._score(count[:, 0], total[:, 0], count[:, 1], total[:, 1]), middle

    def _cut(self, j: int, rows: IndexArray, cells: Cells) -> tuple[FloatArray, FloatArray]:
        """Return the best cut of each cell: halfway between neighbouring distinct values."""
        score = np.full(len(cells), -np.inf)
        cut = np.zeros(len(cells))
        rows = rows[np.argsort(self.where[rows].astype(np.uint32), kind="stable")]
        cell = self.where[rows]
        value = self.Z[rows, j]
        first = np.flatnonzero(np.r_[True, cell[1:] != cell[:-1]])
        size = np.diff(np.r_[first, len(rows)])
        start = np.repeat(first, size)
        ahead = np.arange(1, len(rows) + 1) - start
        running = np.r_[0.0, np.cumsum(self.levels[rows])]
        whole = np.repeat(running[first + size] - running[first], size)
        left = running[1:] - running[start]
        scores = self._score(ahead, left, np.repeat(size, size) - ahead, whole - left)
        scores[:-1][value[:-1] >= value[1:]] = -np.inf
        at = first + np.array([int(np.argmax(scores[a : a + b])) for a, b in zip(first, size, strict=True)])
        after = np.minimum(at + 1, len(rows) - 1)
        middle = value[at] / 2 + value[after] / 2
        score[cell[first]] = scores[at]
        cut[cell[first]] = np.where(middle > value[at], middle, value[after])
        return score, cut

    def _categories(self, j: int, rows: IndexArray, allowed: BoolArray) -> tuple[FloatArray, BoolArray]:
        """Send the categories with the lower mean label left: half of them, or (cart) the best number."""
        key = self.where[rows] * allowed.shape[1] + self.Z[rows, j].astype(np.intp)
        count = np.bincount(key, minlength=allowed.size).reshape(allowed.shape).astype(np.float64)
        total = np.bincount(key, self.levels[rows], minlength=allowed.size).reshape(allowed.shape).astype(np.float64)
        overall = total.sum(axis=1, keepdims=True) / np.maximum(count.sum(axis=1, keepdims=True), 1)
        mean = np.where(count > 0, total / np.maximum(count, 1), overall)
        if not self.cart:
            left = first_half(allowed, mean)
            return self._sides(left, count, total), left
        order = np.argsort(np.where(allowed, mean, np.inf), axis=1, kind="stable")
        rank = np.argsort(order, axis=1, kind="stable")
        best = np.full(len(allowed), -np.inf)
        goes_left = np.zeros_like(allowed)
        for k in range(allowed.shape[1] - 1):
            left = allowed & (rank <= k)
            score = self._sides(left, count, total)
            better = score > best
            best[better], goes_left[better] = score[better], left[better]
        return best, goes_left

    def _sides(self, left: BoolArray, count: FloatArray, total: FloatArray) -> FloatArray:
        n_left = (count * left).sum(axis=1)
        s_left = (total * left).sum(axis=1)
        return self._score(n_left, s_left, count.sum(axis=1) - n_left, total.sum(axis=1) - s_left)

    def _score(self, n_left: Any, s_left: Any, n_right: Any, s_right: Any) -> FloatArray:
        a = np.maximum(n_left, 1)
        b = np.maximum(n_right, 1)
        score = s_left**2 / a + s_right**2 / b - (s_left + s_right) ** 2 / (a + b)
        smaller = np.minimum(n_left, n_right)
        enough = (smaller >= self.least) & (smaller >= self.balance * (n_left + n_right))
        return np.where(enough, score, -np.inf)

    def _descend(self, space: FeatureSpace, splits: Splits) -> None:
        parents = np.flatnonzero(splits.feature >= 0)
        child = np.full(len(splits.feature) + 1, 2 * len(parents), dtype=np.intp)
        child[parents] = 2 * np.arange(len(parents))
        feature = np.append(splits.feature, -1)[self.where]
        seen = (feature >= 0) & ~self.private[np.arange(len(feature)), feature]
        below = np.full(len(feature), 2 * len(parents), dtype=np.intp)
        rows = np.flatnonzero(seen)
        right = splits.send_right(space, np.nan_to_num(self.Z[rows]), self.where[rows])
        below[rows] = child[self.where[rows]] + right
        self.where = below
