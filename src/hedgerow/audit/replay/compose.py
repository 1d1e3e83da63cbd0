"""From the losses of all releases to the claim of the whole fit."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.audit.replay.losses import Loss, Outcomes, loss_of, outcomes
from hedgerow.audit.replay.tape import Release
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms.normal import gdp_mu

__all__ = ["Cost", "composed_epsilon", "cost_of", "epsilon_of_mu"]

_ROUNDING = 1e-9  # of the claim: what floats may have added to a sum of exact losses
_BINS = 4000  # of the claim: cells of the composition, to whose upper ends losses are rounded


@dataclass(frozen=True)
class Cost:
    """What two fits with equal outputs cost: the epsilon that would have to be claimed, and what breaks the claim."""

    epsilon: float
    faults: tuple[str, ...] = ()


def cost_of(one: Sequence[Release], two: Sequence[Release], claim: Guarantee, steps: int) -> Cost:
    """Hold all releases of two fits against a claim.

    ``steps`` says how far apart the tables are: a replaced record is two steps of add/remove. A claim about add/remove
    allows as many times its epsilon (or its mu), and so does the price of each release, which is stated for one step.
    A claim about replaced records says nothing about tables of other sizes.
    """
    losses = [loss_of(a, b) for a, b in zip(one, two, strict=True)]
    faults = [
        f"release {place} ({a.kind}) loses {_shown(loss):.6g}, and was built to cost {float(steps * a.price):.6g}"
        for place, (a, loss) in enumerate(zip(one, losses, strict=True), 1)
        if not getattr(a.law, "delta", 0.0) and _exceeds(loss, steps)
    ]
    whole = 2 if claim.neighbours == "replace" else 1
    if steps < whole:
        return Cost(0.0, tuple(faults))
    times = steps // whole
    needed, within = _needed(one, two, losses, claim, times)
    if not within:
        faults.insert(0, f"all releases together lose {needed:.6g}, and {claim.epsilon:.6g} is claimed")
    paid = float(steps * sum((loss.price for loss in losses), Fraction(0))) / times
    if not claim.delta and paid > claim.epsilon * (1 + _ROUNDING):
        faults.append(f"the releases that differ were built to cost {paid:.6g}, and {claim.epsilon:.6g} is claimed")
    return Cost(needed, tuple(faults))


def _shown(loss: Loss) -> float:
    return float(loss.squares) if loss.squares else loss.worst


def _exceeds(loss: Loss, steps: int) -> bool:
    """Whether one release costs more than it was built to; its price is epsilon, or mu**2 for Gaussian noise."""
    if loss.squares:
        return loss.squares > steps**2 * loss.price
    return loss.worst > float(steps * loss.price) * (1 + _ROUNDING)


def _needed(
    one: Sequence[Release], two: Sequence[Release], losses: Sequence[Loss], claim: Guarantee, times: int
) -> tuple[float, bool]:
    """Return the epsilon that holds with the claim's delta for one of ``times`` steps, and whether it was claimed."""
    squares = sum((loss.squares for loss in losses), Fraction(0))
    if squares:
        pure = any(loss.worst and not loss.squares for loss in losses)
        if pure or not claim.delta:
            return math.inf, False
        needed = epsilon_of_mu(math.sqrt(squares) / times, claim.delta)
        return needed, squares <= (times * gdp_mu(claim.epsilon, claim.delta)) ** 2
    if claim.delta:
        pairs = list(zip(one, two, strict=True))
        forth = [part for a, b in pairs for part in outcomes(a, b)]
        back = [part for a, b in pairs for part in outcomes(b, a)]
        # A group of so many steps has so many times the epsilon, and a delta that grows as well.
        delta = claim.delta * sum(math.exp(k * claim.epsilon) for k in range(times))
        needed = max(composed_epsilon(parts, delta, claim.epsilon / _BINS) for parts in (forth, back)) / times
    else:
        needed = sum(loss.worst for loss in losses) / times
    return needed, needed <= claim.epsilon * (1 + _ROUNDING)


def composed_epsilon(parts: Sequence[Outcomes], delta: float, width: float) -> float:
    r"""Return an upper bound of the least epsilon to which independent releases compose at delta.

    .. math:: \delta(\varepsilon) = E\,\max(0, 1 - e^{\varepsilon - L}), \qquad L = \sum_t L_t

    with every loss rounded up to a multiple of ``width``, and the laws convolved.

    Examples
    --------
    >>> coin = (np.array([1.0, -1.0]), np.array([0.731058578630, 0.268941421370]))  # response with epsilon 1
    >>> round(composed_epsilon([coin], 1e-9, 1e-3), 3), round(composed_epsilon([coin], 0.28765, 1e-3), 3)
    (1.0, 0.5)
    """
    loss, law = parts[0] if len(parts) == 1 else _convolved(parts, width)  # one release needs no rounding
    finite = np.isfinite(loss)
    possible = 1.0 - float(law[loss == math.inf].sum())
    loss = loss[finite]
    law = law[finite]
    if 1.0 - possible > delta:
        return math.inf
    low_end = 0.0
    high_end = max(float(loss.max()), 0.0)
    for _ in range(50):
        middle = (low_end + high_end) / 2
        excess = 1.0 - possible + float(law @ np.maximum(0.0, -np.expm1(np.minimum(middle - loss, 0.0))))
        low_end, high_end = (middle, high_end) if excess > delta else (low_end, middle)
    return high_end


def _convolved(parts: Sequence[Outcomes], width: float) -> Outcomes:
    """Return the law of the sum of losses, rounded up; what has no finite loss is kept apart."""
    law = np.ones(1)
    first = 0
    possible = 1.0
    for losses, masses in parts:
        finite = np.isfinite(losses)
        possible *= 1.0 - float(masses[losses == math.inf].sum())
        at = np.ceil(losses[finite] / width - 1e-9).astype(np.int64)
        low = int(at.min())
        law = np.convolve(law, np.bincount(at - low, weights=masses[finite]))
        first = first + low
    loss = width * (first + np.arange(law.size))
    return np.append(loss, math.inf), np.append(law, 1.0 - possible)


def epsilon_of_mu(mu: float, delta: float) -> float:
    """Return the least epsilon at which mu-GDP has delta, in floats, to be shown.

    >>> round(epsilon_of_mu(float(gdp_mu(1.0, 1e-5)), 1e-5), 6)
    1.0
    """
    if mu == 0:
        return 0.0

    def excess(epsilon: float) -> float:
        near, far = (math.erfc((epsilon / mu + s * mu / 2) / math.sqrt(2)) / 2 for s in (-1, 1))
        return near - math.exp(min(epsilon, 700.0)) * far

    low = 0.0
    high = 1.0
    while excess(high) > delta:
        low = high
        high = 2 * high
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if excess(middle) > delta else (low, middle)
    return high
