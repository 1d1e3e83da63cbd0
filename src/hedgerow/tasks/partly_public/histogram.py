"""The product of a tree over some columns and a histogram over others, as one tree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.partition.tree import Partition
from hedgerow.space import FeatureSpace

__all__ = ["MAX_CELLS", "Cut", "histogram_below", "product_below"]

MAX_CELLS = 1 << 16  # one bit of each is 8 kB; by hand
Cut = tuple[int, float, tuple[bool, ...] | None]
"""A column, where it is cut, and of a categorical one which categories go left."""


def histogram_below(tree: Partition, columns: Sequence[int], n_bins: int) -> Partition:
    """Cut every leaf of ``tree`` into ``n_bins`` equal bins along each of ``columns``.

    The cells are the products ``A x B`` of histogram cells and leaves. A categorical column gets at most as many
    bins as it has categories, of neighbouring codes; a column whose range is one point is not cut.

    Examples
    --------
    >>> from hedgerow.partition import grow
    >>> tree = grow("max_edge", FeatureSpace.from_bounds((0, 1), 3), None, None, max_depth=0)
    >>> histogram_below(tree, [0, 2], 3).n_leaves
    9
    """
    chains = [chain for j in columns if (chain := _bins(tree.space, int(j), n_bins))]
    cells = tree.n_leaves
    for chain in chains:
        cells *= len(chain) + 1
        if cells > MAX_CELLS:
            raise HedgerowError(
                f"'n_bins'={n_bins} on {len(columns)} features makes more than {MAX_CELLS} cells; "
                "lower n_private, n_bins or max_depth."
            )
    return product_below(tree, chains)


def product_below(tree: Partition, chains: list[list[Cut]]) -> Partition:
    """Cut every leaf of ``tree`` by each chain, whose cuts take off one group after the other.

    >>> from hedgerow.partition import grow
    >>> tree = grow("max_edge", FeatureSpace.from_bounds((0, 1), 1), None, None, max_depth=0)
    >>> product_below(tree, [[(0, 0.2, None), (0, 0.7, None)]]).apply(np.array([[0.1], [0.2], [0.9]])).tolist()
    [0, 1, 2]
    """
    return _Writer(tree, chains).partition()


def _bins(space: FeatureSpace, j: int, n_bins: int) -> list[Cut]:
    """Return the splits that cut off bin 0, then bin 1, and so on."""
    if space.is_categorical[j]:
        k = int(space.n_categories[j])
        edges = sorted({k * b // n_bins for b in range(1, n_bins)} - {0, k})
        return [(j, 0.0, tuple(code < edge for code in range(k))) for edge in edges]
    low = float(space.low[j])
    high = float(space.high[j])
    cuts = sorted({low * (1 - b / n_bins) + high * (b / n_bins) for b in range(1, n_bins)})
    return [(j, cut, None) for cut in cuts if low < cut < high]


class _Writer:
    """Writes the nodes breadth first: children are adjacent and follow their parent."""

    def __init__(self, tree: Partition, chains: list[list[Cut]]) -> None:
        self.tree = tree
        self.chains = chains

    def partition(self) -> Partition:
        feature: list[int] = []
        threshold: list[float] = []
        left: list[int] = []
        offset: list[int] = []
        subsets: list[bool] = []
        # (node of the tree) or (which chain, which link)
        queue: list[tuple[str, int, int]] = [("tree", 0, 0)]
        for state in queue:
            split, children = self._expand(state)
            index = len(feature)
            column, cut, subset = split or (-1, 0.0, None)
            feature.append(column)
            threshold.append(cut)
            left.append(len(queue) if split else index)
            offset.append(-1 if subset is None else len(subsets))
            subsets.extend(subset or ())
            queue += children
        arrays: list[Any] = [np.array(a) for a in (feature, threshold, left, offset)]
        return Partition(self.tree.space, arrays[0], arrays[1], arrays[2], arrays[3], np.array(subsets, dtype=bool))

    def _expand(self, state: tuple[str, int, int]) -> tuple[Cut | None, list[tuple[str, int, int]]]:
        kind, one, two = state
        if kind == "tree":
            tree = self.tree
            child = int(self.tree.left[one])
            if tree.feature[one] < 0:
                return self._expand(("chain", 0, 0))
            subset = tuple(map(bool, tree.subset(one))) if tree.subset_offset[one] >= 0 else None
            split: Cut = (int(tree.feature[one]), float(tree.threshold[one]), subset)
            return split, [("tree", child, 0), ("tree", child + 1, 0)]
        if one == len(self.chains):
            return None, []
        link = self.chains[one]
        rest = ("chain", one, two + 1) if two + 1 < len(link) else ("chain", one + 1, 0)
        return link[two], [("chain", one + 1, 0), rest]
