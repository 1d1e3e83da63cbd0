"""A portable model as a term."""

from __future__ import annotations

import numpy as np

from hedgerow.formula.terms import Term, constant, join, lookup, where_missing
from hedgerow.formula.trees import leaf_sum
from hedgerow.portable import Kernel, Linear, Matern, PortableModel, Trees
from hedgerow.portable.bumps import FARTHEST
from hedgerow.portable.model import Part

__all__ = ["design_term", "portable_term", "within"]


def design_term(model: PortableModel, records: Term) -> Term:
    """Return the columns of the design: numbers as they are, indicators of categories."""
    columns = []
    start = 0
    while start < len(model.column):
        stop = _run(model, start)
        own = model.column[start:stop]
        codes = model.code[start:stop]
        if codes[0] < 0:
            columns.append(records.pick(own))
        else:
            # One row more than the largest code that is asked for: a larger one is no indicator's.
            table = np.arange(int(codes.max()) + 2)[:, None] == codes
            code = records.pick(own[:1]).clip(0.0, float(codes.max() + 1))
            columns.append(lookup(code, table))
        start = stop
    return join(*columns)


def _run(model: PortableModel, start: int) -> int:
    """Return where a run ends of numbers, or of indicators of one column."""
    stop = start + 1
    number = model.code[start] < 0
    while stop < len(model.column) and (model.code[stop] < 0) == number:
        if not number and model.column[stop] != model.column[start]:
            break
        stop += 1
    return stop


def portable_term(model: PortableModel, design: Term) -> Term:
    """Return the prediction for each row of the design."""
    total = design.pick([0]) * 0.0 + model.intercept
    for part in model.parts:
        total = total + part_term(part, design)
    return total


def part_term(part: Part, design: Term) -> Term:
    """Return what one part of a portable model adds."""
    if isinstance(part, Trees):
        return leaf_sum(design, part)
    if isinstance(part, Linear):
        return design.product(part.coef[:, None])
    if isinstance(part, Kernel):
        bumps = (_squares(part, design) * -part.gamma).apply("exp")
    else:
        t = (_squares(part, design) * 5.0).apply("square_root").clip(0.0, FARTHEST)
        bumps = ((t / 3.0 + 1.0) * t + 1.0) * (t * -1.0).apply("exp")
    return bumps.product(part.weights[:, None])


def _squares(part: Kernel | Matern, design: Term) -> Term:
    """Return squared distances from the points."""
    scaled = (design - part.center) / part.scale
    if isinstance(part, Matern):
        for edge, bend in zip(part.edges, part.bends, strict=True):
            scaled = scaled + (design - edge).clip(0.0, np.inf) * bend
    norms = (part.points**2).sum(axis=1)
    squares: Term = (scaled * scaled).apply("row_sum") + norms - scaled.product(2.0 * part.points.T)
    return squares.clip(0.0, np.inf)


def within(term: Term, bounds: tuple[float, float]) -> Term:
    """Return predictions cut to the bounds, the lower one where large parts cancel to nothing."""
    return where_missing(term, constant(bounds[0]), term).clip(*bounds)
