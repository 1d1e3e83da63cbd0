"""Exact audits of claims with a delta: which delta does an epsilon need, and which epsilon a delta."""

from __future__ import annotations

import math
from collections.abc import Hashable, Iterable
from fractions import Fraction
from itertools import permutations
from typing import NamedTuple

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.base import Law
from hedgerow.samplers import exp_bounds
from hedgerow.types import FloatArray

__all__ = ["delta_within", "loss_at_delta"]


class _Pair(NamedTuple):
    """Two laws over the union of their outputs, as integer weights over the totals ``one`` and ``two``."""

    more: list[int]
    less: list[int]
    one: int
    two: int
    names: tuple[Hashable, Hashable]


def _pairs(laws: Iterable[tuple[Hashable, Law]]) -> list[_Pair]:
    known = []
    for given, law in laws:
        weights: dict[Hashable, int] = {}
        for output, weight in zip(law.outputs, law.weights, strict=True):
            weights[output] = weights.get(output, 0) + weight
        known.append((given, weights, law.total))
    if not known:
        raise HedgerowError("'inputs' must name at least one input. Got none.")
    outputs = list(dict.fromkeys(o for _, weights, _ in known for o in weights))
    rows = [(given, [weights.get(o, 0) for o in outputs], total) for given, weights, total in known]
    return [_Pair(p, q, s, t, (a, b)) for (a, p, s), (b, q, t) in permutations(rows, 2)]


def delta_within(laws: Iterable[tuple[Hashable, Law]], epsilon: float, delta: float) -> bool:
    r"""Decide exactly whether (epsilon, delta) holds between all given laws.

    .. math:: \delta(\varepsilon) = \max_{v, v'} \sum_o \max\bigl(0, P(o \mid v) - e^\varepsilon P(o \mid v')\bigr)

    is the excess of the best event. It is bounded from both sides with rational bounds of ``e**epsilon``, whose
    precision is doubled until delta is on one side.

    Examples
    --------
    >>> laws = [(0, Law((0, 1), (1, 7))), (1, Law((1,), (1,)))]  # one output in eight is impossible under 1
    >>> delta_within(laws, 1.0, 0.125), delta_within(laws, 1.0, 0.1249)
    (True, False)
    """
    return math.isinf(epsilon) or all(_pair_within(p, Fraction(epsilon), Fraction(delta)) for p in _pairs(laws))


def _pair_within(pair: _Pair, epsilon: Fraction, delta: Fraction) -> bool:
    bits = 128
    while True:
        low, high = exp_bounds(epsilon, bits)
        if _excess(pair, low) <= delta:
            return True
        # Where the event is one of impossible outputs, e**epsilon plays no part, and both bounds agree.
        if _excess(pair, high) > delta:
            return False
        bits *= 2


def _excess(pair: _Pair, factor: Fraction) -> Fraction:
    up = pair.two * factor.denominator
    down = pair.one * factor.numerator
    total = sum(max(0, p * up - q * down) for p, q in zip(pair.more, pair.less, strict=True))
    return Fraction(total, pair.one * pair.two * factor.denominator)


def loss_at_delta(laws: Iterable[tuple[Hashable, Law]], delta: float) -> tuple[float, tuple[Hashable, Hashable]]:
    """Return the least epsilon that holds with ``delta`` (in floats, to be shown), and the worst pair."""
    worst = 0.0
    names = (None, None)
    for pair in _pairs(laws):
        more = np.array([p / pair.one for p in pair.more])
        less = np.array([q / pair.two for q in pair.less])
        loss = _solve(more, less, delta)
        if loss >= worst:
            worst, names = loss, pair.names  # type: ignore[assignment]
    return worst, names


def _solve(more: FloatArray, less: FloatArray, delta: float) -> float:
    if more[less == 0].sum() > delta:
        return math.inf
    low = 0.0
    high = 700.0
    for _ in range(60):
        middle = (low + high) / 2
        excess = np.maximum(more - math.exp(middle) * less, 0.0).sum()
        low, high = (middle, high) if excess > delta else (low, middle)
    return low
