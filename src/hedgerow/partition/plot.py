"""Drawing a partition as a tree with Matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.partition.export import check_leaf_values, describe_split
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hedgerow.partition.tree import Partition

__all__ = ["plot_partition"]

_INK, _LINE, _PAPER = "#222222", "#9aa0a6", "#ffffff"


def plot_partition(
    tree: Partition,
    values: npt.ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    cmap: str = "YlGnBu",
    fontsize: float = 9.0,
    value_format: str = "{:.4g}",
    max_label: int = 28,
) -> Axes:
    """Draw a tree: conditions at inner nodes (true goes left), values at leaves.

    Parameters
    ----------
    tree : Partition
        What to draw; beyond some 64 leaves the text no longer fits a page.
    values : one number a leaf, optional
        Written at the leaves and shown by their colour.
    ax : matplotlib Axes, optional
        Where to draw; a new figure of fitting size by default.
    cmap, fontsize, value_format, max_label
        Colours of the leaves, size of the text, format of values, longest text before it is cut.

    Returns
    -------
    matplotlib Axes
    """
    try:
        import matplotlib as mpl
        import matplotlib.pyplot as plt
    except ImportError as error:
        raise HedgerowError("plot needs Matplotlib: pip install 'hedgerow[plot]'.") from error
    known = None if values is None else check_leaf_values(tree, values)
    if ax is None:
        size = (max(4.0, 0.95 * tree.n_leaves), 1.2 + 1.1 * (tree.depth + 1))
        _, ax = plt.subplots(figsize=size, layout="constrained")
    place = _places(tree)
    colours = None if known is None else mpl.colormaps[cmap](_shades(known))
    for node in range(tree.n_nodes):
        leaf = int(tree.leaf_of_node[node])
        if leaf < 0:
            _draw_edges(ax, place, node, int(tree.left[node]))
            text = _shorten(describe_split(tree, node)[0], max_label)
            colour = _PAPER
        else:
            text = f"leaf {leaf}" if known is None else value_format.format(known[leaf])
            colour = _PAPER if colours is None else colours[leaf]
        _draw_node(ax, place[node], text, colour, fontsize, is_leaf=leaf >= 0)
    ax.set_xlim(-0.6, tree.n_leaves - 0.4)
    ax.set_ylim(-tree.depth - 0.5, 0.5)
    ax.set_axis_off()
    return ax


def _places(tree: Partition) -> FloatArray:
    """Return x and y of each node: leaves at whole numbers, parents above the middle of their children."""
    place = np.zeros((tree.n_nodes, 2))
    for depth, level in enumerate(tree._levels):
        place[level, 1] = -depth
    for level in reversed(tree._levels):
        leaf = tree.leaf_of_node[level]
        left = tree.left[level]
        right = np.minimum(left + 1, tree.n_nodes - 1)
        place[level, 0] = np.where(leaf >= 0, leaf, (place[left, 0] + place[right, 0]) / 2)
    return place


def _shades(values: FloatArray) -> FloatArray:
    """Map values to the lighter part of a colour map, so that dark text stays readable."""
    spread = float(np.ptp(values))
    return np.asarray(0.05 + 0.5 * (values - values.min()) / (spread if spread > 0 else 1.0))


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _draw_edges(ax: Axes, place: FloatArray, node: int, left: int) -> None:
    x, y = place[node]
    for child, word in ((left, "yes"), (left + 1, "no")):
        a, b = place[child]
        # A level line and a drop: no two edges ever cross.
        ax.plot([x, a, a], [y, y, b], color=_LINE, linewidth=1.2, zorder=1, solid_joinstyle="round")
        if node == 0:
            ax.annotate(
                word,
                (a, y),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=8,
                color=_LINE,
            )


def _draw_node(ax: Axes, at: npt.NDArray[Any], text: str, colour: Any, fontsize: float, *, is_leaf: bool) -> None:
    shape = "round,pad=0.35" if is_leaf else "square,pad=0.3"
    box = {"boxstyle": shape, "facecolor": colour, "edgecolor": _LINE, "linewidth": 1.0}
    ax.text(at[0], at[1], text, ha="center", va="center", fontsize=fontsize, color=_INK, bbox=box, zorder=2)
