"""What a prediction of an assisted model is made of: the public model, and what reports add to it, tree by tree."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hedgerow.formula.anatomy import Anatomy, Part, holding_term, interpolated, mixture_ends
from hedgerow.formula.formula import Formula
from hedgerow.formula.portable import design_term, portable_term, within
from hedgerow.formula.terms import Term, constant, join, records, where_positive
from hedgerow.formula.trees import each_tree, leaf_sum
from hedgerow.schema.words import one_line
from hedgerow.tasks.anatomy import LONGEST_RULE, asked
from hedgerow.tasks.assisted.intervals import attained_curve, believed_law
from hedgerow.tasks.rules import tree_rules

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.model import AssistedModel

__all__ = ["COVERS", "assisted_anatomy"]

COVERS = "the public prediction with its best correction by these trees, on average over the people who took part"


def assisted_anatomy(model: AssistedModel, level: float) -> Anatomy:
    """Return the public model, the correction of everybody, and that of each tree."""
    task = model.task
    design = design_term(task.public_model, records())
    public = within(portable_term(task.public_model, design), task.label_bounds)
    columns = join(design, public)
    parts = [Part("public model", public, start=True), *_reports(model, columns)]
    total = public
    for part in parts[1:]:
        total = total + part.value
    value = total.clip(*task.label_bounds)
    ends = _ends(model, columns, public, value, level)
    formula = Formula.of(model.space, value, model.guarantee, task=task.id)
    return Anatomy(formula, tuple(parts), ends, level, COVERS, **asked(task))


def _reports(model: AssistedModel, columns: Term) -> list[Part]:
    """Return what the reports add: to everybody, and in each tree."""
    overall = model.factors[0] * model.overall[0]
    found = [Part("reports: everybody alike", constant(overall))]
    rules = tree_rules(model.task.trees, model.task.public_model, model.space)
    share = len(model.leaf_values)
    entries = [np.column_stack([(v - overall) / share, np.arange(len(v))]) for v in model.leaf_values]
    for t, entry in enumerate(each_tree(columns, model.task.trees, entries)):
        texts = tuple(one_line(rule, LONGEST_RULE) for rule in rules[t])
        found.append(Part(f"reports: tree {t + 1}", entry.pick([0]), entry.pick([1]), texts))
    return found


def _ends(model: AssistedModel, columns: Term, public: Term, value: Term, level: float) -> Term:
    """Return the interval of :func:`hedgerow.tasks.assisted.intervals.correction_ends`, as a term."""
    law = believed_law(model)
    along = leaf_sum(columns, model.task.trees, [law.directions.T])
    mean = along.product(law.slope.T) + law.shift
    left = (along * along).product(law.gone.T) * -1.0 + law.tau2
    rest = along.product(law.told.T) * -1.0 + 1.0
    variance = left.clip(0.0, np.inf) + rest * rest * law.doubt
    found = mixture_ends(mean, variance * law.stretch**2, law.weights, level)
    curve = attained_curve(model.task.residuals, model.task.radius, model.task.label_bounds)
    low = found.pick([0])
    high = found.pick([1])
    down = interpolated(low.clip(-np.inf, curve.last), curve.line, curve.errors)
    up = interpolated(high.clip(curve.first, np.inf), curve.line, curve.errors)
    down = where_positive(low - curve.first, down, constant(-curve.width))
    up = where_positive(high * -1.0 + curve.last, up, constant(curve.width))
    bounds = model.task.label_bounds
    return holding_term((public + down).clip(*bounds), (public + up).clip(*bounds), value)
