"""From a record to the body that a holder posts, whatever the kind of task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.errors import BoundsError, HedgerowError
from hedgerow.randomness import Randomness
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import CellTask, Secrets, SemiTask, answer, begin
from hedgerow.tasks.records import one
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.tree.holder import privatize
from hedgerow.tasks.tree.task import LocalTask
from hedgerow.values import field

__all__ = ["make_body", "question"]


def question(task: Any) -> tuple[Any, tuple[str, ...]]:
    """Return the task that holds the schema (the first round's, for a second), and the names of what is asked.

    One name for two things is refused: a value that is to be randomised under a name must not be sent in clear
    because something public has the same one.

    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 9), features=["age"], feature_bounds=(0, 99))
    >>> question(task)[1]
    ('age', 'y')
    """
    first = task.first if isinstance(task, CellTask) else task
    public = ("record",) if isinstance(first, LabelTask) else first.space.names
    if first.target in public:
        raise HedgerowError(f"this task calls both a feature and the label {first.target!r}; do not answer it.")
    if isinstance(first, LabelTask):
        return first, ("record", first.target)
    return first, (*first.space.names, *(() if isinstance(task, CellTask) else (first.target,)))


def make_body(
    task: Any,
    record: Mapping[str, Any],
    randomness: Randomness | None = None,
    *,
    mask: Sequence[bool] | None = None,
    secrets: Secrets | None = None,
) -> tuple[bytes, Secrets | None]:
    """Randomise one record: return a batch of one report, and what a second round will need.

    Whatever is in the record, there is a body, always of one length. What is public and travels in clear beside it may
    be wrong: the number of the record in a label task, the mask where holders choose one.

    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 9), features=["age"], feature_bounds=(0, 99))
    >>> body, secrets = make_body(task, {"age": 41, "y": 3})
    >>> len(Reports.from_bytes(task, body)), secrets
    (1, None)
    """
    question(task)  # refuses one name for two things
    if isinstance(task, LocalTask):
        return Reports.collect(task, [privatize(task, record, randomness=randomness)]).to_bytes(), None
    if isinstance(task, LabelTask):
        return task.reports([_record_number(record)], one(field(record, task.target)), randomness).to_bytes(), None
    if isinstance(task, SemiTask):
        reports, kept = begin(task, record, field(record, task.target), mask, randomness)
        return reports.to_bytes(), kept
    if isinstance(task, CellTask):
        if secrets is None:
            raise HedgerowError("this is a second round, and this device did not answer the first.")
        return answer(task, record, secrets, randomness).to_bytes(), None
    from hedgerow.tasks.assisted.holder import assist

    return Reports.collect(task, [assist(task, record, randomness=randomness)]).to_bytes(), None


def _record_number(record: Mapping[str, Any]) -> int:
    """Return the public number of a record; it is sent in clear, so that an error about it tells nothing."""
    number = record.get("record")
    if isinstance(number, str) and number.isascii() and number.isdecimal():
        number = int(number)
    if isinstance(number, bool) or not isinstance(number, int) or not 0 <= number < 1 << 63:
        raise BoundsError(f"'record' must be the public number of your record, a whole number. Got {number!r} instead.")
    return number
