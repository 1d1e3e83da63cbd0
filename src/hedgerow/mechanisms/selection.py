"""Choosing one of several candidates by integer costs: permute-and-flip and the exponential mechanism.

An input is a list of costs, one a candidate; a neighbour has a record more, which raises each by 0 .. sensitivity.
Costs are whole numbers, the ratio is dyadic and no probability is a float, so that the law of a choice is a
list of integers that audits enumerate. There is no floor under any probability.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon, check_positive
from hedgerow.errors import HedgerowError
from hedgerow.mechanisms.audits import Audit, Chance
from hedgerow.mechanisms.base import CentralMechanism, Law
from hedgerow.mechanisms.words import percent
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.samplers import ONE, dyadic_exp, geometric
from hedgerow.types import BoolArray, IntArray

__all__ = [
    "AUDITS",
    "ExponentialSelection",
    "PermuteAndFlip",
    "Selection",
    "dyadic_ratio",
    "loss_of_two",
    "selection",
    "uniform_true",
]

_FINEST = ONE - (1 << 14)


def dyadic_ratio(epsilon: Fraction | float, sensitivity: int) -> int:
    """Return the numerator of a dyadic ``r >= e**(-epsilon/sensitivity)``; 0 (no noise) for an infinite epsilon.

    >>> dyadic_ratio(math.inf, 8)
    0
    """
    if epsilon == math.inf:
        return 0
    ratio = dyadic_exp(Fraction(epsilon) / sensitivity)
    if ratio > _FINEST:
        raise HedgerowError(f"The 'epsilon' parameter is too small: one step of it is only {float(epsilon):.3g}.")
    return ratio


@dataclass(frozen=True)
class Selection(CentralMechanism):
    """Chooses a candidate of low cost.

    Parameters
    ----------
    epsilon : float or Fraction
        Cost of one choice under add/remove, given that

            0 <= cost_i(D + record) - cost_i(D) <= sensitivity     for every candidate i  (a *monotone* cost).
    sensitivity : int
        That bound, in the units of the costs.
    """

    epsilon: float | Fraction
    sensitivity: int
    ratio: int = field(init=False, repr=False)
    name = "selection"

    def __post_init__(self) -> None:
        check_epsilon(self.epsilon)
        check_positive(self.sensitivity, name="sensitivity")
        object.__setattr__(self, "ratio", dyadic_ratio(self.epsilon, self.sensitivity))

    def choose(
        self, costs: npt.NDArray[Any], valid: BoolArray | None = None, randomness: Randomness | None = None
    ) -> IntArray:
        """Return one column a row of ``costs``; -1 where a row has no valid candidate.

        ``valid`` says which candidates exist. It must not depend on private data.
        """
        costs = np.asarray(costs)
        if costs.ndim != 2 or costs.dtype.kind not in "iu":
            raise HedgerowError(
                "'costs' must be a matrix of whole numbers, one row a choice. "
                f"Got {costs.dtype} of shape {costs.shape} instead."
            )
        costs = costs.astype(np.int64, copy=False)
        exists = np.ones(costs.shape, dtype=bool) if valid is None else np.asarray(valid, dtype=bool)
        chosen = np.full(len(costs), -1, dtype=np.int64)
        rows = np.flatnonzero(exists.any(axis=1))
        if rows.size:
            kept = costs[rows]
            mask = exists[rows]
            excess = kept - np.where(mask, kept, np.iinfo(np.int64).max).min(axis=1, keepdims=True)
            chosen[rows] = self._draw(np.where(mask, excess, 0), mask, as_randomness(randomness))
        return chosen

    def _draw(self, excess: IntArray, valid: BoolArray, randomness: Randomness) -> IntArray:
        raise NotImplementedError

    def sample(self, given: Sequence[int], n: int, randomness: Randomness | None = None) -> IntArray:
        """Return ``n`` choices between candidates with the given costs."""
        costs = np.asarray(given)
        if costs.ndim != 1 or not costs.size:
            raise HedgerowError(f"costs must be those of at least one candidate. Got shape {costs.shape} instead.")
        return self.choose(np.tile(costs, (n, 1)), randomness=randomness)

    def law(self, given: Sequence[int]) -> Law:
        """Return the exact law of the choice for a few candidates with the given costs."""
        raise NotImplementedError

    def words(self) -> str:
        """Return the odds of the worse of two candidates."""
        worse = self.law((0, self.sensitivity)).probability(1)
        return (
            f"one candidate is chosen, the cheaper the likelier: of two, one of which costs {self.sensitivity} more, "
            f"that one is chosen with probability {percent(worse)}"
        )

    def _powers(self, costs: Sequence[int]) -> tuple[list[int], int]:
        """Return integers ``h_i`` and ``D`` with ``h_i / D = r**(cost_i - least cost)``."""
        least = min(costs)
        most = max(costs) - least
        return [self.ratio ** (c - least) << 64 * (most - c + least) for c in costs], 1 << 64 * most


class PermuteAndFlip(Selection):
    r"""Flip a coin for every candidate, then choose uniformly among the heads.

    .. math:: P(\text{heads}_i) = r^{c_i - \min c}, \qquad r \ge e^{-\varepsilon/\Delta}

    This is McKenna and Sheldon's mechanism: the first head of a random permutation is uniform among the heads.

    Proof that it is epsilon-DP for monotone costs under add/remove. (1) The law depends on differences of costs
    only; P(i) falls in its own cost and rises in the others'. (2) Raising one cost by Delta multiplies P(i) by at
    least ``r**Delta`` (a geometric has no memory). (3) So adding a record, which raises every cost by 0 .. Delta,
    multiplies P(i) by at least ``r**Delta`` (worst: only c_i rises) and at most ``r**-Delta`` (all others rise).

    Examples
    --------
    >>> mechanism = PermuteAndFlip(1.0, 2)
    >>> law = mechanism.law([3, 3, 7])
    >>> [round(float(law.probability(i)), 4) for i in range(3)]
    [0.4774, 0.4774, 0.0451]
    >>> mechanism.choose(np.array([[3, 3, 7]] * 4), randomness=as_randomness(1)).tolist()
    [0, 0, 0, 0]
    """

    name = "permute-and-flip"

    def _draw(self, excess: IntArray, valid: BoolArray, randomness: Randomness) -> IntArray:
        coins = geometric(self.ratio, excess.size, randomness).reshape(excess.shape)
        return uniform_true(valid & (coins >= excess), randomness)

    def law(self, given: Sequence[int]) -> Law:
        """Return ``P(i) = p_i sum_k P(k other heads) / (k + 1)``, in integers."""
        heads, whole = self._powers(given)
        common = math.lcm(*range(1, len(given) + 1))
        weights = []
        for i, own in enumerate(heads):
            others = [1]  # others[k]: weight of k heads among the others
            for j, head in enumerate(heads):
                if j != i:
                    tail = whole - head
                    n = len(others)
                    low = [*others, 0]
                    high = [0, *others]
                    others = [low[k] * tail + high[k] * head for k in range(n + 1)]
            weights.append(own * sum(w * (common // (k + 1)) for k, w in enumerate(others)))
        return Law(tuple(range(len(given))), tuple(weights))


class ExponentialSelection(Selection):
    r"""Choose candidate i with probability proportional to ``r**c_i``.

    .. math:: P(i) = r^{c_i} / \sum_j r^{c_j}, \qquad r \ge e^{-\varepsilon/\Delta}

    Proof that it is epsilon-DP for monotone costs under add/remove: adding a record multiplies the numerator by
    ``r**d_i`` and the denominator by a mean of ``r**d_j`` with all ``d`` in 0 .. Delta. Both lie in
    ``[r**Delta, 1]``. So their ratio lies in ``[r**Delta, r**-Delta]``.

    Sampled by rejection: a uniform candidate is kept with probability ``r**(c_i - min c)``.

    Examples
    --------
    >>> law = ExponentialSelection(1.0, 2).law([3, 3, 7])
    >>> [round(float(law.probability(i)), 4) for i in range(3)]
    [0.4683, 0.4683, 0.0634]
    """

    name = "exponential selection"

    def _draw(self, excess: IntArray, valid: BoolArray, randomness: Randomness) -> IntArray:
        n, width = excess.shape
        chosen = np.empty(n, dtype=np.int64)
        left = np.arange(n)
        while left.size:
            tried = randomness.integers(width, left.size * width).reshape(-1, width)
            rows = left[:, None]
            coins = geometric(self.ratio, tried.size, randomness).reshape(tried.shape)
            kept = valid[rows, tried] & (coins >= excess[rows, tried])
            first = kept.argmax(axis=1)
            done = kept.any(axis=1)
            chosen[left[done]] = tried[done, first[done]]
            left = left[~done]
        return chosen

    def law(self, given: Sequence[int]) -> Law:
        """Return weights ``r**(c_i - min c)``, in integers."""
        weights, _ = self._powers(given)
        return Law(tuple(range(len(given))), tuple(weights))


_KINDS: dict[str, type[Selection]] = {"permute_and_flip": PermuteAndFlip, "exponential": ExponentialSelection}


def selection(kind: str, epsilon: float | Fraction, sensitivity: int) -> Selection:
    """Return the selection of this name, "permute_and_flip" or "exponential"."""
    if kind not in _KINDS:
        raise HedgerowError(f"The 'selection' parameter must be one of {sorted(_KINDS)}. Got {kind!r} instead.")
    return _KINDS[kind](epsilon, sensitivity)


def uniform_true(mask: BoolArray, randomness: Randomness) -> IntArray:
    """Return one True column of each row, exactly uniform among them; every row must have one.

    >>> uniform_true(np.array([[False, True, False], [True, False, False]]), as_randomness(0)).tolist()
    [1, 0]
    """
    count = mask.sum(axis=1)
    ticket = np.empty(len(mask), dtype=np.int64)
    for size in np.unique(count).tolist():
        rows = np.flatnonzero(count == size)
        ticket[rows] = randomness.integers(size, rows.size)
    ahead = mask.cumsum(axis=1, dtype=np.int64)
    return np.asarray((ahead > ticket[:, None]).argmax(axis=1), dtype=np.int64)


def loss_of_two(epsilon: float) -> float:
    r"""Return the loss between two candidates of equal weight and the same with ``r**Delta = e**-epsilon`` of one's.

    .. math:: \log \frac{1/2}{e^{-\varepsilon} / (1 + e^{-\varepsilon})} = \log \frac{1 + e^{\varepsilon}}{2}

    The exponential mechanism comes near epsilon on candidates only that are hardly ever chosen; this it loses on one
    that is chosen half of the time.

    >>> round(loss_of_two(1.0), 4)
    0.6201
    """
    return math.log1p(math.expm1(epsilon) / 2)


def _hardly_ever(mechanism: Selection) -> tuple[tuple[int, int], tuple[int, int]]:
    """Return costs of which a record raises the higher one, where that is ``22 / epsilon`` sensitivities higher.

    The loss of the exponential mechanism is ``epsilon - log((1 + r**c) / (1 + r**(c + Delta)))``: all of epsilon but a
    share of e**-22, or 3e-10.
    """
    high = mechanism.sensitivity * (1 if mechanism.ratio == 0 else math.ceil(22 / mechanism.epsilon))
    return (high, 0), (high + mechanism.sensitivity, 0)


_EQUAL = ((0, 0), (2, 0))  # two inputs of the audits: equal scores, and one that is 2 higher
_WORSE = (Chance((0, 2), lambda chosen: chosen == 1),)
_OUTSIDE = ((0.5, 0.0), ("0", "1"), (), ((0, 1), (2, 3)))

AUDITS = (
    Audit(
        "permute-and-flip",
        lambda epsilon: PermuteAndFlip(epsilon, 2),
        _WORSE,
        inputs=lambda choice: _EQUAL,
        outside=_OUTSIDE,
    ),
    Audit(
        "exponential selection",
        lambda epsilon: ExponentialSelection(epsilon, 2),
        _WORSE,
        inputs=_hardly_ever,
        pair=lambda choice: _EQUAL,
        loss=loss_of_two,
        outside=_OUTSIDE,
    ),
)
