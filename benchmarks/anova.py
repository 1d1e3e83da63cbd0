"""Fits of PrivateAnovaRegressor on 20 features: CPU time beside DP-EBM's, rounds, memory, threads.

Each fit is in a process of its own. DP-EBM is measured in the same run if ``interpret-core`` is installed; otherwise
there are seconds and no ratio. With ``quick`` there is no fit of a million records.
"""

from __future__ import annotations

import json
from importlib.util import find_spec
from typing import Any

from benchmarks.timing import Row, fresh
from hedgerow.kernels import native

_LIMITS = {32_000: 0.45, 100_000: 0.35, 1_000_000: 0.45}  # CPU time over DP-EBM's
_DATA = """
import json, resource, sys, time
import numpy as np

def data(n, d=20):
    rng = np.random.default_rng(0)
    X = rng.random((n, d))
    y = np.sin(6 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + X[:, 3:8].sum(axis=1) / 2 + rng.normal(0, 0.3, n)
    return X, y

def peak():
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
"""
_FIT = """
from hedgerow import PrivateAnovaRegressor

X, y = data(int(sys.argv[1]))
public = {"label_bounds": (-3, 8), "feature_bounds": (0, 1), "random_state": 0}
PrivateAnovaRegressor(1.0, **public).fit(X[:300], y[:300])  # imports and tables of noise
rounds = []
before, start = peak(), time.process_time()
model = PrivateAnovaRegressor(1.0, callback=rounds.append, **public).fit(X, y)
cpu = time.process_time() - start
error = float(np.mean((model.predict(X[:20_000]) - y[:20_000]) ** 2))
print(json.dumps({"cpu": cpu, "rounds": len(rounds), "error": error, "memory": (peak() - before) / len(X)}))
"""
_EBM = """
from interpret.privacy import DPExplainableBoostingRegressor

X, y = data(int(sys.argv[1]))
bounds = dict(privacy_bounds={j: (0, 1) for j in range(X.shape[1])}, privacy_target_min=-3, privacy_target_max=8)
start = time.process_time()
DPExplainableBoostingRegressor(epsilon=1.0, delta=1e-5, random_state=0, n_jobs=1, **bounds).fit(X, y)
print(json.dumps({"cpu": time.process_time() - start}))
"""
_ROUND = """
from hedgerow.central.anova.basis import choose
from hedgerow.central.anova.coded import CodedRows
from hedgerow.central.anova.design import FeatureMap
from hedgerow.central.anova.products import Products
from hedgerow.central.anova.quantiles import Quantiles
from hedgerow.central.anova.rows import Clip, Rows
from hedgerow.space import FeatureSpace

n, d, path, jobs = 100_000, 20, int(sys.argv[1]), int(sys.argv[2])
space, rng = FeatureSpace.from_bounds((0, 1), [f"x{j}" for j in range(d)]), np.random.default_rng(0)
options = {"frequency": 8, "pair_weight": 0.3, "pair_complexity": 2.25, "least": 0.0, "most": 800, "missing": False}
basis = choose(space, [1.0] * d, **options)
flat = Quantiles(np.linspace(0, 1, 5), np.ones(4))
own = Products.of(FeatureMap(space, {j: flat for j in range(d)}, basis, 0.8 * basis.root_mean_square()))
codes, labels = rng.integers(0, 255, (d, n)).astype(np.uint8), rng.integers(-(1 << 23), 1 << 23, (1, n))
rows = Rows(own, CodedRows(codes, labels.astype(np.int32)), jobs, path)
theta, best = rng.normal(0, 0.1, (len(own), 1)), {"cpu": 1e9, "wall": 1e9}
for _ in range(12):
    start = time.process_time(), time.perf_counter()
    rows.gradient(theta, Clip(0.1, 129, 2))
    found = time.process_time() - start[0], time.perf_counter() - start[1]
    best = {"cpu": min(best["cpu"], found[0]), "wall": min(best["wall"], found[1])}
print(json.dumps({name: value * 1e9 / n / len(own) for name, value in best.items()}))
"""
_PATHS = {1: ("any processor", None), 2: ("128 bits", None), 3: ("256 bits", 0.11), 4: ("512 bits", 0.06)}


def run(quick: bool) -> list[Row]:
    """Fit at growing sizes, then time single rounds on every path that this processor has."""
    rows = [row for n in _LIMITS if n < 1_000_000 or not quick for row in _fits(n)]
    return [*rows, *_rounds()]


def _measured(code: str, *arguments: int) -> Any:
    return json.loads(fresh(_DATA + code, *map(str, arguments)))


def _fits(n: int) -> list[Row]:
    name = f"PrivateAnova, {n:,} records, 20 features"
    one = _measured(_FIT, n)
    rows = [
        Row(f"{name}: CPU time of {one['rounds']} rounds", one["cpu"]),
        Row(f"{name}: memory beyond the input, a record", one["memory"], "bytes"),
        Row(f"{name}: mean squared error (noise alone: 0.09)", one["error"], ""),
    ]
    if find_spec("interpret") is None:
        return rows
    return [*rows, Row(f"{name}: CPU time over DP-EBM's", one["cpu"] / _measured(_EBM, n)["cpu"], "", _LIMITS[n])]


def _rounds() -> list[Row]:
    if getattr(native(), "anova_records", None) is None:
        return []
    name = "PrivateAnova, a round of 100,000 records"
    each = {path: _measured(_ROUND, path, 1) for path in native().anova_paths()}
    rows = [
        Row(f"{name}, {_PATHS[path][0]}: a function and record", one["cpu"], "ns", _PATHS[path][1])
        for path, one in each.items()
    ]
    both = [_measured(_ROUND, 0, jobs)["wall"] for jobs in (1, 2)]
    return [*rows, Row(f"{name}: two threads over one (idle machine)", both[0] / both[1], "", 1.7, at_least=True)]
