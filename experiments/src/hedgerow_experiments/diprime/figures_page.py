"""The page ``diprime_figures.md``: the figures of the DiPriMe paper, drawn from our own runs."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.compare.scores import Summary
from hedgerow_experiments.diprime.declared import FIGURES
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.figures import curves, drawn
from hedgerow_experiments.found import Evidence

__all__ = ["pages"]

_DEPTH = "depth"
_TREES = "trees"
_AXES = {"1(a)": _DEPTH, "5(a)": _DEPTH, "1(b)": _TREES, "5(b)": _TREES, "7(b)": _TREES, "7(d)": _TREES,
         "8(b)": _TREES, "8(d)": _TREES, "3": "share of records in a leaf",
         "4": "share of a node's records that go left"}  # fmt: skip

_HEAD = """# DiPriMe: the paper's figures, redrawn

Drawn by `hedgerow bench page` from `hedgerow bench run diprime-figures`. Repeats of a curve: {repeats}; bands reach
from the lower to the upper tenth of them. The paper prints no numbers for its figures, and the places on its axes
cannot be read from its text: the axes are its, the places are ours. {notes}
"""


def pages(found: Evidence) -> Files:
    """Return one picture a figure, and a page with all of them."""
    points = found.summaries(FIGURES.name)
    if not points:
        return {}
    counts = sorted({len(p.values) for p in points})
    span = str(counts[0]) if len(counts) == 1 else f"{counts[0]} to {counts[-1]}"
    lines = [_HEAD.format(repeats=span, notes=FIGURES.notes)]
    files: Files = {}
    for number in dict.fromkeys(panel[0] for panel in FIGURES.settings):
        own = [p for p in points if p.setting[0] == number]
        if own:
            name = f"diprime_figure_{number}"
            files |= {name + ending: content for ending, content in drawn(_figure(own), bbox_inches="tight").items()}
            lines += [f"![Figure {number}]({name}.png)", "", f"Figure {number}, on {own[0].dataset}.", ""]
    return {**files, "diprime_figures.md": "\n".join(lines).encode()}


def _figure(own: Sequence[Summary]) -> Any:
    labels = dict.fromkeys(_AXES.get(p.setting, "epsilon") for p in own)
    return curves(
        own, panel=lambda p: f"{p.setting}: {_AXES.get(p.setting, 'epsilon')}" if len(labels) > 1 else p.setting,
        series=lambda p: p.method, x_label=" / ".join(labels), y_label=own[0].metric, log_y=own[0].metric == "mse",
    )  # fmt: skip
