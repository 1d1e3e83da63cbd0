"""Candidate splits of a cell: public cuts over the cell's own box, public subsets of categories."""

from __future__ import annotations

from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.partition.cells import Cells
from hedgerow.randomness import Randomness
from hedgerow.types import BoolArray, FloatArray

__all__ = ["bin_of", "category_subsets", "cut_points", "pick_features"]

_ALL_SUBSETS = 6  # with up to so many categories every way to divide them is a candidate


def pick_features(cells: Cells, most: int | None, randomness: Randomness) -> BoolArray:
    """Return a uniformly random set of ``most`` columns for each cell, among those that can still be split."""
    possible = cells.lengths() > 0
    if most is None or most >= possible.shape[1]:
        return np.asarray(possible)
    ticket = randomness.integers(1 << 62, possible.size).reshape(possible.shape)
    ticket[~possible] = -1
    rank = np.argsort(np.argsort(-ticket, axis=1, kind="stable"), axis=1, kind="stable")
    return np.asarray(possible & (rank < most))


def cut_points(low: FloatArray, high: FloatArray, n_bins: int) -> tuple[FloatArray, BoolArray]:
    """Return ``n_bins - 1`` cuts equally spaced inside ``[low, high]``, and whether each lies strictly inside.

    >>> cut_points(np.array([0.0]), np.array([8.0]), 4)[0].tolist()
    [[2.0, 4.0, 6.0]]
    """
    share = np.arange(1, n_bins) / n_bins
    cuts = low[:, None] * (1 - share) + high[:, None] * share
    return cuts, (cuts > low[:, None]) & (cuts < high[:, None])


def bin_of(x: npt.NDArray[Any], low: FloatArray, high: FloatArray, n_bins: int) -> npt.NDArray[np.int64]:
    """Return the number of cuts at or below each value (up to rounding: a record's own affair)."""
    half = high / 2 - low / 2  # halved first: a range may be wider than a float can hold
    share = (x / 2 - low / 2) / np.where(half > 0, half, 1.0)
    return np.clip(np.floor(share * n_bins), 0, n_bins - 1).astype(np.int64)


@lru_cache(maxsize=64)
def category_subsets(n_categories: int) -> BoolArray:
    """Return the subsets of categories that may go left, one a row; none is the complement of another.

    All of them for few categories; else each category alone, and each run of categories from the first.

    >>> category_subsets(3).astype(int).tolist()
    [[1, 0, 0], [0, 1, 0], [0, 0, 1]]
    """
    k = n_categories
    if k <= _ALL_SUBSETS:
        sets = [c for size in range(1, k // 2 + 1) for c in combinations(range(k), size)]
        sets = [c for c in sets if 2 * len(c) < k or 0 in c]
    else:
        sets = [(c,) for c in range(k)] + [tuple(range(c)) for c in range(2, k - 1)]
    table = np.zeros((len(sets), k), dtype=bool)
    for row, chosen in enumerate(sets):
        table[row, list(chosen)] = True
    table.setflags(write=False)
    return table
