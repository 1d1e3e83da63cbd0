"""Rules that never look at a label: a random longest edge, and purely random splits."""

from __future__ import annotations

from typing import Protocol

import numpy as np
import numpy.typing as npt

from hedgerow.partition.cells import Cells, Splits
from hedgerow.partition.growing import check_limits, check_public, grow_levels
from hedgerow.partition.max_edge import cut_in_half
from hedgerow.partition.tree import Partition
from hedgerow.space import FeatureSpace
from hedgerow.types import BoolArray, FloatArray, IndexArray, RealArray

__all__ = ["grow_random", "grow_random_max_edge"]


class Integers(Protocol):
    """What is needed of a source of randomness, such as :class:`hedgerow.randomness.Randomness`."""

    def integers(self, high: int, size: int) -> npt.NDArray[np.int64]:
        """Return ``size`` integers, uniform on ``0 .. high - 1``."""


def grow_random_max_edge(
    space: FeatureSpace,
    Z: RealArray | None,
    randomness: Integers,
    *,
    max_depth: int,
    min_samples_leaf: int,
) -> Partition:
    """Halve one of the longest edges of each cell, chosen uniformly at random.

    Categorical edges are halved in code order. Public records ``Z``, if given, only serve to prune splits
    with fewer than ``min_samples_leaf`` of them on either side.

    Examples
    --------
    >>> from hedgerow.randomness import as_randomness
    >>> space = FeatureSpace.from_bounds((0, 1), 3)
    >>> tree = grow_random_max_edge(space, None, as_randomness(0), max_depth=3, min_samples_leaf=1)
    >>> (tree.cell_bounds().high - tree.cell_bounds().low).tolist() == [[0.5, 0.5, 0.5]] * 8
    True
    """
    rule = _RandomLongest(randomness)
    return _grow(space, Z, rule, max_depth=max_depth, min_samples_leaf=min_samples_leaf)


def grow_random(
    space: FeatureSpace,
    Z: RealArray | None,
    randomness: Integers,
    *,
    max_depth: int,
    min_samples_leaf: int,
) -> Partition:
    """Split each cell along a random column at a random place.

    The column is uniform among those that can be split. The cut is ``low + (high - low) (u + 1/2) / 2^32``
    with ``u`` uniform on 32 bits; a categorical column sends a uniformly random non-trivial subset of the
    remaining categories left. Public records ``Z``, if given, only serve to prune splits with fewer than
    ``min_samples_leaf`` of them on either side.

    Examples
    --------
    >>> from hedgerow.randomness import as_randomness
    >>> space = FeatureSpace.from_bounds((0, 1), 3)
    >>> grow_random(space, None, as_randomness(0), max_depth=4, min_samples_leaf=1).n_leaves
    16
    """
    rule = _RandomCut(randomness)
    return _grow(space, Z, rule, max_depth=max_depth, min_samples_leaf=min_samples_leaf)


def _grow(
    space: FeatureSpace,
    Z: RealArray | None,
    rule: _RandomLongest,
    *,
    max_depth: int,
    min_samples_leaf: int,
) -> Partition:
    check_limits(max_depth, min_samples_leaf)
    Z = None if Z is None else check_public(space, Z)
    return grow_levels(space, rule, Z, max_depth=max_depth, min_samples_leaf=min_samples_leaf)


class _RandomLongest:
    def __init__(self, randomness: Integers) -> None:
        self.randomness = randomness

    def choose(self, cells: Cells, where: IndexArray | None) -> Splits:
        longest = cells.longest()
        return cut_in_half(cells, _pick(longest, self.randomness), longest)

    def follow(self, cells: Cells, where: IndexArray, splits: Splits, parent: IndexArray) -> None:
        """Nothing to remember."""


class _RandomCut(_RandomLongest):
    def choose(self, cells: Cells, where: IndexArray | None) -> Splits:
        possible = cells.lengths() > 0
        chosen = _pick(possible, self.randomness)
        splits = cut_in_half(cells, chosen, possible)
        rows = np.arange(len(cells))
        low = cells.low[rows, chosen]
        high = cells.high[rows, chosen]
        cut = _uniform(low, high, self.randomness)
        # In an edge a few floats wide the cut can round to its end; the midpoint never does.
        splits.threshold = np.where((low < cut) & (cut < high), cut, splits.threshold)
        for j, allowed in cells.allowed.items():
            at = np.flatnonzero(splits.feature == j)
            splits.goes_left[at, : allowed.shape[1]] = _subset(allowed[at], self.randomness)
        return splits


def _pick(mask: BoolArray, randomness: Integers) -> IndexArray:
    """Return one True column of each row at random (0 if there is none)."""
    # (u m) >> 32 with 32 random bits: each of m columns has probability 1/m up to 2**-32.
    ticket = randomness.integers(1 << 32, len(mask)) * mask.sum(axis=1) >> 32
    return np.asarray((mask.cumsum(axis=1) > ticket[:, None]).argmax(axis=1))


def _uniform(low: FloatArray, high: FloatArray, randomness: Integers) -> FloatArray:
    share = (randomness.integers(1 << 32, len(low)) + 0.5) / 2.0**32
    # Not low + (high - low) * share: the difference of two finite floats can be infinite.
    return low * (1 - share) + high * share


def _subset(allowed: BoolArray, randomness: Integers) -> BoolArray:
    """Return random subsets of the allowed categories, neither empty nor all of them."""
    subset = np.zeros_like(allowed)
    redo = np.arange(len(allowed))
    while redo.size:
        bits = randomness.integers(2, redo.size * allowed.shape[1]).astype(bool)
        subset[redo] = bits.reshape(redo.size, -1) & allowed[redo]
        size = subset[redo].sum(axis=1)
        redo = redo[(size == 0) | (size == allowed[redo].sum(axis=1))]
    return subset
