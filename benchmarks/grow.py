"""Max-edge growing against scikit-learn's CART, level by level."""

from __future__ import annotations

import time

import numpy as np
from sklearn.tree import DecisionTreeRegressor

from benchmarks.timing import Row, interleave
from hedgerow.kernels import native, reference
from hedgerow.partition.max_edge import grow_max_edge
from hedgerow.space import FeatureSpace

DEPTH, CART_DEPTH, D = 10, 2, 100


def run(quick: bool) -> list[Row]:
    """Measure public records with 100 columns; CART sorts all columns in every level, so two levels tell."""
    n = 10**5 if quick else 10**6
    rng = np.random.default_rng(0)
    Z = rng.random((n, D), dtype=np.float32)
    y = Z[:, 0] + Z[:, 1] * Z[:, 2]
    space = FeatureSpace.from_bounds((0, 1), D)

    def grow() -> None:
        grow_max_edge(space, Z, y, max_depth=DEPTH, min_samples_leaf=20)

    def plain() -> None:
        with reference():
            grow()

    functions = {"numpy": plain} | ({"ours": grow} if native() is not None else {})
    median = interleave(functions, 3)
    start = time.process_time()
    DecisionTreeRegressor(max_depth=CART_DEPTH).fit(Z, y)
    cart = (time.process_time() - start) / CART_DEPTH
    title = f"scikit-learn CART / max-edge, a level, {n:,} x {D}"
    limit = None if quick else 30
    rows = [Row(f"{title}, NumPy", cart / (median["numpy"] / DEPTH), "x", limit, at_least=True)]
    if native() is not None:
        rows.append(Row(f"{title}, compiled", cart / (median["ours"] / DEPTH), "x", limit, at_least=True))
        rows.append(Row(f"max-edge tree of depth {DEPTH}, {n:,} x {D}, compiled", median["ours"], "s", 1.0))
    return rows
