"""The pictures of reports about a public model's error."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.mechanisms.joint import SignedSubset
from hedgerow.tasks.picture import Panel, named, shares, told

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.class_task import AssistedClassTask
    from hedgerow.tasks.assisted.pilot import PilotTask
    from hedgerow.tasks.assisted.task import AssistedTask
    from hedgerow.types import ByteRows

__all__ = ["class_picture", "picture", "pilot_picture"]


def pilot_picture(task: PilotTask, rows: ByteRows, Z: Any, y: Any) -> tuple[Panel, ...]:
    """Return which bins of the error could have been named."""
    (own,) = task.inputs(Z, y)
    response = task.encoding.response
    p = float(response.p)
    q = float(response.q)
    return (named({int(own[0]): 1.0}, task.encoding.n_inputs, p, q, int(rows[0, 0])),)


def picture(task: AssistedTask, rows: ByteRows, Z: Any, y: Any) -> tuple[Panel, ...]:
    """Return what could have been said of the group in the tree that was drawn, and of the error."""
    leaves, errors = task.inputs(Z, y)
    tree = int(rows[0, 0])
    joint: Any = task.encoding.joint[tree]
    leaf = int(leaves[0, tree])
    levels = shares(task.grid, float(errors[0]))
    sent = task.encoding._unpack(rows)
    if isinstance(joint, SignedSubset):
        scores = sent[0, : joint.n_leaves]
        p, turned = (float(chance) for chance in joint._own)
        other = float(joint.naming[1])
        return (
            told(levels.get(1, 0.0), (p, turned, other), int(scores[leaf]), (np.delete(scores, leaf) != 0).tolist()),
        )
    own: dict[int, float] = {}
    for level, share in levels.items():
        symbol = int(joint.symbols(np.array([leaf * joint.n_levels + level]))[0])
        own[symbol] = own.get(symbol, 0.0) + share
    p = float(joint.response.p)
    q = float(joint.response.q)
    return (named(own, joint.n_symbols, p, q, int(sent[0])),)


def class_picture(task: AssistedClassTask, rows: ByteRows, Z: Any, y: Any) -> tuple[Panel, ...]:
    """Return what could have been said about the class that was drawn."""
    drawn = int(rows[0, 0])
    part = task.tasks[drawn]
    first = len(task.classes) - len(task.asked)
    own = (np.asarray(y) == first + drawn).astype(np.float64)
    return picture(part, rows[:, 1 : 1 + part.encoding.width], Z, own)
