"""How well private values fit what is public: counts for whoever holds the rows, and for nobody else."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from hedgerow.schema.columns import CategoryColumn, ClassColumn, Column, NumberColumn, YesNoColumn
from hedgerow.values import category, number

__all__ = ["Misfits", "count_misfits"]


@dataclass(frozen=True)
class Misfits:
    """How many values of a column are missing, unknown (a word where a number is expected, too) and out of range."""

    missing: int
    unknown: int
    outside: int

    def __add__(self, other: Misfits) -> Misfits:
        return Misfits(self.missing + other.missing, self.unknown + other.unknown, self.outside + other.outside)


def count_misfits(column: Column, values: Any) -> Misfits:
    """Count the values that count as others; the counts are as private as the values.

    >>> count_misfits(NumberColumn("age", 0, 99), [41, "", None, "old", 150, "7"])
    Misfits(missing=2, unknown=1, outside=1)
    >>> count_misfits(CategoryColumn("sex", ("F", "M")), ["F", "X", None])
    Misfits(missing=1, unknown=1, outside=0)
    """
    found = [value for value in values if category(value) not in (None, "")]
    numeric = _range(column)
    if numeric is None:
        known = _names(column)
        unknown = sum(category(value) not in known for value in found)
        outside = 0
    else:
        numbers = [number(value) for value in found]
        unknown = sum(map(math.isnan, numbers))
        outside = sum(x < numeric[0] or x > numeric[1] for x in numbers)
    return Misfits(len(values) - len(found), unknown, outside)


def _range(column: Column) -> tuple[float, float] | None:
    if isinstance(column, NumberColumn):
        return column.range
    return (0.0, 1.0) if isinstance(column, YesNoColumn) and (column.no, column.yes) == ("0", "1") else None


def _names(column: Column) -> set[str]:
    """Return all names by which a value is known."""
    if isinstance(column, ClassColumn):
        numbers = {str(int(value)) for value in column.classes if isinstance(value, bool)}
        return {str(category(value)) for value in column.classes} | numbers
    if isinstance(column, YesNoColumn):
        return {column.no, column.yes}
    return set(column.categories) if isinstance(column, CategoryColumn) else set()
