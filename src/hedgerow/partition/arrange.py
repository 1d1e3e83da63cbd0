"""Where the nodes of a tree stand in a picture, so that no text lies on another: in inches, measured in the font."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.partition.export import check_leaf_values, describe_split, node_means
from hedgerow.partition.fold import fold, leaves_below
from hedgerow.schema.words import one_line
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    import numpy.typing as npt

    from hedgerow.partition.tree import Partition

__all__ = ["MOST_ENDS", "Arranged", "Drawn", "arrange"]

MOST_ENDS = 16
"""Leaves and folds of a picture: with conditions of 20 characters they take about 15 inches, the width of a screen."""
_PAD = 0.35  # of a box around its text, in font sizes; as drawn
_APART = 0.12  # inches between boxes
_LINE = 1.25  # height of a line of text, in font sizes
_LEVEL = 0.45  # inches between the boxes of two levels: room for edges
_POINTS = 72.0  # an inch, by definition


@dataclass(frozen=True)
class Drawn:
    """A node of a picture: its text, what it is, its value (that of its leaves), and where its centre is."""

    node: int
    text: str
    kind: str
    value: float
    x: float
    y: float


@dataclass(frozen=True)
class Arranged:
    """The nodes of a picture, parents first, and the size that it needs, in inches."""

    nodes: tuple[Drawn, ...]
    width: float
    height: float


def arrange(
    tree: Partition,
    values: npt.ArrayLike | None = None,
    shares: npt.ArrayLike | None = None,
    *,
    most: int = MOST_ENDS,
    fontsize: float = 9.0,
    value_format: str = "{:.4g}",
    max_label: int = 28,
) -> Arranged:
    """Return which nodes are drawn, with which text, and where; see :func:`.plot.plot_partition`."""
    known = None if values is None else check_leaf_values(tree, values)
    weights = None if shares is None else check_leaf_values(tree, shares, "shares")
    opened = fold(tree, most, known, weights)
    texts = _texts(tree, opened, known, value_format, max_label)
    widths = {node: _width(text, fontsize) for node, text in texts.items()}
    span, gap = _spans(tree, opened, widths, _width("yes", fontsize))
    x = _places(tree, opened, span, gap)
    lines = max(text.count("\n") + 1 for text in texts.values())
    level = _LEVEL + (lines * _LINE + 2 * _PAD) * fontsize / _POINTS
    depth = _depths(tree, opened)
    mean = np.zeros(tree.n_nodes)
    if known is not None:
        mean = node_means(tree, known, np.ones(tree.n_leaves) if weights is None else weights)[0]
    kinds = {node: _kind(tree, bool(opened[node]), node) for node in texts}
    nodes = tuple(
        Drawn(node, text, kinds[node], float(mean[node]), x[node], -level * depth[node]) for node, text in texts.items()
    )
    return Arranged(nodes, span[0] + _APART, level * (max(depth.values()) + 1))


def _kind(tree: Partition, opened: bool, node: int) -> str:
    if opened:
        return "split"
    return "leaf" if tree.feature[node] < 0 else "fold"


def _texts(
    tree: Partition, opened: npt.NDArray[np.bool_], values: FloatArray | None, value_format: str, max_label: int
) -> dict[int, str]:
    """Return what is written at the nodes that are drawn, parents first."""
    below = leaves_below(tree)
    found: dict[int, str] = {}
    todo = [0]
    while todo:
        node = todo.pop(0)
        if opened[node]:
            found[node] = _shorten(one_line(describe_split(tree, node)[0]), max_label)
            todo += [int(tree.left[node]), int(tree.left[node]) + 1]
        elif tree.feature[node] < 0:
            leaf = int(tree.leaf_of_node[node])
            found[node] = f"leaf {leaf}" if values is None else value_format.format(values[leaf])
        else:
            found[node] = f"… {below[node]:,} more leaves"
            if values is not None:
                inside = values[_leaves(tree, node, int(below[node]))]
                found[node] += f"\n{value_format.format(inside.min())} to {value_format.format(inside.max())}"
    return found


def _leaves(tree: Partition, node: int, count: int) -> slice:
    """Return the leaves below a node: they are numbered from left to right."""
    while tree.feature[node] >= 0:
        node = int(tree.left[node])
    first = int(tree.leaf_of_node[node])
    return slice(first, first + count)


def _shorten(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"


def _width(text: str, fontsize: float) -> float:
    """Return the width of a box around a text, in inches."""
    from matplotlib.font_manager import FontProperties
    from matplotlib.textpath import text_to_path

    font = FontProperties(size=fontsize)
    lines = text.split("\n")
    longest = max(text_to_path.get_text_width_height_descent(line, font, ismath=False)[0] for line in lines)
    return float(longest + 2 * _PAD * fontsize) / _POINTS


def _spans(
    tree: Partition, opened: npt.NDArray[np.bool_], widths: dict[int, float], word: float
) -> tuple[dict[int, float], dict[int, float]]:
    """Return the width that each node takes with all below it, and the gap between its children.

    Beside the root there is room for "yes" and "no".
    """
    span = dict(widths)
    gap: dict[int, float] = {}
    for node in np.flatnonzero(opened)[::-1].tolist():  # children come after their parents
        left = span[int(tree.left[node])]
        right = span[int(tree.left[node]) + 1]
        gap[node] = _APART
        if node == 0:
            gap[node] = max(_APART, widths[0] + word - min(left, right))
        span[node] = max(widths[node], left + gap[node] + right)
    return span, gap


def _places(
    tree: Partition, opened: npt.NDArray[np.bool_], span: dict[int, float], gap: dict[int, float]
) -> dict[int, float]:
    """Return the middle of each node's span, the children side by side below it."""
    x = {0: span[0] / 2}
    for node in np.flatnonzero(opened).tolist():
        left = int(tree.left[node])
        whole = span[left] + gap[node] + span[left + 1]
        start = x[node] - whole / 2
        x[left] = start + span[left] / 2
        x[left + 1] = start + whole - span[left + 1] / 2
    return x


def _depths(tree: Partition, opened: npt.NDArray[np.bool_]) -> dict[int, int]:
    depth = {0: 0}
    for node in np.flatnonzero(opened).tolist():
        left = int(tree.left[node])
        depth[left] = depth[node] + 1
        depth[left + 1] = depth[node] + 1
    return depth
