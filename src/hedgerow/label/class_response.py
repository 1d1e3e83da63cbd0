"""Classes in a table, randomised row by row: the task that each row answers."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.mechanisms.top import TopResponse
from hedgerow.tasks.class_labels import class_grid
from hedgerow.tasks.labels.task import LabelTask

__all__ = ["class_response"]


def class_response(classes: Sequence[str], epsilon: float, target: str, missing: Any = None) -> LabelTask:
    """Return randomised response among the classes; a missing label counts as ``missing``, if a schema says so.

    >>> class_response(["no", "yes"], 1.0, "y").guarantee.epsilon
    1.0
    """
    named = tuple(classes)
    response = TopResponse(epsilon, len(named) - 1, tuple(range(len(named))))
    task = LabelTask(class_grid(named), response, target=target, classes=named)
    return task if missing is None else task.counting(float(named.index(str(missing))))
