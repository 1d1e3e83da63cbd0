"""Small tasks with a tree of two leaves: numbers and classes, every response."""

from __future__ import annotations

from collections.abc import Callable

from hedgerow.grid import LabelGrid
from hedgerow.partition import grow
from hedgerow.tasks.examples import CLASS_RECORDS, SPACE, Example
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["EXAMPLES"]

_HALVES = grow("max_edge", SPACE, None, None, max_depth=1)


def _numbers(response: str) -> Callable[[float], LocalTask]:
    return lambda epsilon: LocalTask(epsilon, LabelGrid(0.0, 1.0, 1), _HALVES, response)


def _classes(response: str) -> Callable[[float], LocalTask]:
    # As many bits as cells have as many paths as there are bytes to a few of them: two classes are enough there.
    names = ("a", "b") if response == "unary" else ("a", "b", "c")
    grid = LabelGrid(0.0, len(names) - 1.0, len(names) - 1, missing=0.0)
    return lambda epsilon: LocalTask(epsilon, grid, _HALVES, response, classes=names)


EXAMPLES = (
    Example("tree, bits", _numbers("bits"), quick_from=2.0),
    *(Example(f"tree, {r}", _numbers(r)) for r in ("unary", "k_ary", "subset")),
    *(Example(f"tree of classes, {r}", _classes(r), CLASS_RECORDS) for r in ("unary", "k_ary", "subset")),
)
