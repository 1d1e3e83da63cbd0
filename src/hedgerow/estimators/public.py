"""Public records beside private ones: whole, of the same columns, and of classes that are listed."""

from __future__ import annotations

from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.estimators.records import column_names
from hedgerow.frames import columns_of
from hedgerow.ranges import few

__all__ = ["check_public", "check_public_columns"]


def check_public(X_public: Any, y_public: Any) -> None:
    """Refuse public records without their labels, and labels without their records."""
    if X_public is not None and y_public is None:
        raise HedgerowError("'y_public' is required with 'X_public': the labels of the public records.")
    if X_public is None and y_public is not None:
        raise HedgerowError("'X_public' is required with 'y_public': the records of the public labels.")


def check_public_columns(X: Any, X_public: Any) -> None:
    """Refuse public records with other columns than the private ones; names say which, where both have them."""
    if X_public is None:
        return
    public, _ = columns_of(X_public)
    private, _ = columns_of(X)
    if public is None or private is None:
        _check_number(X, X_public)
        return
    lacking = [name for name in private if name not in public]
    further = [name for name in public if name not in private]
    found = []
    if lacking:
        found.append(f"it lacks {few(lacking)}")
    if further:
        found.append(f"it has {few(further)} besides")
    if found:
        raise HedgerowError(f"'X_public' must have the columns of 'X': {' and '.join(found)}. Pass the same columns.")


def _check_number(X: Any, X_public: Any) -> None:
    """Refuse another number of columns; whatever is no table is refused where it is read."""
    shape: Any = getattr(X_public, "shape", ())
    if len(shape) != 2:
        return
    wanted = len(column_names(X))
    if shape[1] != wanted:
        raise HedgerowError(
            f"'X_public' must have the {wanted} columns of 'X'. Got {shape[1]} instead: pass the same columns."
        )
