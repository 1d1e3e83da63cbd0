"""What page and command line say to holders, by language: one file each, ``en.json``, ``de.json``, ``fr.json``.

All files have the same keys and placeholders, which a test checks. A text never holds markup; values that come from a
curator are put in as text.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from functools import cache
from importlib.resources import files
from typing import Any

__all__ = ["LANGUAGES", "Texts", "all_texts", "default_language"]

LANGUAGES = ("en", "de", "fr")
"""Shipped; the first is what is spoken where nothing else is known."""
_HOLE = re.compile(r"\{(\w+)\}")


@cache
def all_texts() -> Mapping[str, Mapping[str, str]]:
    """Return all texts, by language and key."""
    folder = files("hedgerow.holder.texts")
    return {name: json.loads(folder.joinpath(f"{name}.json").read_text("utf-8")) for name in LANGUAGES}


def default_language(environment: Mapping[str, str] = os.environ) -> str:
    """Return the language tag of the locale; English without one.

    >>> default_language({"LANG": "de_CH.UTF-8"}), default_language({"LANG": "C.UTF-8"})
    ('de-CH', 'en')
    """
    found = next((environment[name] for name in ("LC_ALL", "LC_MESSAGES", "LANG") if environment.get(name)), "")
    tag = re.split("[.@]", found)[0].replace("_", "-")
    return tag if re.fullmatch("[a-z]{2,3}(-[A-Za-z0-9]{2,8})*", tag) else "en"


class Texts:
    """The texts of one language.

    Parameters
    ----------
    tag : str
        A language tag; of one that is not shipped, questions may still be there, and all else is English.

    Examples
    --------
    >>> Texts("de-AT").say("hint.range", low=Texts("de").number(0.5), high=9)
    'eine Zahl von 0,5 bis 9'
    >>> Texts("xx").language
    'en'
    """

    def __init__(self, tag: str = "en") -> None:
        self.tag = tag
        base = tag.partition("-")[0]
        self.language = base if base in LANGUAGES else LANGUAGES[0]
        self._texts = all_texts()[self.language]

    @property
    def decimal(self) -> str:
        """The decimal sign."""
        return self._texts["decimal"]

    def say(self, key: str, /, **values: Any) -> str:
        """Return a text with its values filled in."""
        return _HOLE.sub(lambda hole: str(values[hole[1]]), self._texts[key])

    def number(self, value: float) -> str:
        """Return a number as the language writes it, without signs between thousands."""
        return f"{value:.12g}".replace(".", self.decimal)
