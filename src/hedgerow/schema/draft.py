"""A proposal for each column, from PUBLIC rows: what a person then checks and corrects.

Nothing of this is private: the lowest and the highest value are in the ranges, and names are in the lists.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from hedgerow.errors import BoundsError
from hedgerow.features import MISSING
from hedgerow.frames import columns_of, is_text, matrix_of
from hedgerow.ranges import Range
from hedgerow.schema.columns import (
    CategoryColumn,
    ClassColumn,
    Column,
    NumberColumn,
    WholeNumberColumn,
    YesNoColumn,
)
from hedgerow.types import FloatArray
from hedgerow.values import category, cells, number

__all__ = ["OTHER", "draft_column", "draft_label", "public_columns", "round_out"]

OTHER = "other"
"""The category of values that are not listed, and of missing ones where public rows have no gaps."""

MOST = 100
"""Most categories of a drafted list, as on the command line; rarer ones count as other. A longer list is more likely
one of names or numbers of people."""

_PAIRS = (("no", "yes"), ("n", "y"), ("false", "true"), ("nein", "ja"), ("non", "oui"))


def public_columns(frame: Any, names: Sequence[str] | None) -> dict[str, Any]:
    """Return the columns of a table by name: a frame's, a dict's, or those of an array and ``names``."""
    if isinstance(frame, Mapping):
        found = [str(name) for name in frame]
        columns = list(frame.values())
    else:
        own, own_columns = columns_of(frame)
        if own is not None and own_columns is not None:
            found = own
            columns = own_columns
        else:
            # Of a list of rows NumPy would make text of all values if one is text.
            array = matrix_of(np.array(frame, dtype=object) if isinstance(frame, list | tuple) else frame)
            found = [f"x{j}" for j in range(array.shape[1])] if names is None else [str(name) for name in names]
            columns = [array[:, j] for j in range(array.shape[1])]
            names = None
    if names is not None:
        raise BoundsError("'names' is for arrays; this table has names of its own: leave it out.")
    if len(found) != len(columns):
        raise BoundsError(f"'names' must name each of the {len(columns)} columns. Got {len(found)} instead.")
    if twice := [name for name in found if found.count(name) > 1]:
        raise BoundsError(f"the public table has two columns named {twice[0]!r}; rename one.")
    return dict(zip(found, columns, strict=True))


def draft_column(name: str, column: Any) -> tuple[Column | None, tuple[str, ...]]:
    """Return a column as its public values suggest, and which facts are guesses; None if it has no value at all."""
    found = cells(column)
    values = [value for value in found if not _is_missing(value)]
    if not values:
        return None, ("left out",)
    pair = _yes_no(values)
    if pair is not None:
        return YesNoColumn(name, *pair), ("kind", "unknown")
    if _holds_categories(column, values):
        listed = [value for value in _listed(column, values, MOST) if value not in (OTHER, MISSING)]
        gaps = len(values) < len(found) or any(category(value) == MISSING for value in values)
        own = (MISSING,) if gaps else ()
        return CategoryColumn(name, (*listed, OTHER, *own), OTHER), ("categories", "unknown", "missing")
    return _numbers(name, values)


def draft_label(name: str, column: Any) -> tuple[Column, tuple[str, ...]]:
    """Return a label as its public values suggest: bounds of numbers, classes of everything else."""
    values = [value for value in cells(column) if not _is_missing(value)]
    if not values:
        raise BoundsError(
            f"the label {name!r} has no value in the public rows; pass target=None, then with_label(...)."
        )
    if all(isinstance(value, bool | np.bool_) for value in values):
        return ClassColumn(name, (False, True)), ("classes", "missing")
    pair = _yes_no(values)
    if pair == ("0", "1"):
        return ClassColumn(name, (0, 1)), ("kind", "classes", "missing")
    if pair is not None:
        return ClassColumn(name, pair), ("classes", "missing")
    if _holds_categories(column, values):
        return ClassColumn(name, tuple(_listed(column, values, None))), ("classes", "missing")
    return _numbers(name, values)


def _is_missing(value: object) -> bool:
    name = category(value)
    return name is None or name == ""


def _yes_no(values: list[Any]) -> tuple[str, str] | None:
    """Return how no and yes are spelled, if nothing else occurs."""
    if all(isinstance(value, bool | np.bool_) for value in values):
        return "False", "True"
    spelled = sorted({str(category(value)) for value in values})
    if len(spelled) != 2:
        return None
    if spelled == ["0", "1"]:
        return "0", "1"
    by_word = {word.strip().lower(): word for word in spelled}
    for no, yes in _PAIRS:
        if set(by_word) == {no, yes}:
            return by_word[no], by_word[yes]
    return None


def _holds_categories(column: Any, values: list[Any]) -> bool:
    """Whether a column holds categories: by its type, because text is among its values, or as it has no number."""
    if str(getattr(column, "dtype", "")).lower() != "object" and is_text(column):
        return True
    return any(isinstance(value, str) for value in values) or all(math.isnan(number(value)) for value in values)


def _listed(column: Any, values: list[Any], most: int | None) -> list[str]:
    """Return the categories in the order that the column's type declares, else by name; of too many the commonest."""
    counts = Counter(str(category(value)) for value in values)
    dtype = getattr(column, "dtype", None)
    declared = str(dtype).lower().startswith(("category", "enum"))  # pandas, polars; its Categorical has no order
    listed = cells(getattr(dtype, "categories", None)) if declared else []
    ordered = [str(category(value)) for value in listed if not _is_missing(value)]
    if not set(counts) <= set(ordered):
        ordered = sorted(counts)
    if most is not None and len(ordered) > most:
        kept = {name for name, _ in counts.most_common(most)}
        ordered = [name for name in ordered if name in kept]
    return ordered


def _numbers(name: str, values: list[Any]) -> tuple[Column, tuple[str, ...]]:
    found: FloatArray = np.array([number(value) for value in values], dtype=np.float64)
    finite = found[np.isfinite(found)]
    if not finite.size:
        raise BoundsError(f"public column {name!r} has no finite number; leave it out, or correct it.")
    low, high = round_out(float(finite.min()), float(finite.max()))
    whole = bool((finite == np.floor(finite)).all()) and low.is_integer() and high.is_integer()
    kind = WholeNumberColumn if whole else NumberColumn
    return kind(name, low, high), ("kind", "range", "missing")


def round_out(low: float, high: float) -> Range:
    """Return a range with round ends that holds this one; the ends of a constant column are made to differ.

    Ends are multiples of 1, 2 or 5 times a power of ten, of which the range has from 10 to 25.

    >>> round_out(17, 93), round_out(0.013, 0.9), round_out(5, 5), round_out(-3.2, 12_345)
    ((15.0, 95.0), (0.0, 0.9), (0.0, 10.0), (-1000.0, 13000.0))
    """
    if low == high:
        half = abs(low) or 1.0
        low = min(low, low - half)
        high = max(high, high + half)
    low = max(low, -_LARGEST)
    high = min(high, _LARGEST)
    step = _step(high / 2 - low / 2)
    rounded = _multiple(low, step, math.floor), _multiple(high, step, math.ceil)
    return min(low, rounded[0]) + 0.0, max(high, rounded[1]) + 0.0


_LARGEST = float(np.finfo(np.float64).max)


def _step(half: float) -> float:
    """Return the largest of 1, 2, 5 times a power of ten of which the width has at least 10; 0 if there is none."""
    exponent = math.floor(math.log10(half)) - 1 if half > 0 else -400
    steps = [float(f"{digit}e{power}") for power in (exponent, exponent + 1) for digit in (1, 2, 5)]
    return max((step for step in steps if 0 < step <= half / 5), default=0.0)


def _multiple(value: float, step: float, rounding: Any) -> float:
    """Return the next multiple of a step, written with no more digits than the step has; itself if there is none."""
    if step <= 0 or not math.isfinite(value / step):
        return value
    digits = -math.floor(math.log10(step))
    multiple = round(rounding(value / step) * step, digits) if abs(digits) < 300 else value
    return multiple if math.isfinite(multiple) else value
