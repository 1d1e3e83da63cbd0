"""The holder's side: a record goes in, a report comes out, and nothing else leaves.

Needs NumPy and the standard library only.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.tasks.records import IN_RECORD

if TYPE_CHECKING:
    from hedgerow.randomness import Randomness
    from hedgerow.tasks.base import Task
    from hedgerow.tasks.reports import Report, Reports

__all__ = ["privatize", "privatize_many"]


def privatize(
    task: Task,
    record: Any,
    label: object = IN_RECORD,
    *,
    private: Any = None,
    kept: Any = None,
    randomness: Randomness | int | None = None,
) -> Report:
    """Randomise one record on its holder's device: whatever is in it, there is a report, always of one length.

    Parameters
    ----------
    task : Task
        The published task, of any kind; check its id and guarantee before answering.
    record : mapping or sequence
        Feature values by name, or in the order of the task; see :mod:`hedgerow.values` for how they count.
    label : float or class name, optional
        The label; may instead be in the mapping under ``task.target``. None is a missing label.
    private : bool array, optional
        Where the task lets holders choose: True where a feature is protected.
    kept : optional
        In a second round: what the first one kept on the device, ``report.kept``.
    randomness : optional
        Secure by default; an int or a seeded source makes a simulation.

    Examples
    --------
    >>> from hedgerow.tasks import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> report = privatize(task, {"age": 41, "y": 12.5})
    >>> len(report.to_bytes()), report.simulation
    (22, False)
    >>> len(privatize(task, {"age": "unknown", "y": float("nan")}).to_bytes())
    22
    """
    return task.privatize_record(record, label, private=private, kept=kept, randomness=randomness)


def privatize_many(
    task: Task,
    X: object,
    y: object = None,
    randomness: Randomness | int | None = None,
    *,
    private: Any = None,
    kept: Any = None,
) -> Reports:
    """Randomise many records, each as :func:`privatize` would (for simulation and for trusted gateways)."""
    return task.privatize(X, y, private=private, kept=kept, randomness=randomness)
