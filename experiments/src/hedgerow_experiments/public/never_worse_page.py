"""The page ``never-worse.md``: harm and gain of the assisted forest, run by run."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from hedgerow.compare.scores import Row
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.public.declared import NEVER_WORSE
from hedgerow_experiments.public.never_worse import DRAWS, PILOTS
from hedgerow_experiments.public.sets import KEPT_OUT

__all__ = ["pages"]

_HARM = 1.01  # of the public model's test error: a run above it counts as harmed

_HEAD = f"""\
# Assisted forest: is it ever worse than the public model?

Written by

```console
hedgerow bench run never-worse
```

400 public records, a fifth of the records for the test, all others are holders. The public records are a fair sample
(none), or selected by a feature, by large or small labels, without a category, or with labels that are too high or too
spread. In each case {PILOTS} pilot groups answer, and after each all others draw their reports {DRAWS} times. A run is
one such draw: its test error over that of the public model it started from, on the same test records. *Harmed* counts
runs that are more than 1 % above it.
Sets marked * were kept out of every choice. Means are geometric. (Where holders are elsewhere, the bound of a
correction's size was mended after WHI at its feature's end had been harmed by up to 12 % at epsilon 8; the bound has
no number to choose.)
"""


def pages(found: Evidence) -> Files:
    """Return ``never-worse.md``."""
    rows = found.rows(NEVER_WORSE.name)
    if not rows:
        return {}
    parts = [_HEAD, *_summary(rows)]
    parts += ["", "## By epsilon and shift", "", *_by_epsilon(rows)]
    parts += ["", "## By set and shift", "", *_by_set(rows), ""]
    return {"never-worse.md": "\n".join(parts).encode()}


def _summary(rows: list[Row]) -> list[str]:
    values = _values(rows)
    kept = _values(row for row in rows if row.dataset in KEPT_OUT)
    cases = {(row.dataset, row.repeat, row.setting) for row in rows}
    lines = [f"- All {len(cases)} cases: {_harm(values)}.", f"- Sets kept out of every choice: {_harm(kept)}."]
    fair = [row for row in rows if row.setting == "none"]
    means = [f"{_mean(_values(r for r in fair if r.epsilon == e)):.3f}" for e in NEVER_WORSE.epsilons]
    epsilons = "/".join(f"{e:g}" for e in NEVER_WORSE.epsilons)
    return [*lines, f"- Fair public records, epsilon {epsilons}: {'/'.join(means)} of the public model's error."]


def _values(rows: Iterable[Row]) -> list[float]:
    return [row.value for row in rows]


def _mean(values: list[float]) -> float:
    return float(np.exp(np.mean(np.log(values)))) if values else float("nan")


def _harm(values: list[float]) -> str:
    if not values:
        return "no runs"
    harmed = sum(value > _HARM for value in values)
    return f"{harmed} of {len(values):,} runs harmed ({harmed / len(values):.2%}), the worst {max(values):.3f}"


def _cell(values: list[float]) -> str:
    """Return mean, worst and harmed of all."""
    if not values:
        return ""
    return f"{_mean(values):.3f} ({max(values):.3f}; {sum(value > _HARM for value in values)} of {len(values)})"


def _by_epsilon(rows: list[Row]) -> list[str]:
    head = ["public records", *(f"epsilon {e:g}" for e in NEVER_WORSE.epsilons)]
    lines = []
    for shift in NEVER_WORSE.settings:
        own = [row for row in rows if row.setting == shift]
        lines.append([shift, *(_cell(_values(r for r in own if r.epsilon == e)) for e in NEVER_WORSE.epsilons)])
    every = [_cell(_values(r for r in rows if r.epsilon == e)) for e in NEVER_WORSE.epsilons]
    return ["Mean of runs (worst; harmed of all).", "", *pipes(head, [*lines, ["all", *every]])]


def _by_set(rows: list[Row]) -> list[str]:
    lines = []
    for code in NEVER_WORSE.datasets:
        own = [row for row in rows if row.dataset == code]
        if own:
            mark = "*" if code in KEPT_OUT else ""
            cells = [_cell(_values(r for r in own if r.setting == shift)) for shift in NEVER_WORSE.settings]
            lines.append([code + mark, *cells])
    return ["All epsilons together.", "", *pipes(["set", *NEVER_WORSE.settings], lines)]
