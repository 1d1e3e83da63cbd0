"""What a prediction from sums is made of: the public model, and what the groups add to it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from hedgerow.formula.anatomy import Anatomy, Part
from hedgerow.formula.formula import Formula
from hedgerow.formula.portable import design_term, portable_term, within
from hedgerow.formula.terms import Term, constant, join, records, where_missing
from hedgerow.formula.trees import leaf_sum
from hedgerow.tasks.anatomy import asked

if TYPE_CHECKING:
    from hedgerow.tasks.sums.model import SumsModel

__all__ = ["added_terms", "public_terms", "sums_anatomy"]


def public_terms(model: SumsModel, rows: Term) -> tuple[Term, Term]:
    """Return the design of records, and the public prediction."""
    task = model.task
    design = design_term(task.public_model, rows)
    return design, within(portable_term(task.public_model, design), task.label_bounds)


def added_terms(model: SumsModel, design: Term, g: Term) -> list[Term]:
    """Return what each step adds, as far as the check lets it pass."""
    found = []
    so_far = g * 0.0
    for step in model.steps:
        columns = join(design, g, so_far)
        ends = [sum(step.trees.n_leaves[: t + 1]) for t in range(len(step.trees.sizes))]
        values = [step.trees.value[end - k : end] for end, k in zip(ends, step.trees.n_leaves, strict=True)]
        said = leaf_sum(columns, step.trees, values)
        if step.bumps is not None:
            said = said + portable_term(step.smooth, design)
        added = where_missing(said, constant(0.0), said).clip(-step.bound, step.bound)
        so_far = so_far + added
        found.append(added * model.scale)
    return found


def sums_anatomy(model: SumsModel, level: float) -> Anatomy:
    """Return the public model, and the correction of each step."""
    design, g = public_terms(model, records())
    parts = [Part("public model", g, start=True)]
    total = g
    for number, added in enumerate(added_terms(model, design, g), 1):
        parts.append(Part(f"sums: forest {number}", added))
        total = total + added
    value = total.clip(*model.task.label_bounds)
    formula = Formula.of(model.space, value, model.guarantee, task=model.task.id)
    return Anatomy(formula, tuple(parts), level=level, **asked(model.task))
