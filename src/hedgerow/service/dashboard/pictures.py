"""A model as data for a page: the tree nested as lists, a mean and its interval as a small drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.partition import Partition
from hedgerow.partition.export import describe_split

__all__ = ["Node", "Strip", "nest", "strip"]

WIDTH, HEIGHT, _MARGIN = 220, 18, 6


@dataclass(frozen=True)
class Node:
    """A node for display: how one gets here, and either two children or a row of the leaf table."""

    condition: str
    children: tuple[Node, ...] = ()
    row: dict[str, Any] | None = None


def nest(tree: Partition, rows: Sequence[dict[str, Any]]) -> Node:
    """Return the tree as nested nodes, each leaf with its row.

    Examples
    --------
    >>> from hedgerow.bounds import FeatureSpace
    >>> from hedgerow.partition import grow
    >>> tree = grow("max_edge", FeatureSpace.from_bounds((0, 8), ["age"]), None, None, max_depth=1)
    >>> [(child.condition, child.row["mean"]) for child in nest(tree, [{"mean": 2.5}, {"mean": 7.0}]).children]
    [('age < 4', 2.5), ('age >= 4', 7.0)]
    """
    leaf = tree.leaf_of_node

    def build(node: int, condition: str) -> Node:
        if tree.feature[node] < 0:
            return Node(condition, row=rows[int(leaf[node])])
        first = int(tree.left[node])
        sides = describe_split(tree, node)
        return Node(condition, tuple(build(first + i, side) for i, side in enumerate(sides)))

    return build(0, "everyone")


@dataclass(frozen=True)
class Strip:
    """Where a mean, the ends of its interval and the public mean lie on a line of :data:`WIDTH` pixels."""

    low: float
    mean: float
    high: float
    public: float | None
    text: str


def strip(row: dict[str, Any], bounds: tuple[float, float]) -> Strip:
    """Place a row of the leaf table between the label bounds.

    Examples
    --------
    >>> strip({"low": 0.0, "mean": 5.0, "high": 10.0}, (0.0, 10.0))
    Strip(low=6.0, mean=110.0, high=214.0, public=None, text='5 (0 to 10)')
    """
    span = bounds[1] - bounds[0]

    def place(value: float) -> float:
        share = min(max((value - bounds[0]) / span, 0.0), 1.0)
        return round(_MARGIN + share * (WIDTH - 2 * _MARGIN), 1)

    public = row.get("public_mean")
    return Strip(
        place(row["low"]),
        place(row["mean"]),
        place(row["high"]),
        None if public is None else place(public),
        f"{row['mean']:.4g} ({row['low']:.4g} to {row['high']:.4g})",
    )
