"""The picture of a report to a tree."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.tasks.picture import Panel, marked, named, shares, values
from hedgerow.tasks.tree.encoding import unpack

if TYPE_CHECKING:
    from hedgerow.tasks.tree.task import LocalTask
    from hedgerow.types import ByteRows

__all__ = ["picture"]


def picture(task: LocalTask, rows: ByteRows, Z: Any, y: Any) -> tuple[Panel, ...]:
    """Return what could have been sent of the group and the label of one record."""
    e: Any = task.encoding
    leaf = int(task.partition.apply(Z)[0])
    label = float(y[0])
    if task.response == "bits":
        p = float(e.cell.p)
        bits = unpack(rows[:, e._label_bytes :], task.n_leaves)[0]
        codes = (-e.label.reach, task.grid.n_steps + e.label.reach)
        noisy = values(task.grid, e.label, codes, int(e._labels(rows)[0]), label)
        return noisy, marked({leaf: 1.0}, p, 1 - p, bits.tolist())
    own = {leaf * e.n_levels + level: share for level, share in shares(task.grid, label).items()}
    p = float(e.mechanism.p)
    q = float(e.mechanism.q)
    if task.response == "k_ary":
        return (named(own, e.n_cells, p, q, int(e._cells(rows)[0])),)
    return (marked(own, p, q, unpack(rows, e.n_cells)[0].tolist()),)
