"""The engine in memory: batches of reports one after another, each report id once."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.collect.dedupe import find_copies
from hedgerow.errors import FormatError
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.tasks.base import Task
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.totals import Totals
from hedgerow.tasks.trimmed import Groups

__all__ = ["MemorySource", "Records", "add_source", "aggregate", "simulate"]

Records = tuple[Any, Any] | Callable[[], tuple[Any, Any]]
"""Records and labels, or a function that reads them."""


class MemorySource:
    """A batch of reports, read as a file is read."""

    def __init__(self, reports: Reports, name: str = "reports in memory") -> None:
        self._reports = reports
        self.path = name
        self.simulation = reports.simulation

    def __len__(self) -> int:
        return len(self._reports)

    def tokens(self, start: int, stop: int) -> npt.NDArray[np.uint8]:
        """Return the random parts of the ids of some reports."""
        return self._reports.tokens[start:stop]

    def reports(self, start: int, stop: int) -> Reports:
        """Return some reports."""
        part = slice(start, stop)
        return Reports(self._reports.task, self._reports.tokens[part], self._reports.payloads[part], self.simulation)


def aggregate(task: Task, batches: Sequence[Reports], *, copies: str = "drop") -> Totals:
    """Add batches up, counting a report id once.

    Parameters
    ----------
    task : Task
        What the reports answer.
    batches : sequence of Reports
        In any order.
    copies : {"drop", "refuse", "count"}
        What becomes of a report that is there twice, byte for byte: the first counts; an error; or nobody looks.
        Two *different* reports with one id are an error unless nobody looks.

    Examples
    --------
    >>> from hedgerow.tasks import LocalTask, privatize_many
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> reports = privatize_many(task, [[0.2], [0.7]], [0.0, 1.0], randomness=1)
    >>> aggregate(task, [reports, reports]).n_reports
    2
    """
    if any(batch.task.digest != task.digest for batch in batches):
        raise FormatError("these reports were made for another task; aggregate them with that task.")
    sources = [MemorySource(batch, f"batch {i + 1}") for i, batch in enumerate(batches)]
    found = find_copies(sources, copies=copies)
    total = task.totals()
    start = 0
    for source in sources:
        add_source(total, source.reports(0, len(source)), found.keep(start, start + len(source)))
        start += len(source)
    return total


def add_source(total: Totals | Groups, reports: Reports, keep: npt.NDArray[np.bool_] | None) -> None:
    """Add the reports that are to be kept (all, if None)."""
    if keep is not None:
        reports = reports.task.batch(reports.tokens[keep], reports.payloads[keep], reports.simulation)
    total.add(reports)


def simulate(task: Task, parts: Sequence[Records], randomness: Randomness | int | None = None) -> Totals:
    """Draw the aggregate of a population that comes in parts; each part has its own stream of the seed.

    Parts may be done in any order, on any machine: with one seed and one way of cutting, the totals are the same to
    the last bit. A part is a pair (records, labels) or a function that reads one.

    Examples
    --------
    >>> from hedgerow.tasks import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> X = np.linspace(0, 1, 600)[:, None]
    >>> simulate(task, [(X[:300], X[:300, 0]), (X[300:], X[300:, 0])], 1)
    Totals(600 reports to task ..., simulation)
    """
    source = as_randomness(randomness)
    total = task.totals()
    for i, part in enumerate(parts):
        total = total + simulate_part(task, part, source, i)
    return total


def simulate_part(task: Task, part: Records, source: Randomness, i: int) -> Totals:
    """Draw the aggregate of part ``i``."""
    X, y = part() if callable(part) else part
    return task.simulate(X, y, source.child("part", i))
