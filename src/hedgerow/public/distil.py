"""Distillation: a small model that says nearly the same as a large one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np

from hedgerow.portable import Linear
from hedgerow.portable.bumps import matern, squared_distances
from hedgerow.portable.model import Part
from hedgerow.public.convert import portable_parts
from hedgerow.public.curves import N_EDGES
from hedgerow.public.gaussian_process import GaussianProcess
from hedgerow.types import FloatArray

__all__ = ["COMPACT_BYTES", "distil"]


COMPACT_BYTES = 200_000  # by hand: a second at 1.6 Mbit/s
_KERNEL_BYTES = 80_000  # with those of the trees 190 kB: the rest is for names and the frame
_TREE_BYTES = 110_000  # of _LEAVES leaves each
_ROWS = 12_000  # that the teacher predicts: 20 a centre of the kernel, at most 600; by hand
_LEAVES = 16  # of a tree; by hand
_LEAF_BYTES = 20  # of a tree's leaf and the node above it in the portable form, about


def between(D: FloatArray, n: int, rng: np.random.Generator) -> FloatArray:
    """Return ``n`` records between pairs of public ones: each column from either of the two, or from between.

    >>> between(np.array([[0.0, 5.0], [1.0, 5.0]]), 3, np.random.default_rng(0))[:, 1].tolist()
    [5.0, 5.0, 5.0]
    """
    a, b = (D[rng.integers(len(D), size=n)] for _ in range(2))
    # Indicators of categories stay 0 or 1: columns with two values are swapped whole.
    binary = np.isin(D, (0.0, 1.0)).all(axis=0)
    share = rng.random((n, D.shape[1])) * 0.5
    share[:, binary] = 0.0
    return a + share * (b - a)


def distil(teacher: Callable[[FloatArray], FloatArray], D: FloatArray, seed: int) -> tuple[float, list[Part]]:
    """Return a constant and parts of at most 200 kB that imitate ``teacher`` around the public records ``D``.

    A line and Matern bumps around few centres take the smooth part, small boosted trees the rest; all are fitted to
    the teacher's own predictions, on the public records and on made-up ones between them, of which there is no lack.
    """
    from sklearn.ensemble import HistGradientBoostingRegressor

    rng = np.random.default_rng(seed)
    most = D[rng.permutation(len(D))[: _ROWS // 2]]
    X = np.vstack([most, between(most, _ROWS - len(most), rng)])
    target = teacher(X)
    # As many numbers as 2 N_EDGES centres have say how columns are bent.
    centres = min(600, _KERNEL_BYTES // (8 * (D.shape[1] + 1)) - 2 * N_EDGES)
    parts: list[Part] = []
    constant = float(target.mean())
    rest = target - constant
    if centres >= 10 and np.ptp(target) > 0:
        process = GaussianProcess(seed).fit(X[:centres], target[:centres])
        more, parts = _refit(process, X, rest)
        constant += more
        rest = rest - more - sum(part.predict(X) for part in parts)
    boosting = HistGradientBoostingRegressor(
        max_iter=_TREE_BYTES // (_LEAVES * _LEAF_BYTES), max_leaf_nodes=_LEAVES, learning_rate=0.15,
        min_samples_leaf=10, early_stopping=False, random_state=seed,
    ).fit(X, rest)  # fmt: skip
    more, trees = portable_parts(boosting, D.shape[1])
    return constant + more, [*parts, *trees]


def _refit(process: GaussianProcess, X: FloatArray, target: FloatArray) -> tuple[float, list[Part]]:
    """Return a constant, a line and bumps on the same centres, fitted to all rows and penalised as the process says."""
    signal, linear, noise = np.exp(process.parameters_[-3:])
    smooth = process.smooth_
    center = X.mean(axis=0)
    spread = np.where(X.std(axis=0) > 0, X.std(axis=0), 1.0)
    bumps = matern(squared_distances(smooth.units(X), smooth.points))
    B = np.hstack([bumps, (X - center) / spread])
    m = len(smooth.points)
    gram = B.T @ B
    gram[:m, :m] += noise / signal * matern(squared_distances(smooth.points, smooth.points))
    gram[np.diag_indices_from(gram)] += 1e-8 * np.trace(gram) / len(gram)
    line = np.arange(m, len(gram))
    gram[line, line] += noise / linear
    weights = np.asarray(np.linalg.solve(gram, B.T @ target), dtype=np.float64)
    slopes = weights[m:] / spread
    return -float(center @ slopes), [Linear(slopes), replace(smooth, weights=weights[:m])]
