"""The exact audits that are quick enough to be run for a model card."""

from __future__ import annotations

from typing import Any

from hedgerow.audit.result import AuditResult
from hedgerow.audit.whole import WholeTask
from hedgerow.guarantee import LARGE_EPSILON
from hedgerow.tasks.examples import fitting

__all__ = ["audit_task"]


def audit_task(task: Any) -> tuple[AuditResult, ...]:
    """Audit small tasks like this one, whole and exactly, at the epsilon of its guarantee.

    Which are quick enough to be run (two seconds in all) depends on the kind and on epsilon, never on the clock: the
    same task has the same results. Without an epsilon that protects there is nothing to audit.

    Examples
    --------
    >>> from hedgerow.tasks.examples import find_example
    >>> [result.verdict for result in audit_task(find_example("pilot").build(1.0))]
    ['holds']
    """
    epsilon = float(task.guarantee.epsilon)
    if not 0 < epsilon <= LARGE_EPSILON:
        return ()
    chosen = [example for example in fitting(task) if epsilon >= example.quick_from]
    return tuple(WholeTask(example).exact(epsilon) for example in chosen)
