"""Trees of a group: partitions that tell most of errors that public records leave open, and the bins of a check."""

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

    Every tree follows several errors that public records leave open, together: it splits where the sum of their
    variances falls most, so that leaves tell most of such errors on average. What public records tell of errors and
    labels the public model knows already.

    Parameters
    ----------
    rows : array
        Design, public prediction and what steps add, of the rows of the pool; trees do not split on the last. They are
        grown on as many as have a covariance; all rows tell shares.
    draws : int
        How many errors a tree follows.
    """
    rng = np.random.default_rng(seed)
    first = rows[: len(pool.root), :-1]
    parts = []
    for t, most in enumerate(leaves):
        target = pool.root @ rng.normal(size=(len(pool.root), draws))
        few = max(2, len(first) // (_FEW * most))
        limits = {"max_leaf_nodes": max(most, 2), "min_samples_leaf": few}
        tree = ExtraTreeRegressor(max_features=_SEEN, random_state=seed + t, **limits).fit(first, target)
        parts.append(_portable(tree, rows.shape[1] - 1))
    return _joined(parts, rows)


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
