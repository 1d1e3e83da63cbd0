r"""How much of a correction of a public model to apply, so that it seldom harms. Post-processing of reports.

Adding ``s f`` to a public model with errors r changes its squared error by

.. math:: s^2\, E f^2 - 2 s\, E[r f]

of which the reports estimate the product ``E[r f]``, on records that f was not learnt from or less what f owes to its
own noise. With its lower bound ``c`` in place of it, that holds but for a chance, the change is at most ``slack`` for

.. math:: s = \frac{c + \sqrt{c^2 + slack\, E f^2}}{E f^2}

and every smaller s above 0. A correction so small that it cannot harm by more than the slack passes without evidence; a
large one needs a product that is clearly above 0; one that is well known is applied as it is.
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np

from hedgerow.types import FloatArray

__all__ = ["CHANCE", "SLACK", "held_out_scale", "safe_scale"]

CHANCE = 0.0025
"""Chance of a larger harm, by each of up to two bounds a model: together the .5 % of runs that may be harmed."""
SLACK = 0.005
"""Of the public model's squared error: half of the 1 % that counts as harm, the rest is for errors in ``E f^2``."""


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


def held_out_scale(errors: FloatArray, correction: FloatArray, slack: float, chance: float = CHANCE) -> float:
    """Return the same from noisy errors, without bias, of records that each had no part in its own correction.

    >>> rng = np.random.default_rng(0)
    >>> f = rng.normal(size=5000)
    >>> held_out_scale(f + 3 * rng.normal(size=5000), f, 0.01) == 1.0  # errors are as corrected, and noise
    True
    >>> held_out_scale(3 * rng.normal(size=5000), f, 0.01) < 0.2  # nothing but noise
    True
    """
    products = errors * correction
    sd = float(products.std() / math.sqrt(max(len(products), 1)))
    return safe_scale(float(np.mean(correction**2)), float(products.mean()), sd, slack, chance)
