"""Tables as callers give them: the columns of a data frame (pandas, polars, Arrow), the rows of an array or a list."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError
from hedgerow.types import RealArray
from hedgerow.values import cells

__all__ = ["Frame", "columns_of", "floats_of", "is_text", "matrix_of", "rows_of", "take_columns"]


def columns_of(X: object) -> tuple[list[str] | None, list[Any] | None]:
    """Return names and columns of a data frame (pandas, polars, Arrow), or ``(None, None)``."""
    names = getattr(X, "column_names", getattr(X, "columns", None))  # Arrow's ``columns`` are the data
    if names is None or not hasattr(X, "__getitem__") or not hasattr(X, "shape"):
        return None, None
    names = list(names)
    return [str(c) for c in names], [cast("Any", X)[c] for c in names]


class Frame:
    """Columns by name, with as much of a data frame's interface as the library asks for."""

    def __init__(self, data: dict[str, npt.NDArray[Any]], rows: int) -> None:
        self._data = data
        self.columns = tuple(data)
        self.shape = (rows, len(data))

    def __getitem__(self, name: str) -> npt.NDArray[Any]:
        return self._data[name]

    def select(self, names: Sequence[str]) -> Frame:
        """Return these columns, in this order."""
        return Frame({name: self._data[name] for name in names}, self.shape[0])

    def __len__(self) -> int:
        return self.shape[0]


def take_columns(X: Any, names: Sequence[str]) -> Any:
    """Return a data frame of the same kind with these columns, in this order."""
    own = {str(name): name for name in getattr(X, "column_names", X.columns)}
    chosen = [own[name] for name in names]
    return X.select(chosen) if hasattr(X, "select") else X[chosen]


def matrix_of(X: object) -> npt.NDArray[Any]:
    """Return records as a matrix of whatever they hold."""
    array = np.asarray(X)
    if array.ndim != 2:
        raise BoundsError(
            f"'X' must be 2-dimensional (records x features). Got shape {array.shape} instead. "
            "Reshape your data with X.reshape(1, -1) if it is a single record."
        )
    return array


def rows_of(X: object, names: Sequence[str]) -> npt.NDArray[Any]:
    """Return private records in the order of ``names`` as an array of numbers, or of whatever they hold."""
    array = _from_rows(X, len(names)) if isinstance(X, list | tuple) else matrix_of(X)
    if array.dtype.kind == "c":
        raise BoundsError("Complex data not supported in 'X': pass real numbers.")
    if array.shape[1] != len(names):
        raise BoundsError(f"X has {array.shape[1]} features, but {len(names)} features are expected: {list(names)}.")
    return array


def _from_rows(X: Sequence[Any], d: int) -> npt.NDArray[Any]:
    """Return a list of rows as an array; a row of another length than the rest is one in which everything is missing.

    NumPy is not asked what it makes of them: it refuses some lists for what is in one of their rows.
    """
    rows = [cells(row) if isinstance(row, list | tuple | np.ndarray) else [] for row in X]
    widths = {len(row) for row in rows}
    if d not in widths:
        if len(widths) != 1 or widths == {0}:
            raise BoundsError("'X' must be 2-dimensional (records x features): a list of rows of values.")
        d = widths.pop()  # all alike: another number of columns, which the caller refuses
    out = np.empty((len(rows), d), dtype=object)
    for i, row in enumerate(rows):
        out[i] = row if len(row) == d else None
    return out


def is_text(column: Any) -> bool:
    """Whether a public column holds categories rather than numbers."""
    kind = str(getattr(column, "dtype", getattr(column, "type", ""))).lower()
    if kind == "object":  # anything can be in there: text makes it categorical, numbers alone do not
        return any(isinstance(v, str) for v in np.asarray(column, dtype=object))
    return kind in ("category", "str", "utf8") or kind.startswith(
        ("enum", "categorical", "string", "large_string", "dictionary")
    )


def floats_of(column: Any, name: str) -> RealArray:
    """Return a *public* column as floats."""
    array = np.asarray(column)
    if array.dtype in (np.float32, np.float64):
        return cast("RealArray", array)
    if array.dtype.kind == "c":
        raise BoundsError(f"Complex data not supported in {name!r}.")
    try:
        return cast("RealArray", array.astype(np.float64))
    except (TypeError, ValueError):
        raise BoundsError(
            f"column {name!r} is not numeric; declare it in categorical_features when designing the task."
        ) from None
