"""From a record to the body that a holder posts, whatever the kind of task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.randomness import Randomness
from hedgerow.tasks.base import Task
from hedgerow.tasks.reports import Reports

__all__ = ["check_question", "make_body"]


def check_question(task: Task) -> tuple[str, ...]:
    """Return the names of what is asked; refuse one name for two things.

    A value that is to be randomised under a name must not be sent in clear because something public has the same one.

    >>> from hedgerow.tasks import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 9), features=["age"], feature_bounds=(0, 99),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> check_question(task)
    ('age', 'y')
    """
    asked = (task.before or task).question()
    if asked.label is not None and asked.names.count(asked.label.name) > 1:
        raise HedgerowError(f"this task calls both a feature and the label {asked.label.name!r}; do not answer it.")
    return task.question().names


def make_body(
    task: Task,
    record: Mapping[str, Any],
    randomness: Randomness | None = None,
    *,
    mask: Sequence[bool] | None = None,
    kept: Any = None,
) -> tuple[bytes, Any]:
    """Randomise one record: return a batch of one report, and what a second round will need.

    Whatever is in the record, there is a body, always of one length. What is public and travels in clear beside it may
    be wrong: the number of the record in a label task, the mask where holders choose one.

    >>> from hedgerow.tasks import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 9), features=["age"], feature_bounds=(0, 99),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> body, kept = make_body(task, {"age": 41, "y": 3})
    >>> len(Reports.from_bytes(task, body)), kept
    (1, None)
    """
    check_question(task)
    report = task.privatize_record(record, private=mask, kept=kept, randomness=randomness)
    return Reports.collect(task, [report]).to_bytes(), report.kept
