"""Finding leaves, against reading the rows once."""

from __future__ import annotations

import numpy as np

from benchmarks.timing import Row, interleave
from hedgerow.kernels import native, reference
from hedgerow.partition.cart import grow_cart
from hedgerow.space import FeatureSpace

LIMITS = {10: 3.0, 100: 2.0}


def run(quick: bool) -> list[Row]:
    """Measure narrow and wide float32 rows at 1,024 leaves; reading is ``X.sum()``."""
    rows = []
    for d, limit in LIMITS.items():
        n, rounds = (10**6 if quick else 10**7) // (d // 10), 3 if quick else 7
        rng = np.random.default_rng(0)
        public = rng.random((30_000, d))
        space = FeatureSpace.from_bounds((0, 1), d)
        tree = grow_cart(space, public, public[:, 0] + public[:, 1] * public[:, 2], max_depth=10, min_samples_leaf=5)
        X = rng.random((n, d), dtype=np.float32)
        functions = {"read": X.sum, "numpy": lambda X=X, tree=tree: _reference(tree, X), "max": X.max}
        if native() is not None:
            functions["ours"] = lambda X=X, tree=tree: tree.apply(X)
        median = interleave(functions, rounds)
        name = f"leaves of {n:,} x {d} rows / reading them (X.sum())"
        rows.append(Row(f"{name}, NumPy", median["numpy"] / median["read"], "x"))
        if native() is not None:
            rows.append(Row(f"{name}, compiled", median["ours"] / median["read"], "x", limit))
            rows.append(Row("  the same / the fastest pass over them (X.max())", median["ours"] / median["max"], "x"))
    return rows


def _reference(tree, X) -> None:
    with reference():
        tree.apply(X)
