"""What is publicly known of a column: the range of a number, the list of a category's names.

Nothing here is ever computed from private data. Every value has a code, by a public rule (:mod:`hedgerow.values`):
whatever lies outside is clipped, missing values and unknown categories become what the feature says, and nothing is an
error, for a record that stays silent because of its value would leak that value.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

import numpy as np

from hedgerow.content import Content
from hedgerow.errors import BoundsError, shown
from hedgerow.grid import middle
from hedgerow.ranges import column_name, few
from hedgerow.types import FloatArray, RealArray
from hedgerow.values import category, cells, number, numbers

__all__ = ["MISSING", "CategoricalFeature", "Feature", "NumericFeature", "category_lists", "category_name"]

MISSING = "missing"
"""The category of missing values, where a list has one of this name."""


@dataclass(frozen=True)
class NumericFeature(Content, what="numeric feature"):
    """A numeric column with a public range; values outside are clipped, missing ones count as ``missing``.

    With ``indicator`` a space has a yes/no feature beside it that says whether the value is missing.

    >>> NumericFeature("age", 0, 99).value("150"), NumericFeature("age", 0, 99, missing=40).value("old")
    (99.0, 40.0)
    """

    name: str
    low: float
    high: float
    missing: float = cast("float", None)
    indicator: bool = False

    def __post_init__(self) -> None:
        # Plain floats without -0.0: equal features have equal JSON, hence equal digests.
        object.__setattr__(self, "low", float(self.low) + 0.0)
        object.__setattr__(self, "high", float(self.high) + 0.0)
        if not (math.isfinite(self.low) and math.isfinite(self.high) and self.low <= self.high):
            raise BoundsError(
                f"'feature_bounds' of {self.name!r} must be finite with low <= high. "
                f"Got ({self.low}, {self.high}) instead."
            )
        object.__setattr__(self, "missing", middle(self.low, self.high, self.missing, repr(self.name)))
        if not isinstance(self.indicator, bool):
            raise BoundsError(f"'indicator' of {self.name!r} must be True or False. Got {self.indicator!r} instead.")

    def value(self, value: object) -> float:
        """Return the number that one value of this column counts as."""
        x = number(value)
        return self.missing if math.isnan(x) else min(max(x, self.low), self.high)

    def decode(self, code: float) -> float:
        """Undo :meth:`value`."""
        return code

    def column(self, column: object, n: int | None = None) -> RealArray:
        """Return a column as floats, missing values as NaN; :meth:`FeatureSpace.encode` clips and fills them in."""
        return numbers(column, n)


@dataclass(frozen=True)
class CategoricalFeature(Content, what="categorical feature"):
    """A column with a public list of categories (kept as strings).

    A missing value (an empty text, too, unless that is listed) counts as ``missing``, any other that is not listed as
    ``unknown``. Both are categories of the list: ``unknown`` is by default ``"other"`` if that is listed, else the
    first, and ``missing`` is by default ``"missing"`` if that is listed, else ``unknown``.

    >>> CategoricalFeature("sex", ("F", "M", "other", "missing")).codes(["M", "X", None]).tolist()
    [1.0, 2.0, 3.0]
    """

    name: str
    categories: tuple[str, ...]
    unknown: str = cast("str", None)
    missing: str = cast("str", None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "categories", tuple(category_name(c) for c in self.categories))
        if not self.categories or len(set(self.categories)) != len(self.categories):
            raise BoundsError(
                f"'categories' of {self.name!r} must be a list of distinct names. Got {shown(self.categories)} instead."
            )
        if self.unknown is None:
            object.__setattr__(self, "unknown", "other" if "other" in self.categories else self.categories[0])
        if self.missing is None:
            object.__setattr__(self, "missing", MISSING if MISSING in self.categories else self.unknown)
        for rule in ("unknown", "missing"):
            value = category_name(getattr(self, rule))
            object.__setattr__(self, rule, value)
            if value not in self.categories:
                raise BoundsError(f"'{rule}' of {self.name!r} must be one of its categories. Got {value!r} instead.")

    def value(self, value: object) -> float:
        """Return the code that one value of this column counts as."""
        return float(self.codes([value])[0])

    def decode(self, code: float) -> str:
        """Undo :meth:`value`."""
        return self.categories[int(code)]

    def column(self, column: object, n: int | None = None) -> RealArray:
        """Return the codes of a column."""
        return self.codes(column, n)

    def codes(self, column: object, n: int | None = None) -> FloatArray:
        """Map values to their position in the category list; others to that of ``missing`` or of ``unknown``."""
        index = {c: float(i) for i, c in enumerate(self.categories)}
        other = index[self.unknown]
        index.setdefault("", index[self.missing])
        index[cast("str", None)] = index[self.missing]
        array = column if isinstance(column, np.ndarray) and column.ndim == 1 else None
        if array is not None and array.dtype.kind in "fiub" and n in (None, array.size):
            distinct, place = np.unique(array, return_inverse=True)  # few, of many records
            own = np.array([index.get(cast("str", category(v)), other) for v in distinct], dtype=np.float64)
            return np.asarray(own[place])
        values = cells(column, n)
        if set(map(type, values)) == {str}:
            return np.array([index.get(v, other) for v in values], dtype=np.float64)
        return np.array([index.get(cast("str", category(v)), other) for v in values], dtype=np.float64)


Feature = NumericFeature | CategoricalFeature


def category_name(value: Any) -> str:
    """Return the canonical name of a category of a public list: 1, 1.0 and np.int64(1) are all ``"1"``."""
    name = category(value)
    if name is None:
        raise BoundsError("a category of a public list is missing (None or NaN); leave it out, or give it a name.")
    return name


def category_lists(
    categories: Mapping[Any, Sequence[object]] | None, names: Sequence[str]
) -> dict[str, tuple[str, ...]]:
    """Return category lists by column name, from lists by name or position; refuse columns that are not there.

    >>> category_lists({1: ["F", "M"]}, ["age", "sex"])
    {'sex': ('F', 'M')}
    """
    found: dict[str, tuple[str, ...]] = {}
    if categories is not None and not isinstance(categories, Mapping):
        raise BoundsError(
            "'categories' must be a dict of lists by column: pass categories={column: [names]}. "
            f"Got {shown(categories)} instead."
        )
    for key, listed in (categories or {}).items():
        name = column_name(key, names)
        if name is None:
            raise BoundsError(f"'categories' names an unknown column {shown(key)}; known are {few(names)}.")
        if isinstance(listed, str) or not hasattr(listed, "__iter__"):
            raise BoundsError(f"'categories' of {name!r} must be a list of names. Got {shown(listed)} instead.")
        found[name] = tuple(category_name(value) for value in listed)
    return found
