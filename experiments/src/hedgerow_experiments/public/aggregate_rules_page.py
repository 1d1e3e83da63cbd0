"""The page ``aggregate-rules.md``: what other sizes of sums would give, each set held out in turn."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Collection

import numpy as np

from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public.declared import AGGREGATE_RULES, SHIPPED, SIZES

__all__ = ["pages"]

_HEAD = """\
# Sizes of what two servers add up

Written by

```console
hedgerow bench run aggregate-rules
```

The test error of `SecureSumRegressor` by other sizes, one at a time, over that of the public model, at epsilon 1 and 4
together: geometric means over splits and epsilons, then over sets. Splits and seeds are the same for all. In each turn
a size is chosen instead of the shipped one if the mean over the sets that are left is less.
"""

Logs = dict[str, dict[str, list[float]]]


def pages(found: Evidence) -> Files:
    """Return ``aggregate-rules.md``."""
    logs = _logs(found)
    if SHIPPED not in logs:
        return {}
    heads = ["other size", "sets", "over public", "shipped", "worst set, over shipped", "would be chosen without"]
    rows = [_row(name, logs) for name in SIZES if name in logs]
    return {"aggregate-rules.md": ("\n".join([_HEAD, *pipes(heads, rows)]) + "\n").encode()}


def _logs(found: Evidence) -> Logs:
    """Return logarithms of errors over the public model's, by size and set; cells that both sizes have only."""
    cells: dict[tuple[str, float, int], dict[str, float]] = defaultdict(dict)
    for row in found.rows(AGGREGATE_RULES.name):
        cells[row.dataset, row.epsilon or 0.0, row.repeat][row.method] = row.value
    logs: Logs = defaultdict(lambda: defaultdict(list))
    for (code, _, _), values in cells.items():
        for name in (SHIPPED, *SIZES):
            if name in values:
                logs[name][code].append(math.log(values[name] / values["public"]))
    return logs


def _mean(logs: Logs, name: str, codes: Collection[str]) -> float:
    return math.exp(float(np.mean([np.mean(logs[name][code]) for code in codes])))


def _row(name: str, logs: Logs) -> list[str]:
    """Return what a size gives on all sets, and which set left out would have had it chosen."""
    codes = [c for c in AGGREGATE_RULES.datasets if len(logs[name][c]) == len(logs[SHIPPED][c]) > 0]
    if not codes:
        return [name, "0", "", "", "", ""]
    over = {code: _mean(logs, name, [code]) / _mean(logs, SHIPPED, [code]) for code in codes}
    worst = max(over, key=over.__getitem__)
    turned = []
    for code in codes:
        others = [other for other in codes if other != code]
        if others and _mean(logs, name, others) < _mean(logs, SHIPPED, others):
            turned.append(code)
    chosen = "every one" if turned == codes else ", ".join(turned) or "none"
    means = [f"{_mean(logs, size, codes):.4f}" for size in (name, SHIPPED)]
    return [name, str(len(codes)), *means, f"{worst} {over[worst]:.3f}", chosen]
