"""Where holders fall in the trees of an assisted task, compared with its public records."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hedgerow.tasks.assisted.shrink import share_contrast
from hedgerow.tasks.rules import tree_rules
from hedgerow.tasks.shift import LeafShift, ShiftReport, chi_square_tail

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.model import AssistedModel

__all__ = ["assisted_shift"]


def assisted_shift(model: AssistedModel) -> ShiftReport | None:
    """Compare the leaf shares that reports tell with the public ones; None where no report tells any.

    That is with randomisers that name the own leaf with a known probability. With levels a leaf is named more often
    where errors are larger, and what reports show of it may be either. Labels are not compared: reports hold the
    errors of a public model, and what that got wrong on public records of a leaf is not known.
    """
    task = model.task
    found = share_contrast(model.task, np.array(model.sums, dtype=np.int64))
    if not model.n_reports or not found.known.any() or any(joint.naming is None for joint in task.encoding.joint):
        return None
    z = found.z
    rules = [
        f"tree {t}: {rule}"
        for t, own in enumerate(tree_rules(task.trees, task.public_model, task.space))
        for rule in own
    ]
    rows = tuple(
        LeafShift(j, rule, float(np.clip(found.share[j], 0.0, 1.0)), float(found.public[j]), float(z[j]))
        for j, rule in enumerate(rules)
        if found.known[j]
    )
    p_share = chi_square_tail(float((z**2).sum()), float(found.known.sum()), found.variance)
    trees = np.repeat(np.arange(len(task.shares)), task.trees.n_leaves)[found.known]
    detectable = 0.5 * float(np.sqrt(found.expected[found.known]).sum()) / len(set(trees.tolist()))
    return ShiftReport(rows, p_share, 1.0, min(1.0, detectable))
