"""PrivateAnova on up to a million records of twenty features: wall time, CPU time, peak memory, growth with n.

Not run by default: ``python -m benchmarks --only anova`` (about ten minutes of CPU time). With ``--quick`` each descent
stops after ten rounds (of up to 300), and the CPU time of all rounds is projected from these: rounds are alike.
"""

from __future__ import annotations

import json
import math
from typing import Any

import numpy as np

from benchmarks.timing import Row, fresh

_SIZES = (1_000_000, 300_000, 100_000)  # what may fail first
_FIT = """
import json, resource, sys, time
import numpy as np
from hedgerow import PrivateAnovaRegressor
from hedgerow.central.anova import recipe

n, d, cap = int(sys.argv[1]), 20, int(sys.argv[2])
full = recipe._MOST
recipe._FEWEST, recipe._MOST = min(recipe._FEWEST, cap), min(recipe._MOST, cap)
rng = np.random.default_rng(0)
X = rng.random((n, d))
y = np.sin(6 * X[:, 0]) + 2 * X[:, 1] * X[:, 2] + X[:, 3:8].sum(axis=1) / 2 + rng.normal(0, 0.3, n)
marks, wall, cpu = [], time.perf_counter(), time.process_time()
model = PrivateAnovaRegressor(
    1.0,
    label_bounds=(-3, 8),
    feature_bounds=(0, 1),
    callback=lambda t: marks.append((t, time.process_time())),
    random_state=0,
).fit(X, y)
wall, cpu = time.perf_counter() - wall, time.process_time() - cpu
starts = [i for i, (t, _) in enumerate(marks) if t == 0] + [len(marks)]
spans = [(b - a, marks[b - 1][1] - marks[a][1]) for a, b in zip(starts, starts[1:])]
each = [seconds / (rounds - 1) for rounds, seconds in spans]
error = float(np.mean((model.predict(X[:20_000]) - y[:20_000]) ** 2))
print(json.dumps({
    "wall": wall, "cpu": cpu, "round": sum(each), "rounds": len(marks), "error": error,
    "projected": cpu + sum((full - rounds) * e for (rounds, _), e in zip(spans, each)),
    "peak": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e9,
}))
"""


def run(quick: bool) -> list[Row]:
    """Fit at growing sizes, each in a process of its own."""
    found = {n: json.loads(fresh(_FIT, str(n), "10" if quick else "1000000")) for n in _SIZES}
    rows = [row for n, one in found.items() for row in _rows(n, one, quick)]
    exponent = np.polyfit([math.log(n) for n in found], [math.log(one["round"]) for one in found.values()], 1)[0]
    return [*rows, Row("PrivateAnova: exponent of n in the CPU time of a round", float(exponent), "", 1.1)]


def _rows(n: int, one: dict[str, Any], quick: bool) -> list[Row]:
    name, largest = f"PrivateAnova, {n:,} records, 20 features", n == max(_SIZES)
    peak = Row(f"{name}: peak memory, data included", one["peak"], "GB", 4.0 if largest else None)
    each = Row(f"{name}: CPU time of a round of each descent", one["round"])
    if quick:
        return [
            Row(f"{name}: wall time of {one['rounds']} rounds", one["wall"]),
            Row(f"{name}: CPU time of {one['rounds']} rounds", one["cpu"]),
            each, Row(f"{name}: CPU time, projected to 600 rounds", one["projected"]), peak,
        ]  # fmt: skip
    return [
        Row(f"{name}: wall time", one["wall"], "s", 600.0 if largest else None),
        Row(f"{name}: CPU time of {one['rounds']} rounds", one["cpu"]), each, peak,
        Row(f"{name}: mean squared error (noise alone: 0.09)", one["error"], ""),
    ]  # fmt: skip
