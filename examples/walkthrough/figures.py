"""The pictures of the page, as SVG."""

from __future__ import annotations

import io
from typing import TYPE_CHECKING

import matplotlib as mpl

mpl.use("svg")

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
from matplotlib.text import Text

from hedgerow.chart import Curve, ErrorPicture, Point, figure_of
from walkthrough.study import BLENDED_V, FAIR, OPEN, OURS, PAPER_M, PAPER_V, PUBLIC, leaf_means

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow import Model

INK, MUTED, LINE = "#1f2933", "#6b7785", "#d5dbe1"
GREEN, ORANGE, SAND, PURPLE = "#2f7d4f", "#c8641b", "#d9a566", "#7a5ea8"
STYLE = {
    "font.family": "sans-serif",
    "font.size": 11,
    "text.color": INK,
    "axes.labelcolor": INK,
    "axes.edgecolor": LINE,
    "xtick.color": MUTED,
    "ytick.color": MUTED,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "svg.hashsalt": "hedgerow",
}


def _svg(figure: Figure) -> str:
    buffer = io.StringIO()
    figure.savefig(buffer, format="svg", metadata={"Date": None}, bbox_inches="tight", pad_inches=0.05)
    plt.close(figure)
    return buffer.getvalue()


def tree_svg(model: Model, level: float = 0.9) -> str:
    """Draw the tree; each leaf with its mean, its interval and its share of the homes."""
    partition = model.task.partition
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(1.3 * partition.n_leaves, 1.2 * (partition.depth + 1)))
        partition.plot(model.leaf_values, ax, fontsize=10.5, max_label=40)
        boxes = [t for t in ax.texts if type(t) is Text]  # one a node, in node order; the rest are annotations
        for row, leaf in zip(model.table(level), partition.iter_leaves(), strict=True):
            interval = f"{row['low']:.1f} – {row['high']:.1f}"
            boxes[leaf.node].set_text(f"leaf {row['leaf']}\n{row['mean']:.1f}\n{interval}\n{row['share']:.0%}")
        return _svg(figure)


def curve_svg(table: pd.DataFrame, fixed: dict[str, float]) -> str:
    """Draw test error against epsilon: the picture of ``hedgerow compare`` and ``hedgerow advise``."""
    curves = []
    for colour, name in enumerate((OURS, PAPER_V, BLENDED_V, PAPER_M)):
        rows = table[table["method"] == name]
        low = np.maximum(rows["mse"] - rows["sd"], 0.1 * rows["mse"])
        ends = zip(rows["epsilon"], rows["mse"], low, rows["mse"] + rows["sd"], strict=True)
        curves.append(Curve(name, tuple(Point(*map(float, point)) for point in ends), colour))
    lines = {name: fixed[name] for name in (PUBLIC, FAIR, OPEN)}
    epsilons = tuple(sorted(table["epsilon"].unique()))
    picture = ErrorPicture("epsilon", tuple(curves), "test MSE (log scale)", lines=lines, log_y=True, ticks=epsilons)
    return _svg(figure_of([picture], size=(6.2, 5.4)))


def leaves_svg(model: Model, truth: np.ndarray, level: float = 0.9) -> str:
    """Draw each leaf's private mean and interval beside the pilot's mean and the truth."""
    rows = model.table(level)
    at = np.arange(len(rows))
    mean, low, high = (np.array([r[k] for r in rows]) for k in ("mean", "low", "high"))
    with plt.rc_context(STYLE):
        figure, ax = plt.subplots(figsize=(5.6, 1.2 + 0.36 * len(rows)), layout="constrained")
        ax.hlines(at, low, high, color=GREEN, lw=6, alpha=0.3, label=f"{level:.0%} interval")
        ax.plot(mean, at, "o", color=GREEN, label="the model")
        ax.plot(truth, at, "|", color=INK, ms=16, mew=2, label="truth")
        ax.plot(leaf_means(model.task), at, "o", mfc="white", mec=ORANGE, label="pilot")
        ax.set_yticks(at, [f"leaf {r['leaf']}" for r in rows])
        ax.invert_yaxis()
        ax.set_xlabel(model.task.target)
        ax.grid(axis="x", color=LINE, lw=0.6)
        ax.legend(frameon=False, fontsize=9.5, ncols=2, loc="lower center", bbox_to_anchor=(0.45, 1.0))
        return _svg(figure)
