r"""How much of a correction of a public model to apply, so that it seldom harms. Post-processing of reports.

Adding ``s f`` to a public model with errors r changes its squared error by

.. math:: s^2\, E f^2 - 2 s\, E[r f]

of which the reports estimate the product ``E[r f]``, on records that f was not learnt from or less what f owes to its
own noise, and sometimes ``E f^2``. With a lower bound ``c`` of the one and an upper bound ``q`` of the other in place
of them, that hold but for a chance, the change is at most ``slack`` for

.. math:: s = \frac{c + \sqrt{c^2 + slack\, q}}{q}

and every smaller s above 0. It is so for two slacks (:data:`LIMITS`): a harm that counts is seldom, and a large one
next to impossible. A correction so small that it cannot harm by more than the slack passes without evidence; a
large one needs a product that is clearly above 0; one that is well known is applied as it is.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

__all__ = ["CHANCE", "LIMITS", "SLACK", "Estimate", "safe_scale", "safe_share"]

CHANCE = 0.0025
"""Chance of a larger harm, by each of up to two bounds a model: together the .5 % of runs that may be harmed."""
SLACK = 0.005
"""Of the public model's squared error: half of the 1 % that counts as harm, the rest is for what is not counted."""

LIMITS = ((SLACK, CHANCE), (0.04, 1e-5))
"""Slacks with their chances. No run may be harmed by 5 %: a fifth of that is for what is not counted, by hand, and two
bounds a model leave one run in 50,000."""

_HALVINGS = 50  # of the interval that the logarithm of a share is in: to 1e-15 of it


@dataclass(frozen=True)
class Estimate:
    """What is known of a correction f: ``E f^2`` and ``E[r f]``, and the standard deviations of both estimates."""

    square: float
    product: float
    product_sd: float
    square_sd: float = 0.0


def safe_share(found: Estimate, mean_square: float, sides: int = 1) -> float:
    """Return the largest share, up to 1, of a correction that keeps within all :data:`LIMITS`.

    Parameters
    ----------
    mean_square : float
        The public model's squared error, of which slacks are shares.
    sides : int
        Directions in which the correction might have gone; each has its part of the chance.

    Examples
    --------
    >>> safe_share(Estimate(square=1.0, product=1.0, product_sd=0.1), 1.0)
    1.0
    >>> known, rough = (Estimate(1.0, 0.6, 0.04, sd) for sd in (0.0, 0.2))  # the same, with a rough size
    >>> round(safe_share(known, 1.0), 2), round(safe_share(rough, 1.0), 2)
    (0.9, 0.63)
    """
    return min(_within(found, slack * mean_square, chance / sides) for slack, chance in LIMITS)


def _within(found: Estimate, slack: float, chance: float) -> float:
    """Return the largest share s up to 1 for which ``s^2 E f^2 - 2 s E[r f]`` is above the slack with this chance.

    Errors of both estimates are independent: the signs of errors tell the one, how often leaves are named the other.
    So the deviation is the root of the sum of squares, and s lies between those for a size that is well known, and for
    one at its own upper bound. What is above the slack, over s, grows with s.
    """
    reach = NormalDist().inv_cdf(1 - chance)

    def above(s: float) -> bool:
        deviation = math.hypot(s * found.square_sd, 2 * found.product_sd)
        return s * (s * found.square - 2 * found.product + reach * deviation) > slack

    widest = found.square + reach * found.square_sd
    low = safe_scale(widest, found.product, found.product_sd, slack, chance)
    high = safe_scale(found.square, found.product, found.product_sd, slack, chance)
    if not above(high):  # all of it, and not all but 1e-12
        return high
    for _ in range(_HALVINGS):
        middle = math.sqrt(low * high)  # small shares to as many digits as large ones
        if above(middle):
            high = middle
        else:
            low = middle
    return low


def safe_scale(square: float, product: float, sd: float, slack: float, chance: float = CHANCE) -> float:
    """Return the largest share, up to 1, of a correction that harms by more than ``slack`` with at most this chance.

    Parameters
    ----------
    square : float
        ``E f^2``, f the correction.
    product, sd : float
        Estimate of ``E[r f]``, r the error of the public model, and its standard deviation.
    slack : float
        Harm that is put up with, in squared label units; see :data:`SLACK`.

    Examples
    --------
    >>> safe_scale(square=0.004, product=0.0, sd=0.001, slack=0.01)  # too small to harm
    1.0
    >>> safe_scale(square=1.0, product=1.0, sd=0.1, slack=0.01)  # clearly right
    1.0
    >>> round(safe_scale(square=1.0, product=0.3, sd=0.1, slack=0.01), 3)  # it may be right
    0.121
    >>> round(safe_scale(square=1.0, product=-1.0, sd=0.1, slack=0.01), 3)  # wrong
    0.004
    """
    if not square > 0:
        return 1.0
    least = product - NormalDist().inv_cdf(1 - chance) * sd
    root = math.sqrt(least * least + slack * square)
    # The same number either way; for a bound below 0 this one does not cancel.
    scale = slack / (root - least) if least < 0 else (least + root) / square
    return min(1.0, scale)
