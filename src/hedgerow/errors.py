"""The errors Hedgerow raises, drawn once.

::

    ValueError
    └── HedgerowError            anything a caller passed that cannot be used; says what, and the remedy
        ├── BoundsError          a bound, category or value that the public schema does not allow
        ├── FormatError          bytes or JSON that are not what they should be (version, digest, length)
        ├── InvalidReport        the proof that a sealed report is allowed does not hold
        └── BudgetError          a ledger refused a spend

All are :class:`ValueError`, so that code written for scikit-learn keeps working. What can be used, and is more likely a
mistake than meant, is a :class:`HedgerowWarning`; the command line prints it in one line.
"""

from __future__ import annotations

import math
from typing import Any

__all__ = [
    "BoundsError",
    "BudgetError",
    "FormatError",
    "HedgerowError",
    "HedgerowWarning",
    "InvalidReport",
    "RepeatedFitWarning",
    "shown",
]

_LONGEST = 200
"""Characters of a value that a message repeats: one line on a screen is about half of that."""
_MOST = 8
"""Values of an array that a message repeats: bounds have two or four, and labels of people are more."""


class HedgerowError(ValueError):
    """Something that was passed in cannot be used; the message names it and the remedy."""


class BoundsError(HedgerowError):
    """A bound is missing or wrong, or a value does not fit the public schema."""


class FormatError(HedgerowError):
    """Bytes or JSON do not have the expected form, version or digest."""


class InvalidReport(HedgerowError):
    """The proof that a report in shares is an allowed one does not hold; it must not be added up."""


class BudgetError(HedgerowError):
    """A privacy budget would be overspent."""


class HedgerowWarning(UserWarning):
    """Something that was passed in can be used, and is more likely a mistake than meant."""


class RepeatedFitWarning(HedgerowWarning):
    """Each of many fits on the same records spends epsilon; the guarantee that is printed is for one of them."""


def shown(value: object) -> str:
    """Return how a value stands in a message: on one line, not too long, and never a table or a column of people.

    >>> shown((4, 0)), shown("x" * 1000)[-6:], shown(list(range(60)))
    ('(4, 0)', 'xxx...', 'a list of 60 values')
    """
    shape: Any = getattr(value, "shape", None)
    if isinstance(shape, tuple):
        frame = hasattr(value, "columns") or hasattr(value, "to_list")
        if frame or math.prod(shape) > _MOST:
            return f"a {type(value).__name__} of shape {shape}"
    elif isinstance(value, list | tuple | set | frozenset | dict) and len(value) > _MOST:
        return f"a {type(value).__name__} of {len(value)} values"
    elif isinstance(value, str | bytes) and len(value) > _LONGEST:
        value = value[:_LONGEST]
    text = " ".join(repr(value).split())
    return text if len(text) <= _LONGEST else f"{text[:_LONGEST]}..."
