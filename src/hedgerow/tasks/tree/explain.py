"""The model in words and pictures."""

from __future__ import annotations

from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.partition.tree import Partition
from hedgerow.tasks.rules import reports
from hedgerow.tasks.tree.encoding import FloatArray
from hedgerow.tasks.tree.task import LocalTask

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

    from hedgerow.tasks.tree.model import Model

__all__ = ["draw_means", "explain_text", "gain_lines", "importances", "leaf_line", "plot_model", "split_gains"]


def importances(task: LocalTask) -> dict[str, float]:
    """Return the share of the label's public variance that the splits on each feature explain.

    A split of a node into parts with ``a`` and ``b`` public records and means ``x`` and ``y`` explains
    ``a b / (a + b) * (x - y)**2``; only public records are used.

    Examples
    --------
    >>> X = np.random.default_rng(0).random((200, 2))
    >>> importances(LocalTask.design(X, X[:, 1], epsilon=1, label_bounds=(0, 1), rule="cart", max_depth=2))
    {'x0': 0.0, 'x1': 1.0}
    """
    if (public := task.public) is None:
        return dict.fromkeys(task.space.names, 0.0)
    return split_gains(task.partition, np.array(public.count, dtype=np.float64), np.array(public.mean))


def split_gains(tree: Partition, count: FloatArray, mean: FloatArray) -> dict[str, float]:
    """Return each feature's share of what the splits explain, from the number and the mean of each leaf.

    Leaves with a number of 0 or less, such as a noisy count may be, explain nothing.

    Examples
    --------
    >>> from hedgerow.bounds import FeatureSpace
    >>> from hedgerow.partition import grow
    >>> tree = grow("max_edge", FeatureSpace.from_bounds((0, 1), ["a", "b"]), None, None, max_depth=1)
    >>> split_gains(tree, np.array([5.0, 5.0]), np.array([0.0, 1.0]))
    {'a': 1.0, 'b': 0.0}
    """
    gain = np.zeros(len(tree.space))
    number, total = np.zeros(tree.n_nodes), np.zeros(tree.n_nodes)
    ends = np.flatnonzero(tree.feature < 0)
    leaf = tree.leaf_of_node[ends]
    number[ends] = np.maximum(count, 0.0)[leaf]
    total[ends] = number[ends] * mean[leaf]
    for node in np.flatnonzero(tree.feature >= 0)[::-1]:  # children come after their parents
        sides = [int(tree.left[node]), int(tree.left[node]) + 1]
        number[node], total[node] = number[sides].sum(), total[sides].sum()
        if number[sides].min() > 0:
            means = total[sides] / number[sides]
            gain[tree.feature[node]] += number[sides].prod() / number[node] * (means[0] - means[1]) ** 2
    whole = gain.sum()
    return {name: float(g / whole) if whole > 0 else 0.0 for name, g in zip(tree.space.names, gain, strict=True)}


def gain_lines(gains: dict[str, float]) -> list[str]:
    """Return one line for each feature that explains anything, the largest first."""
    ranked = sorted(gains.items(), key=lambda item: -item[1])
    return [f"  {name}: {share:.0%}" for name, share in ranked if share > 0] or ["  none"]


def explain_text(model: Model, level: float = 0.9) -> str:
    """Return guarantee, tree, leaf table, importances and the comparison with public records as text."""
    task = model.task
    parts = [
        task.title
        or f"A private tree for {task.target!r} with {task.n_leaves} leaves from {reports(model.n_reports)}.",
        "",
        f"Guarantee. {model.guarantee}",
        "",
        f"Leaves (share of holders with its standard deviation; mean with a {level:.0%} interval from reports alone):",
        *(leaf_line(row) for row in model.leaf_table(level)),
    ]
    if task.public is not None:
        parts += ["", "Importance (share of the public variance that splits explain):", *gain_lines(importances(task))]
        parts += ["", f"Public against private records. {model.shift().verdict}"]
    return "\n".join(parts)


def leaf_line(row: dict[str, Any]) -> str:
    """Return one row of a leaf table as text."""
    share = f"{row['share']:6.1%} +- {row['share_sd']:.1%}"
    flag = "  (too few holders to tell from none)" if row["starved"] else ""
    if "classes" in row:
        value = ", ".join(f"{c} {p:.0%}" for c, p in row["classes"].items())
    else:
        value = f"{row['mean']:.4g} [{row['low']:.4g}, {row['high']:.4g}]"
    return f"  {row['leaf']:>3}  {share:>16}  {value}  if {row['cell']}{flag}"


def plot_model(model: Model, path: str | PathLike[str] | None = None, level: float = 0.9) -> Figure:
    """Draw the tree, and beside it every leaf's mean with its interval, its public mean and its mass."""
    from matplotlib.figure import Figure

    rows = model.leaf_table(level)
    figure = Figure(figsize=(min(4 + 1.1 * len(rows), 22), 9), layout="constrained")
    top, bottom = figure.subplots(2, 1, height_ratios=[3, 2])
    values = None if model.task.classes is not None else model.leaf_values
    model.task.partition.plot(values, ax=top)
    if model.task.classes is None:
        draw_means(bottom, rows, model.task.target, level)
    else:
        _draw_classes(bottom, model.leaf_values, model.task.classes)
    top.set_title(str(model.guarantee), fontsize=8, wrap=True)
    if path is not None:
        figure.savefig(path, dpi=120)
    return figure


def draw_means(ax: Axes, rows: list[dict[str, Any]], target: str, level: float) -> None:
    """Draw the mean, interval and share of each row of a leaf table."""
    at, mean = np.arange(len(rows)), np.array([r["mean"] for r in rows])
    low, high = np.array([r["low"] for r in rows]), np.array([r["high"] for r in rows])
    ax.vlines(at, low, high, color="#2c7fb8", lw=2, label=f"{level:.0%} interval (reports alone)")
    ax.plot(at, mean, "o", color="#08306b", label="prediction")
    if "public_mean" in rows[0]:
        ax.plot(at, [r["public_mean"] for r in rows], "_", color="#d95f0e", ms=14, mew=2, label="public mean")
    ax.set(xticks=at, xlabel="leaf, from left to right", ylabel=target)
    mass = ax.twinx()
    mass.bar(at, [r["share"] for r in rows], color="#bdbdbd", alpha=0.35, width=0.6)
    mass.set(ylabel="share of holders (bars)", ylim=(0, 1))
    ax.legend(loc="upper left", fontsize=8)


def _draw_classes(ax: Axes, proba: npt.NDArray[np.float64], classes: tuple[str, ...]) -> None:
    below = np.zeros(len(proba))
    for c, name in enumerate(classes):
        ax.bar(range(len(proba)), proba[:, c], bottom=below, label=name)
        below += proba[:, c]
    ax.set(xticks=range(len(proba)), xlabel="leaf, from left to right", ylabel="class probability")
    ax.legend(fontsize=8, ncols=min(6, len(classes)))
