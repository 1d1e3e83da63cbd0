"""Masks: which features of which holder are private."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError, shown
from hedgerow.ranges import listed_columns
from hedgerow.tasks.partly_public.masks import check_mask

__all__ = ["is_aligned", "mask_note", "mask_of", "read_mask"]

_WAYS = "a list of column names or positions, 'all', or a mask of True and False of shape (d,) or (n, d)"
_TRUE = {"1", "true", "yes", "private"}
_FALSE = {"0", "false", "no", "public"}


def mask_of(private: Any, n: int, names: Sequence[str]) -> npt.NDArray[np.bool_]:
    """Return a mask of shape ``(n, d)`` from a list of columns, ``"all"``, or a mask for everybody or for each.

    >>> mask_of(["sex"], 1, ["age", "sex"]).tolist(), mask_of("all", 1, ["age", "sex"]).tolist()
    ([[False, True]], [[True, True]])
    """
    d = len(names)
    if private is None or (isinstance(private, str) and private != "all"):
        remedy = "" if private is None else f" Pass private=[{shown(private)}] for one column."
        raise BoundsError(f"'private' must be {_WAYS}. Got {shown(private)} instead.{remedy}")
    if isinstance(private, str):
        return check_mask(np.ones(d, dtype=bool), n, d)
    array = np.asarray(private)
    if array.dtype == np.bool_ or array.ndim != 1:
        return check_mask(array, n, d)
    if array.dtype.kind in "iu" and d > 1 and len(array) == d and np.isin(array, (0, 1)).all():
        raise BoundsError(
            "'private' of zeros and ones may be positions or a mask: pass a list of True and False, or of column "
            f"names. Got {shown(private)} instead."
        )
    chosen = listed_columns(private, names, "private")
    return check_mask(np.isin(list(names), chosen), n, d)


def is_aligned(private: Any) -> bool:
    """Return whether a mask is a policy: the same for everybody."""
    return isinstance(private, str) or np.ndim(private) == 1


def mask_note(private: Any) -> str:
    """Return the condition under which a mask may be sent in clear."""
    if is_aligned(private):
        return "conditional on the mask: the private features are fixed in advance for everybody"
    return (
        "conditional on the mask: each holder's choice of private features is sent in clear, so it must not depend on "
        "private values"
    )


def read_mask(path: str | PathLike[str], names: tuple[str, ...], n: int) -> npt.NDArray[np.bool_]:
    """Read a mask file: a CSV with the feature names as header and one row a holder, 1 where private.

    ``true``/``false``, ``yes``/``no`` and ``private``/``public`` do as well. Columns that are left out are private:
    nothing becomes public because it was forgotten.
    """
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = list(csv.reader(file))
    header = [c.strip() for c in rows[0]] if rows else []
    unknown = sorted(set(header) - set(names))
    if not header or unknown:
        raise BoundsError(f"{path}: the header must name features; unknown: {unknown}, known: {list(names)}.")
    if len(set(header)) != len(header):
        raise BoundsError(f"{path}: the header names a feature twice: {header}; say once whether it is private.")
    if len(rows) - 1 != n:
        raise BoundsError(f"{path}: a mask needs one row a record: {n}. Got {len(rows) - 1} instead.")
    mask = np.ones((n, len(names)), dtype=bool)
    for i, row in enumerate(rows[1:]):
        if len(row) != len(header):
            raise BoundsError(f"{path}, row {i + 1}: expected {len(header)} entries. Got {len(row)} instead.")
        for name, text in zip(header, row, strict=True):
            word = text.strip().lower()
            if word not in _TRUE | _FALSE:
                raise BoundsError(f"{path}, row {i + 1}, column {name!r}: expected 0 or 1. Got {text!r} instead.")
            mask[i, names.index(name)] = word in _TRUE
    return mask
