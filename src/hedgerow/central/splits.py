"""Growing a tree whose every level is one private choice among all (feature, cut) pairs of a cell."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from hedgerow.central.candidates import bin_of, category_subsets, cut_points, pick_features
from hedgerow.central.scores import Target
from hedgerow.mechanisms.selection import Selection
from hedgerow.partition.cells import Cells, Splits
from hedgerow.partition.growing import grow_levels
from hedgerow.partition.tree import Partition
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.types import IntArray, RealArray

__all__ = ["BestSplits", "grow_private"]


class _Offer(NamedTuple):
    """The candidates of one column: costs and validity, one row a cell of ``cells``."""

    feature: int
    cells: IntArray
    costs: IntArray
    valid: npt.NDArray[np.bool_]


class BestSplits:
    r"""The rule "one selection over all (feature, cut) pairs".

    Proof that a level costs its selection's epsilon under add/remove: (1) the cells, the columns picked in each
    and the candidates are functions of public facts and of earlier levels' outputs; (2) a record lies in one cell
    of the level, and changes the costs of that cell's choice only; (3) there, it raises every cost by at most the
    sensitivity (:class:`~hedgerow.central.scores.Weights`). Levels add up.
    """

    def __init__(
        self,
        space: FeatureSpace,
        Z: RealArray,
        target: Target,
        levels: Sequence[Selection],
        *,
        max_features: int | None,
        n_bins: int,
        randomness: Randomness,
    ) -> None:
        self.space = space
        self.Z = Z
        self.target = target
        self.levels = list(levels)
        self.max_features = max_features
        self.n_bins = n_bins
        self.randomness = randomness

    def choose(self, cells: Cells, where: npt.NDArray[np.intp] | None) -> Splits:
        """Return a private split for each cell."""
        assert where is not None
        picked = pick_features(cells, self.max_features, self.randomness)
        columns = np.flatnonzero(picked.any(axis=0)).tolist()
        offers = [self._offer(j, np.flatnonzero(picked[:, j]), cells, where) for j in columns]
        slot = np.cumsum(picked, axis=1) - 1
        width = max((o.costs.shape[1] for o in offers), default=1)
        n_slots = max(int(picked.sum(axis=1).max(initial=0)), 1)
        costs = np.zeros((len(cells), n_slots, width), dtype=np.int64)
        valid = np.zeros(costs.shape, dtype=bool)
        for offer in offers:
            place = slot[offer.cells, offer.feature]
            costs[offer.cells, place, : offer.costs.shape[1]] = offer.costs
            valid[offer.cells, place, : offer.costs.shape[1]] = offer.valid
        flat = (len(cells), n_slots * width)
        chosen = self.levels.pop(0).choose(costs.reshape(flat), valid.reshape(flat), self.randomness)
        return self._splits(cells, picked, chosen // width, chosen % width, chosen >= 0)

    def follow(self, cells: Cells, where: Any, splits: Splits, parent: Any) -> None:
        """Nothing to remember."""

    def _offer(self, j: int, members: IntArray, cells: Cells, where: npt.NDArray[np.intp]) -> _Offer:
        place = np.full(len(cells) + 1, -1, dtype=np.int64)
        place[members] = np.arange(len(members))
        at = place[where]
        rows = np.flatnonzero(at >= 0)
        at = at[rows]
        x = self.Z[rows, j]
        if self.space.is_categorical[j]:
            return self._by_subset(j, members, cells, rows, at, x)
        low = cells.low[members, j]
        high = cells.high[members, j]
        key = at * self.n_bins + bin_of(x, low[at], high[at], self.n_bins)
        table = self.target.histogram(rows, key, len(members) * self.n_bins)
        left = table.reshape(len(members), self.n_bins, -1).cumsum(axis=1)
        _, valid = cut_points(low, high, self.n_bins)
        return _Offer(j, members, self.target.costs(left[:, :-1], left[:, -1:]), valid)

    def _by_subset(self, j: int, members: IntArray, cells: Cells, rows: IntArray, at: IntArray, x: RealArray) -> _Offer:
        allowed = cells.allowed[j][members]
        k = allowed.shape[1]
        table = self.target.histogram(rows, at * k + x.astype(np.int64), len(members) * k).reshape(len(members), k, -1)
        subsets = category_subsets(k).astype(np.int64)
        left = np.einsum("sk,mkf->msf", subsets, table)
        size = allowed @ subsets.T
        whole = allowed.sum(axis=1, keepdims=True)
        return _Offer(
            j, members, self.target.costs(left, table.sum(axis=1, keepdims=True)), (size > 0) & (size < whole)
        )

    def _splits(self, cells: Cells, picked: Any, slot: IntArray, candidate: IntArray, found: Any) -> Splits:
        splits = Splits.none(self.space, len(cells))
        order = np.argsort(~picked, axis=1, kind="stable")  # picked columns first, in order
        feature = order[np.arange(len(cells)), np.maximum(slot, 0)]
        splits.feature[found] = feature[found]
        for j in np.unique(feature[found]):
            rows = np.flatnonzero(found & (feature == j))
            if self.space.is_categorical[j]:
                subsets = category_subsets(int(self.space.n_categories[j]))
                splits.goes_left[rows, : subsets.shape[1]] = subsets[candidate[rows]] & cells.allowed[int(j)][rows]
            else:
                cuts, _ = cut_points(cells.low[rows, j], cells.high[rows, j], self.n_bins)
                splits.threshold[rows] = cuts[np.arange(len(rows)), candidate[rows]]
        return splits


def grow_private(space: FeatureSpace, Z: RealArray, rule: Any, depth: int) -> Partition:
    """Grow by a private rule; no split is ever pruned, for pruning would look at the records again."""
    return grow_levels(space, rule, Z, max_depth=depth, min_samples_leaf=0)
