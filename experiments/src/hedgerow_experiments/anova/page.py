"""The page ``anova.md``: PrivateAnova beside its prototype, its peers and its goals."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np

from hedgerow.compare.scores import Row
from hedgerow_experiments.anova.compute import METHODS
from hedgerow_experiments.anova.declared import CLASSES, NUMBERS
from hedgerow_experiments.anova.goals import PRINTED, goals
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence

__all__ = ["by_cell", "pages"]

SPEED = Path("benchmarks", "results", "anova.json")
"""What ``python -m benchmarks --only anova`` wrote, in the repository that the results are a part of."""

_HELD_OUT = ("WHI", "MET", "CRE", "APP")
_HEAD = """# PrivateAnova: measured

Written by `hedgerow bench run anova`; every fit is a line of
`data/anova.csv.gz`. Mean ± standard error over the splits (number in brackets). Test MSE of targets scaled to
[0, 1], lower is better; accuracy for BAN, ROB and CRE, higher is better. 90 % train, 10 % test, default parameters,
bounds of the whole data set declared public, simulation seeds. Epsilon is under add/remove, with delta = 1e-5 but for
DiPriMe and "pure" (delta = 0); "replace" states the same (epsilon, delta) under replacement. "no noise" is
PrivateAnova with infinite epsilon. DP-EBM has default parameters; its own guarantee uses the exact number of records
and unclipped residuals.

Rows of PrivateAnova, additive, replace and "no noise" are of 2026-11-18, with descents as long as is predicted to be
best; those of pure on CAL, APP, GAS, MET and CRE are of commit 4339863, of another plan. Recipes are measured beside
each other on 22 sets in [anova-rules.md](anova-rules.md).

Splits are those of the prototype (`RandomState(0..4).permutation`, the last tenth is the test): recovered from its
column of mean predictors, which they reproduce to the printed digit for eight of nine data sets (APP: .00905, printed
.0091). So a row is compared with the prototype and with DP-EBM on the same test records.

What was chosen, and on what. A star marks data sets on which nothing was chosen before the recipe had its present
form; its numbers are chosen on other splits of 22 sets ([anova-rules.md](anova-rules.md)), WHI among them. How far a
descent goes is predicted from what was released; that the first minimum of the predicted error counts, and that the
.9-quantile clips residuals of many records, was seen on APP.
"""

Cells = dict[tuple[str, float, str], list[float]]
"""By data set, epsilon and method; what does not depend on epsilon stands at the first one."""


def by_cell(rows: Iterable[Row], metric: Callable[[str], bool]) -> Cells:
    """Return the values of a metric over splits."""
    cells: Cells = defaultdict(list)
    for r in rows:
        if metric(r.metric):
            cells[r.dataset, r.epsilon or _first(r.dataset), r.method].append(r.value)
    return cells


def pages(found: Evidence) -> Files:
    """Return ``anova.md``: the tables, the goals with their verdicts."""
    rows = found.rows("anova")
    if not rows:
        return {}
    speed = None if found.folder is None else found.folder.parents[1] / SPEED
    cells = by_cell(rows, lambda metric: metric != "seconds")
    seconds = by_cell(rows, lambda metric: metric == "seconds")
    parts = [_HEAD, *goals(cells, speed), "", *_main(cells, seconds), "", *_sides(cells)]
    return {"anova.md": ("\n".join(parts) + "\n").encode()}


def _first(code: str) -> float:
    return 2.0 if code in CLASSES else 1.0


def _rows() -> list[tuple[str, float]]:
    return [(c, e) for c in (*NUMBERS, *CLASSES) for e in ((2.0,) if c in CLASSES else (1.0, 10.0))]


def _starred(code: str) -> str:
    return code + ("*" if code in _HELD_OUT else "")


def _main(cells: Cells, seconds: Cells) -> list[str]:
    rows = []
    for code, epsilon in _rows():
        ours = cells.get((code, epsilon, "PrivateAnova"))
        peer = cells.get((code, epsilon, "DP-EBM"))
        printed, prototype = PRINTED[code, epsilon]
        time = seconds.get((code, epsilon, "PrivateAnova"))
        rows.append([
            _starred(code), f"{epsilon:g}", _text(ours), f"{prototype:g}",
            f"{np.mean(ours) / prototype:.3f}" if ours else "", _text(peer), f"{printed:g}",
            f"{np.mean(ours) / np.mean(peer):.2f}" if ours and peer else "",
            _text(cells.get((code, _first(code), "mean"))), f"{np.median(time):.1f}" if time else "",
        ])  # fmt: skip
    head = ["data", "epsilon", "PrivateAnova", "prototype", "ratio", "DP-EBM", "as printed", "ratio", "mean", "seconds"]
    return ["## Beside the prototype and DP-EBM", "", *pipes(head, rows)]


def _sides(cells: Cells) -> list[str]:
    names = ["PrivateAnova", *(m for m in METHODS if m not in ("PrivateAnova", "DP-EBM", "mean"))]
    rows = []
    for code, epsilon in _rows():
        values = [cells.get((code, epsilon, m)) or cells.get((code, _first(code), m)) for m in names]
        rows.append([_starred(code), f"{epsilon:g}", *map(_text, values)])
    return ["## Variants, DiPriMe, and the ends without privacy", "", *pipes(["data", "epsilon", *names], rows)]


def _text(values: list[float] | None) -> str:
    if not values:
        return ""
    digits = 5 if np.mean(values) < 0.005 else 4
    if len(values) == 1:
        return f"{values[0]:.{digits}f} (1)"
    error = np.std(values, ddof=1) / math.sqrt(len(values))
    return f"{np.mean(values):.{digits}f} ± {error:.{digits}f} ({len(values)})"
