"""The cost of a split, in whole numbers that a record can only raise, and by a known amount at most."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.types import IntArray

__all__ = ["ClassTarget", "ScalarTarget", "Target", "Weights", "squared_cost"]

_LARGEST = 1 << 62  # of (n G)**2, which bounds both products: their difference then stays within 63 bits


@dataclass(frozen=True)
class Weights:
    """How much each part of the cost counts; their sum is the sensitivity of the whole.

    Attributes
    ----------
    squared : int
        The sum of squared errors (classes: half the Gini impurity times the number of records).
    margin : int
        The records outvoted in their side: ``min(sum v, sum (G - v)) / G``, or ``n - max class count``.
    balance : int
        The number of records on the larger side: what makes a median a median.

    Examples
    --------
    >>> Weights(squared=90, balance=38).sensitivity
    128
    """

    squared: int = 0
    margin: int = 0
    balance: int = 0

    def __post_init__(self) -> None:
        if min(self.squared, self.margin, self.balance) < 0 or self.sensitivity < 1:
            raise HedgerowError(f"weights must not be negative, and one must be positive. Got {self!r}.")

    @property
    def sensitivity(self) -> int:
        """The most that one record adds to a cost."""
        return self.squared + self.margin + self.balance


class Target(Protocol):
    """What is predicted, one value a record; ``width`` statistics describe a set of records."""

    width: int
    weights: Weights

    def histogram(self, rows: IntArray, key: IntArray, size: int) -> IntArray:
        """Return the statistics of the records ``rows`` grouped by ``key``, of shape ``(size, width)``."""

    def costs(self, left: IntArray, whole: IntArray) -> IntArray:
        """Return the costs of splits from the statistics of the left side and of the cell."""

    def counts(self, leaf: npt.NDArray[Any], n_leaves: int) -> IntArray:
        """Return the leaf statistics, to which a record adds ``unit`` in all."""


def squared_cost(n: IntArray, total: IntArray, squares: IntArray, n_steps: int, weight: int) -> IntArray:
    r"""Return ``floor(weight * SSE / G**2)`` in exact integers, with ``SSE = sum v**2 - (sum v)**2 / n``.

    Proof that a record adds 0 .. weight. (1) It adds ``n/(n+1) (v - mean)**2``, in ``[0, G**2)``, to the SSE.
    (2) ``floor(a + d) - floor(a)`` is an integer in ``[0, ceil(d)]``, here at most ``weight``.

    >>> squared_cost(np.array([2]), np.array([10]), np.array([100]), 10, 8).tolist()  # labels 0 and 10 of 10
    [4]
    """
    top = int(n.max(initial=0)) * n_steps
    if top and top * top >= _LARGEST:
        n, total, squares = (a.astype(object) for a in (n, total, squares))  # Python's integers do not overflow
    spread = n * squares - total * total
    whole = np.maximum(n, 1) * (n_steps * n_steps)
    cost = spread // whole * weight + spread % whole * weight // whole
    return np.asarray(cost, dtype=np.int64)


class ScalarTarget:
    """Labels on a grid ``0 .. n_steps``; ``leaf_levels`` on the (wider) grid of the leaf statistics."""

    width = 3

    def __init__(self, levels: IntArray, n_steps: int, weights: Weights, leaf_levels: IntArray | None = None) -> None:
        self.levels = levels
        self.n_steps = n_steps
        self.weights = weights
        self.leaf_levels = levels if leaf_levels is None else leaf_levels
        self.unit = n_steps

    def histogram(self, rows: IntArray, key: IntArray, size: int) -> IntArray:
        """Return count, sum and sum of squares by group (sums of whole numbers below 2**53: exact)."""
        v = self.levels[rows].astype(np.float64)
        parts = [np.bincount(key, minlength=size)]
        parts += [np.bincount(key, weights=w, minlength=size).astype(np.int64) for w in (v, v * v)]
        return np.stack(parts, axis=-1)

    def costs(self, left: IntArray, whole: IntArray) -> IntArray:
        """Return squared error and margin of both sides, and the balance."""
        right = whole - left
        out = self.weights.balance * np.maximum(left[..., 0], right[..., 0])
        for side in (left, right):
            n = side[..., 0]
            total = side[..., 1]
            if self.weights.squared:
                out = out + squared_cost(n, total, side[..., 2], self.n_steps, self.weights.squared)
            if self.weights.margin:
                out = out + self.weights.margin * np.minimum(total, n * self.n_steps - total) // self.n_steps
        return np.asarray(out, dtype=np.int64)

    def counts(self, leaf: npt.NDArray[Any], n_leaves: int) -> IntArray:
        """Return ``sum (G - v)`` and ``sum v`` of each leaf: a record adds G in all, whatever its label."""
        n = np.bincount(leaf, minlength=n_leaves) * self.n_steps
        high = np.bincount(leaf, weights=self.leaf_levels, minlength=n_leaves).astype(np.int64)
        return np.stack([n - high, high], axis=-1)


class ClassTarget:
    """Classes as codes ``0 .. n_classes - 1``."""

    unit = 1

    def __init__(self, codes: IntArray, n_classes: int, weights: Weights) -> None:
        self.codes = codes
        self.width = n_classes
        self.weights = weights

    def histogram(self, rows: IntArray, key: IntArray, size: int) -> IntArray:
        """Return class counts by group."""
        joint = key * self.width + self.codes[rows]
        return np.bincount(joint, minlength=size * self.width).reshape(size, self.width)

    def costs(self, left: IntArray, whole: IntArray) -> IntArray:
        """Return impurity and margin of both sides, and the balance.

        One-hot labels have ``SSE = n - sum n_c**2 / n`` and a record adds less than 2: half of it is below 1.
        """
        right = whole - left
        sizes = [side.sum(axis=-1) for side in (left, right)]
        out = self.weights.balance * np.maximum(*sizes)
        for side, n in zip((left, right), sizes, strict=True):
            if self.weights.squared:
                spread = n * n - (side * side).sum(axis=-1)
                out = out + self.weights.squared * spread // np.maximum(2 * n, 1)
            if self.weights.margin:
                out = out + self.weights.margin * (n - side.max(axis=-1))
        return np.asarray(out, dtype=np.int64)

    def counts(self, leaf: npt.NDArray[Any], n_leaves: int) -> IntArray:
        """Return the class counts of each leaf: a record adds 1 in all."""
        joint = leaf.astype(np.int64) * self.width + self.codes
        return np.bincount(joint, minlength=n_leaves * self.width).reshape(n_leaves, self.width)
