"""The holder's side: the public model runs on the device, one randomised message leaves it.

The same for a pilot task and for the task after it; a holder answers one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.assisted.pilot import PilotTask
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.reports import Report, Reports
from hedgerow.tasks.totals import Totals

__all__ = ["assist", "assist_many", "simulate_assisted"]

_ROWS = 1 << 15


def assist(
    task: AssistedTask | PilotTask,
    record: Mapping[str, Any] | Sequence[Any] | npt.NDArray[Any],
    label: float | None = None,
    *,
    randomness: Randomness | int | None = None,
) -> Report:
    """Randomise one record on its holder's device; the label may be in the record under ``task.target``."""
    if label is None:
        if not isinstance(record, Mapping) or task.target not in record:
            raise BoundsError(f"'label' is required: pass it, or put it in the record as {task.target!r}.")
        label = record[task.target]
    z = task.space.encode_record(record)
    return _assist(task, z[None, :], task.labels([label], name="label"), as_randomness(randomness))[0]


def assist_many(
    task: AssistedTask | PilotTask, X: object, y: object, randomness: Randomness | int | None = None
) -> Reports:
    """Randomise many records, each as :func:`assist` would (for simulation and for trusted gateways)."""
    Z = task.space.encode(X)
    return _assist(task, Z, task.labels(y, n=len(Z)), as_randomness(randomness))


def _assist(task: AssistedTask | PilotTask, Z: Any, y: Any, source: Randomness) -> Reports:
    payloads = _payloads(task, Z, y, source)
    tokens = source.uint8(12 * len(payloads)).reshape(-1, 12)
    return Reports(task, tokens, payloads, source.simulation)


def _payloads(task: AssistedTask | PilotTask, Z: Any, y: Any, source: Randomness) -> npt.NDArray[np.uint8]:
    if isinstance(task, PilotTask):
        return task.payloads(Z, y, source)
    g, leaf = task.place(Z)
    level = task.grid.levels((y - g) / task.radius, source)
    return task.encoding.draw(leaf, level, source)


def simulate_assisted(
    task: AssistedTask | PilotTask, X: object, y: object, randomness: Randomness | int | None = None
) -> Totals:
    """Draw the aggregate of holders with records ``X`` and labels ``y``, block by block."""
    source, Z = as_randomness(randomness), task.space.encode(X)
    labels, aggregate = task.labels(y, n=len(Z)), task.totals()
    for start in range(0, len(Z), _ROWS):
        part = slice(start, start + _ROWS)
        payloads = _payloads(task, Z[part], labels[part], source)
        aggregate.include(len(payloads), task.encoding.blocks(payloads), source.simulation)
    return aggregate
