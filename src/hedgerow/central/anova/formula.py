"""An ANOVA model as a formula: cells of features, tables of their functions, products, and the weighted sum.

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
from hedgerow.central.anova.records import MISSING
from hedgerow.features import CategoricalFeature
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
    rows, start = _start(model)
    return _formula(model, _vectors(model.feature_map, rows), start)


def _formula(model: AnovaModel, vectors: Term, start: Term) -> Formula:
    """Return what the model computes of the vectors of records, and of what is predicted before any correction."""
    raw = (vectors.product(model.coefficients) / float(GRID) + start).clip(0.0, 1.0)
    value = _probabilities(model, raw) if model.classes is not None else _labels(model, raw)
    inputs = tuple(_open(column, model) for column in inputs_of(model.space))
    return Formula.of(
        model.space, value, model.guarantee, classes=model.classes, n_outputs=model.n_outputs, inputs=inputs
    )


def anova_anatomy(model: AnovaModel, level: float) -> Anatomy:
    """Return the terms of features, pairs and triples, which add up to the prediction, and its interval."""
    rows, start = _start(model)
    vectors = _vectors(model.feature_map, rows)
    formula = _formula(model, vectors, start)
    parts = _starts(model, vectors, start)
    for features, members in model.feature_map.basis.groups():
        name = " x ".join(one_line(model.feature_map.space.names[j]) for j in features)
        parts.append(Part(name, _both(model, _added(model, vectors, members), 0.0)))
    ends = None
    if model.classes is None:
        wide = _deviation(model, vectors) * model.reach(level)
        low = formula.value - wide
        high = formula.value + wide
        ends = join(*(_cut(model, end, i) for end in (low, high) for i in range(len(model.low))))
    words = {name: Wording(name, unit=unit) for name, unit in model.units.items()}
    bounds = () if model.classes is not None else tuple(zip(model.low, model.high, strict=True))
    return Anatomy(formula, tuple(parts), ends, level, AVERAGE, unit=model.unit, bounds=bounds, words=words)


def _starts(model: AnovaModel, vectors: Term, start: Term) -> list[Part]:
    """Return what the terms are added to: the public prediction if there is one, and the average."""
    width = np.array(model.high) - np.array(model.low)
    average = _added(model, vectors, [0])
    if model.public is None:
        whole = average + (np.array(model.low) + width * model.offset)
        return [Part("average", _both(model, whole, 1.0), start=True)]
    public = start * width + np.array(model.low)
    return [
        Part("public model", _both(model, public, 1.0), start=True),
        Part("average correction", _both(model, average, 0.0)),
    ]


def _deviation(model: AnovaModel, vectors: Term) -> Term:
    """Return :meth:`~hedgerow.central.anova.model.AnovaModel.noise_deviation`, as a term."""
    width = np.array(model.high) - np.array(model.low)
    unit = vectors / float(GRID)
    known = (unit * unit).product(np.repeat(model.variance[:, None], len(width), axis=1))
    if model.public is not None:
        correction = unit.product(model.public.doubt * model.theta)
        known = known * model.likely**2 + correction * correction
    deviation: Term = known.apply("square_root") * width
    return deviation


def _cut(model: AnovaModel, end: Term, output: int) -> Term:
    return end.pick([output]).clip(model.low[output], model.high[output])


def _added(model: AnovaModel, vectors: Term, members: Sequence[int]) -> Term:
    """Return what some functions add to every output, in label units; the first of all is the constant."""
    width = np.array(model.high) - np.array(model.low)
    added: Term = vectors.pick(members).product(model.coefficients[members]) * (width / float(GRID))
    return added


def _both(model: AnovaModel, added: Term, whole: float) -> Term:
    """Return what is added to both of two classes, from what is added to the second."""
    if model.classes is not None and len(model.classes) == 2:
        return two_classes(added, constant(whole))
    return added


def _start(model: AnovaModel) -> tuple[Term, Term]:
    """Return records as the feature map takes them, and what is predicted before any correction, in [0, 1]."""
    rows = records()
    if model.public is None:
        return rows, constant(model.offset)
    values = model.public.term(_plain(model, rows), (model.low, model.high), classes=bool(model.classes))
    low = np.array(model.low)
    n = len(model.space.columns)
    after = range(n, len(model.space))
    parts = [rows.pick(range(n)), values, *model.public.further(rows)]
    if after:
        parts.append(rows.pick(after))
    return join(*parts), (values - low) / (np.array(model.high) - low)


def _plain(model: AnovaModel, rows: Term) -> Term:
    """Return records as the public model reads them, as :func:`~hedgerow.central.anova.records.plain` does."""
    if not model.missing:
        return rows
    columns = []
    for j, feature in enumerate(model.space.features):
        column = rows.pick([j])
        if not isinstance(feature, CategoricalFeature):
            column = where_missing(column, feature.missing, column)
        elif feature.categories[-1] == MISSING:
            codes = np.arange(len(feature.categories), dtype=np.float64)
            codes[-1] = feature.categories.index(feature.missing)
            column = lookup(column, codes[:, None])
        columns.append(column)
    return join(*columns)


def _open(column: Input, model: AnovaModel) -> Input:
    """Return an input as this model takes it: where missing values are allowed, they stay so."""
    if not model.missing:
        return column
    if isinstance(column, NumberInput):
        return replace(column, missing=np.nan)
    codes = dict(zip(column.keys, column.codes, strict=True))
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
    first, second, third = ([place[int(i)] for i in column] for column in factors.T)
    weights = feature_map.weights
    constant_column = values.pick([place[len(used)]]) * float(weights[0])
    if not len(factors):
        return constant_column
    products = values.pick(first) * values.pick(second)
    if (factors[:, 2] < len(used)).any():
        products = products * values.pick(third)
    return join(constant_column, products * weights[1:])


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
