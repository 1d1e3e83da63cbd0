"""The schema of a model, as a table: what is public of each column, and what becomes of all other values."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from hedgerow.features import CategoricalFeature, Feature
from hedgerow.schema.words import one_line
from hedgerow.space import FeatureSpace
from hedgerow.summary import SummaryTable

__all__ = ["Row", "columns_table", "few_names"]

MOST_NAMES = 30
"""Categories of a column that a card lists: a few lines of a table; the model has all. By hand."""
MOST_COLUMNS = 200
"""Columns that a card lists: some pages on paper. By hand."""


def few_names(names: Sequence[object]) -> str:
    """Return names on one line, the first of them if there are many.

    >>> few_names(["F", "M"]), few_names(range(100))[-15:]
    ('F, M', '29, and 70 more')
    """
    shown = ", ".join(one_line(str(name)) for name in names[:MOST_NAMES])
    left = len(names) - MOST_NAMES
    return f"{shown}, and {left:,} more" if left > 0 else shown


Row = tuple[str, str, str, str, str]


def columns_table(space: FeatureSpace, unit: Callable[[str], str], label: Row) -> SummaryTable:
    """Return one row a column, and that of the label."""
    shown = space.columns[:MOST_COLUMNS]
    rows = [*(_row(column, unit(column.name)) for column in shown), label]
    title = "Columns that are read, and the label; all of this is public"
    if len(shown) < len(space.columns):
        title = f"{len(shown)} of {len(space.columns):,} columns that are read, and the label; all of this is public"
    return SummaryTable(title, ("column", "kind", "values", "unit", "other values"), tuple(rows))


def _row(column: Feature, unit: str) -> Row:
    if isinstance(column, CategoricalFeature):
        missing = one_line(column.missing)
        others = f"missing counts as {missing}, unknown as {one_line(column.unknown)}"
        if column.missing == column.unknown:
            others = f"missing or unknown counts as {missing}"
        return one_line(column.name), "category", few_names(column.categories), one_line(unit), others
    others = f"beyond counts as the nearest end, missing as {column.missing:.12g}"
    if column.indicator:
        others += ", and that it is missing is a feature"
    values = f"{column.low:.12g} to {column.high:.12g}"
    return one_line(column.name), "number", values, one_line(unit), others
