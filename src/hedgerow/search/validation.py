"""Which candidate errs least on private records, by a mechanism: nothing else is known of the errors."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.guarantee import Guarantee, as_if_local, convert
from hedgerow.local.validation import estimate_errors
from hedgerow.mechanisms.counts import NoisyCounts
from hedgerow.mechanisms.one_bit import OneBit
from hedgerow.mechanisms.selection import PermuteAndFlip
from hedgerow.randomness import Randomness
from hedgerow.types import FloatArray

__all__ = ["Verdict", "choose_centrally", "choose_locally"]

STEPS = 1 << 16
"""Of the grid on which one record's loss is written, 1 being the largest: 1.5e-5, where good models differ by 1e-3."""


@dataclass(frozen=True, eq=False)
class Verdict:
    """The chosen candidate, and released losses with their standard errors (None: none were released)."""

    best: int
    losses: FloatArray | None
    errors: FloatArray | None
    guarantee: Guarantee


def choose_centrally(losses: FloatArray, claim: Guarantee, score_share: float, source: Randomness) -> Verdict:
    r"""Choose by permute-and-flip, and release noisy mean losses; ``losses`` is a matrix, a row a record, in [0, 1].

    Record i adds :math:`v_{ic} = \lfloor 2^{16} \ell_{ic} \rfloor` to the cost of every candidate c, and the pair
    :math:`(v_{ic}, 2^{16} - v_{ic})` to the two counts of which the released loss is the ratio.

    Proof that it costs epsilon under add/remove. (1) A record raises every cost by 0 .. 2**16, the sensitivity of the
    choice, which costs its share. (2) It adds 2**16 to each of the k pairs, ``k 2**16`` in all, the unit of the counts,
    which cost the rest. (3) Both are about the same records: the shares add up. Under "replace" or for labels all of it
    is done with half of epsilon, and a replacement is two such steps.

    ``claim`` is what the candidates promise: epsilon, and under which neighbours.
    """
    n, k = losses.shape
    whole: Any = claim.epsilon if math.isinf(claim.epsilon) else Fraction(claim.epsilon)
    budget = whole if claim.neighbours == "add/remove" else whole / 2
    paid = _share(budget, Fraction(score_share))
    levels = np.floor(losses * STEPS).astype(np.int64)
    costs = levels.sum(axis=0)
    choice = PermuteAndFlip(_share(budget, 1 - Fraction(score_share)), STEPS)
    best = int(choice.choose(costs[None, :], randomness=source.child("choice"))[0])
    means = errors = None
    if score_share:
        mechanism = NoisyCounts(paid, k * STEPS)
        counts = np.stack([costs, n * STEPS - costs], axis=1)
        noisy = mechanism.release(counts, source.child("scores")).astype(np.float64)
        means, errors = _ratios(noisy, mechanism.deviation * k)
    stated = Guarantee(
        budget,
        protects="record",
        trust="central",
        neighbours="add/remove",
        simulation=source.simulation,
    )
    return Verdict(best, means, errors, convert(stated, claim.neighbours, protects=claim.protects))


def _share(budget: Any, share: Fraction) -> Any:
    """Return a share of a budget without rounding; of an infinite one all."""
    return budget if isinstance(budget, float) and math.isinf(budget) else budget * share


def _ratios(noisy: FloatArray, deviation: float) -> tuple[FloatArray, FloatArray]:
    """Return mean losses from pairs of noisy counts, and the standard errors that the noise and the draw give them.

    ``deviation`` is that of the noise of one count, in records. Every pair tells how many records there are.
    """
    n = max(float(noisy.sum(axis=1).mean()) / STEPS, 1.0)
    means = np.clip(noisy[:, 0] / STEPS / n, 0.0, 1.0)
    drawn = means * (1 - means) / n  # a loss in [0, 1] varies no more than a coin with its mean
    return means, np.sqrt(drawn + (deviation / n) ** 2)


def choose_locally(losses: FloatArray, claim: Guarantee, source: Randomness) -> Verdict:
    """Let each holder score one candidate, drawn by a coin, with one private bit; choose the least estimated loss.

    Proof that it costs epsilon for each holder: it sends one bit through an epsilon-DP mechanism (:class:`.OneBit`),
    and which candidate that is about does not depend on its record. The choice is made from the bits.
    """
    n, k = losses.shape
    mechanism = OneBit(claim.epsilon)
    own = source.child("own").integers(k, n)
    levels = np.floor(losses[np.arange(n), own] * mechanism.n_steps).astype(np.int64)
    bits = mechanism.randomize(levels, source.child("bits"))
    holders = np.bincount(own, minlength=k).astype(np.int64)
    ones = np.bincount(own, weights=bits, minlength=k).astype(np.float64)
    means, errors = estimate_errors(mechanism, ones, holders)
    best = int(np.argmin(np.where(holders > 0, means, np.inf)))
    stated = as_if_local(replace(mechanism.guarantee, simulation=source.simulation))
    return Verdict(best, means, errors, convert(stated, claim.neighbours, protects=claim.protects))
