"""A small task of every kind and round, with records that are neighbours of each other: what is audited whole.

Small, so that everything a device can send is enumerated: two leaves or cells, a label grid of one or two steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

from hedgerow.bounds import FeatureSpace, LabelGrid
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.level import LaplaceNoise, LevelMechanism
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.mechanisms.unbiased import MatrixResponse
from hedgerow.partition import grow
from hedgerow.portable import Linear, PortableModel, Trees
from hedgerow.samplers import ONE
from hedgerow.tasks.assisted.pilot import PilotTask
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import CellTask, SemiTask
from hedgerow.tasks.partly_public.assist import Assist
from hedgerow.tasks.partly_public.histogram import histogram_below
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["EXAMPLES", "Example", "find_example"]

Record = Mapping[str, Any]


@dataclass(frozen=True)
class Example:
    """One kind of task, one round, one way to respond.

    Attributes
    ----------
    name : str
        As ``hedgerow audit`` lists it, after "whole: ".
    build : callable
        ``build(epsilon)`` returns a small task.
    records : tuple of mappings
        Neighbours of each other, each: records that differ in whatever the task protects. The first and the last are
        as far apart as can be.
    mask : tuple of bool, optional
        Which features are private, where holders choose.
    claim : callable
        ``claim(task)`` is the epsilon that what is sent may cost; by default the task's guarantee.
    left_out : Fraction
        The chance of all paths that the exact tier may leave out for one record.
    """

    name: str
    build: Callable[[float], Any]
    records: tuple[Record, ...]
    mask: tuple[bool, ...] | None = None
    claim: Callable[[Any], float] = lambda task: float(task.guarantee.epsilon)
    left_out: Fraction = Fraction(1, 1 << 30)


def find_example(name: str) -> Example:
    """Return the example of this name."""
    return next(example for example in EXAMPLES if example.name == name)


_SPACE = FeatureSpace.from_bounds((0, 1), ["x"])
_HALVES = grow("max_edge", _SPACE, None, None, max_depth=1)
# Both leaves, both ends of the label, a label that is rounded at random, and values that are missing or are none.
_RECORDS: tuple[Record, ...] = (
    {"x": 0.2, "y": 0.0},
    {"x": 0.2, "y": 1.0},
    {"x": 0.8, "y": 0.3},
    {"x": "unknown", "y": math.nan},
    {"x": 0.8, "y": 1.0},
)
_CLASSES: tuple[Record, ...] = tuple({"x": x, "y": y} for x, y in ((0.2, "a"), (0.2, "b"), (None, "z"), (0.8, "b")))


def _tree(response: str) -> Callable[[float], LocalTask]:
    return lambda epsilon: LocalTask(epsilon, LabelGrid(0.0, 1.0, 1), _HALVES, response)


def _classes(response: str) -> Callable[[float], LocalTask]:
    # As many bits as cells have as many paths as there are bytes to a few of them: two classes are enough there.
    names = ("a", "b") if response == "unary" else ("a", "b", "c")
    grid = LabelGrid(0.0, len(names) - 1.0, len(names) - 1, missing=0.0)
    return lambda epsilon: LocalTask(epsilon, grid, _HALVES, response, classes=names)


def _model(n_columns: int) -> PortableModel:
    """Return the public model ``1/4 + x/2`` of the first column."""
    columns = np.arange(n_columns)
    slope = np.where(columns == 0, 0.5, 0.0)
    return PortableModel(n_columns, columns, np.full(n_columns, -1), 0.25, (Linear(slope),))


_RESIDUALS = Residuals(0.0, 0.05, 0.0, 0.9, 0.5, 100, tuple(np.linspace(-0.5, 0.5, 101).tolist()))
_RADIUS = 0.5


def _assisted(randomizer: str, parameter: int) -> Callable[[float], AssistedTask]:
    # Two trees: a cut of the feature, and one of the public prediction (the column after the design).
    sizes, features = np.array([3, 3]), np.array([0, -1, -1, 1, -1, -1])
    trees = Trees(sizes, features, np.array([0.5, 0.4]), np.full(4, 0.5), single=False)

    def build(epsilon: float) -> AssistedTask:
        bounds, reference = (0.0, 1.0), np.zeros((1, 2), dtype=int)
        return AssistedTask(
            epsilon, bounds, _SPACE, _model(1), trees, _RADIUS, randomizer, parameter, _RESIDUALS, (1.0,) * 4, reference
        )

    return build


def _pilot(epsilon: float) -> PilotTask:
    return PilotTask(epsilon, (0.0, 1.0), _SPACE, _model(1), (-0.3, 0.0, 0.3))


_BOTH = FeatureSpace.from_bounds((0, 1), ["hidden", "open"])
# The open feature is sent in clear and is the same in all; the hidden one and the label are protected.
_PARTLY: tuple[Record, ...] = tuple({"open": 0.3, **record} for record in (
    {"hidden": 0.2, "y": 0.0}, {"hidden": None, "y": 1.0}, {"hidden": 0.8, "y": 1.0},
))  # fmt: skip
# The public model is wrong by as much as it can be, either way.
_WRONG: tuple[Record, ...] = tuple({"open": 0.3, **record} for record in (
    {"hidden": 0.8, "y": 0.0}, {"hidden": 0.8, "y": 1.0}, {"hidden": 0.2, "y": 1.0},
))  # fmt: skip
_OPEN: tuple[Record, ...] = tuple({"open": 0.3, "hidden": 0.2, "y": y} for y in (0.0, 0.4, "", 1.0))


def _first(masks: str, *, assisted: bool = False) -> Callable[[float], SemiTask]:
    private = ("hidden",) if masks == "policy" else ()
    assist = Assist(_model(2), (0.0, 1.0), _RADIUS, _RESIDUALS) if assisted else None
    bounds = (-_RADIUS, _RADIUS) if assisted else (0.0, 1.0)
    grid = LabelGrid(*bounds, 1)
    return lambda epsilon: SemiTask(epsilon, grid, _BOTH, 0.5, masks, private, assist=assist)


def _second(masks: str, response: str, *, column: int = 0, assisted: bool = False) -> Callable[[float], CellTask]:
    first = _first(masks, assisted=assisted)
    cells = histogram_below(grow("max_edge", _BOTH, None, None, max_depth=0), [column], 2)
    return lambda epsilon: CellTask(first(epsilon), cells, response)


def _label_share(task: SemiTask) -> float:
    """Return what the first round alone may cost a holder with something to hide: the label's share."""
    return task.epsilons[0]


_HIDES = (True, False)
_LABELS: tuple[Record, ...] = tuple({"record": 7, "y": y} for y in (0.0, 0.25, 0.3, None, 0.75, 1.0))


def _labels(mechanism: Callable[[float], LevelMechanism]) -> Callable[[float], LabelTask]:
    def build(epsilon: float) -> LabelTask:
        own = mechanism(epsilon)
        return LabelTask(LabelGrid(0.0, 1.0, own.n_steps), own)

    return build


def _matrix(epsilon: float) -> MatrixResponse:
    truth = KaryResponse(epsilon, 2).truth
    return MatrixResponse(epsilon, ((truth, ONE - truth), (ONE - truth, truth)), (-0.5, 1.5))


def _interval(outside: str) -> Callable[[float], IntervalResponse]:
    return lambda epsilon: IntervalResponse(epsilon, 8, low=1, high=6, radius=1, outside=outside)


def _both(
    name: str, build: Callable[[float], CellTask], records: tuple[Record, ...], mask: tuple[bool, ...] | None = None
) -> Example:
    # A pair of noisy labels and a cell have many paths.
    return Example(f"partly public, both rounds, {name}", build, records, mask, left_out=Fraction(1, 1 << 20))


EXAMPLES: tuple[Example, ...] = (
    *(Example(f"tree, {r}", _tree(r), _RECORDS) for r in ("bits", "unary", "k_ary", "subset")),
    *(Example(f"tree of classes, {r}", _classes(r), _CLASSES) for r in ("unary", "k_ary", "subset")),
    Example("assisted, subset", _assisted("subset", 1), _RECORDS),
    Example("assisted, levels", _assisted("levels", 3), _RECORDS),
    Example("pilot", _pilot, _RECORDS),
    Example("partly public, first round", _first("policy"), _PARTLY, claim=_label_share),
    Example("partly public, first round, own mask", _first("personal"), _PARTLY, _HIDES, _label_share),
    Example("partly public, first round, label only", _first("personal"), _OPEN, (False, False)),
    Example("partly public, first round, hidden mask", _first("hidden"), _PARTLY, claim=_label_share),
    Example("partly public, first round, public model", _first("policy", assisted=True), _WRONG, claim=_label_share),
    _both("k_ary", _second("policy", "k_ary"), _PARTLY),
    _both("bits", _second("personal", "bits"), _PARTLY, _HIDES),
    _both("cell certain", _second("policy", "k_ary", column=1), _PARTLY),
    _both("k_ary, public model", _second("policy", "k_ary", assisted=True), _WRONG),
    _both("bits, public model", _second("hidden", "bits", assisted=True), _WRONG),
    Example("labels, Laplace", _labels(lambda epsilon: LaplaceNoise(epsilon, 2)), _LABELS),
    Example("labels, staircase", _labels(lambda epsilon: StaircaseNoise(epsilon, 2)), _LABELS),
    Example("labels, Gaussian", _labels(lambda epsilon: GaussianNoise(epsilon, 2, delta=0.1)), _LABELS),
    Example("labels, interval", _labels(_interval("project")), _LABELS),
    Example("labels, interval or anywhere", _labels(_interval("uniform")), _LABELS),
    Example("labels, bins", _labels(lambda e: BinsResponse(e, 8, (0, 3, 6), (1.0, 4.0, 7.0))), _LABELS),
    Example("labels, matrix", _labels(_matrix), _LABELS),
)
"""Every kind of task and round."""
