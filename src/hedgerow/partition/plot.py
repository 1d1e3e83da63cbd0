"""Drawing a partition as a tree with Matplotlib."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.partition.arrange import MOST_ENDS, Arranged, Drawn, arrange
from hedgerow.partition.export import check_leaf_values
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from hedgerow.partition.tree import Partition

__all__ = ["plot_partition"]

_INK, _LINE, _PAPER = "#222222", "#9aa0a6", "#ffffff"
_WORDS = "#5f6368"  # of "yes" and "no": a contrast of 6 on white
_PAD = 0.3  # of a box around its text, in font sizes; below what the arrangement allows for


def plot_partition(
    tree: Partition,
    values: npt.ArrayLike | None = None,
    ax: Axes | None = None,
    *,
    shares: npt.ArrayLike | None = None,
    most: int = MOST_ENDS,
    cmap: str = "YlGnBu",
    fontsize: float = 9.0,
    value_format: str = "{:.4g}",
    max_label: int = 28,
) -> Axes:
    """Draw a tree: conditions at inner nodes (true goes left), values at leaves.

    Of a large tree the most important part is drawn, and the rest is folded into nodes that say how many leaves they
    stand for, and between which values; see :mod:`hedgerow.partition.fold`.

    Parameters
    ----------
    tree : Partition
        What to draw.
    values : one number a leaf, optional
        Written at the leaves and shown by their colour.
    ax : matplotlib Axes, optional
        Where to draw; a new figure of fitting size by default. In axes that are too small the text is smaller.
    shares : one number a leaf, optional
        Released or public shares of people: what is important depends on them.
    most : int
        Leaves and folds that are drawn at most.
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
    if most < 1:
        raise HedgerowError(f"'most' must be at least 1. Got {most!r} instead.")
    known = None if values is None else check_leaf_values(tree, values)
    arranged = arrange(
        tree, known, shares, most=most, fontsize=fontsize, value_format=value_format, max_label=max_label
    )
    if ax is None:
        _, ax = plt.subplots(figsize=(arranged.width + 0.2, arranged.height + 0.2), layout="constrained")
    size = fontsize * min(1.0, _room(ax, arranged))
    colours = mpl.colormaps[cmap]
    by_node = {drawn.node: drawn for drawn in arranged.nodes}
    for drawn in arranged.nodes:
        if drawn.kind == "split":
            left = int(tree.left[drawn.node])
            _draw_edges(ax, drawn, (by_node[left], by_node[left + 1]), size)
        colour: Any = _PAPER
        if known is not None and drawn.kind != "split":
            colour = colours(_shade(known, drawn.value))
        _draw_node(ax, drawn, colour, size)
    ax.set_xlim(0, arranged.width)
    ax.set_ylim(arranged.nodes[-1].y - _half(arranged), _half(arranged))
    ax.set_axis_off()
    return ax


def _half(arranged: Arranged) -> float:
    """Return half of the height of a level."""
    n_levels = len({drawn.y for drawn in arranged.nodes})
    return arranged.height / n_levels / 2


def _room(ax: Axes, arranged: Arranged) -> float:
    """Return how much of the size that a picture needs there is in the axes as they are now."""
    box = ax.get_window_extent()
    dpi = ax.figure.dpi
    return float(min(box.width / dpi / arranged.width, box.height / dpi / arranged.height))


def _shade(values: FloatArray, value: float) -> float:
    """Map a value to the lighter part of a colour map, so that dark text stays readable."""
    spread = float(np.ptp(values))
    return float(0.05 + 0.5 * (value - values.min()) / (spread if spread > 0 else 1.0))


def _draw_edges(ax: Axes, parent: Drawn, children: tuple[Drawn, Drawn], size: float) -> None:
    for child, word in zip(children, ("yes", "no"), strict=True):
        # A level line and a drop: no two edges ever cross.
        across = [parent.x, child.x, child.x]
        ax.plot(across, [parent.y, parent.y, child.y], color=_LINE, linewidth=1.2, zorder=1, solid_joinstyle="round")
        if parent.node == 0:
            ax.annotate(
                word,
                (child.x, parent.y),
                xytext=(0, 3),
                textcoords="offset points",
                ha="center",
                va="bottom",
                fontsize=size,
                color=_WORDS,
            )


def _draw_node(ax: Axes, drawn: Drawn, colour: Any, size: float) -> None:
    shape = f"square,pad={_PAD}" if drawn.kind == "split" else f"round,pad={_PAD}"
    style = "--" if drawn.kind == "fold" else "-"
    box = {"boxstyle": shape, "facecolor": colour, "edgecolor": _LINE, "linewidth": 1.0, "linestyle": style}
    text = ax.text(
        drawn.x, drawn.y, drawn.text, ha="center", va="center", fontsize=size, color=_INK, bbox=box, zorder=2
    )
    text.set_parse_math(False)  # a name with $ in it is a name
