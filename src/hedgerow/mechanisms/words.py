"""Probabilities in words."""

from __future__ import annotations

import math
from fractions import Fraction

__all__ = ["percent"]


def percent(share: float | Fraction) -> str:
    """Return a probability for people.

    >>> percent(0.62), percent(0.000123), percent(1 - 1e-9)
    ('62 %', '0.0123 %', '99.9999999 %')
    """
    value = float(share)
    # Near 1 as many nines as there are, and two digits more.
    digits = 3 if value < 0.9 else 3 - math.floor(math.log10(max(1 - value, 1e-12)))
    return f"{100 * value:.{max(2, digits)}g} %"
