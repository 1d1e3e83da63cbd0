"""A schema to look at, as text and as HTML; names and values may be anybody's, and none may break a line or a tag."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from html import escape

from hedgerow.schema.columns import Column

__all__ = ["LEAK", "as_html", "as_text", "one_line"]

LEAK = "A draft must be made of public rows: made of private ones, its ranges and categories give people away."
"""What whoever drafts a schema has to know."""

_LONGEST = 60  # characters of one cell: more makes a line that no screen holds


def _rows(columns: Iterable[Column], label: Column | None, guessed: Mapping[str, Sequence[str]]) -> list[list[str]]:
    rows = [[c.name, c.kind, c.values(), c.unit, c.others(), c.ask(), guessed.get(c.name, ())] for c in columns]
    if label is not None:
        kind = f"label: {label.kind}"
        facts = guessed.get(label.name, ())
        rows.append([label.name, kind, label.values(), label.unit, label.others(), label.ask(), facts])
    return [[*map(one_line, map(str, row[:-1])), one_line(", ".join(row[-1]))] for row in rows]


def as_text(columns: Sequence[Column], label: Column | None, guessed: Mapping[str, Sequence[str]]) -> str:
    """Return a schema as lines of text, one a column."""
    rows = _rows(columns, label, guessed)
    widths = [max(len(row[j]) for row in rows) for j in range(2)]
    lines = [_headline(columns, label)]
    for name, kind, values, unit, others, question, facts in rows:
        parts = [f"{values} {unit}".rstrip(), others]
        parts += [f'"{question}"'] if question != name else []
        parts += [f"guessed: {facts}"] if facts else []
        lines.append(f"  {name:{widths[0]}}  {kind:{widths[1]}}  {'; '.join(parts)}")
    lines += [f"  left out: {name}" for name in map(one_line, _left_out(guessed))]
    if guessed:
        lines.append(f"Check what was guessed. {LEAK}")
    return "\n".join(lines)


def as_html(columns: Sequence[Column], label: Column | None, guessed: Mapping[str, Sequence[str]]) -> str:
    """Return a schema as an HTML table."""
    head = ["column", "kind", "values", "unit", "other values", "question", "guessed"]
    rows = [_html_row("th", head), *(_html_row("td", row) for row in _rows(columns, label, guessed))]
    left = ", ".join(map(one_line, _left_out(guessed)))
    notes = [f"Left out: {left}."] if left else []
    notes += [f"Check what was guessed. {LEAK}"] if guessed else []
    caption = escape(_headline(columns, label))
    paragraphs = "".join(f"<p>{escape(note)}</p>" for note in notes)
    return f"<table><caption>{caption}</caption>{''.join(rows)}</table>{paragraphs}"


def _headline(columns: Sequence[Column], label: Column | None) -> str:
    n = len(columns)
    known = f"Schema of {n} column{'' if n == 1 else 's'}"
    return known if label is None else f"{known} and the label {one_line(label.name)}"


def _left_out(guessed: Mapping[str, Sequence[str]]) -> list[str]:
    return [name for name, facts in guessed.items() if "left out" in facts]


def _html_row(tag: str, cells: Sequence[str]) -> str:
    return f"<tr>{''.join(f'<{tag}>{escape(cell)}</{tag}>' for cell in cells)}</tr>"


def one_line(text: str, longest: int = _LONGEST) -> str:
    """Return a text on one line, without signs that cannot be seen, and not too long."""
    seen = "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text[: longest + 1])
    return seen if len(seen) <= longest else f"{seen[: longest - 1]}…"
