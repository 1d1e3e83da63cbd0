"""An ANOVA model as a formula: cells of features, tables of their functions, products of two, and the weighted sum.

Every step is the one that :class:`~hedgerow.central.anova.design.FeatureMap` takes, in the same order, for values are
rounded to whole numbers on the way: one that comes out otherwise in its last bit could be rounded to another.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.central.anatomy import AVERAGE, two_classes
from hedgerow.central.anova.design import FINE, GRID, SHORTEN, FeatureMap
from hedgerow.central.anova.quantiles import CELLS
from hedgerow.formula.anatomy import Anatomy, Part, least
from hedgerow.formula.formula import Formula
from hedgerow.formula.inputs import Input, NumberInput, inputs_of
from hedgerow.formula.terms import Term, constant, join, lookup, records, where_missing
from hedgerow.formula.trees import codes_of
from hedgerow.schema.words import one_line
from hedgerow.wording import Wording

if TYPE_CHECKING:
    from hedgerow.central.anova.model import AnovaModel

__all__ = ["anova_anatomy", "anova_formula"]


def anova_formula(model: AnovaModel) -> Formula:
    """Return what the model computes."""
    return _formula(model, _vectors(model.feature_map, records()))


def _formula(model: AnovaModel, vectors: Term) -> Formula:
    """Return what the model computes of the vectors of records."""
    raw = (vectors.product(model.theta) / float(GRID) + model.offset).clip(0.0, 1.0)
    value = _probabilities(model, raw) if model.classes is not None else _labels(model, raw)
    inputs = tuple(_open(column, model) for column in inputs_of(model.space))
    return Formula.of(
        model.space, value, model.guarantee, classes=model.classes, n_outputs=model.n_outputs, inputs=inputs
    )


def anova_anatomy(model: AnovaModel, level: float) -> Anatomy:
    """Return the terms of features and pairs, which add up to the prediction, and its interval."""
    vectors = _vectors(model.feature_map, records())
    formula = _formula(model, vectors)
    parts = [_part(model, "average", vectors, [0])]
    for features, members in model.feature_map.basis.groups():
        name = " x ".join(one_line(model.space.names[j]) for j in features)
        parts.append(_part(model, name, vectors, members))
    ends = None
    if model.classes is None:
        square = (vectors / float(GRID)) * (vectors / float(GRID))
        half = square.product(model.variance[:, None]).apply("square_root") * model.reach(level)
        wide = half.product(np.atleast_2d(np.array(model.high) - np.array(model.low)))
        low = formula.value - wide
        high = formula.value + wide
        ends = join(*(_cut(model, end, i) for end in (low, high) for i in range(len(model.low))))
    words = {name: Wording(name, unit=unit) for name, unit in model.units.items()}
    bounds = () if model.classes is not None else tuple(zip(model.low, model.high, strict=True))
    return Anatomy(formula, tuple(parts), ends, level, AVERAGE, unit=model.unit, bounds=bounds, words=words)


def _cut(model: AnovaModel, end: Term, output: int) -> Term:
    return end.pick([output]).clip(model.low[output], model.high[output])


def _part(model: AnovaModel, name: str, vectors: Term, members: Sequence[int]) -> Part:
    """Return what some functions add to every output, in label units; the first of all is the constant."""
    width = np.array(model.high) - np.array(model.low)
    added = vectors.pick(members).product(model.theta[members]) * (width / float(GRID))
    whole = 0.0
    if members[0] == 0:
        added = added + (np.array(model.low) + width * model.offset)
        whole = 1.0
    if model.classes is not None and len(model.classes) == 2:
        added = two_classes(added, constant(whole))
    return Part(name, added, start=members[0] == 0)


def _open(column: Input, model: AnovaModel) -> Input:
    """Return an input as this model takes it: where missing values are allowed, they stay so."""
    if not model.missing:
        return column
    if isinstance(column, NumberInput):
        return replace(column, missing=np.nan)
    codes = dict(zip(column.keys, column.codes, strict=True))
    from hedgerow.central.anova.model import MISSING

    return replace(column, missing=codes.get(MISSING, column.unknown))


def _vectors(feature_map: FeatureMap, rows: Term) -> Term:
    """Return phi in grid steps."""
    scaled = _functions(feature_map, rows)
    fine = (scaled * (GRID * FINE)).apply("round")
    squares = (fine * fine).apply("row_sum").clip(1.0, np.inf)
    factor = (constant(GRID * FINE) / squares.apply("square_root")).clip(0.0, 1.0)
    if np.isfinite(feature_map.most):
        sums = fine.apply("absolute").apply("row_sum").clip(1.0, np.inf)
        factor = least(factor, constant(feature_map.l1_bound * FINE) / sums)
    return (fine * (factor * (SHORTEN / FINE))).apply("truncate")


def _functions(feature_map: FeatureMap, rows: Term) -> Term:
    """Return ``w_m b_m(x) / scale`` for all functions, the constant first."""
    used, tables, factors = feature_map.tables
    parts = []
    place: dict[int, int] = {}
    for feature in sorted({single.feature for single in used}):
        own = [i for i, single in enumerate(used) if single.feature == feature]
        parts.append(lookup(_code(feature_map, rows, feature), tables[own].T))
        for i in own:
            place[i] = len(place)
    ones = rows.pick([0])
    place[len(used)] = len(place)
    values = join(*parts, where_missing(ones, 1.0, ones * 0.0 + 1.0))
    first, second = ([place[int(i)] for i in column] for column in factors.T)
    weights = np.array(feature_map.basis.weights) / feature_map.scale
    constant_column = values.pick([place[len(used)]]) * (1.0 / feature_map.scale)
    if not len(factors):
        return constant_column
    return join(constant_column, values.pick(first) * values.pick(second) * weights)


def _code(feature_map: FeatureMap, rows: Term, feature: int) -> Term:
    """Return the cell of a feature; that of missing values is the last."""
    column = rows.pick([feature])
    if feature not in feature_map.quantiles:
        return column
    return where_missing(column, float(CELLS), codes_of(column, feature_map.quantiles[feature].cuts()))


def _labels(model: AnovaModel, scores: Term) -> Term:
    low = np.array(model.low)
    high = np.array(model.high)
    columns = []
    for i, bounds in enumerate(zip(model.low, model.high, strict=True)):
        columns.append((scores.pick([i]) * (high[i] - low[i]) + low[i]).clip(*bounds))
    return join(*columns)


def _probabilities(model: AnovaModel, scores: Term) -> Term:
    classes: tuple[Any, ...] = model.classes or ()
    if len(classes) <= 1:
        return scores.pick([0]) * 0.0 + 1.0
    if len(model.low) == 1:
        return join(constant(1.0) - scores, scores)
    safe = scores + 1e-9
    return safe / safe.apply("row_sum")
