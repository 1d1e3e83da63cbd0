"""Fitting with pure epsilon: a count, quantiles where they show, the mean, and one planned descent of few functions.

Shares of the budget grow where there is little signal, and what would only show noise is left out and not paid for.
"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np

from hedgerow.central.anova.accounting import Purse
from hedgerow.central.anova.basis import Basis
from hedgerow.central.anova.coded import Drawn
from hedgerow.central.anova.descent import Steps, look_rounds
from hedgerow.central.anova.design import FeatureMap
from hedgerow.central.anova.pick import pick, scores
from hedgerow.central.anova.pure_plan import Plan, Situation, bounds_of, make_plan
from hedgerow.central.anova.quantiles import Quantiles, count, count_deviation, estimate_known
from hedgerow.central.anova.recipe import Data, Fitted, Options, carry, descend_in, fitted_of
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray, IntArray

__all__ = ["draw_pure", "fit_pure"]

# By hand; what others give: `hedgerow bench run anova-rules`. No number here bears on privacy.
_COUNT = Fraction(4, 100)  # share of the budget for the number of records
_AGAIN = Fraction(15, 100)  # share for counting them again, where they are few
_FEW = 300.0  # records times epsilon: the first count errs by 12 % or more below it
_QUANTILES = Fraction(1, 10)  # share for quantiles, where they are bought
_LEVELS = 2  # of quantiles
_STRONGEST = 1e9  # epsilon that plans are made for, at most: for an infinite one, too
_GRAIN = 1 << 20  # shares are multiples of one over this: prices stay short fractions


def draw_pure(space: FeatureSpace, n: int, finest: IntArray, purse: Purse, randomness: Randomness) -> Drawn:
    """Return quantiles of all numeric features, and a noisy number of records, or the number itself if it is public.

    Features are taken as flat where noise would hide a bin that holds all records.
    """
    size = count(n, purse, _COUNT, randomness)
    if size * purse.strength < _FEW and not purse.known_size:
        first = count_deviation(purse, _COUNT) ** -2
        second = count_deviation(purse, _AGAIN) ** -2
        size = (first * size + second * count(n, purse, _AGAIN, randomness)) / (first + second)
    share = _QUANTILES if _worth_counting(space, purse, size) else Fraction(0)
    return estimate_known(space, finest, size, purse, share, _LEVELS, randomness), size


def _worth_counting(space: FeatureSpace, purse: Purse, size: float) -> bool:
    """Whether a bin with all records stands out of the noise by three deviations."""
    numeric = int(np.count_nonzero(~space.is_categorical))
    return numeric > 0 and size > 3 * numeric * count_deviation(purse, _QUANTILES / _LEVELS)


def fit_pure(data: Data, options: Options, quantiles: dict[int, Quantiles], size: float) -> Fitted:
    """Release the mean, plan, choose features if the plan says so, and descend.

    Proof: every release is priced before it is drawn: sums by :func:`~.descent.descend`, choices by
    :func:`~.pick.pick`. What is planned follows from what was released before.
    """
    rules = options.pure_rules
    epsilon = min(data.purse.strength, _STRONGEST)
    signal = size * epsilon
    planned = _COUNT + _QUANTILES  # without noise; else the purse knows what was spent
    look = _share(rules.look_share(signal))
    own = _share(rules.mean_share(signal, options.clip / data.rows.outputs))
    steps = Steps(1, _certain(data, size), 0.0, own, look, size)
    constant = FeatureMap(data.space, quantiles, Basis((), (), ()), 1.0, 1.0)
    start = np.zeros((1, data.rows.outputs))
    mean = fitted_of(constant, descend_in(data, options, constant, start, options.clip, steps), steps, size, None)
    left = data.purse.left(planned + look + own)
    about = Situation(
        data.space, quantiles, options.missing, options.interactions, size, epsilon, float(left - 2 * look), mean.clip,
        data.rows.outputs, data.purse.total is None,
    )  # fmt: skip
    plan = make_plan(about, rules)
    if plan.capacity is None:
        return _again(data, options, mean, steps, left)
    return _descend(data, options, mean, plan, left, look)


def _descend(data: Data, options: Options, mean: Fitted, plan: Plan, left: Fraction, look: Fraction) -> Fitted:
    rules = options.pure_rules
    quantiles = mean.feature_map.quantiles
    kept = np.ones(len(data.space))
    if plan.picked is not None:
        price = _share(plan.pick_share)
        found = scores(data.space, quantiles, data.rows, _constant(mean), mean.clip)
        kept[:] = 0.0
        kept[pick(found, plan.picked, price, data.purse, data.randomness)] = 1.0
        left -= price
    assert plan.capacity is not None
    basis = rules.basis(data.space, kept, plan.capacity, options.missing)
    scale, most = bounds_of(basis, rules.radius, options.interactions)
    feature_map = FeatureMap(data.space, quantiles, basis, scale, most / scale)
    rounds = plan.rounds
    share = left - len(look_rounds(rounds)) * look
    steps = Steps(rounds, plan.rate * _certain(data, mean.size), plan.momentum, share, look, mean.size)
    found_by = descend_in(data, options, feature_map, carry(mean, feature_map), mean.clip, steps)
    return fitted_of(feature_map, found_by, steps, mean.size, mean)


def _again(data: Data, options: Options, mean: Fitted, before: Steps, left: Fraction) -> Fitted:
    """Spend the rest on the mean, if there is nothing else to learn: both count by one over their variance."""
    weight = float(left**2 / (left**2 + before.share**2))
    steps = Steps(1, weight * before.rate, 0.0, left, Fraction(0), mean.size)
    feature_map = mean.feature_map
    found = descend_in(data, options, feature_map, mean.theta, mean.clip, steps)
    return fitted_of(feature_map, found, steps, mean.size, mean)


def _constant(mean: Fitted) -> FloatArray:
    return np.asarray(mean.theta[0] * mean.feature_map.weights[0])


def _certain(data: Data, size: float) -> float:
    """Return by how much steps are shorter where the noisy number of records may be noise.

    Were there many more records than it says, steps would be too long, and grow.
    """
    if data.purse.known_size:
        return 1.0
    doubt = count_deviation(data.purse, _COUNT)
    if size * data.purse.strength < _FEW:
        doubt = (doubt**-2 + count_deviation(data.purse, _AGAIN) ** -2) ** -0.5
    return size / math.hypot(size, doubt)


def _share(value: float) -> Fraction:
    """Return a share as a short fraction, rounded down."""
    return Fraction(math.floor(value * _GRAIN), _GRAIN)
