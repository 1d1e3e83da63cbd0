"""The errors Hedgerow raises, drawn once.

::

    ValueError
    └── HedgerowError            anything a caller passed that cannot be used; says what, and the remedy
        ├── BoundsError          a bound, category or value that the public schema does not allow
        ├── FormatError          bytes or JSON that are not what they should be (version, digest, length)
        └── BudgetError          a ledger refused a spend

All are :class:`ValueError`, so that code written for scikit-learn keeps working.
"""

from __future__ import annotations

__all__ = ["BoundsError", "BudgetError", "FormatError", "HedgerowError"]


class HedgerowError(ValueError):
    """Something that was passed in cannot be used; the message names it and the remedy."""


class BoundsError(HedgerowError):
    """A bound is missing or wrong, or a value does not fit the public schema."""


class FormatError(HedgerowError):
    """Bytes or JSON do not have the expected form, version or digest."""


class BudgetError(HedgerowError):
    """A privacy budget would be overspent."""
