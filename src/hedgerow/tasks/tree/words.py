"""What a report to a tree says, in words."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

from hedgerow.mechanisms.words import percent
from hedgerow.tasks.words import plain

if TYPE_CHECKING:
    from hedgerow.tasks.tree.task import LocalTask

__all__ = ["odds"]


def odds(task: LocalTask) -> list[str]:
    """Return what is done to a record, by the response."""
    e: Any = task.encoding
    if task.response == "bits":
        wide = math.sqrt(e.label.variance) * task.grid.step
        return [
            f"one bit for each of {task.n_leaves} groups of people says whether you are in it; each bit is told truly "
            f"with probability {percent(float(e.cell.p))} and flipped otherwise",
            f"your {plain(task.target)} is rounded to a grid and gets random noise, often about {wide:.2g} either way",
        ]
    cells = f"{e.n_cells} pairs of a group and a value"
    if task.response == "k_ary":
        return [f"one of {cells} is named: yours with probability {percent(float(e.mechanism.p))}, else any other"]
    if task.response == "unary":
        rare = percent(float(e.mechanism.q))
        return [f"one bit for each of {cells}: yours is set with probability 50 %, every other one with {rare}"]
    return [
        f"a set of {e.mechanism.size} out of {cells} is sent; yours is in it with probability "
        f"{percent(float(e.mechanism.p))}, any other one with {percent(float(e.mechanism.q))}"
    ]
