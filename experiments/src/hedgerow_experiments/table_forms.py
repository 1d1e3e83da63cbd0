"""Tables of results as Markdown, HTML, CSV and LaTeX."""

from __future__ import annotations

import csv
import io
import math
from collections.abc import Iterable, Sequence
from html import escape
from typing import Any

from hedgerow.compare.scores import number
from hedgerow.compare.web import plain_table
from hedgerow_experiments.tables import Entry, Table

__all__ = ["escape_latex", "number", "to_csv", "to_html", "to_latex", "to_markdown"]


def _pair(entry: Entry, shown: str) -> str:
    """Return ours, the paper's and the ratio."""
    if entry.paper is None:
        return shown
    return f"{shown} / {number(entry.paper)} ({number(entry.ratio)})"


def to_markdown(table: Table) -> str:
    """Return a Markdown table: best in bold, second underlined, a star for significance, *ours / paper (ratio)*."""

    def cell(entry: Entry | None) -> str:
        if entry is None:
            return "-"
        shown = number(entry.mean)
        shown = f"**{shown}**" if entry.best else f"<u>{shown}</u>" if entry.second else shown
        return _pair(entry, shown + (r"\*" if entry.star else ""))

    lines = [_pipes([table.corner, *table.columns]), "|" + "---|" * (len(table.columns) + 1)]
    lines += [_pipes([label, *map(cell, entries)]) for label, entries in table.rows]
    if table.ranks is not None:
        lines.append(_pipes(["rank sum", *("" if math.isnan(r) else f"{r:g}" for r in table.ranks)]))
    return "\n".join(lines) + "\n"


def _pipes(cells: Sequence[str]) -> str:
    return "| " + " | ".join(c.replace("|", r"\|") for c in cells) + " |"


def to_html(table: Table) -> str:
    """Return a table of results, marks as elsewhere."""

    def cell(entry: Entry | None) -> str:
        if entry is None:
            return "–"
        shown = number(entry.mean)
        shown = f"<b>{shown}</b>" if entry.best else f"<u>{shown}</u>" if entry.second else shown
        shown += "*" if entry.star else ""
        if entry.paper is None:
            return shown
        return f"{shown} <small>/ {number(entry.paper)} ({number(entry.ratio)})</small>"

    rows = [[escape(label), *map(cell, entries)] for label, entries in table.rows]
    out = plain_table([escape(c) for c in (table.corner, *table.columns)], rows)
    if table.ranks is None:
        return out
    ranks = "".join(f"<td>{'' if math.isnan(r) else f'{r:g}'}</td>" for r in table.ranks)
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


_LATEX = {
    "\\": r"\textbackslash{}", "&": r"\&", "%": r"\%", "$": r"\$", "#": r"\#", "_": r"\_", "{": r"\{", "}": r"\}",
    "~": r"\textasciitilde{}", "^": r"\textasciicircum{}", "<": r"\textless{}", ">": r"\textgreater{}",
}  # fmt: skip


def escape_latex(text: str) -> str:
    r"""Return text that LaTeX prints as it is.

    >>> print(escape_latex("50% of A_1 & {B}"))
    50\% of A\_1 \& \{B\}
    """
    return "".join(_LATEX.get(c, c) for c in text)


def to_latex(table: Table, caption: str = "", label: str = "") -> str:
    """Return a LaTeX table for the ``booktabs`` package."""

    def cell(entry: Entry | None) -> str:
        if entry is None:
            return "--"
        shown = number(entry.mean)
        shown = rf"\textbf{{{shown}}}" if entry.best else rf"\underline{{{shown}}}" if entry.second else shown
        return _pair(entry, shown + ("$^{*}$" if entry.star else ""))

    def line(cells: Iterable[Any]) -> str:
        return " & ".join(cells) + r" \\"

    body = [line([escape_latex(name), *map(cell, entries)]) for name, entries in table.rows]
    if table.ranks is not None:
        body += [r"\midrule", line(["rank sum", *("" if math.isnan(r) else f"{r:g}" for r in table.ranks)])]
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
