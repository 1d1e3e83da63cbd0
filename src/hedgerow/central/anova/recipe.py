"""One recipe for every data set: quantiles, then one descent or several, and what is decided between them."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, replace
from fractions import Fraction

import numpy as np

from hedgerow.central.anova.accounting import Purse
from hedgerow.central.anova.basis import Basis, choose
from hedgerow.central.anova.coded import Coded, Drawn, Records
from hedgerow.central.anova.curvature import curvature, curvature_release, shortened
from hedgerow.central.anova.descent import Descent, Steps, descend, noise_variance, remains
from hedgerow.central.anova.design import FeatureMap
from hedgerow.central.anova.lengths import Prospect, first_length, next_length
from hedgerow.central.anova.outlook import Outlook
from hedgerow.central.anova.products import Products
from hedgerow.central.anova.pull import energies, pulls
from hedgerow.central.anova.pure_plan import PURE_RULES, PureRules
from hedgerow.central.anova.quantiles import Quantiles, estimate
from hedgerow.central.anova.rows import Sums
from hedgerow.central.anova.rules import RULES, Found, Rules
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = [
    "Course",
    "Data",
    "Fitted",
    "Options",
    "carry",
    "descend_in",
    "fit_anova",
    "fitted_of",
    "map_of",
    "reach_of",
    "steps_of",
]


# Of the prototype's recipe: chosen by hand among about 48 settings by test errors of splits 0 and 1 of DIA, ABA, CCP,
# PAR and CAL; there is no command for it. How long, how often and over what is descended: rules.py. No number here
# bears on privacy: whatever is released is paid for, in any of these shares.
_QUANTILE_SHARE = Fraction(1, 10)  # of the budget
_LEVELS = 3  # of quantiles
_LOOK_SHARE = Fraction(4, 100)  # of the budget, for all looks at residuals together
_CURVATURE_SHARE = Fraction(1, 100)  # of the budget, for the largest eigenvalues of all descents together
_FEWEST = 120  # rounds
_FEWEST_LONG = 40  # rounds, where steps are as long as the records allow; by hand on CAL, CCP, GAS, MET, ABA, AIR
_MOST = 300  # rounds: more only take longer
_NEARLY = 0.002  # of an error, that longer descents over many records must bring; by hand on GAS, MET and made data
_STEP = 0.95  # of one over the largest eigenvalue: no coefficient overshoots
_RADIUS = 0.8  # norm at which records are cut, over the root mean square norm in the basis


@dataclass(frozen=True)
class Options:
    """Public choices: pairs or not, missing values or not, the first clip, progress, how fits are planned, threads.

    ``follow``: whether the clip follows the residuals, being a guess from few public ones (:mod:`.descent`).
    ``quantiles``: the share of the budget for the quantiles (of pure noise, the plan has its own).
    """

    interactions: bool
    missing: bool
    clip: float
    progress: Callable[[int], bool] | None = None
    rules: Rules = RULES
    pure_rules: PureRules = PURE_RULES
    jobs: int | None = None
    follow: bool = False
    quantiles: Fraction = _QUANTILE_SHARE


@dataclass(frozen=True, eq=False)
class Fitted:
    """What was released: the map, its coefficients with the variance of their noise, the noisy number of records.

    ``planned`` is that variance as it was foreseen, were no record shortened and no residual clipped. The second stage
    is decided by it. ``descents`` are how each descent went, ``clip`` is at what size the last one clipped in the end.
    """

    feature_map: FeatureMap
    theta: FloatArray
    variance: FloatArray
    planned: FloatArray
    size: float
    descents: tuple[Steps, ...]
    clip: float


@dataclass(frozen=True, eq=False)
class Data:
    """Records as a descent reads them, and where the noise comes from."""

    space: FeatureSpace
    rows: Coded
    purse: Purse
    randomness: Randomness


def fit_anova(space: FeatureSpace, records: Records, purse: Purse, options: Options, randomness: Randomness) -> Fitted:
    """Fit on private records, which are counted once, and then coded once by their released quantiles."""
    from hedgerow.central.anova.pure import draw_pure, fit_pure  # which is made of the parts below

    def draw() -> Drawn:
        n, finest = records.counts(space)
        if purse.order == 1:
            return draw_pure(space, n, finest, purse, randomness)
        return estimate(space, n, finest, purse, options.quantiles, _LEVELS, randomness)

    quantiles, size = records.once(draw, purse, randomness)
    data = Data(space, records.coded(space, quantiles), purse, randomness)
    if purse.order == 1:
        return fit_pure(data, options, quantiles, size)
    return _staged(data, options, quantiles, size)


def _staged(data: Data, options: Options, quantiles: dict[int, Quantiles], size: float) -> Fitted:
    """Descend once or several times: each descent decides, by what it released, over what and how far the next goes.

    Proof: how many descents there are, and their shares, follow from the noisy size, which was released before them;
    functions, weights, length and first clip of each follow from what those before it released. Whatever quantiles left
    unspent is known from them too, and the descents share it: prices may depend on earlier outputs while their sum is
    bounded (:class:`~.accounting.GaussianPurse`).
    """
    rules = options.rules
    d = len(data.space)
    signal = size * data.purse.strength
    pairs = options.interactions and rules.pairs(signal, d)
    shares = rules.shares(signal, d)
    whole = data.purse.left(options.quantiles) - _LOOK_SHARE
    each = _CURVATURE_SHARE / len(shares)
    if curvature_release(data.purse, each, size) is None:
        each = Fraction(0)
    course = Course(data, options, quantiles, size, whole - each * len(shares), shares, each)
    basis = choose(
        data.space,
        np.ones(d).tolist(),
        frequency=min(8, course.frequency),
        pair_weight=0.3 if pairs else 0.0,
        pair_complexity=2.25,
        least=0.0,
        most=800,
        missing=options.missing,
    )
    fitted = _stage(course, basis, shares[0], None, None)
    first_clip = fitted.clip
    shown: list[FloatArray] = []
    for place in range(1, len(shares)):
        shown.append(relevance(fitted, d))
        found = Found(explained(fitted), fitted.clip, first_clip, rules.weights(shown))
        basis = _next_basis(course, fitted, found, place, pairs=pairs)
        fitted = _stage(course, basis, shares[place], fitted, found)
    return fitted


def _next_basis(course: Course, fitted: Fitted, found: Found, place: int, *, pairs: bool) -> Basis:
    """Return what the descent at this place goes over: curves, pairs and, in the last two, triples if they will pay."""
    from hedgerow.central.anova.triples import with_triples  # which is made of the parts below

    rules = course.options.rules
    factor = rules.pair_weight(found) if pairs else 0.0
    basis = choose(
        course.data.space,
        found.relevance.tolist(),
        frequency=course.frequency,
        pair_weight=factor,
        pair_complexity=math.inf,
        least=course.least,
        most=500,
        missing=course.options.missing,
    )
    after = len(course.shares) - 1 - place
    if not pairs or not rules.triples or after > 1:
        return basis
    return with_triples(course, basis, factor, course.shares[place], fitted, found, last=after == 0)


@dataclass(frozen=True, eq=False)
class Course:
    """What all descents of a fit have in common.

    ``whole`` is the share of the purse that they divide by ``shares``; ``curvature`` is what each spends on the largest
    eigenvalue, 0 if it is not asked for.
    """

    data: Data
    options: Options
    quantiles: dict[int, Quantiles]
    size: float
    whole: Fraction
    shares: tuple[Fraction, ...]
    curvature: Fraction

    @property
    def signal(self) -> float:
        """The noisy number of records times the strength of the purse."""
        return self.size * self.data.purse.strength

    @property
    def frequency(self) -> int:
        """Half periods of cosines, at most."""
        return int(np.clip(0.4 * math.sqrt(min(self.signal, 1e6)), 4, 32))

    @property
    def quantile(self) -> float:
        """Of the residuals, at which they are clipped."""
        return self.options.rules.quantile(self.signal, follow=self.options.follow)

    @property
    def least(self) -> float:
        """Weight below which functions are left out, once features have weights."""
        return float(self.signal**-0.5)


def map_of(course: Course, basis: Basis) -> FeatureMap:
    """Return the map that a descent in this basis goes by."""
    radius = _RADIUS * basis.root_mean_square() if course.options.interactions else basis.largest(2)
    return FeatureMap(course.data.space, course.quantiles, basis, radius)


def steps_of(course: Course, share: Fraction, reach: float, steepest: float | None) -> Steps:
    """Return how a descent with this share, of this length, goes."""
    looks = _LOOK_SHARE / (2 * len(course.shares))
    return replace(rounds_of(reach, course.size, course.whole * share, looks, steepest), quantile=course.quantile)


def reach_of(
    course: Course,
    feature_map: FeatureMap,
    share: Fraction,
    warm: Fitted | None,
    found: Found | None,
    steepest: float | None,
) -> float:
    """Return how far a descent over these functions goes: by predicted error, within what rules say."""
    rules = course.options.rules
    signal = course.signal * math.sqrt(course.whole * share)
    if warm is None or found is None:
        least, most = rules.first(signal, course.size)
        if least >= most:
            return most
        planned = first_length(_prospect(course, feature_map, share, steepest), course.quantile)
        return float(np.clip(planned, least, most))
    part = float(share / sum(course.shares[1:]))
    outlook = Outlook.of(warm, found.clip, course.options.clip, course.quantile)
    planned = next_length(_prospect(course, feature_map, share, steepest), outlook, found.clip, rules.hidden)
    return max(planned, rules.least(signal, course.size, part, found))


def _prospect(course: Course, feature_map: FeatureMap, share: Fraction, steepest: float | None) -> Prospect:
    return Prospect.of(
        feature_map,
        pulls(feature_map, course.quantile),
        lambda reach: steps_of(course, share, reach, steepest),
        course.data.purse.strength,
        course.data.rows.outputs,
        0.0 if steepest is None else _NEARLY,
    )


def _stage(course: Course, basis: Basis, share: Fraction, warm: Fitted | None, found: Found | None) -> Fitted:
    """Descend once in a basis, from zero or from what the stage before found."""
    data = course.data
    options = course.options
    feature_map = map_of(course, basis)
    rows = data.rows.over(Products.of(feature_map), options.jobs)
    steepest = _steepest(course, rows, feature_map)
    steps = steps_of(course, share, reach_of(course, feature_map, share, warm, found, steepest), steepest)
    start = np.zeros((len(basis), data.rows.outputs)) if warm is None else carry(warm, feature_map)
    clip = options.clip if warm is None else warm.clip
    energy = energies(feature_map)
    if steepest is not None:
        steps = replace(steps, factors=shortened(energy))
    descent = descend(
        rows, start, clip, steps, data.purse, energy, data.randomness, options.progress, follow=options.follow
    )
    return fitted_of(feature_map, descent, steps, course.size, warm)


def _steepest(course: Course, rows: Sums, feature_map: FeatureMap) -> float | None:
    """Return the noisy largest eigenvalue of these records, or None where it is not asked for."""
    release = curvature_release(course.data.purse, course.curvature, course.size) if course.curvature else None
    if release is None:
        return None
    return curvature(rows, energies(feature_map), release, course.size, course.data.randomness)


def fitted_of(feature_map: FeatureMap, found: Descent, steps: Steps, size: float, warm: Fitted | None) -> Fitted:
    """Return what was found with its noise: that of its own rounds, and what is left of the stage before."""
    planned = noise_variance(steps, found.noise, energies(feature_map))
    pull = pulls(feature_map, steps.quantile)
    variance = noise_variance(steps, found.noise, pull)
    descents: tuple[Steps, ...] = (steps,)
    if warm is not None:
        variance = variance + remains(steps, pull, len(found.noise)) ** 2 * carried(warm, feature_map)
        descents = (*warm.descents, steps)
    return Fitted(feature_map, found.theta, variance, planned, size, descents, found.clip)


def rounds_of(reach: float, size: float, share: Fraction, look_share: Fraction, steepest: float | None = None) -> Steps:
    """Return rounds, rate and momentum for a descent of length ``reach``.

    More rounds cost time, not privacy, but momentum beyond ``1 - 3/T`` cannot take effect within T rounds: the rounds
    grow with the root of the reach, which is then cut to ``T**2 / 4``. Where the error is less steep than it might be,
    steps are longer, and a descent of the same length takes as many of them fewer: no more than are needed for that.

    >>> [(s.rounds, round(s.rate, 1)) for s in (rounds_of(4e3, 1e5, Fraction(1), Fraction(0), h) for h in (None, 0.1))]
    [(158, 1.0), (42, 9.5)]
    """
    longest = 1.0
    wanted = 2.5 * math.sqrt(reach)
    fewest = _FEWEST
    if steepest is not None:
        longest = max(1.0, _STEP / steepest)
        wanted = math.ceil(2 * math.sqrt(reach / longest))  # the least of which T**2 / 4 is the reach
        fewest = _FEWEST_LONG
    rounds = int(np.clip(wanted, fewest, _MOST))
    steps = min(reach / longest, rounds**2 / 4)
    ratio = 0.75 * rounds / steps
    return Steps(rounds, longest * min(1.0, 1 / ratio), max(0.0, 1 - ratio), share, look_share, size)


def descend_in(
    data: Data, options: Options, feature_map: FeatureMap, start: FloatArray, clip: float, steps: Steps
) -> Descent:
    """Descend over the functions of a map."""
    rows = data.rows.over(Products.of(feature_map), options.jobs)
    energy = energies(feature_map)
    return descend(
        rows, start, clip, steps, data.purse, energy, data.randomness, options.progress, follow=options.follow
    )


def relevance(fitted: Fitted, d: int) -> FloatArray:
    """Return each feature's share of the signal that rose above the noise (post-processing)."""
    energy = energies(fitted.feature_map)
    found = np.zeros(d)
    excess = ((fitted.theta**2).sum(axis=1) - fitted.planned * fitted.theta.shape[1]) * energy
    spread = 2 * fitted.theta.shape[1] * (fitted.planned * energy) ** 2
    for features, members in fitted.feature_map.basis.groups():
        gain = max(0.0, float(excess[members].sum() - np.sqrt(spread[members].sum())))
        for j in features:
            found[j] += gain / len(features)
    return np.asarray(found / found.sum()) if found.sum() > 0 else np.full(d, 1 / d)


def explained(fitted: Fitted) -> float:
    """Return the mean square of what the functions predict, less what noise adds to it; the constant is left out."""
    above = np.maximum(0.0, fitted.theta**2 - fitted.planned[:, None]).sum(axis=1)
    return float((above * energies(fitted.feature_map))[1:].sum())


def carry(warm: Fitted, feature_map: FeatureMap) -> FloatArray:
    """Return the coefficients of shared functions in the new basis, shrunk by what noise would explain."""
    with np.errstate(divide="ignore", invalid="ignore"):
        shrink = np.maximum(0.0, 1 - np.nan_to_num(warm.planned[:, None] / warm.theta**2, nan=1.0, posinf=1.0))
    return _moved(warm, shrink * warm.theta, feature_map)


def carried(warm: Fitted, feature_map: FeatureMap) -> FloatArray:
    """Return the variance of what is carried, as if it were not shrunk: that of noise that shrinks is not known."""
    return _moved(warm, np.sqrt(warm.variance)[:, None], feature_map)[:, 0] ** 2


def _moved(warm: Fitted, values: FloatArray, feature_map: FeatureMap) -> FloatArray:
    """Return coefficients of one basis in another, where functions have other weights; 0 for those it lacks."""
    old = warm.feature_map
    plain = values * old.weights[:, None]
    place = {function: m for m, function in enumerate(old.basis.functions, 1)}
    shared = [(0, 0)]
    for m, function in enumerate(feature_map.basis.functions, 1):
        if function in place:
            shared.append((m, place[function]))
    new, known = np.array(shared).T
    out = np.zeros((len(feature_map.basis), values.shape[1]))
    out[new] = plain[known] / feature_map.weights[new, None]
    return out
