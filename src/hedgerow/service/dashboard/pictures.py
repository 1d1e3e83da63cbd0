"""A model as data for a page: its trees nested as lists, a value and its interval as a small drawing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from hedgerow.digits import plain
from hedgerow.tasks.models import Node

__all__ = ["Branch", "Strip", "branch", "strip"]

# Pixels, by hand: a line of a table.
WIDTH = 220
HEIGHT = 18
_MARGIN = 6


@dataclass(frozen=True)
class Branch:
    """A node for display: how one gets here, and either two children or a row of the model's table."""

    condition: str
    children: tuple[Branch, ...] = ()
    row: dict[str, Any] | None = None


def branch(node: Node, rows: Sequence[dict[str, Any]]) -> Branch:
    """Return a tree with the rows of its leaves.

    >>> branch(Node("everyone", row=1), [{"mean": 2.5}, {"mean": 7.0}]).row
    {'mean': 7.0}
    """
    if node.row is not None:
        return Branch(node.condition, row=rows[node.row])
    return Branch(node.condition, tuple(branch(child, rows) for child in node.children))


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
    Strip(name='mean', low=6.0, value=110.0, high=214.0, public=None, text='5 (0 to 10)')
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
        f"{plain(row[name])} ({plain(row['low'])} to {plain(row['high'])})",
    )
