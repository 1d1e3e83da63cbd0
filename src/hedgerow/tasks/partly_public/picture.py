"""The pictures of reports in two rounds."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.tasks.picture import Panel, marked, named, values
from hedgerow.tasks.tree.encoding import unpack

if TYPE_CHECKING:
    from hedgerow.tasks.partly_public.cells import CellTask
    from hedgerow.tasks.partly_public.task import SemiTask
    from hedgerow.types import ByteRows

__all__ = ["first_picture", "second_picture"]


def first_picture(task: SemiTask, rows: ByteRows, Z: Any, y: Any, private: Any) -> tuple[Panel, ...]:
    """Return what the label, or the error, could have been sent as."""
    hidden = bool(task.effective(private, 1).any())
    noise = task.label.coarse if hidden else task.label.fine
    sent = int(task.encoding.read(rows)[0][0])
    codes = (-noise.reach, task.grid.n_steps + noise.reach)
    panel = values(task.grid, noise, codes, sent, float(task.reported(Z, y)[0]))
    return (replace(panel, error=task.assist is not None),)


def second_picture(task: CellTask, rows: ByteRows, Z: Any) -> tuple[Panel, ...]:
    """Return which of the groups that fit could have been named, or marked."""
    _, candidates, answer = task.encoding.read(rows)
    may = np.flatnonzero(unpack(candidates, task.n_cells)[0])
    own = int(np.searchsorted(may, int(task.partition.apply(Z)[0])))
    p, q = task.probabilities(len(may))
    if task.response == "k_ary":
        return (named({own: 1.0}, len(may), p, q, int(np.searchsorted(may, int(answer[0])))),)
    bits = unpack(answer.astype(np.uint8), task.n_cells)[0][may]
    return (marked({own: 1.0}, p, q, bits.tolist()),)
