"""The holder's side: a record goes in, a report comes out, and nothing else leaves.

Needs NumPy and the standard library only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.reports import Report, Reports
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["privatize", "privatize_encoded", "privatize_many"]

_BLOCK = 1 << 22


def privatize(
    task: LocalTask,
    record: Mapping[str, Any] | Sequence[Any] | npt.NDArray[Any],
    label: float | str | None = None,
    *,
    randomness: Randomness | int | None = None,
) -> Report:
    """Randomise one record on its holder's device.

    Parameters
    ----------
    task : LocalTask
        The published task; check its id and guarantee before answering.
    record : mapping or sequence
        Feature values by name, or in the order of ``task.space.names``.
    label : float or class name, optional
        The label; may instead be in the mapping under ``task.target``.
    randomness : optional
        Secure by default; an int or a seeded source makes a simulation.

    Examples
    --------
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99))
    >>> report = privatize(task, {"age": 41, "y": 12.5})
    >>> len(report.to_bytes()), report.simulation
    (22, False)
    """
    if label is None:
        if not isinstance(record, Mapping) or task.target not in record:
            raise BoundsError(f"'label' is required: pass it, or put it in the record as {task.target!r}.")
        label = record[task.target]
    z = task.space.encode_record(record)
    y = task.labels([label], name="label")
    return privatize_encoded(task, z[None, :], y, as_randomness(randomness))[0]


def privatize_many(task: LocalTask, X: object, y: object, randomness: Randomness | int | None = None) -> Reports:
    """Randomise many records, each as :func:`privatize` would (for simulation and for trusted gateways)."""
    Z = task.space.encode(X)
    return privatize_encoded(task, Z, task.labels(y, n=len(Z)), as_randomness(randomness))


def privatize_encoded(task: LocalTask, Z: Any, y: Any, source: Randomness) -> Reports:
    """Randomise checked records: ``Z`` encoded by the task's feature space, ``y`` finite."""
    encoding, parts = task.encoding, []
    # Bits are drawn one byte each before they are packed: blocks bound the memory.
    block = max(1, _BLOCK // (8 * encoding.width))
    for start in range(0, len(Z), block):
        part = slice(start, start + block)
        leaf = task.partition.apply(Z[part]).astype(np.int64)
        parts.append(encoding.randomize(leaf, task.grid.levels(y[part], source), source))
    payloads = np.concatenate(parts) if parts else np.empty((0, encoding.width), dtype=np.uint8)
    tokens = source.uint8(12 * len(payloads)).reshape(-1, 12)
    return Reports(task, tokens, payloads, source.simulation)
