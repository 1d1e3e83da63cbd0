"""The randomised answer as a picture: what could have been sent, how likely each of it was, and what was.

The chances are those of the task's exact law, given the record and before anything is drawn: a label between two levels
is rounded to either at random, and that is in them. A picture is made on the holder's device from what it knows, and
nothing of it is sent. JavaScript makes the same one (``picture.js``); shared vectors prove it.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from hedgerow.mechanisms.laplace import DiscreteLaplace
from hedgerow.samplers import ONE

if TYPE_CHECKING:
    from hedgerow.grid import LabelGrid

__all__ = ["Bar", "Panel", "marked", "named", "shares", "told", "values"]

BARS = 48
"""At most, side by side on a phone of 375 pixels: 7 pixels each."""
TAIL = 5e-4
"""Left out on either side of values, unless it was sent: all but one case in a thousand is shown."""
MOST_OUTPUTS = 200_000
"""More are not drawn as bars: it would take a phone longer than a blink."""
MOST_WEIGHTS = 3_000
"""Of exact laws: adding up more long numbers takes longer than a second."""


@dataclass(frozen=True)
class Bar:
    """One thing that could have been sent, or ``count`` alike, of which ``sent`` were; ``chance`` is that of each.

    ``low`` and ``high`` are the values that it stands for, where these are numbers.
    """

    what: Literal["own", "other", "above", "below", "silent", "value"]
    chance: float
    sent: int
    count: int = 1
    low: float = 0.0
    high: float = 0.0

    @property
    def total(self) -> float:
        """The chance of any of them, where one thing is sent."""
        return self.chance * self.count


@dataclass(frozen=True)
class Panel:
    """Bars that belong together.

    ``"named"``: one answer is sent. ``"marked"``: any number of answers. ``"told"``: the own group is told as above or
    below, or not at all. ``"values"``: one number, the label or (``error``) how wrong a public model is; ``truth`` is
    the true one.
    """

    kind: Literal["named", "marked", "told", "values"]
    bars: tuple[Bar, ...]
    truth: float | None = None
    error: bool = False


def shares(grid: LabelGrid, label: float) -> dict[int, float]:
    """Return the levels that a label may be rounded to, and how likely each is.

    >>> from hedgerow.grid import LabelGrid
    >>> shares(LabelGrid(0.0, 8.0, 4), 3.0), shares(LabelGrid(0.0, 8.0, 4), 99.0)
    ({1: 0.5, 2: 0.5}, {4: 1.0})
    """
    inside = min(max(label, grid.low), grid.high) - grid.low
    place = min(inside * (256 * (grid.n_steps / (grid.high - grid.low))), 256.0 * grid.n_steps) / 256
    level = math.floor(place)
    part = place - level
    return {level: 1.0 - part, level + 1: part} if part else {level: 1.0}


def named(own: Mapping[int, float], n: int, p: float, q: float, sent: int) -> Panel:
    """Return the picture of one answer out of ``n``: that of the holder with ``p``, each other one with ``q``.

    ``own`` are the answers that are true, by how likely each is after rounding.

    >>> named({3: 1.0}, 5, 0.6, 0.1, 2).bars[1]
    Bar(what='other', chance=0.1, sent=1, count=4, low=0.0, high=0.0)
    """
    mine = sum(share * p + (1 - share) * q for share in own.values())
    bars = [Bar("own", mine, int(sent in own))]
    if n > len(own):
        bars.append(Bar("other", q, int(sent not in own), n - len(own)))
    return Panel("named", tuple(bars))


def marked(own: Mapping[int, float], p: float, q: float, bits: Sequence[bool]) -> Panel:
    """Return the picture of answers that are each marked or not: that of the holder with ``p``, others with ``q``."""
    mine = max(own, key=lambda answer: (own[answer], -answer))
    chance = own[mine] * p + (1 - own[mine]) * q
    others = [bool(bit) for answer, bit in enumerate(bits) if answer not in own]
    bars = [Bar("own", chance, int(bits[mine]))]
    if others:
        bars.append(Bar("other", q, sum(others), len(others)))
    return Panel("marked", tuple(bars))


def told(above: float, odds: tuple[float, float, float], sent: int, others: Sequence[bool]) -> Panel:
    """Return the picture of a group with a word: told truly, with the opposite word, or not at all.

    ``above`` is how likely the truth is rounded to "above"; ``odds`` are those of the true word, of the opposite one,
    and of another group to be told; ``sent`` is 1, -1 or 0.
    """
    p, turned, other = odds
    up = above * p + (1 - above) * turned
    down = above * turned + (1 - above) * p
    bars = [
        Bar("above", up, int(sent > 0)),
        Bar("below", down, int(sent < 0)),
        Bar("silent", max(0.0, 1 - p - turned), int(sent == 0)),
    ]
    if len(others):
        bars.append(Bar("other", other, int(sum(others)), len(others)))
    return Panel("told", tuple(bars))


def values(grid: LabelGrid, mechanism: Any, codes: tuple[int, int], sent: int, label: float) -> Panel:
    """Return the picture of a noisy number: bars of equal width over what could have been sent, ``codes`` from and to.

    >>> from hedgerow.grid import LabelGrid
    >>> from hedgerow.mechanisms.laplace import DiscreteLaplace
    >>> noise = DiscreteLaplace(8.0, 4)
    >>> panel = values(LabelGrid(0.0, 8.0, 4), noise, (-noise.reach, 4 + noise.reach), 2, 4.0)
    >>> [(bar.low, round(bar.chance, 3), bar.sent) for bar in panel.bars][2:5]
    [(2.0, 0.103, 0), (4.0, 0.762, 1), (6.0, 0.103, 0)]
    """
    low, high = codes
    truth = min(max(label, grid.low), grid.high)
    parts = [(share, _chances(mechanism, level, low, high)) for level, share in shares(grid, label).items()]
    if any(chances is None for _, chances in parts):
        return Panel("values", (), truth)
    chances = sum(share * found for share, found in parts)
    at = sent - low
    first, last = _shown(chances, at)
    positions = getattr(mechanism, "positions", lambda codes: codes)
    where = grid.values(positions(np.arange(low, high + 1)))
    width = max(1, math.ceil((last - first + 1) / BARS))
    bars = []
    for start in range(first, last + 1, width):
        end = min(start + width, last + 1)
        chance = float(chances[start:end].sum())
        bars.append(Bar("value", chance, int(start <= at < end), 1, float(where[start]), float(where[end - 1])))
    return Panel("values", tuple(bars), truth)


def _shown(chances: Any, at: int) -> tuple[int, int]:
    """Return the first and the last code that is shown."""
    first = 0
    left = 0.0
    while first < at and left + chances[first] < TAIL:
        left += chances[first]
        first += 1
    last = len(chances) - 1
    right = 0.0
    while last > at and right + chances[last] < TAIL:
        right += chances[last]
        last -= 1
    return first, last


def _chances(mechanism: Any, level: int, low: int, high: int) -> Any:
    """Return the chance of every code given a level; None of more than can be shown.

    Of Laplace noise by its formula, for the exact weights of a long tail are very long numbers.
    """
    noise = getattr(mechanism, "noise", mechanism)
    if isinstance(noise, DiscreteLaplace):
        if high - low > MOST_OUTPUTS:
            return None
        r = noise.ratio / ONE
        found = r ** np.abs(np.arange(low, high + 1) - level).astype(np.float64) / (1 + r)
        found[1:-1] *= 1 - r  # the tails are at either end
        return found if noise.reach else (np.arange(low, high + 1) == level).astype(np.float64)
    if high - low > MOST_WEIGHTS:
        return None
    law = mechanism.law(level)
    total = law.total
    found = np.zeros(high - low + 1)
    for output, weight in zip(law.outputs, law.weights, strict=True):
        found[int(output) - low] += weight / total
    return found
