"""The page ``anova-rules.md``: what PrivateAnova's rules are chosen by, each set held out in turn."""

from __future__ import annotations

import math
from collections.abc import Collection

import numpy as np

from hedgerow_experiments.anova.anchors import ANCHORS, EPSILONS, SOURCE
from hedgerow_experiments.anova.declared import (
    BEFORE,
    CLEAR,
    EBM,
    FOREST,
    PURE,
    PURE_VARIANTS,
    SETS,
    SHIPPED,
    VARIANTS,
)
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence

__all__ = ["pages"]

_HEAD = """\
# PrivateAnova: length, stages and capacity

Written by

```console
hedgerow bench run anova-rules
```

Test MSE of targets scaled to [0, 1] at (epsilon, 1e-5), four fifths for training, of 5,000 records at most; bounds of
the whole set are public; simulation seeds, the same split and seed for all recipes. "before" is the recipe of commit
4339863, with two descents at most, whose length and threshold were constants; its rows were made by the same command
with that commit's `src` first on the path, and beside it an empty package `hedgerow_before`. The made sets are
Friedman's first function (ten features, noise .01, 300 and 800 records for training) and steps with plateaus of four
features (4,000 records). Ratios are geometric means over splits (number in brackets), then over sets.
"""
_TURNS = """\
Splits 0 and 1, both epsilons together. In each turn a number is chosen instead of the shipped one if the geometric
mean over the sets that are left is less, and none of these gets worse by more than 2 % at either epsilon."""
_HARM = 1.02  # what no set may get worse by; a goal that was given

Runs = dict[tuple[str, float, int, str], float]
Logs = dict[tuple[str, float, str], list[float]]


def _anchors() -> list[str]:
    """Return the figures of others that are not run here."""
    rows = [(name, *(f"{value:.2f}".removeprefix("0") for value in values)) for name, values in ANCHORS.items()]
    return [
        "## Anchors that are not run here",
        "",
        SOURCE,
        *pipes(["", *(f"epsilon {e:g}" for e in EPSILONS)], rows),
        "",
    ]


def pages(found: Evidence) -> Files:
    """Return ``anova-rules.md``."""
    runs: Runs = {(r.dataset, r.epsilon or 0.0, r.repeat, r.method): r.value for r in found.rows("anova-rules")}
    if not runs:
        return {}
    logs = _logs(runs)
    first = {run: value for run, value in runs.items() if run[2] < 2}  # other numbers are tried on these splits only
    parts = [
        _HEAD, *_table(runs, logs), "", *_beside(runs), "", *_pure(runs), "",
        "## Each set held out in turn", "", _TURNS, "", *_chosen(_logs(first), SHIPPED, VARIANTS, "over before"), "",
        "With pure epsilon, all four together:", "",
        *_chosen(_logs(first, FOREST), PURE, PURE_VARIANTS, "over DiPriMe"), "", *_anchors(),
    ]  # fmt: skip
    return {"anova-rules.md": ("\n".join(parts) + "\n").encode()}


def _logs(runs: Runs, over: str = BEFORE) -> Logs:
    """Return logarithms of ratios over the recipe before, or over another method, one a split."""
    logs: Logs = {}
    for (code, epsilon, repeat, method), value in runs.items():
        start = runs.get((code, epsilon, repeat, over))
        if start is not None and method != over:
            logs.setdefault((code, epsilon, method), []).append(math.log(value / start))
    return logs


def _mean(logs: Logs, codes: Collection[str], epsilons: Collection[float], method: str) -> float | None:
    """Return the geometric mean over sets and epsilons; None if a set is missing."""
    found = [logs.get((code, epsilon, method)) for code in codes for epsilon in epsilons]
    if not found or not all(found):
        return None
    return math.exp(float(np.mean([np.mean(values) for values in found if values])))


def _table(runs: Runs, logs: Logs) -> list[str]:
    epsilons = sorted({epsilon for _, epsilon, method in logs if method == SHIPPED})
    rows = []
    for code in SETS:
        row = [code]
        for epsilon in epsilons:
            values = logs.get((code, epsilon, SHIPPED), [])
            errors = [v for (c, e, _, m), v in runs.items() if (c, e, m) == (code, epsilon, SHIPPED)]
            row.append(f"{np.mean(errors):.5f}" if errors else "")
            row.append(f"{math.exp(float(np.mean(values))):.3f} ({len(values)})" if values else "")
        rows.append(row)
    measured = [code for code in SETS if all((code, e, SHIPPED) in logs for e in epsilons)]
    for name, codes in (("all", measured), ("nearly without noise", [c for c in CLEAR if c in measured])):
        means = [_mean(logs, codes, [e], SHIPPED) for e in epsilons]
        told = ["" if mean is None else f"**{mean:.3f}**" for mean in means]
        rows.append([f"**{name}** ({len(codes)})", *(text for ratio in told for text in ("", ratio))])
    head = ["set", *(text for e in epsilons for text in (f"epsilon {e:g}", "over before"))]
    return ["## Over the recipe before", "", *pipes(head, rows)]


def _beside(runs: Runs) -> list[str]:
    """Return the ratio to DP-EBM by set and epsilon, and its geometric mean."""
    logs = _logs(runs, EBM)
    epsilons = sorted({epsilon for _, epsilon, method in logs if method == SHIPPED})
    codes = [code for code in SETS if all((code, e, SHIPPED) in logs for e in epsilons)]
    if not epsilons or not codes:
        return []
    rows = []
    for code in codes:
        cells = [logs[code, epsilon, SHIPPED] for epsilon in epsilons]
        rows.append([code, *(f"{math.exp(float(np.mean(cell))):.3f} ({len(cell)})" for cell in cells)])
    means = [_mean(logs, codes, [epsilon], SHIPPED) or math.nan for epsilon in epsilons]
    rows.append([f"**all** ({len(codes)})", *(f"**{mean:.3f}**" for mean in means)])
    text = (
        "The error over that of DP-EBM (`interpret-core`, defaults, delta = 1e-5, predictions cut to [0, 1]) on the "
        "same splits."
    )
    return ["## Beside DP-EBM", "", text, "", *pipes(["set", *(f"epsilon {e:g}" for e in epsilons)], rows)]


def _pure(runs: Runs) -> list[str]:
    """Return the ratio of both methods with delta = 0, by set and epsilon."""
    found: dict[tuple[str, float], list[float]] = {}
    for (code, epsilon, repeat, method), value in runs.items():
        other = runs.get((code, epsilon, repeat, FOREST))
        if method == PURE and other is not None:
            found.setdefault((code, epsilon), []).append(math.log(value / other))
    epsilons = sorted({epsilon for _, epsilon in found})
    rows: list[list[str]] = []
    for code in SETS:
        cells = [found.get((code, epsilon), []) for epsilon in epsilons]
        rows.append([code, *(f"{math.exp(float(np.mean(cell))):.3f} ({len(cell)})" if cell else "" for cell in cells)])
    means = [np.mean([np.mean(v) for (_, e), v in found.items() if e == epsilon]) for epsilon in epsilons]
    rows.append(["**all**", *(f"**{math.exp(float(mean)):.3f}**" for mean in means)])
    text = "The error of `PrivateAnovaRegressor(delta=0)` over that of `DiPriMeForestRegressor`, defaults of both."
    return ["## Pure epsilon", "", text, "", *pipes(["set", *(f"epsilon {e:g}" for e in epsilons)], rows)]


def _chosen(logs: Logs, shipped: str, variants: Collection[str], over: str) -> list[str]:
    """Return, for each other number, what it gives on all sets, and where leaving one set out would have chosen it."""
    epsilons = sorted({epsilon for _, epsilon, method in logs if method == shipped})
    rows = []
    for name in variants:
        codes = [c for c in SETS if all((c, e, m) in logs for e in epsilons for m in (name, shipped))]
        if not codes or not epsilons:
            continue
        other, ours = (_mean(logs, codes, epsilons, m) or math.nan for m in (name, shipped))
        turned = [c for c in codes if _better([o for o in codes if o != c], epsilons, logs, (name, shipped))]
        harm = {c: _over(c, epsilons, logs, (name, shipped)) for c in codes}
        worst = max(harm, key=harm.__getitem__)
        rows.append([
            name, str(len(codes)), f"{other:.3f}", f"{ours:.3f}", f"{worst} {harm[worst]:.3f}",
            "every one" if turned == codes else ", ".join(turned) or "none",
        ])  # fmt: skip
    head = ["other number", "sets", over, "shipped", "worst set, over shipped", "would be chosen without"]
    return pipes(head, rows)


def _better(codes: list[str], epsilons: list[float], logs: Logs, names: tuple[str, str]) -> bool:
    other, ours = (_mean(logs, codes, epsilons, name) for name in names)
    if other is None or ours is None or other >= ours:
        return False
    return all(_over(code, epsilons, logs, names) <= _HARM for code in codes)


def _over(code: str, epsilons: list[float], logs: Logs, names: tuple[str, str]) -> float:
    """Return the largest ratio of both on one set, over epsilons."""
    one, other = names
    return max(
        math.exp(float(np.mean(logs[code, epsilon, one]) - np.mean(logs[code, epsilon, other]))) for epsilon in epsilons
    )
