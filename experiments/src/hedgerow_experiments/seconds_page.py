"""The page ``seconds.md``: table 6 of LPDT, tables 6 and 9 of RPWithPrior, with the printed seconds beside ours."""

from __future__ import annotations

from collections.abc import Sequence

from hedgerow.compare.scores import Summary, number
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.registry import find_experiment

__all__ = ["pages"]

_HEAD = """# Seconds: the papers' tables of times, measured

Written from `hedgerow bench run lpdt-table6` and `hedgerow bench run label-seconds`. Each entry is *ours / paper*,
where the paper prints one. Ours is processor time on one thread, while other programs ran; the papers' machines are
others, so that only the order of methods can be compared, not the seconds.
"""
_TITLES = {
    ("lpdt-table6", ""): "Table 6 of LPDT: one fit and its predictions",
    ("label-seconds", "6"): "Table 6 of RPWithPrior: randomising the labels of a training set",
    ("label-seconds", "9"): "Table 9 of RPWithPrior: a trial with its network (the paper: ten trials together)",
}


def pages(found: Evidence) -> Files:
    """Return ``seconds.md``, if any of the tables was run."""
    parts = []
    for (name, setting), title in _TITLES.items():
        chosen = found.cells(name, setting=setting, metric="seconds")
        if chosen:
            parts += ["", f"## {title}", "", *_table(found, name, setting, chosen), "", _told(name, setting, chosen)]
            parts += _unique(found, name, setting)
    return {"seconds.md": (_HEAD + "\n".join(parts) + "\n").encode()} if parts else {}


def _table(found: Evidence, name: str, setting: str, chosen: Sequence[Summary]) -> list[str]:
    printed = {(p.dataset, p.method): p.value for p in found.printed(name, setting)}
    ours = {(s.dataset, s.method): s.mean for s in chosen}
    methods = [m for m in find_experiment(name).methods if any(s.method == m for s in chosen)]
    rows = []
    for dataset in dict.fromkeys(s.dataset for s in chosen):
        entries = []
        for method in methods:
            here = number(ours.get((dataset, method)))
            there = printed.get((dataset, method))
            entries.append(here if there is None else f"{here} / {number(there)}")
        rows.append([dataset, *entries])
    return pipes(["data", *methods], rows)


def _told(name: str, setting: str, chosen: Sequence[Summary]) -> str:
    counts = sorted({len(s.values) for s in chosen})
    span = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    return f"Means over {span} splits. {find_experiment(name).notes}"


def _unique(found: Evidence, name: str, setting: str) -> list[str]:
    """Return how many different labels a training set has, which the paper prints in the same table."""
    counts = {s.dataset: s.mean for s in found.cells(name, setting=setting, metric="labels")}
    if not counts:
        return []
    return ["", "Different labels of a training set: " + ", ".join(f"{d} {n:.0f}" for d, n in counts.items()) + "."]
