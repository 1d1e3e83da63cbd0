"""Reading records for a task: from any record comes one that can be reported, by the task's public rule.

An error about one record would be silence about it, and silence tells on the record. So values are absorbed
(:mod:`hedgerow.values`), and should encoding fail for a reason that nobody thought of, the *fixed* record is reported
in place of the true one: the record of which everything is missing. What is wrong with a call whatever the record (a
table of another shape, a label that was not passed at all) is still an error.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError
from hedgerow.space import FeatureSpace
from hedgerow.types import RealArray
from hedgerow.values import field

__all__ = ["IN_RECORD", "Reads", "for_each", "one", "read_record", "read_table"]


IN_RECORD: Any = type("InRecord", (), {"__repr__": lambda self: "IN_RECORD"})()
"""The label is in the record, under the task's target; None is a missing label."""


class Reads(Protocol):
    """What a task needs for its records to be read."""

    @property
    def target(self) -> str:
        """What the label is called."""

    @property
    def space(self) -> FeatureSpace:
        """The public schema of the features."""

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> RealArray:
        """Return labels as numbers."""


def one(value: object) -> npt.NDArray[np.object_]:
    """Return a column of one value, whatever it is; NumPy would look into a list."""
    column = np.empty(1, dtype=object)
    column[0] = value
    return column


def read_record(task: Reads, record: object, label: object = IN_RECORD) -> tuple[RealArray, RealArray]:
    """Return one record, encoded, of shape (1, d), and its label.

    Examples
    --------
    >>> from hedgerow.tasks.tree.task import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> [part.tolist() for part in read_record(task, {"age": "old", "y": 10**400})]
    [[[49.5]], [80.0]]
    """
    if label is IN_RECORD:
        if not isinstance(record, Mapping):
            raise BoundsError(f"'label' is required: pass it, or put it in the record as {task.target!r}.")
        label = field(record, task.target)
    try:
        return task.space.encode_record(record)[None, :], task.labels(one(label))
    except Exception:
        return fixed(task)


def fixed(task: Reads) -> tuple[RealArray, RealArray]:
    """Return the record of which everything is missing."""
    return task.space.missing[None, :], task.labels(one(None))


def read_table(task: Reads, X: object, y: object) -> tuple[RealArray, RealArray]:
    """Return many records, encoded, and their labels; columns that ``X`` lacks are missing, with one warning."""
    Z = task.space.encode(X, fill=True)
    return Z, task.labels(y, n=len(Z))


def for_each(task: Reads, inputs: Callable[[Any, Any], tuple[Any, ...]], Z: Any, y: Any) -> tuple[Any, ...]:
    """Return ``inputs(Z, y)``: what a mechanism is to randomise; of the fixed record for any for which that fails.

    ``inputs`` draws nothing. It is called for all records at once; only if it raises, for one after the other. It must
    work for the fixed record: a task for which it does not is answered by nobody.
    """
    with np.errstate(all="ignore"):
        try:
            return inputs(Z, y)
        except Exception:
            instead = inputs(*fixed(task))
            found = [_or(inputs, Z[i : i + 1], y[i : i + 1], instead) for i in range(len(Z))]
        return tuple(np.concatenate(parts) for parts in zip(*found, strict=True)) if found else inputs(Z, y)


def _or(inputs: Callable[[Any, Any], tuple[Any, ...]], Z: Any, y: Any, instead: tuple[Any, ...]) -> tuple[Any, ...]:
    try:
        return inputs(Z, y)
    except Exception:
        return instead
