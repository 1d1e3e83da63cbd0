"""Words that every kind of task says about itself: names that cannot play tricks, probabilities for people."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from hedgerow.features import CategoricalFeature, Feature
from hedgerow.tasks.question import LabelField, Question

__all__ = ["asked", "listed", "plain", "span"]


def plain(text: str) -> str:
    r"""Return text that cannot play tricks on a terminal: one line, printable characters only.

    >>> plain("a\x1b[2Jb\nc")
    'a [2Jb c'
    """
    return "".join(c if c.isprintable() else " " for c in text)


def listed(names: tuple[str, ...]) -> str:
    """Return names for people, the first eight of them."""
    more = f" and {len(names) - 8} more" if len(names) > 8 else ""
    return ", ".join(map(plain, names[:8])) + more


def span(values: list[Any], words: Callable[[Any], str] = str) -> str:
    """Return the least and the most of some numbers, or the one number that they all are.

    >>> span([5, 6]), span([0.5, 0.5], lambda share: f"{share:.0%}")
    ('5 to 6', '50%')
    """
    least = words(min(values))
    most = words(max(values))
    return least if least == most else f"{least} to {most}"


def asked(question: Question) -> list[str]:
    """Return one line for each value that is asked for."""
    number = ["record: the public number of your record (sent in clear)"] if question.numbered else []
    lines = [_feature(f) + _clear(question, f.name) for f in question.features]
    return [*number, *lines, *([] if question.label is None else [_label(question.label)])]


def _clear(question: Question, name: str) -> str:
    """Say whether a feature is sent as it is."""
    if question.chooses:
        return " (sent in clear unless you mark it as private)"
    return " (sent in clear)" if name in question.clear else ""


def _feature(feature: Feature) -> str:
    if isinstance(feature, CategoricalFeature):
        return f"{plain(feature.name)}: one of {listed(feature.categories)}"
    return f"{plain(feature.name)}: a number from {feature.low:g} to {feature.high:g}"


def _label(label: LabelField) -> str:
    low, high = label.bounds
    values = f"a number from {low:g} to {high:g}" if label.classes is None else f"one of {listed(label.classes)}"
    return f"{plain(label.name)}: {values}"
