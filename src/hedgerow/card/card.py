"""A card: sections of paragraphs, lists, tables and pictures; written as one page of HTML or as Markdown.

All texts are words, never markup: names, titles and purposes may be anybody's. What is written depends on the content
alone, so that one model has one card.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from hedgerow.errors import HedgerowError
from hedgerow.summary import SummaryTable

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["LONGEST_TEXT", "Block", "Bullets", "Card", "Code", "Picture", "Section", "check_text"]

LONGEST_TEXT = 4_000
"""Characters of a text that is given for a card: more than a printed page of them, and it is no card any more."""


@dataclass(frozen=True)
class Bullets:
    """A list of sentences."""

    items: tuple[str, ...]


@dataclass(frozen=True)
class Code:
    """A command, to be copied."""

    text: str


@dataclass(frozen=True)
class Picture:
    """A picture, drawn when a page is written, and the same in words (``alt``)."""

    draw: Callable[[], Figure]
    alt: str
    caption: str


Block = str | Bullets | Code | Picture | SummaryTable
"""A text is a paragraph, or several with an empty line between them."""


@dataclass(frozen=True)
class Section:
    """A heading and what stands below it."""

    title: str
    blocks: tuple[Block, ...]


@dataclass(frozen=True)
class Card:
    r"""What a model is, on one page.

    Examples
    --------
    >>> card = Card("Hours", (Section("Purpose", ("To plan <shifts>.",)),))
    >>> print(card.to_markdown())
    # Hours
    <BLANKLINE>
    ## Purpose
    <BLANKLINE>
    To plan \<shifts\>.
    <BLANKLINE>
    >>> "To plan &lt;shifts&gt;." in card.to_html()
    True
    """

    title: str
    sections: tuple[Section, ...]

    def to_html(self) -> str:
        """Return one page that asks nothing of any other site."""
        from hedgerow.card.page import page

        return page(self)

    def to_markdown(self) -> str:
        """Return it as Markdown, without pictures."""
        from hedgerow.card.markdown import markdown

        return markdown(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write it to a file, whose name ends in .html or in .md."""
        text = self.as_file(path)
        with open(path, "w", encoding="utf-8", newline="\n") as file:
            file.write(text)

    def as_file(self, path: str | os.PathLike[str]) -> str:
        """Return what a file of this name holds."""
        kind = os.path.splitext(os.fspath(path))[1].lower()
        if kind == ".html":
            return self.to_html()
        if kind == ".md":
            return self.to_markdown()
        raise HedgerowError(f"a card is a file that ends in .html or .md. Got {os.fspath(path)!r} instead.")

    def __str__(self) -> str:
        return self.to_markdown()

    def _repr_html_(self) -> str:
        from hedgerow.card.page import body

        return body(self)


def check_text(name: str, text: str) -> str:
    """Return a text for a card; refuse what is none, or is too long.

    >>> check_text("purpose", " To plan shifts. ")
    'To plan shifts.'
    """
    if not isinstance(text, str):
        raise HedgerowError(f"'{name}' must be text. Got {type(text).__name__} instead.")
    if len(text) > LONGEST_TEXT:
        raise HedgerowError(f"'{name}' must have at most {LONGEST_TEXT:,} characters. Got {len(text):,} instead.")
    return text.strip()
