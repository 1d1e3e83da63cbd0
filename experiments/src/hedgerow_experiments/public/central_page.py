"""The page ``public-central.md``: what private records in one place add to a public model."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public.declared import CENTRAL
from hedgerow_experiments.public.ends import gap
from hedgerow_experiments.public.sets import KEPT_OUT

__all__ = ["pages"]

_HEAD = """\
# Central models on top of a public model

Written by

```console
hedgerow bench run public-central
```

`PrivateAnovaRegressor` at (epsilon, 1e-6) with 400 public records; all others but a fifth for the test are private. The
public model is given fitted, and ranges of features are those of the public records. Gap is the share closed of the
distance from the public model's test error (mean squared) to that of boosting that sees everything, in brackets that of
the same fit without a public model. "Over the better" is the error over the smaller of the public model's and of the
fit without it, in geometric mean over splits, and the worst split. Sets marked * were kept out of every choice; the
share of the budget and the caution of the look were chosen on ABA, AIR, CCP, CON, FIS and RED.
"""
_GOALS = {"GAS": 0.5, "MET": 0.35, "CAL": 0.5}
"""Gaps to reach at epsilon 1."""

Runs = dict[tuple[str, float, int], dict[str, float]]


def pages(found: Evidence) -> Files:
    """Return ``public-central.md``."""
    runs: Runs = defaultdict(dict)
    for row in found.rows(CENTRAL.name):
        runs[row.dataset, row.epsilon or 0.0, row.repeat][row.method] = row.value
    if not runs:
        return {}
    parts = [_HEAD, *_summary(runs)]
    for epsilon in CENTRAL.epsilons:
        rows = _table(runs, epsilon)
        if rows:
            parts += ["", f"## Epsilon {epsilon:g}", "", *pipes(["set", "gap closed", "over public", "over the better",
                                                                  "worst", "splits"], rows)]  # fmt: skip
    return {"public-central.md": ("\n".join(parts) + "\n").encode()}


def _over_the_better(values: dict[str, float]) -> float:
    return values["ANOVA"] / min(values["public"], values["ANOVA without"])


def _summary(runs: Runs) -> list[str]:
    public = {run: values["ANOVA"] / values["public"] for run, values in runs.items()}
    better = {run: _over_the_better(values) for run, values in runs.items()}
    lines = []
    for words, ratios, most in (("the public model", public, 1.01), ("the better of both", better, 1.02)):
        worst = max(ratios, key=lambda run: ratios[run])
        code, epsilon, repeat = worst
        lines.append(
            f"- More than {most - 1:.0%} worse than {words}: {sum(r > most for r in ratios.values())} of {len(ratios)} "
            f"runs; the worst is {ratios[worst]:.3f} ({code}, epsilon {epsilon:g}, split {repeat})."
        )
    return lines


def _table(runs: Runs, epsilon: float) -> list[list[str]]:
    rows = []
    for code in CENTRAL.datasets:
        cell = [values for run, values in runs.items() if run[:2] == (code, epsilon)]
        if not cell:
            continue
        gaps = [np.mean([gap(v[name], v["public"], v["ceiling"]) for v in cell]) for name in ("ANOVA", "ANOVA without")]
        goal = f", goal {_GOALS[code]:.2f}" if code in _GOALS and epsilon == 1 else ""
        better = [_over_the_better(values) for values in cell]
        rows.append([
            code + "*" if code in KEPT_OUT else code,
            f"{gaps[0]:.2f} ({gaps[1]:.2f}){goal}",
            f"{_mean([v['ANOVA'] / v['public'] for v in cell]):.3f}",
            f"{_mean(better):.3f}",
            f"{max(better):.3f}",
            str(len(cell)),
        ])  # fmt: skip
    return rows


def _mean(ratios: list[float]) -> float:
    """Return the geometric mean."""
    return float(np.exp(np.mean(np.log(ratios))))
