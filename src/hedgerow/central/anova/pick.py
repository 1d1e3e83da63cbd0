"""A private choice of the features that a fit with pure epsilon goes on with, where there are many."""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from hedgerow.central.anova.accounting import Purse
from hedgerow.central.anova.basis import Basis, choose
from hedgerow.central.anova.coded import Coded
from hedgerow.central.anova.design import FeatureMap
from hedgerow.central.anova.products import FULL, Products
from hedgerow.central.anova.quantiles import Quantiles
from hedgerow.central.anova.rows import LEVELS, Clip
from hedgerow.mechanisms.selection import PermuteAndFlip
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray, IntArray

__all__ = ["MOVES", "pick", "scores"]

_FREQUENCY = 2  # a line, half a wave and a whole one: what rises, and what rises and falls
_MOST = 1_000_000  # functions: all of them
MOVES = 2 * LEVELS * FULL**2
"""How much more one record can add to the cost of one feature than to that of another."""


def scores(
    space: FeatureSpace,
    quantiles: dict[int, Quantiles],
    rows: Coded,
    mean: FloatArray,
    clip: float,
) -> IntArray:
    r"""Return how much each feature's functions have in common with what the mean leaves over (private).

    .. math:: s_j = \max_{m \text{ of } j} \sum_o \Bigl| \sum_i q_{io} b_m(x_i) \Bigr|

    with clipped residuals q in whole levels, over outputs o together at most 129, and functions b of at most 127**2.
    """
    found = choose(
        space,
        np.ones(len(space)).tolist(),
        frequency=_FREQUENCY,
        pair_weight=0.0,
        pair_complexity=1.0,
        least=0.0,
        most=_MOST,
        missing=False,
    )
    basis = Basis(found.functions, (1.0,) * len(found.functions), found.energies)
    feature_map = FeatureMap(space, quantiles, basis, math.sqrt(len(basis)))  # so wide that no record is shortened
    start = np.zeros((len(basis), rows.outputs))
    start[0] = mean / feature_map.weights[0]
    sums = rows.over(Products.of(feature_map)).gradient(start, Clip(clip, LEVELS, 1))
    common = np.abs(sums // feature_map.units[:, None]).sum(axis=1)
    out = np.zeros(len(space), dtype=np.int64)
    for m, (single,) in enumerate(basis.functions, 1):
        out[single.feature] = max(out[single.feature], common[m])
    return out


def pick(found: IntArray, k: int, share: Fraction, purse: Purse, randomness: Randomness) -> list[int]:
    r"""Return k features of high scores, for a share of the purse: one after the other, each for a k-th of it.

    Proof: a record adds at most ``129 * 127**2`` to a sum over outputs of sizes, or takes as much away, whichever the
    function; a maximum moves by no more than what it is taken of. With N records, the costs ``N 129 127**2 - s_j``
    therefore rise by 0 to :data:`MOVES` with a record more, as permute-and-flip asks; and as a choice depends on
    differences of costs only, ``-s_j`` give the same choice. What is left out in later choices was released before.

    >>> from hedgerow.central.anova.accounting import LaplacePurse
    >>> from hedgerow.randomness import SeededRandomness
    >>> found = np.array([0, 10**9, 10**7, 5 * 10**8])
    >>> pick(found, 2, Fraction(1, 2), LaplacePurse(Fraction(4)), SeededRandomness(0))
    [1, 3]
    """
    assert purse.total is not None  # without noise nothing is chosen: there is no reason to
    cost = share * purse.total / k
    choice = PermuteAndFlip(cost, MOVES)
    free = np.ones((1, found.size), dtype=bool)
    out: list[int] = []
    for _ in range(k):
        purse.charge(cost)
        j = int(choice.choose(-found[None, :], free, randomness)[0])
        free[0, j] = False
        out.append(j)
    return out
