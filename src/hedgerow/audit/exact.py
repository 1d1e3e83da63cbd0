"""Tier 1: enumerate the law of a mechanism and check every likelihood ratio in exact arithmetic."""

from __future__ import annotations

import math
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass
from fractions import Fraction
from reprlib import repr as brief
from typing import Any

from hedgerow.audit.approximate import delta_within, loss_at_delta
from hedgerow.audit.result import HOLDS, VIOLATED, AuditResult
from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.base import Law, Mechanism
from hedgerow.samplers import exp_at_least

__all__ = ["WorstRatio", "audit_exact", "audit_laws", "worst_ratio"]

_LEADING = 256  # bits of a ratio that are compared first; where they do not decide, all are


@dataclass(frozen=True)
class WorstRatio:
    """The worst likelihood ratio ``top / bottom`` over all outputs and pairs of inputs.

    ``bottom`` is 0 where an output is possible under ``more`` and impossible under ``less``.
    """

    top: int
    bottom: int
    output: Hashable
    more: Hashable
    less: Hashable

    @property
    def ratio(self) -> Fraction | None:
        """The ratio in lowest terms; None where it is infinite. Slow for numbers of a million digits."""
        return Fraction(self.top, self.bottom) if self.bottom else None

    @property
    def loss(self) -> float:
        """The privacy loss: the log of the ratio, as a float."""
        return _log(self.top, self.bottom) if self.bottom else math.inf

    def within(self, epsilon: float) -> bool:
        """Decide ``ratio <= e**epsilon`` exactly."""
        if math.isinf(epsilon):
            return True
        if not self.bottom:
            return False
        # The leading bits decide nearly always, and need no common divisor of long numbers.
        claim = Fraction(epsilon)
        floor = (self.top << _LEADING) // self.bottom
        if exp_at_least(Fraction(floor + 1, 1 << _LEADING), claim):
            return True
        if not exp_at_least(Fraction(floor, 1 << _LEADING), claim):
            return False
        return exp_at_least(Fraction(self.top, self.bottom), claim)


@dataclass(frozen=True)
class _Chance:
    """The probability ``weight / total`` of an output under ``given``."""

    weight: int
    total: int
    given: Hashable

    def exceeds(self, other: _Chance) -> bool:
        if self.total == other.total:  # nearly always, and the products would be twice as long
            return self.weight > other.weight
        return self.weight * other.total > other.weight * self.total

    def over(self, other: _Chance) -> tuple[int, int]:
        """Return numerator and denominator of ``self / other``."""
        if self.total == other.total:
            return self.weight, other.weight
        return self.weight * other.total, other.weight * self.total


def worst_ratio(laws: Iterable[tuple[Hashable, Law]]) -> WorstRatio:
    r"""Return the worst likelihood ratio among all pairs of the given laws.

    .. math:: \max_{o} \frac{\max_v P(o \mid v)}{\min_v P(o \mid v)}

    is the maximum over all pairs, so that one pass over the inputs is enough. Laws are used one at a time
    and may have different totals.

    Examples
    --------
    >>> worst = worst_ratio([("heads", Law((0, 1), (3, 1))), ("tails", Law((0, 1), (2, 4)))])
    >>> worst.ratio, worst.output, worst.more, worst.less
    (Fraction(8, 3), 1, 'tails', 'heads')
    """
    most: dict[Hashable, _Chance] = {}
    least: dict[Hashable, _Chance] = {}
    seen: list[Hashable] = []
    possible: list[set[Hashable]] = []
    for given, law in laws:
        total, weights = _merged(given, law)
        for output, weight in weights.items():
            chance = _Chance(weight, total, given)
            if output not in most or chance.exceeds(most[output]):
                most[output] = chance
            if output not in least or least[output].exceeds(chance):
                least[output] = chance
        seen.append(given)
        possible.append(set(weights))
    if not seen:
        raise HedgerowError("'inputs' must name at least one input. Got none.")
    for output, chance in most.items():
        for given, support in zip(seen, possible, strict=True):
            if output not in support:
                return WorstRatio(1, 0, output, chance.given, given)
    return _largest(most, least)


def _merged(given: Hashable, law: Law) -> tuple[int, dict[Hashable, int]]:
    """Return the total and the positive weights; an output that is listed twice counts once, with both."""
    weights: dict[Hashable, int] = {}
    for output, weight in zip(law.outputs, law.weights, strict=True):
        if not isinstance(weight, int) or weight < 0:
            raise HedgerowError(f"the law of input {given!r} has the weight {weight!r}; weights are ints >= 0.")
        if weight:
            weights[output] = weights.get(output, 0) + weight
    if not weights:
        raise HedgerowError(f"the law of input {given!r} has no possible output.")
    return sum(weights.values()), weights


def _largest(most: dict[Hashable, _Chance], least: dict[Hashable, _Chance]) -> WorstRatio:
    top = 0
    bottom = 1
    worst = None
    for output, chance in most.items():
        numerator, denominator = chance.over(least[output])
        if worst is None or numerator * bottom > top * denominator:
            top = numerator
            bottom = denominator
            worst = output
    return WorstRatio(top, bottom, worst, most[worst].given, least[worst].given)


def _log(top: int, bottom: int) -> float:
    if top < 2 * bottom:  # near 1 the log of a rounded ratio would lose its digits
        return math.log1p((top - bottom) / bottom)
    try:
        return math.log(top / bottom)
    except OverflowError:  # beyond e**709
        return math.log(top) - math.log(bottom)


def audit_laws(name: str, laws: Iterable[tuple[Hashable, Law]], *, epsilon: float, delta: float = 0.0) -> AuditResult:
    """Audit any family of laws against a claim; see :func:`audit_exact`."""
    claim = check_epsilon(epsilon)
    if not 0 <= delta < 1:
        raise HedgerowError(f"The 'delta' parameter must be at least 0 and below 1. Got {delta!r} instead.")
    start = time.perf_counter()
    if delta:
        laws = list(laws)
        loss, pair = loss_at_delta(laws, delta)
        holds = delta_within(laws, claim, delta)
        witness = f"{brief(pair[0])} against {brief(pair[1])}"
    else:
        worst = worst_ratio(laws)
        loss = worst.loss
        holds = worst.within(claim)
        witness = f"output {brief(worst.output)}: {brief(worst.more)} against {brief(worst.less)}"
    seconds = time.perf_counter() - start
    return AuditResult(name, claim, loss, "exact", HOLDS if holds else VIOLATED, seconds, delta, witness=witness)


def audit_exact(
    mechanism: Mechanism,
    *,
    epsilon: float | None = None,
    delta: float | None = None,
    inputs: Iterable[Any] | None = None,
    law: Callable[[Any], Law] | None = None,
) -> AuditResult:
    """Check ``P(output | v) <= e**epsilon P(output | v')`` for all outputs and inputs, exactly.

    With a delta: ``P(event | v) <= e**epsilon P(event | v') + delta`` for all events.

    Parameters
    ----------
    mechanism : Mechanism
        Anything with ``law(given)``, ``epsilon`` and ``name``, and ``n_inputs`` unless ``inputs`` are given.
    epsilon, delta : float, optional
        The claim; the mechanism's own by default (delta: 0 if it states none).
    inputs : iterable, optional
        Inputs that are neighbours of each other; by default all of a local mechanism.
    law : callable, optional
        ``law(value)`` to enumerate in place of the mechanism's: the law of a function of its output, where
        that is much smaller and has the same ratios.

    Examples
    --------
    >>> from hedgerow.mechanisms import KaryResponse
    >>> audit_exact(KaryResponse(1.0, 4)).verdict
    'holds'
    >>> audit_exact(KaryResponse(1.1, 4), epsilon=1.0).verdict
    'VIOLATED'
    """
    values = range(mechanism.n_inputs) if inputs is None else inputs  # type: ignore[attr-defined]
    law = law or mechanism.law
    claim = float(mechanism.epsilon) if epsilon is None else epsilon
    slack = getattr(mechanism, "delta", 0.0) if delta is None else delta
    return audit_laws(mechanism.name, ((v, law(v)) for v in values), epsilon=claim, delta=slack)
