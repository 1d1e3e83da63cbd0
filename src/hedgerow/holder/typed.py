"""What people type, as numbers: the only place where a decimal comma is one.

Tasks read numbers by one rule in every language (:mod:`hedgerow.values`), and know no comma. Here, at the door where
somebody is asked, "0,5" becomes 0.5 before that. What can be read in two ways is never guessed at: in German "1.234"
may be 1234 or, by somebody used to English, 1.234; it is asked back before anything is drawn. ``typed.js`` does the
same.
"""

from __future__ import annotations

import re

from hedgerow.holder.texts import all_texts
from hedgerow.values import BLANKS

__all__ = ["read_number", "read_yes_no"]

_ONE_SIGN = re.compile(r"([+-]?)([0-9]*)([.,])([0-9]*)([eE][+-]?[0-9]+)?")
_GROUPED = re.compile("[+-]?[0-9][0-9.,'_\u2019\u00a0\u202f\u2009 ]*[0-9](?:[eE][+-]?[0-9]+)?")
_MOST_BEFORE_GROUP = 3  # digits: 1.234, 12.345 and 123.456 may be thousands, 1234.567 cannot


def read_number(text: str, decimal: str) -> str | None:
    """Return a typed number as tasks read it, other text as it is; None if it can be read in two ways.

    >>> [read_number(text, ",") for text in ("0,5", "1.234", "12.5", "1.234,5", "old")]
    ['0.5', None, '12.5', None, 'old']
    >>> [read_number(text, ".") for text in ("0.5", "1.234", "0,5", "1,234", "1 234")]
    ['0.5', '1.234', '0.5', None, None]
    """
    bare = text.strip(BLANKS)
    if found := _ONE_SIGN.fullmatch(bare):
        sign, before, mark, after, power = found.groups()
        thousands = len(after) == 3 and 1 <= len(before) <= _MOST_BEFORE_GROUP and before[0] != "0" and not power
        if mark != decimal and thousands:
            return None
        return f"{sign}{before}.{after}{power or ''}"
    if re.search("[^0-9+eE-]", bare) and _GROUPED.fullmatch(bare):
        return None
    return text


def read_yes_no(text: str) -> str:
    """Return 1 for yes and 0 for no in any shipped language, other text as it is.

    >>> [read_yes_no(text) for text in (" Ja", "non", "1", "perhaps")]
    ['1', '0', '1', 'perhaps']
    """
    said = text.strip(BLANKS).lower()
    for texts in all_texts().values():
        if said == texts["yes"]:
            return "1"
        if said == texts["no"]:
            return "0"
    return text.strip(BLANKS) if said in ("0", "1") else text
