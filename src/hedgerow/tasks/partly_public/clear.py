"""The part of a report that is in clear: the mask, where each holder chooses, and the features that are not private.

Little-endian bytes::

    m      the mask, one bit a column (masks="personal" only)
    8 d    the features as float64, 0 where private (public columns only under a policy; none if hidden)
"""

from __future__ import annotations

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.tasks.partly_public.masks import Masked
from hedgerow.tasks.tree.encoding import check_padding, pack, unpack
from hedgerow.types import BoolArray, ByteRows, FloatArray

__all__ = ["check_clear", "clear_bytes", "clear_width", "read_clear"]


def clear_width(task: Masked) -> int:
    """Return the number of bytes."""
    return _mask_bytes(task) + 8 * int(_sent(task).sum())


def clear_bytes(task: Masked, private: BoolArray, Z: FloatArray) -> ByteRows:
    """Return one row a holder; what is private is not in it."""
    sent = np.where(private, 0.0, Z)[:, _sent(task)] + 0.0  # no -0.0
    rows = np.ascontiguousarray(sent, dtype="<f8").view(np.uint8).reshape(len(sent), 8 * sent.shape[1])
    return np.hstack([pack(private), rows]) if task.masks == "personal" else rows


def read_clear(task: Masked, rows: ByteRows) -> tuple[BoolArray, FloatArray]:
    """Return masks and features (0 where private)."""
    d = len(task.space)
    n = len(rows)
    at = _mask_bytes(task)
    if task.masks == "personal":
        check_padding(rows[:, :at], d)
        private = unpack(rows[:, :at], d).astype(bool)
    else:
        private = task.effective(None, n)
    sent = _sent(task)
    Z = np.zeros((n, d))
    Z[:, sent] = np.ascontiguousarray(rows[:, at:]).view("<f8").reshape(n, int(sent.sum()))
    return private, Z


def check_clear(task: Masked, private: BoolArray, Z: FloatArray) -> None:
    """Refuse private features that are sent, and features outside their ranges."""
    space = task.space
    if (space.spread(private[:, : len(space.columns)]) != private).any():
        raise FormatError("a report says of a private value whether it is missing, or hides it of a public one.")
    if not np.isfinite(Z).all() or (Z[private] != 0).any():
        raise FormatError("a report has a feature that is not finite, or one that its mask calls private.")
    inside = private | ((space.low <= Z) & (space.high >= Z))
    whole = private | ~space.is_categorical | (np.floor(Z) == Z)
    if not (inside & whole).all():
        raise FormatError("a report has a feature outside the public ranges; it was not made for this task.")


def _mask_bytes(task: Masked) -> int:
    return (len(task.space) + 7) // 8 if task.masks == "personal" else 0


def _sent(task: Masked) -> BoolArray:
    if task.masks == "personal":
        return np.ones(len(task.space), dtype=bool)
    return ~task.policy if task.masks == "policy" else np.zeros(len(task.space), dtype=bool)
