"""A forest beside a public model: what it leaves over is learnt, and weighed against the public model alone."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow.central.anova.accounting import Purse
from hedgerow.central.anova.gate import Evidence, Look, agreement
from hedgerow.central.forest import Fitted, Problem, Recipe, fit_forest
from hedgerow.central.model import add_stages
from hedgerow.central.public import PublicPart, PublicStart, within
from hedgerow.randomness import Randomness
from hedgerow.types import FloatArray

__all__ = ["Beside", "fit_beside"]

_QUANTILE = 0.98  # of public residuals, beyond which private ones are cut: as for curves (anova/correct.py)
_LEAST = 1e-3  # of the label's width, at least: a public model without errors is not believed; by hand
_FEWEST = 50.0  # records, at least, whatever noise says: sums are divided by


@dataclass(frozen=True, eq=False)
class Beside:
    """What was released: the forest, the public part with the factor of it, and the radius of residuals (0: none)."""

    fitted: Fitted
    part: PublicPart
    radius: float


def fit_beside(
    start: PublicStart, Z: FloatArray, problem: Problem, recipe: Recipe, purse: Purse, classes: bool, source: Randomness
) -> Beside:
    """Fit a forest with the public prediction as a feature; of numbers and two classes, to what it leaves over.

    Proof: the public prediction is a function of each record alone, so that records with it differ in one wherever
    records do; the forest costs what it costs on them (:func:`~hedgerow.central.forest.fit_forest`). The look adds up
    three whole numbers of bounded norm a record, each a function of the record and of what was released.
    """
    n = len(start.part.models)
    bounds = ([problem.low] * n, [problem.high] * n)
    n_columns = len(start.space.columns)
    base = start.part.values(Z, bounds, classes=classes)
    wide = start.part.widen(Z, base, n_columns)
    own = problem
    radius = 0.0
    if n == 1:
        width = problem.high - problem.low
        radius = start.radius(_QUANTILE, _LEAST * width, width)
        left = np.clip(problem.y - base[:, 0], -radius, radius)
        own = replace(problem, y=left, low=-radius, high=radius)
    fitted = fit_forest(start.part.space(start.space, bounds), wide, own, recipe, source)
    wanted = problem.y[:, None] if n == 1 else np.eye(n)[problem.y]
    shown = np.full((1, 1), radius or 1.0)
    if start.records is not None:
        seen = start.part.values(start.records, bounds, classes=classes)
        shown = _corrections(fitted, start.part.widen(start.records, seen, n_columns), seen, own, bounds)
    leaves = [np.mean([tree.partition.n_leaves for tree in stage]) for stage in fitted.stages]
    look = Look.of(radius, shown, start.norms(), freedom=float(np.sum(leaves)), size=_size(fitted, recipe))
    release = Evidence.release(purse)
    corrections = _corrections(fitted, wide, base, own, bounds)
    parts = agreement(wanted - base - corrections, corrections, look.clip, look.reach, release.weight)
    sums = parts.sum(axis=0).astype(np.int64)  # whole numbers below 2**53: exact in any order
    share, doubt = look.take(Evidence.of(release, sums, source.child("look")))
    return Beside(fitted, replace(start.part, share=share, doubt=doubt), radius)


def _corrections(fitted: Fitted, Z: FloatArray, base: FloatArray, problem: Problem, bounds: Any) -> FloatArray:
    """Return what the forest adds to public predictions, by each record alone."""
    raw = add_stages(fitted.stages, Z, problem.low, problem.high)
    if base.shape[1] == 1:
        return np.asarray(np.clip(base + raw, bounds[0], bounds[1]) - base)
    return within(raw, bounds, classes=True) - base


def _size(fitted: Fitted, recipe: Recipe) -> float:
    """Return a noisy number of records: leaves count by the root of theirs, plus one."""
    sizes = [float((tree.weights**2 - 1).sum()) for stage in fitted.stages for tree in stage]
    return max(_FEWEST, sum(sizes) / (1 if recipe.partition else len(sizes)))
