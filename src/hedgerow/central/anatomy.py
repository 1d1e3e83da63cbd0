"""What a prediction of a forest is made of: the leaf of every tree, with its share. Post-processing, at no cost."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hedgerow.formula.anatomy import Anatomy, Part, greatest
from hedgerow.formula.formula import Formula
from hedgerow.formula.terms import Term, constant, join, records
from hedgerow.formula.trees import tree_sum
from hedgerow.schema.words import one_line
from hedgerow.tasks.anatomy import LONGEST_RULE
from hedgerow.tasks.rules import cell_rules

if TYPE_CHECKING:
    from hedgerow.central.model import ForestModel, ForestTree

__all__ = ["AVERAGE", "forest_anatomy", "two_classes"]

AVERAGE = "what such models predict on average over their noise"


class _Stage:
    """The trees of a stage as terms: their leaves' values, and what share of the word each has."""

    def __init__(self, trees: tuple[ForestTree, ...], rows: Term) -> None:
        self.trees = trees
        self.width = trees[0].values.shape[1]
        self.leaves = [tree_sum(rows, [tree.partition], [_entries(tree)]) for tree in trees]
        total = self._column(0, 0)
        for t in range(1, len(trees)):
            total = total + self._column(t, 0)
        self.shares = [self._column(t, 0) / total for t in range(len(trees))]
        self.values = [leaf.pick(range(3, 3 + self.width)) for leaf in self.leaves]
        self.mean = _sum([share * value for share, value in zip(self.shares, self.values, strict=True)])

    def _column(self, tree: int, column: int) -> Term:
        return self.leaves[tree].pick([column])

    def place(self, tree: int) -> Term:
        """Return the number of the leaf in a tree."""
        return self._column(tree, 2)

    def variances(self) -> tuple[Term, Term]:
        """Return the variance of the mean: by the noise of the trees, and by how they differ."""
        noise = []
        between = []
        for t, share in enumerate(self.shares):
            own = share * self._column(t, 1)
            apart = share * (self.values[t].pick([0]) - self.mean.pick([0]))
            noise.append(own * own)
            between.append(apart * apart)
        free = len(self.trees) / max(len(self.trees) - 1, 1)
        return _sum(noise), _sum(between) * free


def _entries(tree: ForestTree) -> np.ndarray:
    """Return weight, noise, number and values of each leaf."""
    return np.column_stack([tree.weights, tree.noise, np.arange(len(tree.weights)), tree.values])


def _sum(terms: list[Term]) -> Term:
    total = terms[0]
    for term in terms[1:]:
        total = total + term
    return total


def forest_anatomy(model: ForestModel, level: float) -> Anatomy:
    """Return the trees of all stages, and the interval of :meth:`ForestModel.predict_interval`."""
    rows, base = model.start_terms(records())
    stages = [_Stage(trees, rows) for trees in model.stages]
    raw = constant(0.0)
    for stage in stages:
        raw = (raw + stage.mean).clip(*model.window)
    total = raw if base is None else model.corrected(base, raw)
    two = model.classes is not None and stages[0].width == 1 and len(model.classes) == 2
    value = total
    if two:
        value = join(constant(1.0) - total, total)
    elif model.classes is not None:
        value = total / total.apply("row_sum")
    parts = tuple(_part(stage, s, t, two) for s, stage in enumerate(stages) for t in range(len(stage.trees)))
    if base is not None:
        parts = _beside(model, base, raw, two)
    ends = None if model.classes is not None else _ends(model, stages, total, level, raw)
    formula = Formula.of(model.space, value, model.guarantee, classes=model.classes)
    bounds = () if model.classes is not None else ((model.low, model.high),)
    return Anatomy(formula, parts, ends, level, AVERAGE, bounds=bounds)


def _beside(model: ForestModel, base: Term, raw: Term, two: bool) -> tuple[Part, ...]:
    """Return the public prediction, and what the forest as a whole adds to it."""
    share = 1.0 if model.public is None else model.public.share
    added = raw * share
    if not model.radius:
        added = (raw / raw.apply("row_sum") - base) * share
    if two:
        base = two_classes(base, constant(1.0))
        added = two_classes(added, constant(0.0))
    return Part("public model", base, start=True), Part("forest", added)


def _part(stage: _Stage, number: int, t: int, two: bool) -> Part:
    name = f"tree {t + 1}" if number == 0 else f"stage {number + 1}, tree {t + 1}"
    added = stage.shares[t] * stage.values[t]
    if two:
        added = two_classes(added, stage.shares[t] if number == 0 else constant(0.0))
    texts = tuple(one_line(rule, LONGEST_RULE) for rule in cell_rules(stage.trees[t].partition))
    return Part(name, added, stage.place(t), texts)


def two_classes(added: Term, share: Term) -> Term:
    """Return what is added to the chances of both classes, from what is added to the second's."""
    return join(share - added, added)


def _ends(model: ForestModel, stages: list[_Stage], value: Term, level: float, raw: Term) -> Term:
    from scipy.special import ndtri, stdtrit

    variances = [stage.variances() for stage in stages]
    share = (1 + level) / 2
    half = _sum([noise for noise, _ in variances]).apply("square_root") * float(ndtri(share))
    few = min(len(trees) for trees in model.stages)
    if few > 1:
        apart = _sum([between for _, between in variances]).apply("square_root") * float(stdtrit(few - 1, share))
        half = greatest(half, apart)
    if model.public is not None:
        likely = min(1.0, model.public.share + model.public.doubt)
        doubt = raw * (float(ndtri(share)) * model.public.doubt)
        half = (half * half * likely**2 + doubt * doubt).apply("square_root")
    return join(value - half, value + half).clip(model.low, model.high)
