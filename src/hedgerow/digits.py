"""Numbers for people: few digits, commas from five digits on, powers of ten only where nothing else can be read."""

from __future__ import annotations

import math
import re
from decimal import Decimal

__all__ = ["in_full", "plain", "with_interval"]

_LARGEST = 1e15
"""From here on a double is no longer exact to the unit, and so many digits would claim too much."""
_SMALLEST = 1e-4
"""Below, a number has more zeros behind the point than digits."""
_GROUPED = 1e4
"""From here on there are commas: four digits are read at a glance, and may be a year."""


def plain(value: float, digits: int = 4) -> str:
    """Return a number with as many digits as are meant, as people write it.

    >>> plain(10170.4), plain(0.012345), plain(3), plain(-1234567, 2)
    ('10,170', '0.01235', '3', '-1,200,000')
    >>> plain(1850), plain(9999.96)
    ('1850', '10,000')
    >>> plain(1.5e-7), plain(float("inf"))
    ('1.5e-07', 'inf')
    """
    size = abs(value)
    if not math.isfinite(value) or size >= _LARGEST or 0 < size < _SMALLEST:
        return f"{value:.{digits}g}"
    rounded = float(f"{value:.{digits}g}")
    if rounded == 0:
        return "0"
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:.{places}f}" if abs(rounded) < _GROUPED else f"{rounded:,.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


# As Python and pictures write powers of ten, with a sign: a name such as 1e5 or the digits of an id are left alone.
_POWER = re.compile(r"(?<![\w.])[0-9](?:\.[0-9]+)?e[+-][0-9]{1,3}(?![0-9])")


def in_full(text: str) -> str:
    """Return a text in which every power of ten is written out, with all of its digits: nothing is rounded.

    >>> in_full("delta = 1e-06, up to 1.2e+04 steps"), in_full("id 12e45, gene_1e-06")
    ('delta = 0.000001, up to 12,000 steps', 'id 12e45, gene_1e-06')
    """
    return _POWER.sub(lambda found: format(Decimal(found[0]), ",f"), text)


def with_interval(value: float, low: float, high: float) -> str:
    """Return a number and its interval, all three to the place of the third digit of the interval's width.

    >>> with_interval(0.512345, 0.4, 0.61234), with_interval(1234567.8, 1.2e6, 1.3e6), with_interval(1e-11, 0.0, 0.14)
    ('0.512 (0.400 to 0.612)', '1,235,000 (1,200,000 to 1,300,000)', '0.000 (0.000 to 0.140)')
    """
    width = high - low
    if not (math.isfinite(width) and math.isfinite(value) and width > 0):
        return in_full(f"{plain(value)} ({plain(low)} to {plain(high)})")
    places = 2 - math.floor(math.log10(width))
    return f"{_to_place(value, places)} ({_to_place(low, places)} to {_to_place(high, places)})"


def _to_place(value: float, places: int) -> str:
    rounded = round(value, places) + 0.0  # no -0
    if abs(rounded) < _GROUPED:
        return f"{rounded:.{max(places, 0)}f}"
    return f"{rounded:,.{max(places, 0)}f}"
