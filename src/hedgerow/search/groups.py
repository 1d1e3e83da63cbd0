"""Who takes part in what: each record is in one group, by a coin of its own."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.features import category_lists
from hedgerow.frames import Frame, columns_of, is_text
from hedgerow.randomness import Randomness
from hedgerow.ranges import column_name
from hedgerow.types import IntArray
from hedgerow.values import numbers

__all__ = ["Groups", "as_table", "draw_groups", "rows_of"]

_SIDES = 10**6  # of the coin: shares are exact to a millionth
_TRIES = 1000  # of coins for all records: by hand; with ten records a group one is enough but once in 20,000 times


@dataclass(frozen=True, eq=False)
class Groups:
    """Row numbers: of each candidate, of the validation, and of the final fit (None: there is none)."""

    training: list[IntArray]
    validation: IntArray
    final: IntArray | None


def draw_groups(
    n: int, k: int, *, candidates: float, validation: float, refit: bool, may_be_empty: bool, source: Randomness
) -> Groups:
    """Toss a coin for each of ``n`` records.

    Where the number of records is no secret (``may_be_empty=False``), coins are tossed again until no group is empty;
    otherwise that would tell something, and an empty group is one.

    >>> from hedgerow.randomness import SeededRandomness
    >>> options = {"candidates": 0.3, "validation": 0.2, "refit": True, "may_be_empty": True}
    >>> groups = draw_groups(1000, 3, **options, source=SeededRandomness(0))
    >>> [len(rows) for rows in groups.training], len(groups.validation), len(groups.final)
    ([86, 109, 112], 209, 484)
    """
    measured = int(Fraction(validation) * _SIDES)
    learning = int(Fraction(candidates) * _SIDES) if refit else _SIDES - measured
    edges = [learning * (i + 1) // k for i in range(k)] + [learning + measured]
    if not may_be_empty and n < k + 1 + refit:
        raise HedgerowError(f"{k} settings need at least {k + 1 + refit} records. Got {n} instead.")
    coin = source.child("assignment")
    for _ in range(_TRIES):
        coins = coin.integers(_SIDES, n)
        group = np.searchsorted(edges, coins, side="right")
        rows = [np.flatnonzero(group == j) for j in range(k + 2)]
        if may_be_empty or all(len(part) for part in rows[: k + 1 + refit]):
            return Groups(rows[:k], rows[k], rows[k + 1] if refit else None)
    raise HedgerowError(f"{n} records are too few for {k} settings: try fewer settings, or collect more records.")


def as_table(X: Any, estimator: Any) -> Any:
    """Return records whose rows can be taken: an array as it is, a data frame as columns.

    What type a column has is judged by the whole column here, so that no group of rows can be judged otherwise.
    """
    names, columns = columns_of(X)
    if names is None or columns is None:
        return X
    declared = _categorical(estimator, names)
    data = {}
    for name, column in zip(names, columns, strict=True):
        data[name] = np.asarray(column, dtype=object)
        if name not in declared and not _holds_text(column):
            data[name] = numbers(column)
    return Frame(data, len(X))


def _categorical(estimator: Any, names: list[str]) -> set[str]:
    """Return the columns that are declared to hold categories."""
    if estimator.schema is not None:
        space = estimator.schema.space
        return {name for name, found in zip(space.inputs, space.is_categorical, strict=False) if found}
    chosen = {str(column_name(column, names)) for column in estimator.categorical_features or ()}
    return chosen | set(category_lists(estimator.categories, names))


def _holds_text(column: Any) -> bool:
    """Whether a column is text by its type; one of mixed type holds numbers if there is one in it."""
    if str(getattr(column, "dtype", "")).lower() == "object":
        return bool(np.isnan(numbers(column)).all())
    return is_text(column)


def rows_of(X: Any, rows: IntArray, *, blank: bool) -> Any:
    """Return these rows; with ``blank`` a record more, of which all is missing."""
    if isinstance(X, Frame):
        columns = {name: _with_blank(X[name][rows], blank) for name in X.columns}
        return Frame(columns, len(rows) + blank)
    return _with_blank(X[rows], blank)


def _with_blank(part: npt.NDArray[Any], blank: bool) -> npt.NDArray[Any]:
    if not blank:
        return part
    nothing: Any = None
    if part.dtype.kind in "biuf":
        part = part.astype(np.float64)
        nothing = np.nan
    row = np.full((1, *part.shape[1:]), nothing, dtype=part.dtype if part.dtype.kind == "f" else object)
    return np.concatenate([part, row])
