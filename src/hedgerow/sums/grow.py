"""Trees of a group: partitions where the public model is likely to err, and the bins of a check."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from sklearn.tree import DecisionTreeRegressor, ExtraTreeRegressor

from hedgerow.portable import Trees
from hedgerow.public.convert import portable_parts
from hedgerow.sums.rows import Pool
from hedgerow.types import FloatArray

__all__ = ["ONE_LEAF", "binned", "grow"]

ONE_LEAF = Trees(np.array([1]), np.array([-1]), np.array([]), np.array([1.0]))
"""One tree that tells nobody from anybody."""

_FEW = 6  # a leaf has at least this part of its even share of rows
_SEEN = 0.7  # of the columns, that a split looks at; by hand


def grow(rows: FloatArray, pool: Pool, leaves: Sequence[int], seed: int, draws: int) -> Trees:
    """Return random trees, one for each number of leaves; the values of leaves are their shares of rows.

    Every other tree follows errors that public records leave open, the others in turn the error that was seen of them
    and that steps have left, and the label (:func:`aims`). A tree that follows several splits where the sum of their
    variances falls most: where, on average over such errors, leaves tell most of them.

    Parameters
    ----------
    rows : array
        Design, public prediction and what steps add, of the rows of the pool; trees do not split on the last.
    draws : int
        Open errors that a tree follows together.
    """
    parts = []
    for t, target in enumerate(aims(pool, rows[:, -1], len(leaves), seed, draws)):
        few = max(2, len(rows) // (_FEW * leaves[t]))
        limits = {"max_leaf_nodes": max(leaves[t], 2), "min_samples_leaf": few}
        tree = ExtraTreeRegressor(max_features=_SEEN, random_state=seed + t, **limits).fit(rows[:, :-1], target)
        parts.append(_portable(tree, rows.shape[1] - 1))
    return _joined(parts, rows)


def aims(pool: Pool, added: FloatArray, n: int, seed: int, draws: int) -> list[FloatArray]:
    """Return what each of n trees follows: one column, or so many draws of an open error.

    >>> pool = Pool(np.zeros((3, 2)), np.array([1.0, 2.0, 3.0]), np.zeros((3, 3)))
    >>> first, second, third = aims(pool, np.ones(3), 3, 0, draws=5)
    >>> first.tolist(), second.shape, third.tolist()
    ([0.0, 1.0, 2.0], (3, 5), [1.0, 2.0, 3.0])
    """
    known = [pool.residual - added, pool.label]
    rng = np.random.default_rng(seed)
    found: list[FloatArray] = []
    for t in range(n):
        if t % 2:
            found.append(pool.root @ rng.normal(size=(len(pool.root), draws)))
        else:
            found.append(known[t // 2 % 2])
    return found


def binned(rows: FloatArray, bins: int) -> Trees:
    """Return one tree: bins of what steps add, with about as many rows each."""
    f = rows[:, -1]
    alone = np.zeros_like(rows)
    alone[:, -1] = f
    rank = np.searchsorted(np.sort(f), f) // math.ceil(len(f) / bins)
    tree = DecisionTreeRegressor(max_leaf_nodes=max(bins, 2), random_state=0).fit(alone, rank)
    return _joined([_portable(tree, rows.shape[1])], rows)


def _portable(tree: DecisionTreeRegressor, columns: int) -> Trees:
    _, (part,) = portable_parts(tree, columns)
    assert isinstance(part, Trees)
    return part


def _joined(parts: Sequence[Trees], rows: FloatArray) -> Trees:
    shares = [np.bincount(part.apply(rows)[:, 0], minlength=part.n_leaves[0]) / len(rows) for part in parts]
    return Trees(
        np.concatenate([part.sizes for part in parts]),
        np.concatenate([part.feature for part in parts]),
        np.concatenate([part.threshold for part in parts]),
        np.concatenate(shares),
    )
