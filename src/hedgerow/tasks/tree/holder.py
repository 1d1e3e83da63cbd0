"""The holder's side: a record goes in, a report comes out, and nothing else leaves.

Needs NumPy and the standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.records import IN_RECORD, for_each, read_record, read_table
from hedgerow.tasks.reports import Report, Reports
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["privatize", "privatize_encoded", "privatize_many"]

_BLOCK = 1 << 22


def privatize(
    task: LocalTask,
    record: Mapping[str, Any] | Sequence[Any] | npt.NDArray[Any],
    label: object = IN_RECORD,
    *,
    randomness: Randomness | int | None = None,
) -> Report:
    """Randomise one record on its holder's device: whatever is in it, there is a report, always of one length.

    Parameters
    ----------
    task : LocalTask
        The published task; check its id and guarantee before answering.
    record : mapping or sequence
        Feature values by name, or in the order of ``task.space.names``; see :mod:`hedgerow.values` for how they count.
    label : float or class name, optional
        The label; may instead be in the mapping under ``task.target``. None is a missing label.
    randomness : optional
        Secure by default; an int or a seeded source makes a simulation.

    Examples
    --------
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99))
    >>> report = privatize(task, {"age": 41, "y": 12.5})
    >>> len(report.to_bytes()), report.simulation
    (22, False)
    >>> len(privatize(task, {"age": "unknown", "y": float("nan")}).to_bytes())
    22
    """
    return privatize_encoded(task, *read_record(task, record, label), as_randomness(randomness))[0]


def privatize_many(task: LocalTask, X: object, y: object, randomness: Randomness | int | None = None) -> Reports:
    """Randomise many records, each as :func:`privatize` would (for simulation and for trusted gateways)."""
    return privatize_encoded(task, *read_table(task, X, y), as_randomness(randomness))


def _inputs(task: LocalTask, Z: Any, y: Any) -> tuple[Any, Any]:
    return task.partition.apply(Z).astype(np.int64), y


def privatize_encoded(task: LocalTask, Z: Any, y: Any, source: Randomness) -> Reports:
    """Randomise checked records: ``Z`` encoded by the task's feature space, ``y`` finite."""
    encoding, parts = task.encoding, []
    # Bits are drawn one byte each before they are packed: blocks bound the memory.
    block = max(1, _BLOCK // (8 * encoding.width))
    for start in range(0, len(Z), block):
        part = slice(start, start + block)
        leaf, labels = for_each(task, partial(_inputs, task), Z[part], y[part])
        parts.append(encoding.randomize(leaf, task.grid.levels(labels, source), source))
    payloads = np.concatenate(parts) if parts else np.empty((0, encoding.width), dtype=np.uint8)
    tokens = source.uint8(12 * len(payloads)).reshape(-1, 12)
    return Reports(task, tokens, payloads, source.simulation)
