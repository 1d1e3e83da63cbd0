"""Tables of results as Markdown, HTML, CSV, LaTeX and for a terminal; and plain Markdown tables."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any, NamedTuple

from hedgerow.compare.scores import number
from hedgerow.compare.web import plain_table
from hedgerow_experiments.tables import Entry, Table

__all__ = ["escape_latex", "pipes", "to_csv", "to_html", "to_latex", "to_markdown", "to_text", "with_notes"]


class _Style(NamedTuple):
    """How a form writes a cell: one without a result, marks, and ours beside the paper's figure and the ratio."""

    missing: str
    best: str
    second: str
    star: str
    pair: str

    def cells(self, entries: Iterable[Entry | None]) -> list[str]:
        """Return a row."""
        return [self.missing if entry is None else self._cell(entry) for entry in entries]

    def _cell(self, entry: Entry) -> str:
        mark = self.best if entry.best else self.second if entry.second else "{}"
        shown = mark.format(number(entry.mean)) + (self.star if entry.star else "")
        return shown if entry.paper is None else self.pair.format(shown, number(entry.paper), number(entry.ratio))


_MARKDOWN = _Style("-", "**{}**", "<u>{}</u>", r"\*", "{} / {} ({})")
_HTML = _Style("–", "<b>{}</b>", "<u>{}</u>", "*", "{} <small>/ {} ({})</small>")
_LATEX = _Style("--", r"\textbf{{{}}}", r"\underline{{{}}}", "$^{*}$", "{} / {} ({})")


def to_markdown(table: Table) -> str:
    """Return a Markdown table: best in bold, second underlined, a star for significance, *ours / paper (ratio)*."""
    rows = [[label, *_MARKDOWN.cells(entries)] for label, entries in table.rows]
    if table.ranks is not None:
        rows.append(["rank sum", *map(_rank, table.ranks)])
    return "\n".join(pipes([table.corner, *table.columns], rows)) + "\n"


def _rank(value: float) -> str:
    return "" if math.isnan(value) else f"{value:g}"


def pipes(head: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Return the lines of a Markdown table of cells that are text already.

    >>> pipes(["data", "MSE"], [["ABA", "4.2"]])
    ['| data | MSE |', '|---|---|', '| ABA | 4.2 |']
    """
    lines = ["| " + " | ".join(c.replace("|", r"\|") for c in cells) + " |" for cells in (head, *rows)]
    return [lines[0], "|" + "---|" * len(head), *lines[1:]]


def with_notes(page: str, notes: str) -> str:
    """Return a page that ends with its notes, if there are any."""
    return f"{page}\n## Notes\n\n{notes}" if notes else page


def to_html(table: Table) -> str:
    """Return a table of results, marks as elsewhere."""
    rows = [[escape(label), *_HTML.cells(entries)] for label, entries in table.rows]
    out = plain_table([escape(c) for c in (table.corner, *table.columns)], rows)
    if table.ranks is None:
        return out
    ranks = "".join(f"<td>{_rank(r)}</td>" for r in table.ranks)
    return out.replace("</tbody>", f'<tr class="foot"><td>rank sum</td>{ranks}</tr></tbody>')


def to_csv(table: Table) -> str:
    """Return one line a cell, with full numbers."""
    out = io.StringIO(newline="")
    rows = csv.writer(out, lineterminator="\n")
    rows.writerow([table.corner, "method", "mean", "deviation", "repeats", "paper", "ratio", "mark"])
    for label, entries in table.rows:
        for name, e in zip(table.columns, entries, strict=True):
            if e is not None:
                mark = ("best" if e.best else "second" if e.second else "") + ("*" if e.star else "")
                numbers = [_full(v) for v in (e.mean, e.deviation)]
                rows.writerow([label, name, *numbers, e.repeats, _full(e.paper), _full(e.ratio), mark])
    return out.getvalue()


def _full(value: float | None) -> str:
    return "" if value is None or math.isnan(value) else f"{value:.6g}"


_ESCAPES = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX prints as it is.

    >>> print(escape_latex("50% of A_1 & {B}"))
    50\% of A\_1 \& \{B\}
    """
    return "".join(_ESCAPES.get(c, c) for c in text)


def to_latex(table: Table, caption: str = "", label: str = "") -> str:
    """Return a LaTeX table for the ``booktabs`` package."""

    def line(cells: Iterable[Any]) -> str:
        return " & ".join(cells) + r" \\"

    body = [line([escape_latex(name), *_LATEX.cells(entries)]) for name, entries in table.rows]
    if table.ranks is not None:
        body += [r"\midrule", line(["rank sum", *map(_rank, table.ranks)])]
    return "\n".join(
        [
            r"\begin{table}", r"\centering",
            *([rf"\caption{{{escape_latex(caption)}}}"] if caption else []),
            *([rf"\label{{{label}}}"] if label else []),
            rf"\begin{{tabular}}{{l{'r' * len(table.columns)}}}", r"\toprule",
            line(map(escape_latex, (table.corner, *table.columns))), r"\midrule", *body,
            r"\bottomrule", r"\end{tabular}", r"\end{table}", "",
        ]
    )  # fmt: skip


def to_text(table: Table) -> str:
    """Return a table for a terminal: the best of a row has a plus sign, a star where it is significantly so."""
    cells = [[table.corner, *table.columns]]
    for label, entries in table.rows:
        marks = [("*" if e.star else "+" if e.best else "") if e else "" for e in entries]
        cells.append([label, *(f"{number(e.mean if e else None)}{m}" for e, m in zip(entries, marks, strict=True))])
    widths = [max(map(len, column)) for column in zip(*cells, strict=True)]
    lines = ["  ".join(c.rjust(w) if i else c.ljust(w) for i, (c, w) in enumerate(zip(row, widths, strict=True)))
             for row in cells]  # fmt: skip
    return "\n".join(line.rstrip() for line in lines) + "\n"
