"""Amounts of privacy budget on a device, in whole units."""

from __future__ import annotations

import math
from dataclasses import dataclass
from fractions import Fraction

from hedgerow.errors import BudgetError, HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.ledger import DELTA_UNITS, EPSILON_UNITS

__all__ = ["Cost", "Limits"]


def _decimal(value: float) -> Fraction:
    return Fraction(repr(float(value)))


@dataclass(frozen=True)
class Cost:
    """An amount in whole units: millionths of epsilon, 1e-15 of delta."""

    epsilon: int
    delta: int = 0

    @classmethod
    def of(cls, guarantee: Guarantee) -> Cost:
        """Return what a release costs, rounded up.

        >>> Cost.of(Guarantee(0.1, protects="record", trust="local", neighbours="replace"))
        Cost(epsilon=100000, delta=0)
        """
        if math.isinf(guarantee.epsilon):
            raise BudgetError("this task has an infinite epsilon: a report would hold the truth. Do not answer it.")
        epsilon = _decimal(guarantee.epsilon)
        delta = _decimal(guarantee.delta)
        return cls(math.ceil(epsilon * EPSILON_UNITS), math.ceil(delta * DELTA_UNITS))

    @classmethod
    def limit(cls, epsilon: float, delta: float) -> Cost:
        """Return a limit, rounded down."""
        if not (0 <= epsilon <= 10**9 and 0 <= delta < 1):
            raise HedgerowError(
                f"a limit must have 0 <= epsilon <= 1e9 and 0 <= delta < 1. Got {epsilon!r}, {delta!r}."
            )
        return cls(math.floor(_decimal(epsilon) * EPSILON_UNITS), math.floor(_decimal(delta) * DELTA_UNITS))

    def __str__(self) -> str:
        delta = f" and delta = {self.delta / DELTA_UNITS:.15g}" if self.delta else ""
        return f"epsilon = {self.epsilon / EPSILON_UNITS:.15g}{delta}"


@dataclass(frozen=True)
class Limits:
    """The most a holder gives away: to one curator in total, and to all together.

    ``total`` bounds what curators learn if they put their reports together, and what one curator learns who comes
    back under many keys. A limit is for good: it is not a monthly allowance.
    """

    per_curator: float = 4.0
    total: float = 16.0
    delta: float = 1e-6
