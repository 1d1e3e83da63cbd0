"""A model as data for a page: its trees nested as lists, a value and its interval as a small drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow.chart import Curve, ErrorPicture, Point
from hedgerow.digits import in_full, with_interval
from hedgerow.partition.arrange import MOST_ENDS
from hedgerow.tasks.models import Model, Node

__all__ = ["Branch", "Strip", "branch", "folded", "forecast_picture", "strip"]

# Pixels, by hand: a line of a table.
WIDTH = 220
HEIGHT = 18
_MARGIN = 6
_DRAWN = (1e-5, 1e9)  # errors with ticks such as 0.00002 and 500M: longer ones do not fit; by hand
_POINTS = 10  # of the curve of forecasts: it has no corner; by hand


@dataclass(frozen=True)
class Branch:
    """A node for display: how one gets here, and either two children or a row of the model's table.

    ``more`` is the number of leaves below a node that is folded until somebody opens it.
    """

    condition: str
    children: tuple[Branch, ...] = ()
    row: dict[str, Any] | None = None
    more: int = 0

    def rows(self) -> list[dict[str, Any]]:
        """Return the rows of all leaves below."""
        if self.row is not None:
            return [self.row]
        return [row for child in self.children for row in child.rows()]


def branch(node: Node, rows: Sequence[dict[str, Any]]) -> Branch:
    """Return a tree with the rows of its leaves.

    >>> branch(Node("everyone", row=1), [{"mean": 2.5}, {"mean": 7.0}]).row
    {'mean': 7.0}
    """
    if node.row is not None:
        return Branch(node.condition, row=rows[node.row])
    return Branch(node.condition, tuple(branch(child, rows) for child in node.children))


def folded(root: Branch, name: str, most: int = MOST_ENDS) -> Branch:
    """Return a tree in which at most ``most`` leaves and folds are seen at first, as in a picture of a large tree.

    The node is opened first whose rows differ most in ``name``, each weighted by its share, then by share alone; see
    :mod:`hedgerow.partition.fold`.

    >>> leaves = [Branch("x", row={"share": 0.25, "mean": value}) for value in (1.0, 1.0, 5.0, 9.0)]
    >>> tree = Branch("", (Branch("a", tuple(leaves[:2])), Branch("b", tuple(leaves[2:]))))
    >>> [child.more for child in folded(tree, "mean", most=3).children]
    [2, 0]
    """
    opened: set[int] = set()
    waiting = [(_weight(root, name), root)]
    ends = 1
    while waiting and ends < most:
        best = max(range(len(waiting)), key=lambda place: waiting[place][0])
        node = waiting.pop(best)[1]
        opened.add(id(node))
        ends += len(node.children) - 1
        waiting += [(_weight(child, name), child) for child in node.children if child.row is None]
    return _fold(root, opened)


def _fold(node: Branch, opened: set[int]) -> Branch:
    if node.row is not None:
        return node
    more = 0 if id(node) in opened else len(node.rows())
    if more:  # whoever opens it sees all that is below
        return replace(node, more=more)
    return replace(node, children=tuple(_fold(child, opened) for child in node.children))


def _weight(node: Branch, name: str) -> tuple[float, float]:
    """Return the sum of squared differences of the values below, weighted by shares, and the sum of shares."""
    rows = node.rows()
    share = [max(float(row["share"]), 0.0) for row in rows]
    total = sum(share)
    if total == 0 or not all(isinstance(row.get(name), float) for row in rows):
        return 0.0, total
    mean = sum(p * row[name] for p, row in zip(share, rows, strict=True)) / total
    return sum(p * (row[name] - mean) ** 2 for p, row in zip(share, rows, strict=True)), total


@dataclass(frozen=True)
class Strip:
    """Where a value, the ends of its interval and the public mean lie on a line of :data:`WIDTH` pixels."""

    name: str
    low: float
    value: float
    high: float
    public: float | None
    text: str


def strip(row: dict[str, Any], name: str, bounds: tuple[float, float] | None) -> Strip | None:
    """Place a row of a model's table between the bounds of its value; None where that is not one number.

    Examples
    --------
    >>> strip({"low": 0.0, "mean": 5.0, "high": 10.0}, "mean", (0.0, 10.0))
    Strip(name='mean', low=6.0, value=110.0, high=214.0, public=None, text='5.0 (0.0 to 10.0)')
    """
    if bounds is None:
        return None
    least = bounds[0]
    span = bounds[1] - bounds[0]

    def place(value: float) -> float:
        share = min(max((value - least) / span, 0.0), 1.0)
        return round(_MARGIN + share * (WIDTH - 2 * _MARGIN), 1)

    public = row.get("public_mean")
    return Strip(
        name,
        place(row["low"]),
        place(row[name]),
        place(row["high"]),
        None if public is None else place(public),
        with_interval(row[name], row["low"], row["high"]),
    )


def forecast_picture(model: Model) -> str:
    """Return the error of leaf means against the number of people, from those so far to 20 times as many, as SVG.

    Nothing where its numbers would not fit beside it; the table has them.
    """
    points = []
    for growth in np.geomspace(1.0, 20.0, _POINTS):
        found = model.forecast(round((growth - 1.0) * model.n_reports))
        if found is None:
            return ""
        points.append(Point(float(found.n_reports + found.more), found.then, found.then, found.then))
    if not all(_DRAWN[0] <= point.y < _DRAWN[1] for point in points):
        return ""
    what = "error of a leaf's mean"
    return in_full(ErrorPicture("people", (Curve(what, tuple(points), 0),), what, "With more people").svg())
