"""The paper's way to split: a private median of each of K columns, then a choice among the K."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.central.accounting import TreeBudget
from hedgerow.central.candidates import category_subsets, pick_features
from hedgerow.central.scores import Target
from hedgerow.mechanisms.median import PrivateMedian
from hedgerow.mechanisms.selection import Selection, selection
from hedgerow.partition.cells import Cells, Splits
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.types import IntArray, RealArray

__all__ = ["MedianSplits"]


class MedianSplits:
    """Draw a private median of each picked column, then choose one of these splits by its cost.

    Cost under add/remove: the same record is in all K medians, so a level costs ``K median + level`` and not
    ``median + level`` as the paper has it (its own counterexample is in the tests). With one column drawn at
    random (base DiPriMe) there is nothing to choose, and a level costs one median.
    """

    def __init__(
        self, space: FeatureSpace, Z: RealArray, target: Target, budget: TreeBudget, kind: str, randomness: Randomness
    ) -> None:
        self.space = space
        self.Z = Z
        self.target = target
        self.randomness = randomness
        self.n_medians = budget.n_medians
        self.median = PrivateMedian(budget.median)
        self.subset: Selection = selection("exponential" if kind == "random" else kind, budget.median, 1)
        self.choice = None if kind == "random" else selection(kind, budget.level, target.weights.sensitivity)

    def choose(self, cells: Cells, where: npt.NDArray[np.intp] | None) -> Splits:
        """Return a private split for each cell."""
        assert where is not None
        picked = pick_features(cells, self.n_medians, self.randomness)
        order = np.argsort(where, kind="stable")
        ends = np.searchsorted(where[order], np.arange(len(cells) + 1))
        splits = Splits.none(self.space, len(cells))
        for cell in range(len(cells)):
            rows = order[ends[cell] : ends[cell + 1]]
            offers = [self._offer(cells, cell, int(j), rows) for j in np.flatnonzero(picked[cell])]
            if offers:
                self._write(splits, cell, offers[self._best(rows, [o[2] for o in offers])])
        return splits

    def follow(self, cells: Cells, where: Any, splits: Splits, parent: Any) -> None:
        """Nothing to remember."""

    def _offer(self, cells: Cells, cell: int, j: int, rows: IntArray) -> tuple[int, Any, npt.NDArray[np.bool_]]:
        x = self.Z[rows, j]
        if not self.space.is_categorical[j]:
            low = float(cells.low[cell, j])
            high = float(cells.high[cell, j])
            cut = self.median.threshold(x, low, high, self.randomness)
            cut = cut if low < cut < high else low / 2 + high / 2
            return j, cut, np.asarray(x < cut)
        allowed = cells.allowed[j][cell]
        subsets = category_subsets(len(allowed)) & allowed
        counts = np.bincount(x.astype(np.int64), minlength=len(allowed))
        left = subsets @ counts
        size = subsets.sum(axis=1)
        costs = np.maximum(left, len(rows) - left)
        chosen = int(self.subset.choose(costs[None], ((size > 0) & (size < allowed.sum()))[None], self.randomness)[0])
        return j, subsets[chosen], subsets[chosen][x.astype(np.int64)]

    def _best(self, rows: IntArray, sides: list[npt.NDArray[np.bool_]]) -> int:
        if self.choice is None or len(sides) == 1:
            return 0
        key = np.zeros(len(rows), dtype=np.int64)
        whole = self.target.histogram(rows, key, 1)[0]
        left = np.stack([self.target.histogram(rows[s], key[s], 1)[0] for s in sides])
        return int(self.choice.choose(self.target.costs(left, whole)[None], randomness=self.randomness)[0])

    def _write(self, splits: Splits, cell: int, offer: tuple[int, Any, Any]) -> None:
        j, cut, _ = offer
        splits.feature[cell] = j
        if self.space.is_categorical[j]:
            splits.goes_left[cell, : len(cut)] = cut
        else:
            splits.threshold[cell] = cut
