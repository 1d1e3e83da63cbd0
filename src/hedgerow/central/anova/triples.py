"""Whether the last descents go over products of three features, and over how many: by predicted error.

Everything here is a function of public choices and of what was released before: post-processing, which costs nothing.
A triple is a function like others: a record's vector is bounded with it as without it (:class:`~.products.Products`).
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from hedgerow.central.anova.basis import Basis, triples
from hedgerow.central.anova.descent import allocation, noise_variance, remains
from hedgerow.central.anova.outlook import Function, Outlook
from hedgerow.central.anova.pull import energies
from hedgerow.central.anova.recipe import Course, Fitted, map_of, reach_of, steps_of
from hedgerow.central.anova.rules import Found

__all__ = ["with_triples"]

_NUMBERS = (32, 64, 128, 256, 512)  # of triples that are tried: in the end as many as there are of singles and pairs


def with_triples(
    course: Course, basis: Basis, factor: float, share: Fraction, fitted: Fitted, found: Found, *, last: bool
) -> Basis:
    """Return the basis with as many of the heaviest triples as make the predicted error least; often none.

    The last descent but one tries some where :meth:`Outlook.hoped` says so; the last one goes on with what they showed,
    and takes none where none were tried.
    """
    outlook = Outlook.of(fitted, found.clip, course.options.clip, course.quantile)
    if not outlook.orthogonal or not outlook.hoped or (last and not outlook.tried):
        return basis
    extra = triples(course.data.space, basis, factor, course.least, _NUMBERS[-1])
    prior = outlook.prior(_joined(basis, extra, len(extra.functions)))
    best = basis
    reach = reach_of(course, map_of(course, basis), share, fitted, found, None)
    least = _error(course, basis, prior, share, reach, found.clip, outlook.spread)
    for number in sorted({min(number, len(extra.functions)) for number in _NUMBERS} - {0}):
        wider = _joined(basis, extra, number)
        error = _error(course, wider, prior, share, reach, found.clip, outlook.spread)
        if error >= least:  # more only add to the noise of these
            break
        best = wider
        least = error
    return best


def _joined(basis: Basis, extra: Basis, number: int) -> Basis:
    return Basis(
        basis.functions + extra.functions[:number],
        basis.weights + extra.weights[:number],
        basis.energies + extra.energies[:number],
    )


def _error(
    course: Course,
    basis: Basis,
    prior: dict[Function, float],
    share: Fraction,
    reach: float,
    clip: float,
    spread: float,
) -> float:
    r"""Return what a descent over these functions is expected to leave over.

    .. math:: \sum_{m \text{ not used}} \pi_m + \sum_m \pi_m \operatorname{left}_m^2 + \sum_m h_m \operatorname{Var}_m
              + \frac{\sigma^2}{n} \sum_m (1 - \operatorname{left}_m)

    What is not learnt, the noise, and what is fitted of the sample (Mallows), were the functions orthogonal.
    """
    feature_map = map_of(course, basis)
    energy = energies(feature_map)
    steps = steps_of(course, share, reach, None)
    left = remains(steps, energy, steps.rounds)
    own = np.array([0.0, *(prior[function] for function in basis.functions)])
    missed = sum(prior.values()) - float(own.sum())
    strength = course.data.purse.strength
    noise = np.zeros(steps.rounds)
    if math.isfinite(strength):
        parts = np.array([float(part * steps.share) for part in allocation(steps, energy)])
        noise = clip / (strength * np.sqrt(parts))
    outputs = course.data.rows.outputs
    added = outputs * float((noise_variance(steps, noise.tolist(), energy) * energy).sum())
    fitted = spread / course.size * float((1 - left).sum())
    return missed + float((own * left**2).sum()) + added + fitted
