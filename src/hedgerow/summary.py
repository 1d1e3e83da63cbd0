"""A fitted model on one screen: what it promises, from how many people, what it says and how sure that is.

A :class:`Summary` holds words only. It prints as text (``print``), as a table in a notebook, and as Markdown; names and
titles may be anybody's, and none may break a line or a tag.
"""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

from hedgerow.guarantee import Guarantee
from hedgerow.schema.words import one_line

__all__ = ["Summary", "SummaryTable"]

_WIDTH = 100
"""Of a summary as text, in signs: what terminals and notebooks show without breaking lines."""


@dataclass(frozen=True)
class SummaryTable:
    """One table of a summary: a title, the heads of its columns, and rows of words.

    The last column is set to the left, for it holds what a row is about; the others to the right.
    """

    title: str
    columns: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]

    def lines(self) -> list[str]:
        """Return it as lines of text."""
        cells = [self.columns, *self.rows]
        widths = [max(len(row[j]) for row in cells) for j in range(len(self.columns))]
        found = [self.title, "-" * _WIDTH]
        for row in cells:
            front = "  ".join(cell.rjust(width) for cell, width in zip(row[:-1], widths, strict=False))
            found.append(f"{front}  {row[-1]}".rstrip())
        return found


@dataclass(frozen=True)
class Summary:
    """What a fitted model is, in words.

    Parameters
    ----------
    title : str
    guarantee : Guarantee
    facts : sequence of (name, value)
        How many people, which label, and so on.
    tables : sequence of SummaryTable
        Leaves or terms, each with what reports alone say and what is predicted.
    remarks : sequence of str
        Shift, what more people would buy, warnings.

    Examples
    --------
    >>> from hedgerow.guarantee import Guarantee
    >>> promise = Guarantee(1.0, protects="label", trust="local", neighbours="label")
    >>> rows = (("40 %", "3.1", "age < 40"), ("60 %", "17", "age >= 40"))
    >>> leaves = SummaryTable("Leaves", ("share", "mean", "if"), rows)
    >>> print(Summary("Hours", promise, [("people", "200")], [leaves], ["No shift was found."]))
    Hours
    ====================================================================================================
    people  200
    <BLANKLINE>
    Guarantee. Local privacy with epsilon = 1 and delta = 0: each label (not the features) is protected
    from everyone, the curator included, in that changing the label of any one record makes no outcome
    more than 2.72 times as likely.
    <BLANKLINE>
    Leaves
    ----------------------------------------------------------------------------------------------------
    share  mean  if
     40 %   3.1  age < 40
     60 %    17  age >= 40
    <BLANKLINE>
    No shift was found.
    ====================================================================================================
    """

    title: str
    guarantee: Guarantee
    facts: Sequence[tuple[str, str]] = ()
    tables: Sequence[SummaryTable] = ()
    remarks: Sequence[str] = ()

    def __str__(self) -> str:
        width = max([0, *(len(name) for name, _ in self.facts)])
        rule = "=" * _WIDTH
        lines = [one_line(self.title), rule]
        lines += [f"{name:{width}}  {one_line(value)}" for name, value in self.facts]
        lines += ["", *textwrap.wrap(f"Guarantee. {self.guarantee}", _WIDTH)]
        for table in self.tables:
            lines += ["", *table.lines()]
        lines += [""] if self.remarks else []
        for remark in self.remarks:
            lines += textwrap.wrap(remark, _WIDTH)
        return "\n".join([*lines, rule])

    def __repr__(self) -> str:
        return str(self)

    def _repr_html_(self) -> str:
        parts = [f"<h3>{escape(self.title)}</h3>", "<table>"]
        parts += [f'<tr><th scope="row">{escape(name)}</th><td>{escape(value)}</td></tr>' for name, value in self.facts]
        parts += ["</table>", f"<p><b>Guarantee.</b> {escape(str(self.guarantee))}</p>"]
        for table in self.tables:
            head = "".join(f'<th scope="col">{escape(name)}</th>' for name in table.columns)
            rows = "".join(f"<tr>{''.join(f'<td>{escape(cell)}</td>' for cell in row)}</tr>" for row in table.rows)
            parts.append(f"<table><caption>{escape(table.title)}</caption><tr>{head}</tr>{rows}</table>")
        parts += [f"<p>{escape(remark)}</p>" for remark in self.remarks]
        return "".join(parts)

    def to_markdown(self) -> str:
        """Return it as Markdown."""
        lines = [f"## {_marked(self.title)}", "", "| | |", "|---|---|"]
        lines += [f"| {_marked(name)} | {_marked(value)} |" for name, value in self.facts]
        lines += ["", f"**Guarantee.** {_marked(str(self.guarantee), long=True)}"]
        for table in self.tables:
            lines += ["", f"### {_marked(table.title)}", "", f"| {' | '.join(map(_marked, table.columns))} |"]
            lines += [f"|{'---|' * len(table.columns)}"]
            lines += [f"| {' | '.join(map(_marked, row))} |" for row in table.rows]
        for remark in self.remarks:
            lines += ["", _marked(remark, long=True)]
        return "\n".join(lines) + "\n"


def _marked(text: str, long: bool = False) -> str:
    """Return a text in which nothing is markup."""
    flat = text if long else one_line(text)
    for sign in "\\`*_[]<>|#":
        flat = flat.replace(sign, f"\\{sign}")
    return flat
