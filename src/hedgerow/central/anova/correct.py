"""Fitting what a public model leaves over, and weighing it against the public model alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.central.anova.accounting import Purse
from hedgerow.central.anova.coded import LABEL, Records
from hedgerow.central.anova.descent import Steps, bounded, remains
from hedgerow.central.anova.design import GRID
from hedgerow.central.anova.gate import GATE, Evidence, Look, agreement
from hedgerow.central.anova.products import Products
from hedgerow.central.anova.pull import energies
from hedgerow.central.anova.reading import Reading
from hedgerow.central.anova.recipe import Fitted, Options, fit_anova
from hedgerow.central.public import PublicPart, PublicStart
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["Corrected", "fit_correction"]

_QUANTILE = 0.98
"""Share of public residuals within the first clip; from a tenth of the rounds on it follows private ones."""
_QUANTILES = Fraction(1, 20)
"""Share of the budget for quantiles: half as much as without a public model.

By hand on CAL, GAS, CCP, AIR, RED and ABA: with a tenth they close up to .04 less of the gap (AIR as much), with a
fortieth RED .04 less, the others as much but .01.
"""
_LEAST = 1e-3  # of the label's width, at least: a public model without errors is not believed; by hand


@dataclass(frozen=True, eq=False)
class Corrected:
    """What was released: a fit of the residuals, and the public part with the factor of it."""

    fitted: Fitted
    part: PublicPart


def fit_correction(
    reading: Reading, records: Records, start: PublicStart, purse: Purse, options: Options, randomness: Randomness
) -> Corrected:
    """Fit labels in [0, 1] less what the public model predicts, with its prediction as a further feature.

    Proof: the public model is fixed before a private record is looked at, and its prediction is a function of each
    record alone, to the last bit (:func:`~hedgerow.central.steady.steady`): so records with their predictions, and
    labels less them, differ in one record wherever the records do. The fit spends nine tenths of the purse on them
    (:func:`~.recipe.fit_anova`). The look at the end adds up, for each record, three whole numbers of bounded norm that
    depend on the record and on what was released (:func:`~.gate.agreement`), and spends the last tenth.
    """
    known = start.scaled(reading.bounds)
    most = 2 * options.clip  # labels are twice as far from each other as from the middle
    clip = known.radius(_QUANTILE, _LEAST * most, most, purse.order)
    # How far classes are apart is known.
    own = replace(options, clip=clip, follow=not reading.classes, quantiles=_QUANTILES)
    fit_purse, look_purse = purse.divided(GATE)
    fitted = fit_anova(reading.space, records, fit_purse, own, randomness)
    look = _look(fitted, reading.columns, known, reading.bounds, reading.classes)
    share, doubt = _weigh(fitted, records, look, look_purse, randomness)
    return Corrected(fitted, replace(start.part, share=share, doubt=doubt))


def _look(
    fitted: Fitted,
    space: FeatureSpace,
    start: PublicStart,
    bounds: tuple[tuple[float, ...], tuple[float, ...]],
    classes: bool,
) -> Look:
    """Return what the look is made by: from public records, and from what was released."""
    if start.records is None:
        energy = energies(fitted.feature_map)
        size = np.sqrt((np.square(fitted.theta) * energy[:, None]).sum(axis=0))
        free = _freedom(fitted.descents, energy * _factors(fitted))
        return Look.of(fitted.clip, size[None, :], start.norms(), freedom=free, size=fitted.size)
    values = start.part.values(start.records, bounds, classes=classes)
    wide = start.part.widen(start.records, values, len(space.columns))
    vectors = fitted.feature_map.vectors(fitted.feature_map.codes(wide)) / GRID
    steep = vectors * np.sqrt(_factors(fitted))
    spectrum = np.linalg.eigvalsh(steep @ steep.T / max(1, len(vectors)))
    free = _freedom(fitted.descents, np.clip(spectrum, 0.0, 1.0))
    return Look.of(fitted.clip, vectors @ fitted.theta, start.norms(), freedom=free, size=fitted.size)


def _factors(fitted: Fitted) -> FloatArray:
    """Return what the last descent's steps are multiplied by, for each coefficient."""
    factors = fitted.descents[-1].factors
    return np.ones(len(fitted.theta)) if factors is None else factors


def _freedom(descents: Sequence[Steps], energy: FloatArray) -> float:
    r"""Return degrees of freedom: over directions of mean square h, the share of the truth that the descents find.

    A descent is linear in the labels but for clips, and leaves a share of what the one before left; that earlier ones
    weighted functions otherwise, and that what they found is shrunk, is not counted. By the mean squares of single
    functions this is an upper bound (the share is concave in h, and the diagonal of a matrix is majorised by its
    eigenvalues). Steps with factors F are plain steps for functions times the root of F, whose mean squares these are:
    those of the last descent, for earlier ones are over other functions.
    """
    left = np.ones(energy.size)
    for steps in descents:
        left = left * remains(replace(steps, factors=None), energy, steps.rounds)
    return float((1 - left).sum())


def _weigh(fitted: Fitted, records: Records, look: Look, purse: Purse, randomness: Randomness) -> tuple[float, float]:
    """Look at the private records once more; return the factor of the correction, and its deviation."""
    feature_map = fitted.feature_map
    rows = records.coded(feature_map.space, feature_map.quantiles).over(Products.of(feature_map))
    release = Evidence.release(purse)
    clip = look.clip * LABEL
    reach = look.reach * LABEL
    weight = release.weight

    def term(targets: Any, base: Any, predictions: FloatArray) -> FloatArray:
        corrections = np.clip(base + predictions, 0.0, LABEL) - base
        return np.asarray(agreement((targets - corrections).T, corrections.T, clip, reach, weight).sum(axis=0))

    sums = rows.total(bounded(fitted.theta), term) + np.zeros(3, dtype=np.int64)  # without records: zeros
    return look.take(Evidence.of(release, sums, randomness))
