"""The page ``coverage.md``: coverage and widths of intervals, by model, n, epsilon and bias."""

from __future__ import annotations

from collections import defaultdict

import numpy as np

from hedgerow_experiments.coverage.declared import BIASES, COVERAGE, LEVELS, SHOWN, SIZES, setting
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence

__all__ = ["pages"]

_HEAD = """\
# Intervals: how often they cover, and how wide they are

Written by

```console
hedgerow bench run coverage
```

Made data with labels in [0, 1], 500 public records whose labels are off by a share of the range (bias). Each line has
the coverage of `predict_interval` at three levels, its mean width at 90 %, that width over the one of the reports
alone, the coverage of `reports_interval` at 90 %, the number of fits, and the standard error of the coverage at 90 %,
from how much fits differ.

The truth is a mean over 65,536 evenly spread points whose mean labels are known. For label, forest and ANOVA it is the
mean of the other fits, whose own error is allowed for.

- tree: the mean label of the record's leaf; semi: of its cell.
- assisted, semi with a public model: the public model plus its best correction by the trees, or its mean error in the
  cell.
- label, forest: what such a fit predicts on average over records and noise; ANOVA: over noise, for the same records.
"""

Cells = dict[tuple[str, str, float], dict[str, list[float]]]


def pages(found: Evidence) -> Files:
    """Return ``coverage.md``."""
    rows = found.rows(COVERAGE.name)
    if not rows:
        return {}
    cells: Cells = defaultdict(lambda: defaultdict(list))
    for row in rows:
        cells[row.method, row.setting, row.epsilon or 0.0][row.metric].append(row.value)
    parts = [_HEAD, *_summary(cells)]
    for method in COVERAGE.methods:
        parts += ["", f"## {method.capitalize()}", "", *_table(cells, method)]
    return {"coverage.md": ("\n".join(parts) + "\n").encode()}


def _summary(cells: Cells) -> list[str]:
    short = {
        (*cell, level): level - float(np.mean(values[f"cover {level:g}"]))
        for cell, values in cells.items()
        for level in LEVELS
    }
    below = [where for where, gap in short.items() if gap > 0.02]
    sure = [where for where in below if short[where] - 0.02 > 2 * _error(cells[where[:3]], where[3])]
    worst = max(short, key=lambda where: short[where])
    fits = {cell: np.array(values["fits"]) for cell, values in cells.items()}
    points = SHOWN * sum(float(number.sum()) for number in fits.values())
    found = (float(fits[c] @ v[f"outside {level:g}"]) for c, v in cells.items() for level in LEVELS)
    outside = SHOWN * sum(found)
    lines = [
        f"- {len(below)} of {len(short)} coverages are more than 2 points below their level, {len(sure)} of them by "
        f"more than chance explains (two standard errors); the worst is {short[worst]:.3f} below, of {worst[0]} at "
        f"{worst[1]}, epsilon {worst[2]:g}, level {worst[3]:g}.",
        f"- Predictions outside their own interval: {outside:.0f} of {points:,.0f}, at any level.",
    ]
    for method in COVERAGE.methods:
        fair = cells.get((method, setting(2_000, 0.0), 2.0))
        if fair:
            lines.append(
                f"- {method.capitalize()}, n = 2,000, epsilon 2, fair public data: {_ratio(fair):.2f} of the width of "
                "reports alone."
            )
    return lines


def _error(values: dict[str, list[float]], level: float) -> float:
    runs = values[f"error {level:g}"]
    return float(np.sqrt(np.sum(np.square(runs))) / len(runs))


def _ratio(values: dict[str, list[float]]) -> float:
    return float(np.mean(values["width 0.9"]) / np.mean(values["reports width 0.9"]))


def _table(cells: Cells, method: str) -> list[str]:
    head = [
        "n",
        "epsilon",
        "bias",
        *(f"{level:.0%}" for level in LEVELS),
        "width",
        "over reports",
        "reports 90%",
        "fits",
        "error",
    ]
    rows = []
    for n in SIZES:
        for epsilon in COVERAGE.epsilons:
            for bias in BIASES:
                values = cells.get((method, setting(n, bias), epsilon))
                if values:
                    rows.append(_line(values, n, epsilon, bias))
    return pipes(head, rows)


def _line(values: dict[str, list[float]], n: int, epsilon: float, bias: float) -> list[str]:
    covered = [f"{np.mean(values[f'cover {level:g}']):.3f}" for level in LEVELS]
    width = f"{np.mean(values['width 0.9']):.3f}"
    reports = f"{np.mean(values['reports cover 0.9']):.3f}"
    fits = f"{np.sum(values['fits']):.0f}"
    error = f"{_error(values, 0.9):.3f}"
    return [f"{n:,}", f"{epsilon:g}", f"{bias:.0%}", *covered, width, f"{_ratio(values):.2f}", reports, fits, error]
