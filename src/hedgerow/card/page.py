"""A card as one page of HTML: no script, no request, headings in order, tables with captions, readable on paper.

Every text goes through :func:`html.escape`; a policy in the page forbids everything but its own style and pictures.
"""

from __future__ import annotations

import base64
from html import escape
from typing import TYPE_CHECKING

from hedgerow.card.card import Bullets, Code, Picture
from hedgerow.card.svg import can_draw, svg
from hedgerow.card.text import paragraphs, seen
from hedgerow.errors import HedgerowError
from hedgerow.summary import SummaryTable

if TYPE_CHECKING:
    from hedgerow.card.card import Block, Card

__all__ = ["NO_PICTURES", "STYLE", "body", "page"]

NO_PICTURES = "(No picture: Matplotlib was not installed where this card was written; hedgerow[plot] brings it.)"

STYLE = """\
:root { color-scheme: light; }
body { background: #ffffff; color: #1f2328; font: 1rem/1.5 system-ui, sans-serif; margin: 0 auto; max-width: 60rem;
  padding: 1rem; overflow-wrap: anywhere; }
h1 { font-size: 1.8rem; line-height: 1.2; }
h2 { border-top: 1px solid #6e7781; font-size: 1.3rem; margin-top: 2rem; padding-top: .5rem; }
a { color: #0b5cad; }
a:focus-visible, .wide:focus-visible { outline: 3px solid #0b5cad; outline-offset: 2px; }
nav ul { display: flex; flex-wrap: wrap; gap: .25rem 1.25rem; list-style: none; padding: 0; }
.wide { overflow-x: auto; }
table { border-collapse: collapse; margin: .5rem 0; }
caption { color: #424a53; font-weight: 600; padding: .25rem 0; text-align: left; }
th, td { border: 1px solid #6e7781; overflow-wrap: normal; padding: .25rem .5rem; text-align: left;
  vertical-align: top; min-width: 5rem; }
th[scope="row"] { min-width: 12rem; }
th { background: #eef1f4; color: #1f2328; }
figure { margin: 1rem 0; }
figcaption { color: #424a53; }
img { height: auto; max-width: none; }
pre { background: #eef1f4; color: #1f2328; overflow-x: auto; padding: .5rem; white-space: pre-wrap; }
@media print {
  body { font-size: 10pt; max-width: none; padding: 0; }
  nav { display: none; }
  .wide { overflow: visible; }
  img { max-width: 100%; }
  h2 { break-after: avoid; }
  tr, figure, pre { break-inside: avoid; }
  thead { display: table-header-group; }
}
"""
_POLICY = "default-src 'none'; img-src data:; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"


def page(card: Card) -> str:
    """Return a whole page."""
    return (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{_POLICY}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{_text(card.title)}</title>\n<style>\n{STYLE}</style>\n</head>\n"
        f"<body>\n{body(card)}</body>\n</html>\n"
    )


def body(card: Card) -> str:
    """Return what is on the page."""
    links = "".join(f'<li><a href="#s{i}">{_text(part.title)}</a></li>' for i, part in enumerate(card.sections, 1))
    parts = [f"<header>\n<h1>{_text(card.title)}</h1>\n</header>\n"]
    parts.append(f'<nav aria-label="Sections">\n<ul>{links}</ul>\n</nav>\n<main>\n')
    for i, part in enumerate(card.sections, 1):
        inside = "".join(_block(block) for block in part.blocks)
        head = f'<h2 id="s{i}">{_text(part.title)}</h2>'
        parts.append(f'<section aria-labelledby="s{i}">\n{head}\n{inside}</section>\n')
    return "".join([*parts, "</main>\n"])


def _text(text: str) -> str:
    return escape(seen(" ".join(text.split())))


def _block(block: Block) -> str:
    if isinstance(block, Bullets):
        return f"<ul>{''.join(f'<li>{_text(item)}</li>' for item in block.items)}</ul>\n"
    if isinstance(block, Code):
        return f"<pre><code>{escape(seen(block.text))}</code></pre>\n"
    if isinstance(block, Picture):
        return _picture(block)
    if isinstance(block, SummaryTable):
        return _table(block)
    return "".join(f"<p>{escape(part)}</p>\n" for part in paragraphs(block))


def _picture(picture: Picture) -> str:
    """Return a picture, or why there is none; one that is wider than the page can be scrolled with the keyboard."""
    if not can_draw():
        return f"<p>{_text(picture.caption)} {NO_PICTURES}</p>\n"
    try:
        data = base64.b64encode(svg(picture.draw)).decode("ascii")
    except HedgerowError as error:  # of a kind that has no picture
        return f"<p>{_text(str(error))}</p>\n"
    image = f'<img alt="{_text(picture.alt)}" src="data:image/svg+xml;base64,{data}">'
    caption = _text(picture.caption)
    scrolled = f'<div class="wide" role="region" aria-label="Picture: {caption}" tabindex="0">{image}</div>'
    return f"<figure>{scrolled}<figcaption>{caption}</figcaption></figure>\n"


def _table(table: SummaryTable) -> str:
    """Return a table whose rows are named by what they are about: the first column, or of leaves the last."""
    named = 0 if table.columns[-1] != "if" else len(table.columns) - 1
    title = _text(table.title)
    head = "".join(f'<th scope="col">{_text(name)}</th>' for name in table.columns)
    rows = "".join(f"<tr>{_cells(row, named)}</tr>\n" for row in table.rows)
    inside = f"<table><caption>{title}</caption>\n<thead><tr>{head}</tr></thead>\n<tbody>\n{rows}</tbody></table>"
    return f'<div class="wide" role="region" aria-label="Table: {title}" tabindex="0">{inside}</div>\n'


def _cells(row: tuple[str, ...], named: int) -> str:
    cells = []
    for place, cell in enumerate(row):
        if place == named:
            cells.append(f'<th scope="row">{_text(cell)}</th>')
        else:
            cells.append(f"<td>{_text(cell)}</td>")
    return "".join(cells)
