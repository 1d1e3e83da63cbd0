"""Booking: what a fit spends is in the ledger before anything is drawn, and equals what the fit then claims.

Every estimator takes ``ledger=``: None (nothing is booked), a :class:`~hedgerow.Ledger`, or the path of one that
exists. The rules, stated here for all of them:

1. A fit is booked once the checks that need no noise have passed, and before anything is drawn about private rows. If
   the budget does not suffice it ends with a BudgetError, and nothing was drawn.
2. A fit that fails later stays booked: noise was drawn, and nobody can tell who has seen it.
3. Each call of ``fit`` is a release of its own and is charged. It draws new noise, also on the same rows with the same
   settings, and two answers tell more than one. So each fit makes a random key; nothing is ever derived from private
   rows, for a digest of them in a ledger's file would itself be a release.
4. The same key is not charged twice. Within one fit that joins its parts. Whoever gives out ONE outcome several times,
   such as reports to a task that were collected once and are counted again, books with a key of its own, the id of
   the task: ``book(ledger, task.guarantee, purpose="survey", key=task.id)``.
5. In the local models, and for labels that holders randomise, what is booked is what each holder spends.
6. A seeded fit protects nothing. A ledger refuses it, unless its own limit has ``simulation=True`` (a rehearsal); then
   it is booked at the cost that a secure fit would have. An infinite epsilon is refused by every ledger.
"""

from __future__ import annotations

import os
import secrets
from dataclasses import replace
from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.ledger import Entry, Ledger
from hedgerow.randomness import Randomness

__all__ = ["Booking", "book"]

_STATED = ("epsilon", "delta", "protects", "trust", "neighbours", "simulation")


def book(
    ledger: Ledger | str | os.PathLike[str] | None, guarantee: Guarantee, *, purpose: str, key: str | None = None
) -> Entry | None:
    """Book a release before it happens; raise BudgetError, and book nothing, if it does not fit.

    Parameters
    ----------
    ledger : Ledger, path of one that exists, or None
        None books nothing.
    guarantee : Guarantee
        What the release costs.
    purpose : str
        What it is for, in one line.
    key : str, optional
        A public name of this one outcome. The same key again is not charged again; None is charged each time.

    Examples
    --------
    >>> survey = Guarantee(0.3, protects="record", trust="local", neighbours="replace")
    >>> ledger = Ledger(None, limit=1)
    >>> for _ in range(2):
    ...     entry = book(ledger, survey, purpose="survey of May", key="the id of its task")
    >>> ledger.remaining().epsilon
    0.7
    """
    if ledger is None:
        return None
    if isinstance(ledger, str | os.PathLike):
        ledger = Ledger(ledger)
    if not isinstance(ledger, Ledger):
        raise HedgerowError(
            f"The 'ledger' parameter must be a Ledger, the path of one, or None. Got {type(ledger).__name__} instead."
        )
    return ledger.spend(guarantee, purpose=purpose, key=key)


class Booking:
    """One fit's spending: booked once, before the first draw; checked against what the fit claims.

    Examples
    --------
    >>> claim = Guarantee(0.3, protects="record", trust="central", neighbours="replace")
    >>> ledger = Ledger(None, limit=Guarantee(1, protects="record", trust="central", neighbours="replace"))
    >>> booking = Booking(ledger, claim, purpose="a forest")
    >>> booking.book(); booking.book()  # the parts of one fit
    >>> ledger.remaining().epsilon
    0.7
    """

    def __init__(self, ledger: Ledger | str | os.PathLike[str] | None, guarantee: Guarantee, *, purpose: str) -> None:
        self.ledger = ledger
        self.guarantee = guarantee
        self.purpose = purpose
        self.key = f"{purpose} {secrets.token_hex(16)}"

    @classmethod
    def of(cls, estimator: Any, guarantee: Guarantee, source: Randomness) -> Booking:
        """Return the booking of an estimator's next fit, with noise from this source."""
        claim = replace(guarantee, simulation=source.simulation)
        return cls(estimator.ledger, claim, purpose=type(estimator).__name__)

    def book(self) -> None:
        """Book, unless it is booked already; call it right before each draw about private rows."""
        book(self.ledger, self.guarantee, purpose=self.purpose, key=self.key)

    def check(self, claimed: Guarantee) -> None:
        """Raise unless the fit claims exactly what was booked."""
        wrong = [name for name in _STATED if getattr(claimed, name) != getattr(self.guarantee, name)]
        if wrong:
            raise HedgerowError(
                f"{self.purpose} claims another {' and '.join(wrong)} than was booked for it. Do not use the fit: "
                "this is a fault in hedgerow, please report it."
            )
