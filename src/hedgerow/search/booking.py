"""What the parts of a search spend together: disjoint groups cost the largest of them, booked as it grows."""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from fractions import Fraction
from typing import Any

from hedgerow.guarantee import Guarantee
from hedgerow.ledger import Budget, Entry, Ledger
from hedgerow.spending import book

__all__ = ["Together"]


class Together(Ledger):
    """Takes the bookings of all parts of one search, each of which comes before its part draws.

    The first is passed on to the ledger as it is; a later one that costs more, by the difference. So whatever is drawn,
    the ledger holds what all parts cost together, and a search of parts that cost the same is one entry.

    Examples
    --------
    >>> from hedgerow import Guarantee
    >>> half = Guarantee(0.5, protects="record", trust="central", neighbours="replace")
    >>> with Ledger(None, limit=2) as ledger:
    ...     together = Together(ledger, "a search")
    ...     for epsilon in (0.5, 0.5, 0.7):
    ...         entry = together.spend(replace(half, epsilon=epsilon), purpose="a part")
    ...     [entry.charged.epsilon for entry in ledger.entries()]
    [0.5, 0.2]
    """

    def __init__(self, ledger: Ledger | str | os.PathLike[str] | None, purpose: str) -> None:
        self._ledger = ledger
        self._purpose = purpose
        self._key = secrets.token_hex(16)
        self._parts = 0
        self._booked = (Fraction(0), Fraction(0))

    def spend(self, guarantee: Guarantee, *, purpose: str, key: str | None = None) -> Entry:
        """Book what a part costs beyond the parts before it."""
        wanted = (_decimal(guarantee.epsilon), _decimal(guarantee.delta))
        more = [max(need - had, Fraction(0)) for need, had in zip(wanted, self._booked, strict=True)]
        if self._parts == 0 or any(more):
            self._parts += 1
            due = guarantee if self._parts == 1 else replace(guarantee, epsilon=float(more[0]), delta=float(more[1]))
            book(self._ledger, due, purpose=self._purpose, key=f"{self._purpose} {self._key} {self._parts}")
            self._booked = (max(wanted[0], self._booked[0]), max(wanted[1], self._booked[1]))
        return Entry(self._parts, key, purpose, guarantee, Budget(guarantee.epsilon, guarantee.delta), "")

    def __reduce__(self) -> tuple[Any, ...]:
        return Together, (self._ledger, self._purpose)

    def __repr__(self) -> str:
        return f"<{self._purpose}: {self._ledger!r}>"


def _decimal(value: float) -> Fraction:
    """Read a number as a ledger does; infinity, which every ledger refuses, as more than any limit."""
    return Fraction(10**12) if value == float("inf") else Fraction(repr(value))
