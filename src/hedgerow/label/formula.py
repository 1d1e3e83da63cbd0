"""What a regressor computes that was trained on randomised labels, where it can be said in terms."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.formula.anatomy import Anatomy, Part, holding_term
from hedgerow.formula.formula import Formula, promised
from hedgerow.formula.inputs import raw_inputs
from hedgerow.formula.portable import design_term, part_term, portable_term
from hedgerow.formula.terms import Term, join, records, where_missing
from hedgerow.label.halves import quantile
from hedgerow.label.residual import ResidualModel
from hedgerow.label.smooth import SmoothErrors
from hedgerow.label.whole import WholeLabels
from hedgerow.portable import Linear, PortableModel
from hedgerow.portable.model import Part as PortablePart
from hedgerow.public.convert import portable_parts
from hedgerow.public.estimator import design_columns
from hedgerow.space import FeatureSpace

if TYPE_CHECKING:
    from hedgerow.label.regressor import LabelPrivateRegressor

__all__ = ["COVERS", "label_anatomy", "label_formula"]

COVERS = "what the same learner would find on average over randomised labels"


def label_formula(estimator: LabelPrivateRegressor) -> Formula:
    """Return the formula of the regressor, cut to the label bounds; refuse one that has none.

    Without a public model, records are taken as they are, and one with a missing number has no prediction (NaN).
    """
    if not estimator.one_output_:
        raise HedgerowError("LabelPrivateRegressor cannot be exported with several outputs; fit one for each label.")
    found = _fitted(estimator, estimator.regressor_)
    value = found.value
    if estimator.clip:
        value = value.clip(*estimator.label_bounds_[0])
    return replace(found, value=value, facts={**found.facts, **promised(estimator.guarantee_)})


def _fitted(estimator: LabelPrivateRegressor, regressor: Any, public: _Public | None = None) -> Formula:
    """Return what a fitted regressor computes of the records of this estimator."""
    if isinstance(regressor, ResidualModel):
        return _residuals(regressor, public or _public(regressor))
    if estimator.space_ is not None:
        return _described(estimator.space_, regressor)
    if hasattr(regressor, "formula"):
        found: Formula = regressor.formula()
        return found
    return _raw(estimator, regressor)


def label_anatomy(estimator: LabelPrivateRegressor, level: float) -> Anatomy:
    """Return the public model, where there is one, and what was learnt from randomised labels, with the interval.

    The interval asks for the fits on halves (:mod:`hedgerow.label.halves`), which are made now if they were not before.
    """
    formula = label_formula(estimator)
    learnt = estimator.regressor_
    public = _public(learnt) if isinstance(learnt, ResidualModel) else None
    parts = [Part("learnt from randomised labels", formula.value)]
    if public is not None:
        parts = [Part("public model", public.value, start=True)]
        parts += [Part(f"learnt, {i}", term) for i, term in enumerate(_learners(learnt, public), 1)]
    fits = [_fitted(estimator, fit, public).value for fit in estimator._halves.fitted()]
    squares = [_square(fits[k] - fits[k + 1]) for k in range(0, len(fits), 2)]
    total = squares[0]
    for square in squares[1:]:
        total = total + square
    half = (total / (2.0 * len(squares))).apply("square_root") * quantile(len(squares), level)
    middle = _fitted(estimator, learnt, public).value
    low = middle - half
    high = middle + half
    if estimator.clip:
        low = low.clip(*estimator.label_bounds_[0])
        high = high.clip(*estimator.label_bounds_[0])
    bounds = tuple((float(ends[0]), float(ends[1])) for ends in estimator.label_bounds_)
    return Anatomy(formula, tuple(parts), holding_term(low, high, formula.value), level, COVERS, bounds=bounds)


def _square(term: Term) -> Term:
    return term * term


def _raw(estimator: LabelPrivateRegressor, regressor: Any) -> Formula:
    d = estimator.n_features_in_
    names = getattr(estimator, "feature_names_in_", [f"x{j}" for j in range(d)])
    rows = records()
    value = where_missing(rows.apply("row_sum"), np.nan, _learnt(regressor, rows, d))
    return Formula(raw_inputs(tuple(str(name) for name in names)), value)


def _described(space: FeatureSpace, regressor: Any) -> Formula:
    """Return what a regressor computes that reads the columns of a schema: numbers, and indicators of categories."""
    design = PortableModel(len(space), *design_columns(space), 0.0, ())
    return Formula.of(space, _learnt(regressor, design_term(design, records()), len(design.column)), None)


def _learnt(regressor: Any, columns: Term, n_columns: int) -> Term:
    """Return what a regressor of scikit-learn computes."""
    try:
        constant, parts = _parts(regressor, n_columns)
    except HedgerowError:
        raise HedgerowError(
            f"LabelPrivateRegressor cannot be exported with the regressor {type(regressor).__name__}: it is no tree, "
            "forest, boosting with squared error, linear or Gaussian kernel model of numbers."
        ) from None
    total = columns.pick([0]) * 0.0 + constant
    for part in parts:
        total = total + part_term(part, columns)
    return total


def _parts(regressor: Any, n_columns: int) -> tuple[float, list[PortablePart]]:
    if isinstance(regressor, SmoothErrors):
        return regressor.mean_, [regressor.smooth_]
    if isinstance(regressor, WholeLabels):
        constant, parts = portable_parts(regressor.boosting_, n_columns)
        return constant, [*parts, Linear(-np.eye(n_columns)[-1])]
    return portable_parts(regressor, n_columns)


@dataclass(frozen=True, eq=False)
class _Public:
    """A public model as terms: its columns, what it predicts, and both beside each other."""

    formula: Formula
    value: Term
    columns: Term
    width: int


def _public(model: ResidualModel) -> _Public:
    public = model.public_model
    if not hasattr(public, "formula"):
        raise HedgerowError(
            f"LabelPrivateRegressor cannot be exported with the public model {type(public).__name__}; give it to a "
            "PublicModel(regressor=...), which has a portable form."
        )
    found: Formula = public.formula()
    design = design_term(public.portable_, records())
    g = portable_term(public.portable_, design)
    return _Public(found, g, join(design, g), len(public.portable_.column) + 1)


def _learners(model: ResidualModel, public: _Public) -> list[Term]:
    """Return what each learner of the public model's errors adds."""
    pairs = zip(model.weights, model.learners, strict=True)
    return [_learnt(learner, public.columns, public.width) * float(weight) for weight, learner in pairs]


def _residuals(model: ResidualModel, public: _Public) -> Formula:
    """Return the public model and the weighted learners of its errors."""
    value = public.value
    for learnt in _learners(model, public):
        value = value + learnt
    return replace(public.formula, value=value)
