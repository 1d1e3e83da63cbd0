"""How people are asked for a value: unit, question by language, and whether a number is a whole one or yes and no.

These words travel in a published task, so that a server cannot change them unnoticed; no law of any message depends on
them. Whoever writes them may be an enemy of who reads them. So they are short, of one line, without characters that
hide or turn around what stands beside them, and doors show them as text and never as markup.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from hedgerow.content import Content
from hedgerow.errors import BoundsError

__all__ = ["Wording", "check_question", "check_unit"]

LONGEST_UNIT = 40
"""One line of a phone: 375 pixels hold about 40 characters of 17."""
LONGEST_QUESTION = 480
"""Twelve such lines, which a phone shows above its keyboard: a longer question could hide the field below it."""
MOST_LANGUAGES = 24
"""As many as the European Union has."""
_LANGUAGE = re.compile("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*")
_LONGEST_LANGUAGE = 35  # of any language tag, by RFC 5646, section 4.4.1

# Control characters, ends of lines and paragraphs, what turns the direction of writing around, half characters. Listed
# by code, not by a property of Unicode: every language must refuse the same.
_HIDDEN = re.compile("[\x00-\x1f\x7f-\x9f\u2028-\u202e\u2066-\u2069\ufeff\ud800-\udfff]")


@dataclass(frozen=True)
class Wording(Content, what="wording"):
    """How people are asked for one value.

    Parameters
    ----------
    name : str
        The column, or the label.
    kind : {"", "whole number", "yes/no"}
        Of numbers: whether only whole ones make sense, or 0 and 1 mean no and yes.
    unit : str
        In which a number is given.
    question : dict of str
        By language ("en", "de-CH").

    Examples
    --------
    >>> Wording("age", "whole number", "years", {"en": "How old are you?"}).to_json()
    '{"kind":"whole number","name":"age","question":{"en":"How old are you?"},"unit":"years"}'
    """

    name: str
    kind: Literal["", "whole number", "yes/no"] = ""
    unit: str = ""
    question: dict[str, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        check_unit(self.name, self.unit)
        object.__setattr__(self, "question", check_question(self.name, self.question))

    def _check_read(self) -> None:
        if not (self.kind or self.unit or self.question):
            raise BoundsError(f"the wording of {self.name!r} says nothing: leave it out.")

    def ask(self, language: str = "en") -> str:
        """Return the question in a language; if it has none, in English, in any, or else the name."""
        wanted = (language, language.partition("-")[0], "en", *sorted(self.question))
        return next((self.question[word] for word in wanted if word in self.question), self.name)


def check_unit(name: str, unit: object) -> str:
    """Return a unit; refuse one that is too long, or not of one line."""
    if not isinstance(unit, str):
        raise BoundsError(f"'unit' of {name!r} must be text. Got {unit!r} instead.")
    _check_text(f"'unit' of {name!r}", unit, LONGEST_UNIT)
    return unit


def check_question(name: str, question: object) -> dict[str, str]:
    """Return questions, sorted by language; refuse what cannot be shown to everybody.

    >>> check_question("age", {"en": "How old?", "de": "Wie alt?"})
    {'de': 'Wie alt?', 'en': 'How old?'}
    """
    if not isinstance(question, Mapping):
        raise BoundsError(f"'question' of {name!r} must be a dict by language. Got {question!r} instead.")
    if len(question) > MOST_LANGUAGES:
        raise BoundsError(
            f"'question' of {name!r} may be in at most {MOST_LANGUAGES} languages. Got {len(question)} instead."
        )
    for language, text in question.items():
        fits = isinstance(language, str) and len(language) <= _LONGEST_LANGUAGE
        if not fits or not _LANGUAGE.fullmatch(language):
            raise BoundsError(f"'question' of {name!r} is given by language ('en', 'de-CH'). Got {language!r} instead.")
        if not isinstance(text, str) or not text:
            raise BoundsError(f"'question' of {name!r} must be text. Got {text!r} instead.")
        _check_text(f"'question' of {name!r}", text, LONGEST_QUESTION)
    return {language: question[language] for language in sorted(question)}


def _check_text(what: str, text: str, most: int) -> None:
    if len(text) > most:
        raise BoundsError(f"{what} must have at most {most} characters. Got {len(text)} instead.")
    if found := _HIDDEN.search(text):
        raise BoundsError(
            f"{what} must be one line, without characters that hide or turn text around. Got {found.group()!r} in it."
        )
