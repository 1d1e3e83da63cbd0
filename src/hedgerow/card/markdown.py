"""A card as Markdown."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from hedgerow.card.card import Bullets, Code, Picture
from hedgerow.card.text import paragraphs, seen
from hedgerow.summary import SummaryTable

if TYPE_CHECKING:
    from hedgerow.card.card import Block, Card

__all__ = ["markdown", "marked"]

_SIGNS = re.compile(r"([\\`*_\[\]<>|#&~$@!])")
_LINKS = re.compile(r"(?i)(www)(\.)|(:)(?=//)")
_STARTS = re.compile(r"^([-+=])|^(\d+)([.)])(?=\s|$)")  # what begins a list or a heading


def marked(text: str) -> str:
    r"""Return a text in which nothing is markup, an address or a mention.

    >>> print(marked("- <b> www.example.org"))
    \- \<b\> www\.example.org
    """
    return _STARTS.sub(lambda found: f"{found[2] or ''}\\{found[1] or found[3]}", _inside(text))


def _inside(text: str) -> str:
    flat = _SIGNS.sub(r"\\\1", seen(" ".join(text.split())))
    return _LINKS.sub(lambda found: f"{found[1] or ''}\\{found[2] or found[3]}", flat)


def markdown(card: Card) -> str:
    """Return a card as Markdown; pictures are in the page only."""
    lines = [f"# {marked(card.title)}"]
    for section in card.sections:
        lines += ["", f"## {marked(section.title)}"]
        for block in section.blocks:
            lines += _block(block)
    return "\n".join(lines) + "\n"


def _block(block: Block) -> list[str]:
    if isinstance(block, Bullets):
        return ["", *(f"- {marked(item)}" for item in block.items)]
    if isinstance(block, Code):
        return ["", f"    {seen(block.text)}"]
    if isinstance(block, Picture):
        return ["", f"{marked(block.alt)} (The picture is in the card as HTML.)"]
    if isinstance(block, SummaryTable):
        return _table(block)
    return [line for part in paragraphs(block) for line in ("", marked(part))]


def _table(table: SummaryTable) -> list[str]:
    rows = [table.columns, *table.rows]
    cells = [f"| {' | '.join(map(_inside, row))} |" for row in rows]
    return ["", f"**{_inside(table.title)}**", "", cells[0], f"|{'---|' * len(table.columns)}", *cells[1:]]
