"""Public ranges as a caller gives them: read strictly, for a range that is misread clips everybody wrongly.

``feature_bounds`` is one of

* a pair ``(low, high)``, for all columns;
* an array of shape ``(2, d)``, lows first, then highs;
* a dictionary from column name (or position) to a pair.

A list of ``(low, high)`` pairs, one a column, looks like a ``(2, d)`` array if there are two columns, and is refused.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable, Mapping, Sequence
from numbers import Real
from typing import cast

import numpy as np
import numpy.typing as npt

from hedgerow.errors import BoundsError, shown

__all__ = ["Range", "column_name", "feature_ranges", "few", "listed_columns", "read_pair"]

Range = tuple[float, float]

_MANY = 20
"""Names that a message lists, of a table with more."""


def read_pair(value: object, name: str) -> Range:
    """Return ``(low, high)``, two finite numbers with ``low < high``; text is no number.

    >>> read_pair((0, 80), "label_bounds")
    (0.0, 80.0)
    >>> read_pair(("0", "80"), "label_bounds")
    Traceback (most recent call last):
    ...
    hedgerow.errors.BoundsError: 'label_bounds' must be numbers, not text. Got ('0', '80') instead.
    """
    parts = _parts(value)
    if isinstance(value, str | bytes) or any(isinstance(part, str | bytes) for part in parts):
        raise BoundsError(f"'{name}' must be numbers, not text. Got {shown(value)} instead.")
    if len(parts) != 2 or not all(isinstance(part, Real) for part in parts):
        raise BoundsError(f"'{name}' must be a pair (low, high). Got {shown(value)} instead.")
    low, high = (_float(part) + 0.0 for part in parts)  # -0.0 is 0.0: equal ranges have equal JSON
    if not (math.isfinite(low) and math.isfinite(high) and low < high):
        swapped = ""
        if low > high:
            swapped = f" Swap them: ({high:g}, {low:g})."
        raise BoundsError(f"'{name}' must be finite with low < high. Got {shown(value)} instead.{swapped}")
    return low, high


def feature_ranges(feature_bounds: object, names: Sequence[str], categorical: Collection[str] = ()) -> dict[str, Range]:
    """Return the range of every numeric column for which one is given; nothing if ``feature_bounds`` is None.

    Columns in ``categorical`` have none: what a pair or an array says of them is not used, and a dictionary that names
    one is refused.

    >>> feature_ranges({"age": (0, 99), 1: (0, 5)}, ["age", "rooms", "sex"], {"sex"})
    {'age': (0.0, 99.0), 'rooms': (0.0, 5.0)}
    >>> feature_ranges([(0, 1), (0, 5)], ["age", "rooms"])
    Traceback (most recent call last):
    ...
    hedgerow.errors.BoundsError: 'feature_bounds' looks like a list of (low, high) pairs, one a column. ...
    """
    if feature_bounds is None:
        return {}
    if isinstance(feature_bounds, Mapping):
        return _by_name(feature_bounds, names, categorical)
    numeric = [name for name in names if name not in categorical]
    array = _numbers(feature_bounds, len(names))
    if array.shape == (2,):
        return dict.fromkeys(numeric, read_pair(feature_bounds, "feature_bounds"))
    _refuse_pairs(feature_bounds, array, names)
    columns = dict(zip(names, array.T.tolist(), strict=True))
    return {name: read_pair(tuple(columns[name]), f"feature_bounds of {name}") for name in numeric}


def _by_name(given: Mapping[object, object], names: Sequence[str], categorical: Collection[str]) -> dict[str, Range]:
    found: dict[str, Range] = {}
    for key, value in given.items():
        name = column_name(key, names)
        if name is None:
            raise BoundsError(f"'feature_bounds' names an unknown column {shown(key)}; known are {few(names)}.")
        if name in categorical:
            raise BoundsError(f"'feature_bounds' names {name!r}, which is categorical and has no range; leave it out.")
        if name in found:
            raise BoundsError(f"'feature_bounds' gives the range of {name!r} twice, by name and by position.")
        found[name] = read_pair(value, f"feature_bounds of {name}")
    return found


def listed_columns(columns: object, names: Sequence[str], argument: str) -> list[str]:
    """Return the columns that a list of names or positions stands for; refuse what is no such list.

    >>> listed_columns(["age", 2], ["age", "rooms", "sex"], "private")
    ['age', 'sex']
    """
    if columns is None:
        return []
    if isinstance(columns, str | bytes | Mapping) or not isinstance(columns, Iterable):
        raise BoundsError(
            f"'{argument}' must be a list of column names or positions. Got {shown(columns)} instead: "
            f"pass {argument}=[{shown(columns)}]."
        )
    found: list[str] = []
    for key in columns:
        name = column_name(key, names)
        if name is None:
            raise BoundsError(f"'{argument}' names an unknown column {shown(key)}; known are {few(names)}.")
        if name in found:
            raise BoundsError(f"'{argument}' names the column {name!r} twice: say it once. Got {shown(columns)}.")
        found.append(name)
    return found


def few(names: Sequence[str]) -> str:
    """Return names for a message; of many only the first.

    >>> few(["age", "sex"]), few([f"x{j}" for j in range(73)])[-20:]
    ("['age', 'sex']", "'x19'] and 53 others")
    """
    listed = str(list(names[:_MANY]))
    return listed if len(names) <= _MANY else f"{listed} and {len(names) - _MANY} others"


def column_name(key: object, names: Sequence[str]) -> str | None:
    """Return the column that a name or a position stands for."""
    if isinstance(key, int | np.integer) and not isinstance(key, bool) and str(key) not in names:
        return names[int(key)] if 0 <= int(key) < len(names) else None
    return str(key) if str(key) in names else None


def _numbers(feature_bounds: object, d: int) -> npt.NDArray[np.float64]:
    """Return a pair or a matrix as an array, or say what is wrong with it."""
    try:
        array = np.asarray(feature_bounds)
    except ValueError:  # rows of different lengths
        array = np.empty(0, dtype=object)
    if array.dtype.kind in "US":
        raise BoundsError(f"'feature_bounds' must be numbers, not text. Got {shown(feature_bounds)} instead.")
    numeric = array.dtype.kind in "iuf"
    if numeric and array.shape == (d, 2) and d != 2:
        raise _pairs(feature_bounds)
    if not numeric or array.shape not in ((2,), (2, d)):
        raise BoundsError(
            f"'feature_bounds' must be a pair (low, high), an array of shape (2, {d}) of lows and highs, or a dict "
            f"{{column: (low, high)}}. Got {shown(feature_bounds)} instead."
        )
    return array.astype(np.float64)


def _refuse_pairs(feature_bounds: object, array: npt.NDArray[np.float64], names: Sequence[str]) -> None:
    """Refuse nested lists for two columns that make sense as a pair for each column."""
    if array.shape == (2, 2) and not isinstance(feature_bounds, np.ndarray) and (array[:, 0] < array[:, 1]).all():
        raise _pairs(feature_bounds)


def _pairs(feature_bounds: object) -> BoundsError:
    return BoundsError(
        "'feature_bounds' looks like a list of (low, high) pairs, one a column. Pass a dict "
        "{column: (low, high)}, or an array of shape (2, d) with all lows first: "
        f"np.array([[low, ...], [high, ...]]). Got {shown(feature_bounds)} instead."
    )


def _parts(value: object) -> list[object]:
    """Return the items of a flat list; nothing if it is something else."""
    flat = hasattr(value, "__len__") and hasattr(value, "__iter__") and getattr(value, "ndim", 1) == 1
    return list(cast("Sequence[object]", value)) if flat and not isinstance(value, str | bytes | Mapping) else []


def _float(value: object) -> float:
    """Return a number as a float; one too large for a float is infinite."""
    try:
        return float(cast("float", value))
    except OverflowError:
        return math.inf
