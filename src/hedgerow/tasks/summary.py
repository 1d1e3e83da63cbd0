"""The summary of a model that was made of reports: leaves with what reports alone say, and what is predicted."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from hedgerow.digits import plain
from hedgerow.schema.words import one_line
from hedgerow.summary import Summary, SummaryTable

if TYPE_CHECKING:
    from hedgerow.tasks.models import Model

__all__ = ["summarise"]

MOST_ROWS = 40
"""Leaves that a summary lists, those with the most holders: a screen of them; ``model.table()`` has all."""

LONGEST_RULE = 160
"""Characters of a leaf's conditions: cut at 60, as names are, leaves that differ in the last condition look alike."""


def summarise(model: Model, level: float) -> Summary:
    """Return what a model promises, what it says of each leaf, and what more people would buy."""
    rows = model.table(level)
    return Summary(
        model.task.title or f"A model of {model.task.target}",
        model.guarantee,
        _facts(model, len(rows)),
        [_table(model, rows, level)] if rows else [],
        _remarks(model),
    )


def _facts(model: Model, n_rows: int) -> list[tuple[str, str]]:
    label = (model.task.before or model.task).question().label
    found = [("people", f"{model.n_reports:,}, one report each")]
    if label is not None and label.classes:
        found.append(("label", f"{label.name}: {', '.join(map(str, label.classes))}"))
    elif label is not None:
        low, high = label.bounds
        unit = (model.task.before or model.task).wording(label.name).unit
        found.append(("label", f"{label.name}, {plain(low)} to {plain(high)} {unit}".rstrip()))
    found += [("features", str(len(model.space.features))), ("leaves", f"{n_rows:,}"), ("task", model.task.id[:12])]
    return found


def _table(model: Model, rows: list[dict[str, Any]], level: float) -> SummaryTable:
    """Return one row a leaf; which columns there are, the model's own table says."""
    shown = sorted(rows, key=lambda row: -row["share"])[:MOST_ROWS]
    shown = [row for row in rows if row in shown]
    columns = ["share of people"]
    if "estimate" in rows[0] or "reports_low" in rows[0]:
        columns.append("reports alone")
    if model.value_name != "share":
        columns.append(model.value_name)
    title = f"{len(shown)} of {len(rows):,} leaves, those with most people" if len(shown) < len(rows) else "Leaves"
    cells = tuple(tuple(_cell(model, row, column) for column in (*columns, "if")) for row in shown)
    return SummaryTable(f"{title}; {model.value_words(level)}", (*columns, "if"), cells)


def _cell(model: Model, row: dict[str, Any], column: str) -> str:
    if column == "if":
        place = [str(row[name]) for name in ("class", "tree") if name in row]
        return one_line(", ".join([*place, row["cell"]]), LONGEST_RULE)
    if column == "share of people":
        noise = f" +- {row['share_sd']:.1%}" if "share_sd" in row else ""
        return f"{row['share']:.1%}{noise}"
    if column == "reports alone" and "estimate" in row:
        return "-" if row["estimate"] is None else f"{plain(row['estimate'])} +- {plain(row['estimate_sd'], 2)}"
    value = row[model.value_name]
    best = max(value, key=value.__getitem__) if isinstance(value, dict) else None
    if column == "reports alone":
        return f"[{_number(row['reports_low'], best)}, {_number(row['reports_high'], best)}]"
    name = "" if best is None else f"{one_line(best)} "
    ends = f" [{_number(row['low'], best)}, {_number(row['high'], best)}]" if "reports_low" in row else ""
    return f"{name}{_number(value, best)}{ends}"


def _number(value: Any, best: str | None) -> str:
    """Return a value, or of a leaf with classes the share of the likeliest one."""
    if best is not None:
        return f"{value[best]:.0%}"
    return plain(value, 3) if isinstance(value, float) else str(value)


def _remarks(model: Model) -> list[str]:
    found = []
    shift = model.shift()
    if shift is not None:
        found += [shift.verdict, *shift.disagreement]
    more = model.forecast(model.n_reports) if model.n_reports else None
    if more is not None:
        found.append(str(more))
    return found
