"""The holder's side: the public model runs on the device, one randomised message leaves it.

The same for a pilot task and for the task after it; a holder answers one of them.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.assisted.pilot import PilotTask
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.records import IN_RECORD, for_each, read_record, read_table
from hedgerow.tasks.reports import Report, Reports
from hedgerow.tasks.totals import Totals

__all__ = ["assist", "assist_many", "simulate_assisted"]

_ROWS = 1 << 15


def assist(
    task: AssistedTask | PilotTask,
    record: Mapping[str, Any] | Sequence[Any] | npt.NDArray[Any],
    label: object = IN_RECORD,
    *,
    randomness: Randomness | int | None = None,
) -> Report:
    """Randomise one record on its holder's device; the label may be in the record under ``task.target``.

    Whatever is in the record, there is a report, always of one length.
    """
    return _assist(task, *read_record(task, record, label), as_randomness(randomness))[0]


def assist_many(
    task: AssistedTask | PilotTask, X: object, y: object, randomness: Randomness | int | None = None
) -> Reports:
    """Randomise many records, each as :func:`assist` would (for simulation and for trusted gateways)."""
    return _assist(task, *read_table(task, X, y), as_randomness(randomness))


def _assist(task: AssistedTask | PilotTask, Z: Any, y: Any, source: Randomness) -> Reports:
    payloads = _payloads(task, Z, y, source)
    tokens = source.uint8(12 * len(payloads)).reshape(-1, 12)
    return Reports(task, tokens, payloads, source.simulation)


def _payloads(task: AssistedTask | PilotTask, Z: Any, y: Any, source: Randomness) -> npt.NDArray[np.uint8]:
    if isinstance(task, PilotTask):
        return task.encoding.randomize(for_each(task, task.inputs, Z, y)[0], source)
    leaf, error = for_each(task, task.inputs, Z, y)
    return task.encoding.draw(leaf, task.grid.levels(error, source), source)


def simulate_assisted(
    task: AssistedTask | PilotTask, X: object, y: object, randomness: Randomness | int | None = None
) -> Totals:
    """Draw the aggregate of holders with records ``X`` and labels ``y``, block by block."""
    source, aggregate = as_randomness(randomness), task.totals()
    Z, labels = read_table(task, X, y)
    for start in range(0, len(Z), _ROWS):
        part = slice(start, start + _ROWS)
        payloads = _payloads(task, Z[part], labels[part], source)
        aggregate.include(len(payloads), task.encoding.blocks(payloads), source.simulation)
    return aggregate
