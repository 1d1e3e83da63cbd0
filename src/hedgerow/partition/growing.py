"""Growing a tree level by level: what all rules share.

A rule looks at the cells of a level and proposes one split for each; here the split is pruned if either side
would hold too few public records, and the level is written down.
"""

from __future__ import annotations

from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.grid import check_labels
from hedgerow.partition.cells import Cells, Splits
from hedgerow.partition.tree import Partition
from hedgerow.space import FeatureSpace
from hedgerow.types import BoolArray, FloatArray, IndexArray, RealArray

__all__ = ["MAX_DEPTH", "TIE", "Rule", "check_limits", "check_public", "exact_labels", "grow_levels"]


MAX_DEPTH = 20  # 2**20 leaves: a report with one bit a leaf has 128 kB
TIE = 1e-12
"""Scores this close (relatively) are equal but for rounding; the lower column wins."""


class Rule(Protocol):
    """Proposes splits; ``where`` is each record's cell, ``len(cells)`` for records in finished leaves."""

    def choose(self, cells: Cells, where: IndexArray | None) -> Splits:
        """Return a split for each cell."""

    def follow(self, cells: Cells, where: IndexArray, splits: Splits, parent: IndexArray) -> None:
        """Take note of the next level: its cells, the records' new cells, the splits and old cells."""


def grow_levels(
    space: FeatureSpace,
    rule: Rule,
    Z: RealArray | None,
    *,
    max_depth: int,
    min_samples_leaf: int,
) -> Partition:
    """Grow a tree by a rule; without public records ``Z`` nothing is pruned."""
    builder = _Builder(space)
    cells = Cells.root(space)
    where = None if Z is None else np.zeros(len(Z), dtype=np.intp)
    for level in range(1, max_depth + 1):
        splits = rule.choose(cells, where)
        if Z is None or where is None:
            builder.add(splits)
            cells = cells.split(splits)
        else:
            right = splits.send_right(space, Z, where)
            _prune(splits, right, where, min_samples_leaf)
            builder.add(splits)
            cells = cells.split(splits)
            parent = where
            where = _descend(splits, right, where)
            if len(cells) and level < max_depth:
                rule.follow(cells, where, splits, parent)
        if not len(cells):
            break
    builder.add(Splits.none(space, len(cells)))
    return builder.build()


def _prune(splits: Splits, right: BoolArray, where: IndexArray, min_samples_leaf: int) -> None:
    """Undo splits that leave fewer than ``min_samples_leaf`` records on EITHER side (section 2.3)."""
    n = len(splits.feature)
    sides = np.bincount(2 * where + right, minlength=2 * n)[: 2 * n].reshape(n, 2)
    splits.feature[sides.min(axis=1) < min_samples_leaf] = -1


def _descend(splits: Splits, right: BoolArray, where: IndexArray) -> IndexArray:
    """Return each record's cell in the next level."""
    parents = np.flatnonzero(splits.feature >= 0)
    child = np.full(len(splits.feature) + 1, 2 * len(parents), dtype=np.intp)
    child[parents] = 2 * np.arange(len(parents))
    below = child.take(where)
    below += right & (below < 2 * len(parents))
    return below


class _Builder:
    """Writes levels down in breadth-first order, so that children are adjacent and follow their parent."""

    def __init__(self, space: FeatureSpace) -> None:
        self.space = space
        self.n_nodes = 0
        self.levels: list[tuple[npt.NDArray[Any], ...]] = []

    def add(self, splits: Splits) -> None:
        n = len(splits.feature)
        inner = splits.feature >= 0
        by_subset = inner & self.space.is_categorical[splits.feature]
        sizes = np.where(by_subset, self.space.n_categories[splits.feature], 0)
        threshold = np.where(inner & ~by_subset, splits.threshold, 0.0)
        left = self.n_nodes + np.where(inner, n + 2 * (np.cumsum(inner) - 1), np.arange(n))
        subsets = splits.goes_left[np.arange(splits.goes_left.shape[1]) < sizes[:, None]]
        self.levels.append((splits.feature, threshold, left, sizes, subsets))
        self.n_nodes += n

    def build(self) -> Partition:
        feature, threshold, left, sizes, subsets = (np.concatenate(parts) for parts in zip(*self.levels, strict=True))
        offset = np.where(sizes > 0, np.cumsum(sizes) - sizes, -1)
        return Partition(self.space, feature, threshold, left, offset, subsets)


def exact_labels(y: RealArray) -> FloatArray:
    """Return labels as whole numbers (held in float64) that sum without rounding.

    Labels are shifted to the middle of their range and scaled by a power of two such that any sum of them
    stays below ``2**53``. Sums are then exact whatever their order, so equal splits have equal scores and a
    tree does not depend on how the work was arranged. With ``n`` records about ``52 - log2(n)`` bits of each
    label are kept.

    Examples
    --------
    >>> q = exact_labels(np.array([1.0, 2.0, 4.0]))
    >>> (q / (q[2] - q[1]) * 2).tolist()
    [-1.5, -0.5, 1.5]
    """
    if not y.size:
        return y.astype(np.float64)
    centred = y - (y.min() / 2 + y.max() / 2)
    bits = 52 - int(y.size).bit_length()
    _, exponent = np.frexp(np.abs(centred).max())
    return np.asarray(np.rint(np.ldexp(centred, bits - int(exponent))))


def label_rows(y: npt.ArrayLike, n: int) -> FloatArray:
    """Return public labels as rows of exact whole numbers: one row, or one a column of a label matrix.

    Squared errors add over the columns of a matrix; with one-hot classes their sum is the Gini impurity.
    """
    array = np.asarray(y)
    columns = array.T if array.ndim == 2 and array.shape[1] > 1 else [y]
    return np.stack([exact_labels(check_labels(column, n=n)) for column in columns])


def check_limits(max_depth: object, min_samples_leaf: object) -> None:
    """Refuse a depth or a leaf size that cannot be meant."""
    for name, value, low, high in (
        ("max_depth", max_depth, 0, MAX_DEPTH),
        ("min_samples_leaf", min_samples_leaf, 1, 2**62),
    ):
        whole = isinstance(value, int | np.integer) and not isinstance(value, bool)
        if not whole or not low <= value <= high:  # type: ignore[operator]
            limits = f"in {low} .. {high}" if high == MAX_DEPTH else f"of at least {low}"
            raise HedgerowError(f"The '{name}' parameter must be an integer {limits}. Got {value!r} instead.")


def check_public(space: FeatureSpace, Z: object) -> RealArray:
    """Return public records as an encoded float matrix, or say what is wrong with them."""
    array = np.asarray(Z)
    if array.ndim != 2 or array.shape[1] != len(space) or array.dtype.kind not in "fiub":
        raise HedgerowError(
            f"'Z' must be a numeric matrix with {len(space)} columns, as space.encode(X) returns it. "
            f"Got shape {array.shape} of type {array.dtype} instead."
        )
    if array.dtype.kind != "f":
        array = array.astype(np.float64)
    if not np.isfinite(array).all():
        raise HedgerowError("'Z' contains NaN or infinity; encode public records with space.encode(X).")
    for j in np.flatnonzero(space.is_categorical):
        codes = array[:, j]
        last = space.n_categories[j] - 1
        if ((codes < 0) | (codes > last) | (codes != np.floor(codes))).any():
            raise HedgerowError(
                f"'Z' must hold codes 0 .. {last} in the categorical column {space.names[j]!r}; "
                "encode public records with space.encode(X)."
            )
    return array
