"""Words that every kind of task says about itself: names that cannot play tricks, probabilities for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

__all__ = ["listed", "plain", "span"]

_LISTED = 8  # names: they fit a line or two


def plain(text: str) -> str:
    r"""Return text that cannot play tricks on a terminal: one line, printable characters only.

    >>> plain("a\x1b[2Jb\nc")
    'a [2Jb c'
    """
    return "".join(c if c.isprintable() else " " for c in text)


def listed(names: tuple[str, ...]) -> str:
    """Return names for people, the first eight of them."""
    more = f" and {len(names) - _LISTED} more" if len(names) > _LISTED else ""
    return ", ".join(map(plain, names[:_LISTED])) + more


def span(values: list[Any], words: Callable[[Any], str] = str) -> str:
    """Return the least and the most of some numbers, or the one number that they all are.

    >>> span([5, 6]), span([0.5, 0.5], lambda share: f"{share:.0%}")
    ('5 to 6', '50%')
    """
    least = words(min(values))
    most = words(max(values))
    return least if least == most else f"{least} to {most}"
