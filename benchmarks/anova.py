"""PrivateAnova on up to a million records of twenty features: wall time, CPU time, peak memory, growth with n.

Not run by default: ``python -m benchmarks --only anova`` (about ten minutes; ``--quick`` stops at 100,000 records).
"""

from __future__ import annotations

import json
import math

import numpy as np

from benchmarks.timing import Row, fresh

_FIT = """
import json, resource, sys, time
import numpy as np
from hedgerow import PrivateAnovaRegressor

n, d = int(sys.argv[1]), 20
rng = np.random.default_rng(0)
X = rng.random((n, d))
y = np.sin(6 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + X[:, 3:8].sum(axis=1) / 2 + rng.normal(0, 0.3, n)
rounds = []
wall, cpu = time.perf_counter(), time.process_time()
model = PrivateAnovaRegressor(
    1.0, label_bounds=(-3, 8), feature_bounds=(0, 1), callback=rounds.append, random_state=0
).fit(X, y)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
part = slice(0, min(n, 20_000))
error = float(np.mean((model.predict(X[part]) - y[part]) ** 2))
peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9
print(json.dumps({"wall": wall, "cpu": cpu, "peak": peak, "error": error, "rounds": len(rounds)}))
"""


def run(quick: bool) -> list[Row]:
    """Fit at growing sizes, each in a process of its own."""
    sizes = (30_000, 100_000) if quick else (100_000, 300_000, 1_000_000)
    found = {n: json.loads(fresh(_FIT, str(n))) for n in sorted(sizes, reverse=True)}  # what may fail first
    rows = []
    for n, one in found.items():
        last = n == 1_000_000
        name = f"PrivateAnova, {n:,} records, 20 features"
        rows.append(Row(f"{name}: wall time", one["wall"], "s", 600.0 if last else None))
        rows.append(Row(f"{name}: CPU time", one["cpu"]))
        rows.append(Row(f"{name}: rounds of both descents", one["rounds"], ""))
        rows.append(Row(f"{name}: peak memory, data included", one["peak"], "GB", 4.0 if last else None))
        rows.append(Row(f"{name}: mean squared error (noise alone: 0.09)", one["error"], ""))
    # The number of rounds grows with n up to a limit (300 a descent), so the cost is linear in n round by round.
    rows.append(Row("PrivateAnova: exponent of n in CPU time", _exponent({n: f["cpu"] for n, f in found.items()}), ""))
    each = {n: f["cpu"] / f["rounds"] for n, f in found.items()}
    rows.append(Row("PrivateAnova: exponent of n in CPU time a round", _exponent(each), "", 1.1))
    return rows


def _exponent(cost: dict[int, float]) -> float:
    return float(np.polyfit([math.log(n) for n in cost], [math.log(c) for c in cost.values()], 1)[0])
