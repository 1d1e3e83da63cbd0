"""The message of holders in a tree: which leaf a record is in, and its label's level, randomised."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.tasks.records import for_each

if TYPE_CHECKING:
    from hedgerow.randomness import Randomness
    from hedgerow.tasks.tree.task import LocalTask
    from hedgerow.types import ByteRows

__all__ = ["payloads"]

_BLOCK = 1 << 22  # bits drawn at a time: one byte each before they are packed, so blocks bound the memory


def payloads(task: LocalTask, Z: Any, y: Any, source: Randomness) -> ByteRows:
    """Return one message a row: ``Z`` encoded by the task's feature space, ``y`` finite."""
    encoding = task.encoding
    block = max(1, _BLOCK // (8 * encoding.width))
    parts = [np.empty((0, encoding.width), dtype=np.uint8)]
    for start in range(0, len(Z), block):
        part = slice(start, start + block)
        leaf, labels = for_each(task, partial(_inputs, task), Z[part], y[part])
        parts.append(encoding.randomize(leaf, task.grid.levels(labels, source), source))
    return np.concatenate(parts)


def _inputs(task: LocalTask, Z: Any, y: Any) -> tuple[Any, Any]:
    return task.partition.apply(Z).astype(np.int64), y
