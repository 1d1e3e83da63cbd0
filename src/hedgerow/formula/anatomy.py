"""What a prediction is made of, and how sure it is, as terms: a formula with its parts and its interval.

A model says so by ``anatomy()``; :mod:`hedgerow.explorer` makes a page of it on which one record is tried. Intervals
may need two operations more than formulas: only the page evaluates them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from hedgerow.formula.formula import Formula
from hedgerow.formula.terms import Term, join, where_positive
from hedgerow.types import FloatArray
from hedgerow.wording import Wording

__all__ = ["FURTHER", "Anatomy", "Part", "greatest", "holding_term", "interpolated", "least", "mixture_ends"]

FURTHER = {
    "mixture": 2,  # two quantiles of a mixture of normal laws, from the means and the variances of its parts
    "interpolate": 1,  # a curve of straight pieces, level beyond its ends
}
"""Operations of intervals, with the number of their arguments."""


@dataclass(frozen=True, eq=False)
class Part:
    """Something that is added on the way to a prediction.

    Attributes
    ----------
    name : str
        What it is.
    value : Term
        What it adds: one column an output (or class) of the formula, or one for all.
    place, texts : Term and tuple of str
        Where the record is, a whole number, and what is to be said of that place: the rule of a leaf, say.
    start : bool
        Whether the others are added to this one, which is large by nature.
    """

    name: str
    value: Term
    place: Term | None = None
    texts: tuple[str, ...] = ()
    start: bool = False


@dataclass(frozen=True, eq=False)
class Anatomy:
    """A formula, the parts that add up to it (but for a cut to what is possible), and the interval around it.

    Attributes
    ----------
    formula : Formula
        What is predicted.
    parts : tuple of Part
        None where the model is no sum.
    ends : Term or None
        The lower ends of all outputs, then the upper ones; None for classes, and where nothing is known.
    level : float
        Of the interval.
    covers : str
        What the interval is for, in words.
    target, unit : str
        What is predicted, and in which unit.
    bounds : tuple of (low, high)
        What each output can be, where that is known.
    words : mapping
        What is known of columns besides, by name: units, and whether only whole numbers make sense.
    """

    formula: Formula
    parts: tuple[Part, ...] = ()
    ends: Term | None = None
    level: float = 0.9
    covers: str = ""
    target: str = "label"
    unit: str = ""
    bounds: tuple[tuple[float, float], ...] = ()
    words: Mapping[str, Wording] = field(default_factory=dict)


def least(a: Term, b: Term) -> Term:
    """Return the smaller of two terms, exactly: ``b`` unless ``b - a`` is above 0, which no rounding changes."""
    return where_positive(b - a, a, b)


def greatest(a: Term, b: Term) -> Term:
    """Return the larger of two terms."""
    return where_positive(a - b, a, b)


def holding_term(low: Term, high: Term, point: Term) -> Term:
    """Return both ends, stretched where they must be to hold the point."""
    return join(least(low, point), greatest(high, point))


def mixture_ends(mean: Term, variance: Term, weights: FloatArray, level: float) -> Term:
    """Return the ``(1 - level)/2`` and ``(1 + level)/2`` quantiles of a mixture of normal laws, one column a part."""
    shares = np.array([(1 - level) / 2, (1 + level) / 2])
    return Term("mixture", (mean, variance), {"weights": np.asarray(weights, dtype=float), "shares": shares})


def interpolated(term: Term, x: FloatArray, y: FloatArray) -> Term:
    """Return the curve through these points, ``x`` ascending, as :func:`numpy.interp` has it."""
    return Term("interpolate", (term,), {"x": np.asarray(x, dtype=float), "y": np.asarray(y, dtype=float)})
