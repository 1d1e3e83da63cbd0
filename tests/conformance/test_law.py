"""The exact law of all bytes that a device sends is within epsilon: extreme tasks of every kind, strange records.

Every draw of the secure source is branched over (:mod:`hedgerow.audit.branching`): no law is written down by hand.
"""

import math
import os
from fractions import Fraction

import pytest

from hedgerow.audit.branching import branching
from hedgerow.audit.whole import WholeTask
from hedgerow.tasks.examples import Example
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import CellTask, ResidualTask, SemiTask
from tests.conformance.kinds import KINDS

TASKS = int(os.environ.get("CONFORMANCE_TASKS", "1"))  # extreme tasks of each kind; more take long
# Ends, beyond all floats, nothing, and no number: whatever these count as, they are neighbours of each other.
ODD = (-math.inf, 10**400, None, "abc", 0.3)


def neighbours(task):
    """Return records that differ in whatever the task protects; features in clear are the same in all."""
    first = getattr(task, "first", task)
    if isinstance(task, LabelTask):
        return tuple({"record": 7, task.target: value} for value in (*ODD, *(task.classes or ())))
    names = first.space.inputs
    masked = isinstance(first, SemiTask | ResidualTask) and first.masks != "hidden"
    hidden = names[:1] if masked else names
    found = []
    for label in ODD:
        for value in (-math.inf, math.inf) if label in ODD[:2] else (None,):
            record = dict.fromkeys(names, "in clear") | dict.fromkeys(hidden, value)
            classes = getattr(first, "classes", None)
            own = label if classes is None else {ODD[0]: classes[0], ODD[1]: classes[-1]}.get(label, label)
            found.append(record | {first.target: own})
    return tuple(found)


def example(kind, task):
    claim = {} if not isinstance(task, SemiTask) else {"claim": lambda t: t.epsilons[0]}
    mask = (True, False) if kind.masked else None
    left_out = Fraction(1, 1 << (16 if isinstance(task, CellTask) else 30))
    return Example(kind.name, lambda _: task, neighbours(task), mask, left_out=left_out, **claim)


@pytest.mark.parametrize("kind", KINDS, ids=lambda kind: kind.name)
def test_all_bytes_are_within_epsilon(kind):
    tasks = kind.tasks(4 * TASKS, small=True)[:TASKS]
    assert tasks
    with branching():
        for task in tasks:
            result = WholeTask(example(kind, task)).exact(float(task.guarantee.epsilon))
            assert result.holds, (task, result)
