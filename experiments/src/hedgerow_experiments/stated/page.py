"""The page ``stated_bounds.md``: what bounds cost that are stated beforehand, and what they are."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from hedgerow_experiments.data.public_facts import FACTS
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.stated.declared import BOUNDS, CLASSES, METHODS, NUMBERS, OWN, STATED

__all__ = ["pages"]

_HEAD = """\
# Central tables with bounds stated beforehand

Written by `hedgerow bench run stated-bounds`; every fit is a line of `data/stated-bounds.csv.gz`.

The tables of [DiPriMe](diprime.md) and [PrivateAnova](anova.md) take the bounds of features, categories and the label's
range from the whole data, test part included, as the papers do: that is a leak, and a curator cannot do it. Here the
same learners get bounds, categories and label ranges that could be written down before a record is seen: from units,
definitions, physical limits and documentation, rounded (the list is below). They were committed before they were
compared with the records, and nothing was fitted to them: a value outside is clipped, and where the documentation is
wrong (CRE has codes that it does not name, the sensors of HAR go beyond ten bits) it stays so.

90 % train, 10 % test, default parameters, simulation seeds; the same split and seed for both kinds of bounds. Errors
are in units of the label's own range in both, so that they can be compared; DP-EBM and PrivateAnova have delta 1e-5.
Ratios are geometric means over splits of the error with stated bounds over that with the data's; differences of
accuracy are means. {repeats}
"""

Runs = dict[tuple[str, float, str, str], dict[int, float]]
"""Scores by split: data set, epsilon, method, kind of bounds."""


def pages(found: Evidence) -> Files:
    """Return ``stated_bounds.md``."""
    runs: Runs = {}
    outside: dict[str, float] = {}
    for r in found.rows(BOUNDS.name):
        if r.metric != "outside":
            runs.setdefault((r.dataset, r.epsilon or 0.0, r.method, r.setting), {})[r.repeat] = r.value
        elif r.setting == STATED:
            outside[r.dataset] = r.value
    if not runs:
        return {}
    parts = [
        _HEAD.format(repeats=_repeats(runs) + _when(found)),
        *_numbers(runs),
        "",
        *_classes(runs),
        "",
        *_list(outside),
    ]
    return {"stated_bounds.md": ("\n".join(parts) + "\n").encode()}


def _when(found: Evidence) -> str:
    """Return on which days the rows were made, as far as that is known: learners change."""
    days = sorted({str(run["started"])[:10] for run in found.made(BOUNDS.name).get("runs", ())})
    return f" Learners are those of {days[0] if len(days) == 1 else ' to '.join((days[0], days[-1]))}." if days else ""


def _repeats(runs: Runs) -> str:
    counts = sorted({len(values) for values in runs.values()})
    span = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"Splits a cell: {span}" + (", which is few: single rows may change with more." if counts[0] < 10 else ".")


def _pairs(runs: Runs, code: str, epsilon: float, method: str) -> list[tuple[float, float]]:
    """Return the scores with the data's and with stated bounds, of the splits that both have."""
    own = runs.get((code, epsilon, method, OWN), {})
    stated = runs.get((code, epsilon, method, STATED), {})
    return [(own[split], stated[split]) for split in sorted(own) if split in stated]


def _numbers(runs: Runs) -> list[str]:
    rows = []
    logs: dict[tuple[float, str], list[float]] = {}
    worst: dict[str, tuple[float, str]] = {}
    for code in NUMBERS:
        for epsilon in (1.0, 10.0):
            row = [code, f"{epsilon:g}"]
            for method in METHODS:
                pairs = _pairs(runs, code, epsilon, method)
                row.append(_errors(pairs))
                if pairs:
                    log = float(np.mean([math.log(b / a) for a, b in pairs]))
                    logs.setdefault((epsilon, method), []).append(log)
                    found = (math.exp(log), f"{code} at epsilon {epsilon:g}")
                    worst[method] = max(worst.get(method, found), found)
            if any(row[2:]):
                rows.append(row)
    for epsilon in (1.0, 10.0):
        means = [logs.get((epsilon, method), []) for method in METHODS]
        shown = [f"**{math.exp(float(np.mean(m))):.3f}** ({len(m)} sets)" if m else "" for m in means]
        rows.append(["**geometric mean**", f"{epsilon:g}", *shown])
    head = ["set", "epsilon", *(f"{method}: the data's, stated, ratio" for method in METHODS)]
    return ["## Regression (test MSE)", "", *pipes(head, rows), "", _dearest(worst)]


def _dearest(worst: dict[str, tuple[float, str]]) -> str:
    """Return where stated bounds cost each method most."""
    said = "; ".join(f"{method} {where}, {ratio:.2f}" for method, (ratio, where) in worst.items())
    return f"Dearest for each method: {said}."


def _errors(pairs: Sequence[tuple[float, float]]) -> str:
    if not pairs:
        return ""
    own, stated = np.mean(pairs, axis=0)
    ratio = math.exp(float(np.mean([math.log(b / a) for a, b in pairs])))
    return f"{own:.3g}, {stated:.3g}, {ratio:.3f} ({len(pairs)})"


def _classes(runs: Runs) -> list[str]:
    rows = []
    for code in CLASSES:
        row = [code, "2"]
        for method in METHODS:
            pairs = _pairs(runs, code, 2.0, method)
            if pairs:
                own, stated = np.mean(pairs, axis=0)
                row.append(f"{own:.3f}, {stated:.3f}, {stated - own:+.3f} ({len(pairs)})")
            else:
                row.append("")
        rows.append(row)
    head = ["set", "epsilon", *(f"{method}: the data's, stated, difference" for method in METHODS)]
    return ["## Classification (accuracy)", "", *pipes(head, rows)]


def _list(outside: dict[str, float]) -> list[str]:
    """Return what is stated of every data set, and which share of records has a value outside."""
    rows = []
    for code, facts in FACTS.items():
        share = f"{outside[code]:.2%}" if code in outside else "not run here"
        if facts.label_bounds is not None and facts.classes is None:
            low, high = facts.label_bounds
            rows.append([code, share, f"label `{facts.target}`", f"{low:g} to {high:g}", facts.why])
        for s in facts.features:
            names = ", ".join(f"`{name}`" for name in s.names)
            rows.append([code, share, names, f"{s.low:g} to {s.high:g}", s.why])
    text = "`*` and `?` stand for any text and any letter; the first line that fits a column counts."
    head = ["set", "records with a value outside", "columns", "stated", "why"]
    return ["## What is stated", "", text, "", *pipes(head, rows)]
