"""What a prediction of a model of reports is made of: the public model, leaves and their rules. Post-processing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.formula.anatomy import Anatomy, Part
from hedgerow.formula.formula import Formula
from hedgerow.formula.terms import Term, records
from hedgerow.formula.trees import tree_sum
from hedgerow.schema.words import one_line

if TYPE_CHECKING:
    from hedgerow.tasks.leaves import LeafModel

__all__ = ["LEAF_MEAN", "LONGEST_RULE", "asked", "leaf_anatomy", "leaf_place", "leaf_texts"]

LONGEST_RULE = 400
"""Characters of a rule that are shown: ten lines of a phone."""
_ONE = {"leaves": "leaf", "cells": "cell", "groups": "group"}
LEAF_MEAN = "the average over the people whose records are in the same leaf"


def asked(task: Any) -> dict[str, Any]:
    """Return what an anatomy says of label and columns, from the words of a task."""
    first = task.before or task
    label = first.question().label
    name = first.target if label is None else label.name
    bounds = () if label is None or label.classes else (label.bounds,)
    return {
        "target": name,
        "bounds": bounds,
        "unit": first.wording(name).unit,
        "words": {column: first.wording(column) for column in first.space.inputs},
    }


def leaf_place(model: LeafModel, rows: Term) -> Term:
    """Return the number of the leaf of each record."""
    return tree_sum(rows, [model.partition], [np.arange(model.partition.n_leaves)])


def leaf_texts(model: LeafModel, level: float) -> tuple[str, ...]:
    """Return the rule of every leaf, and how many are in it."""
    found = []
    for row in model.table(level):
        few = ", too few to tell from none" if row["starved"] else ""
        found.append(f"{one_line(row['cell'], LONGEST_RULE)} (about {max(row['share'], 0.0):.0%} of the people{few})")
    return tuple(found)


def leaf_anatomy(model: LeafModel, level: float) -> Anatomy:
    """Return the anatomy of a model that predicts one value a leaf."""
    rows = records()
    value = tree_sum(rows, [model.partition], [model.leaf_values])
    low, high = (end.reshape(model.partition.n_leaves, -1) for end in model.ends(level))
    ends = tree_sum(rows, [model.partition], [np.column_stack([low, high])])
    part = Part(_ONE[model.unit], value, leaf_place(model, rows), leaf_texts(model, level))
    formula = Formula.of(model.space, value, model.guarantee, classes=model.classes, task=model.task.id)
    return Anatomy(formula, (part,), ends, level, LEAF_MEAN, **asked(model.task))
