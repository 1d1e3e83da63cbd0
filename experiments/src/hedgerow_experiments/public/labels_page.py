"""The page ``public-label.md``: what private labels add to a public model, and whether they ever do harm."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public.declared import LABEL, MANY
from hedgerow_experiments.public.ends import gap
from hedgerow_experiments.public.sets import KEPT_OUT

__all__ = ["pages"]

_HEAD = """\
# Private labels on top of a public model

Written by

```console
hedgerow bench run public-label
```

`LabelPrivateRegressor`: features are public, labels private; all records but the public and the test ones are holders.
Gap is the share closed of the distance from the public model's test error (mean squared) to that of boosting that sees
every label; in brackets that of the same holders without a public model. A run does harm if its error is more than 1 %
above the public model's. Sets marked * were kept out of every choice. The public model is given fitted.
"""
_GOALS = {"MET": (0.42, 0.55, 0.65, 0.8), "GAS": (0.45, 0.68, 0.82, 0.88), "CAL": (0.25, 0.47, 0.68, 0.8)}
"""Gaps to reach with 500 public records, by epsilon."""

Run = tuple[str, str, float, int]
Runs = dict[Run, dict[str, float]]


def pages(found: Evidence) -> Files:
    """Return ``public-label.md``."""
    runs: Runs = defaultdict(dict)
    for row in found.rows(LABEL.name):
        runs[row.setting, row.dataset, row.epsilon or 0.0, row.repeat][row.method] = row.value
    if not runs:
        return {}
    parts = [_HEAD, *_summary(runs)]
    parts += ["", "## Gap closed, 500 public records", "", *_gaps(runs)]
    parts += ["", "## Error over the public model's, 400 public records, fair and shifted", "", *_ratios(runs)]
    return {"public-label.md": ("\n".join(parts) + "\n").encode()}


def _summary(runs: Runs) -> list[str]:
    ratios = {run: values["label"] / values["public"] for run, values in runs.items()}
    beside = {run: values["label"] / values["no public model"] for run, values in runs.items()}
    worst = max(ratios, key=lambda run: ratios[run])
    behind = max(beside, key=lambda run: beside[run])
    return [
        f"- Harmful: {sum(r > 1.01 for r in ratios.values())} of {len(ratios)} runs; the worst is "
        f"{ratios[worst]:.3f} of the public model's error ({_name(worst)}).",
        f"- More than 1 % worse than without a public model: {sum(r > 1.01 for r in beside.values())} of "
        f"{len(beside)} runs; the worst is {beside[behind]:.3f} ({_name(behind)}).",
    ]


def _name(run: Run) -> str:
    setting, code, epsilon, repeat = run
    return f"{code}, {setting}, epsilon {epsilon:g}, split {repeat}"


def _mark(code: str) -> str:
    return code + "*" if code in KEPT_OUT else code


def _gaps(runs: Runs) -> list[str]:
    rows = []
    for code in dict.fromkeys(run[1] for run in runs if run[0] == MANY):
        line = [_mark(code)]
        for place, epsilon in enumerate(LABEL.epsilons):
            cell = [values for run, values in runs.items() if run[:3] == (MANY, code, epsilon)]
            goal = f", goal {_GOALS[code][place]:.2f}" if code in _GOALS else ""
            line.append(f"{_gap(cell, 'label')} ({_gap(cell, 'no public model')}){goal}" if cell else "")
        line.append(str(len({run[3] for run in runs if run[:2] == (MANY, code)})))
        rows.append(line)
    return pipes(["set", *(f"epsilon {e:g}" for e in LABEL.epsilons), "splits"], rows)


def _gap(cell: list[dict[str, float]], method: str) -> str:
    return f"{np.mean([gap(v[method], v['public'], v['ceiling']) for v in cell]):.2f}"


def _ratios(runs: Runs) -> list[str]:
    """Return geometric means over splits and sets, the worst run, and how many do harm, by shift and epsilon."""
    rows = []
    for setting in LABEL.settings[1:]:
        for epsilon in LABEL.epsilons:
            chosen = [values for run, values in runs.items() if (run[0], run[2]) == (setting, epsilon)]
            if not chosen:
                continue
            ratios = [values["label"] / values["public"] for values in chosen]
            beside = [values["label"] / values["no public model"] for values in chosen]
            means = [f"{float(np.exp(np.mean(np.log(part)))):.3f}" for part in (ratios, beside)]
            harm = f"{sum(ratio > 1.01 for ratio in ratios)} of {len(ratios)}"
            rows.append([setting, f"{epsilon:g}", means[0], f"{max(ratios):.3f}", harm, means[1]])
    return pipes(["shift", "epsilon", "of public", "worst", "harmful", "of no public model"], rows)
