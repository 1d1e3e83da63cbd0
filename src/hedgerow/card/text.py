"""Texts of anybody, made fit to stand in a page."""

from __future__ import annotations

import re

__all__ = ["paragraphs", "seen"]


def seen(text: str) -> str:
    r"""Return a text in which every sign can be seen: what hides or turns text around is written as its code.

    >>> print(seen("a\u202eb"))
    a\u202eb
    """
    return "".join(sign if sign.isprintable() else f"\\u{ord(sign):04x}" for sign in text)


def paragraphs(text: str) -> list[str]:
    r"""Return the paragraphs of a text: what stands between empty lines, each on one line.

    >>> paragraphs("One\nline.\n\nAnother.")
    ['One line.', 'Another.']
    """
    parts = re.split(r"\n\s*\n", text.replace("\r\n", "\n"))
    flat = [" ".join(part.split()) for part in parts]
    return [seen(part) for part in flat if part]
