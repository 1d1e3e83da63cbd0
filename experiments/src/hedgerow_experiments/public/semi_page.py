"""The page ``public-semi.md``: what one round adds to a public model where the label and one feature are private."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public.declared import SEMI
from hedgerow_experiments.public.ends import gap
from hedgerow_experiments.public.sets import KEPT_OUT

__all__ = ["pages"]

_HEAD = """\
# The label and one feature private, on top of a public model

Written by

```console
hedgerow bench run public-semi
```

400 public records; all others but the test ones are holders. Private are the label and the number column that goes with
it most in public records. One round: `HistOfTreeRegressor`; label: `LabelPrivateRegressor`, which protects the label
alone; assisted: `AssistedForestRegressor`, which protects everything. All start from the same public model. No noise is
one round at an infinite epsilon, without groups of private values: all that public features tell of the public model's
errors.

Gap is the share closed of the distance from the public model's test error (mean squared) to that of boosting that sees
everything, the mean over splits. A run does harm if its error is more than 1 % above the public model's. Sets marked *
were kept out of every choice.
"""
_GOAL = 0.6
"""Of the gap that private labels close: what one round should reach."""

Run = tuple[str, float, int]
Runs = dict[Run, dict[str, float]]


def pages(found: Evidence) -> Files:
    """Return ``public-semi.md``."""
    runs: Runs = defaultdict(dict)
    rows = found.rows(SEMI.name)
    for row in rows:
        runs[row.dataset, row.epsilon or 0.0, row.repeat][row.method] = row.value
    for row in rows:
        if row.method == "no noise":  # the same whatever epsilon is
            for epsilon in SEMI.epsilons:
                runs[row.dataset, epsilon, row.repeat][row.method] = row.value
    runs = {run: values for run, values in runs.items() if "one round" in values}
    if not runs:
        return {}
    parts = [_HEAD, *_summary(runs), "", *_table(runs)]
    return {"public-semi.md": ("\n".join(parts) + "\n").encode()}


def _summary(runs: Runs) -> list[str]:
    ratios = {run: values["one round"] / values["public"] for run, values in runs.items()}
    worst = max(ratios, key=lambda run: ratios[run])
    code, epsilon, repeat = worst
    beside = [values["one round"] / values["assisted"] for values in runs.values() if "assisted" in values]
    lines = [
        f"- Harmful: {sum(r > 1.01 for r in ratios.values())} of {len(ratios)} runs; the worst has {ratios[worst]:.3f} "
        f"of the public model's error ({code}, epsilon {epsilon:g}, split {repeat})."
    ]
    if beside:
        more = sum(ratio > 1 for ratio in beside)
        lines.append(f"- Larger error than the assisted forest's: {more} of {len(beside)} runs.")
    return lines


def _table(runs: Runs) -> list[str]:
    rows = []
    for code in SEMI.datasets:
        for epsilon in SEMI.epsilons:
            cell = [values for run, values in runs.items() if run[:2] == (code, epsilon)]
            if cell:
                rows.append(_line(code, epsilon, cell))
    return pipes(
        ["set", "epsilon", "one round", "label", f"of label (goal {_GOAL})", "assisted", "no noise", "splits"], rows
    )


def _line(code: str, epsilon: float, cell: list[dict[str, float]]) -> list[str]:
    gaps = {method: _gap(cell, method) for method in ("one round", "label", "assisted", "no noise")}
    share = ""
    if gaps["label"] is not None and gaps["one round"] is not None:
        share = f"{gaps['one round'] / gaps['label']:.2f}"
    told = {method: "" if value is None else f"{value:.2f}" for method, value in gaps.items()}
    name = code + "*" if code in KEPT_OUT else code
    others = [told["assisted"], told["no noise"]]
    return [name, f"{epsilon:g}", told["one round"], told["label"], share, *others, str(len(cell))]


def _gap(cell: list[dict[str, float]], method: str) -> float | None:
    """Return the mean gap over the splits on which a method was run."""
    found = [gap(values[method], values["public"], values["ceiling"]) for values in cell if method in values]
    return float(np.mean(found)) if found else None
