"""What a regressor computes that was trained on randomised labels, where it can be said in terms."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.formula.formula import Formula, promised
from hedgerow.formula.inputs import raw_inputs
from hedgerow.formula.portable import design_term, part_term, portable_term
from hedgerow.formula.terms import Term, join, records, where_missing
from hedgerow.label.residual import ResidualModel
from hedgerow.portable import PortableModel
from hedgerow.public.convert import portable_parts
from hedgerow.public.estimator import design_columns
from hedgerow.space import FeatureSpace

if TYPE_CHECKING:
    from hedgerow.label.regressor import LabelPrivateRegressor

__all__ = ["label_formula"]


def label_formula(estimator: LabelPrivateRegressor) -> Formula:
    """Return the formula of the regressor, cut to the label bounds; refuse one that has none.

    Without a public model, records are taken as they are, and one with a missing number has no prediction (NaN).
    """
    if not estimator.one_output_:
        raise HedgerowError("LabelPrivateRegressor cannot be exported with several outputs; fit one for each label.")
    regressor = estimator.regressor_
    if isinstance(regressor, ResidualModel):
        found = _residuals(regressor)
    elif estimator.space_ is not None:
        found = _described(estimator.space_, regressor)
    elif hasattr(regressor, "formula"):
        found = regressor.formula()
    else:
        found = _raw(estimator, regressor)
    value = found.value
    if estimator.clip:
        value = value.clip(*estimator.label_bounds_[0])
    return replace(found, value=value, facts={**found.facts, **promised(estimator.guarantee_)})


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
        constant, parts = portable_parts(regressor, n_columns)
    except HedgerowError:
        raise HedgerowError(
            f"LabelPrivateRegressor cannot be exported with the regressor {type(regressor).__name__}: it is no tree, "
            "forest, boosting with squared error, linear or Gaussian kernel model of numbers."
        ) from None
    total = columns.pick([0]) * 0.0 + constant
    for part in parts:
        total = total + part_term(part, columns)
    return total


def _residuals(model: ResidualModel) -> Formula:
    """Return the public model and the weighted learners of its errors."""
    public = model.public_model
    if not hasattr(public, "formula"):
        raise HedgerowError(
            f"LabelPrivateRegressor cannot be exported with the public model {type(public).__name__}; give it to a "
            "PublicModel(regressor=...), which has a portable form."
        )
    found: Formula = public.formula()
    rows = records()
    design = design_term(public.portable_, rows)
    g = portable_term(public.portable_, design)
    columns = join(design, g)
    value = g
    for weight, learner in zip(model.weights, model.learners, strict=True):
        value = value + _learnt(learner, columns, len(public.portable_.column) + 1) * float(weight)
    return replace(found, value=value)
