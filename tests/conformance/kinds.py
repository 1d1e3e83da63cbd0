"""One list of kinds of task: a kind that is listed here is held to what every kind must do.

``make(pick)`` returns a task whose numbers ``pick`` chooses, many of them at the edge of what is accepted; it may raise
a HedgerowError, for a task that is refused is no task. ``pick.small`` asks for one whose bytes can all be enumerated.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.mechanisms.top import TopResponse
from hedgerow.mechanisms.unbiased import MatrixResponse, k_ary_levels
from hedgerow.partition.tree import Partition
from hedgerow.portable import Kernel, Linear, Matern, PortableModel, Trees
from hedgerow.samplers import ONE
from hedgerow.space import FeatureSpace
from hedgerow.tasks.assisted.class_task import AssistedClassTask
from hedgerow.tasks.assisted.pilot import PilotTask
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.class_labels import class_grid
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import CellTask, ResidualTask, SemiTask
from hedgerow.tasks.partly_public.assist import Assist
from hedgerow.tasks.partly_public.symbols import k_ary_symbols
from hedgerow.tasks.tree.task import LocalTask

HUGE = 1.7e308
BOUNDS = ((0.0, 1.0), (-5e99, 5e99), (0.0, 1e-100), (1e99, 1e100), (-1e100, -9e99), (-0.1, 0.2), (-1e-60, 1e-60))
RANGES = ((0.0, 1.0), (-HUGE, HUGE), (0.0, 5e-324), (-1e-300, 1e-300), (1e300, HUGE), (-3.0, -3.0), (-99.0, 7.0))
NAMES = (("F", "M"), ("only",), ("", " ", "☂"), ("other", "a", "b"), tuple(map(str, range(300))))
RESIDUALS = Residuals(0.0, 1.0, 0.0, 0.5, 0.5, 100, tuple(np.linspace(-1, 1, 101).tolist()))


class Pick:
    """Choices, the same for the same seed."""

    def __init__(self, seed: object, small: bool = False) -> None:
        self.random, self.small = random.Random(repr(seed)), small

    def of(self, *choices):
        return self.random.choice(choices)

    def epsilon(self) -> float:
        # Small tasks are enumerated: with a large epsilon there are fewer paths.
        return self.of(4.0, 6.0, 9.5) if self.small else self.of(1e-3, 0.1, 1.0, 4.7, 60.0, 1e3, 1e300)

    def within(self, low: float, high: float) -> float:
        return self.of(low, high, min(max(low / 2 + high / 2, low), high))

    def grid(self, steps: int) -> LabelGrid:
        low, high = self.of(*BOUNDS)
        return LabelGrid(low, high, steps, self.within(low, high))

    def steps(self, *more: int) -> int:
        return 1 if self.small else self.of(1, 2, 3, 16, *more)

    def space(self, columns: int) -> FeatureSpace:
        features = []
        for j in range(columns):
            if self.of(0, 0, 1):
                names = self.of(*NAMES)
                features.append(CategoricalFeature(f"c{j}", names, self.of(*names)))
            else:
                low, high = self.of(*RANGES)
                features.append(NumericFeature(f"n{j}", low, high, self.within(low, high)))
        return FeatureSpace(tuple(features))

    def partition(self, space: FeatureSpace, depth: int) -> Partition:
        """Return a complete tree with cuts of whatever columns have room for them."""
        inner = (1 << depth) - 1
        n = 2 * inner + 1
        feature, threshold, offset, subsets = [-1] * n, [0.0] * n, [-1] * n, []
        for node in range(inner):
            column = self.random.randrange(len(space))
            known = space.features[column]
            feature[node] = column
            if isinstance(known, CategoricalFeature):
                offset[node] = len(subsets)
                subsets += [self.of(True, False) for _ in known.categories]
            else:
                threshold[node] = self.within(known.low, known.high)
        left = [2 * node + 1 if node < inner else node for node in range(n)]
        return Partition(space, feature, threshold, left, offset, subsets)

    def model(self, space: FeatureSpace) -> PortableModel:
        """Return a public model that overflows, or that gives no number at all, for some records."""
        d = len(space)
        slopes = [self.of(0.0, 1.0, 1e308, -1e308, 5e-324) for _ in range(d)]
        parts = [Linear(slopes), Linear([-s for s in slopes])][: self.of(0, 1, 2)]
        if self.of(0, 1):
            scale = [self.of(5e-324, 1.0, 1e308) for _ in range(d)]
            points, weights = [[self.of(0.0, 1e308)] * d] * 2, [self.of(1e308, -1.0)] * 2
            parts.append(Kernel(points, weights, [0.0] * d, scale, [self.of(5e-324, 1.0, 1e308)]))
            edges, bends = [[self.of(-1e308, 0.0, 0.5)] * d], [[self.of(-1e308, 0.0, 0.5, 1e308)] * d]
            parts.append(Matern(points, weights, [0.0] * d, scale, edges, bends))
        if self.of(0, 1):
            parts.append(Trees([3], [0, -1, -1], [self.of(0.5, 3e38)], [-1e308, 1e308], single=self.of(True, False)))
        return PortableModel(d, np.arange(d), np.full(d, -1), self.of(0.0, 1e308, -HUGE), tuple(parts))


@dataclass(frozen=True)
class Kind:
    """A kind of task: how to make one, and whether holders choose a mask."""

    name: str
    make: Callable
    masked: bool = False

    def tasks(self, n: int, *, small: bool = False) -> list:
        """Return the accepted ones of ``n`` tasks."""
        found = []
        for seed in range(n):
            try:
                found.append(self.make(Pick((self.name, seed, small), small)))
            except HedgerowError:
                continue
        return found


def _space(pick: Pick) -> FeatureSpace:
    return pick.space(1 if pick.small else pick.of(1, 2, 5))


def _tree(response: str) -> Callable:
    def make(pick: Pick) -> LocalTask:
        space = _space(pick)
        tree = pick.partition(space, 1 if pick.small else pick.of(0, 1, 4))
        grid = pick.grid(pick.steps(*((4096, 1 << 20) if response in ("bits", "k_ary") else (64,))))
        return LocalTask(pick.epsilon(), grid, tree, response, pick.of(0.5, 1e-3, 0.999) if not pick.small else 0.5)

    return make


def _classes(response: str) -> Callable:
    def make(pick: Pick) -> LocalTask:
        space, names = _space(pick), pick.of(("no", "yes"), ("", " ", "☂"), tuple(map(str, range(9))))
        names = names[:2] if pick.small else names
        top = len(names) - 1
        grid = LabelGrid(0.0, top, top, pick.of(0, top))
        tree = pick.partition(space, 1 if pick.small else pick.of(0, 1, 4))
        return LocalTask(pick.epsilon(), grid, tree, response, classes=names)

    return make


def _part(
    pick: Pick, space: FeatureSpace, bounds: tuple, epsilon: float, randomizer: str, parameter: int
) -> AssistedTask:
    # A cut of the first feature, and one of the prediction, which is the column after the design.
    cuts = [pick.of(0.5, 1e38, -1e38), pick.within(*bounds)]
    trees = Trees([3, 3], [0, -1, -1, len(space), -1, -1], cuts, [0.5] * 4, single=False)
    radius = pick.of(1e-100, 1.0, 1e100, bounds[1] - bounds[0])
    return AssistedTask(
        epsilon, bounds, space, pick.model(space), trees, radius, randomizer, parameter, RESIDUALS,
        (1.0,) * 4, np.zeros((1, 2), dtype=int), "y", pick.within(*bounds),
    )  # fmt: skip


def _assisted(randomizer: str, parameter: int) -> Callable:
    return lambda pick: _part(pick, _space(pick), pick.of(*BOUNDS), pick.epsilon(), randomizer, parameter)


def _assisted_classes(*parts: tuple[str, int]) -> Callable:
    def make(pick: Pick) -> AssistedClassTask:
        space, epsilon = _space(pick), pick.epsilon()
        names = pick.of(("no", "yes", "", "☂"), tuple("0123"))[: max(2, len(parts))]
        made = [_part(pick, space, (0.0, 1.0), epsilon, *part) for part in parts]
        return AssistedClassTask.of(names, made, missing=pick.of(*names))

    return make


def _pilot(pick: Pick) -> PilotTask:
    space, bounds = _space(pick), pick.of(*BOUNDS)
    width = bounds[1] - bounds[0]
    edges = pick.of((0.0,), (-width, width), (-1e100, -5e-324, 0.0, 5e-324, 1e100), (-width / 3, width / 7))
    return PilotTask(pick.epsilon(), bounds, space, pick.model(space), edges, "y", pick.within(*bounds))


def _first(masks: str, assisted: bool) -> Callable:
    def make(pick: Pick) -> SemiTask:
        space = pick.space(2)
        grid, assist = pick.grid(pick.steps(4096)), None
        if assisted:
            bounds, radius = pick.of(*BOUNDS), pick.of(1e-100, 1.0, 5e99)
            assist = Assist(pick.model(space), bounds, radius, RESIDUALS, pick.within(*bounds))
            grid = LabelGrid(-radius, radius, grid.n_steps)
        private = (space.names[0],) if masks == "policy" else ()
        share = 0.5 if pick.small else pick.of(0.5, 1e-3, 0.999)
        return SemiTask(pick.epsilon(), grid, space, share, masks, private, assist=assist)

    return make


def _second(masks: str, response: str, assisted: bool = False) -> Callable:
    def make(pick: Pick) -> CellTask:
        first = _first(masks, assisted)(pick)
        return CellTask(first, pick.partition(first.space, 1 if pick.small else pick.of(0, 2, 5)), response)

    return make


def _residual(masks: str) -> Callable:
    def make(pick: Pick) -> ResidualTask:
        space, bounds, epsilon = pick.space(2), pick.of(*BOUNDS), pick.epsilon()
        assist = Assist(
            pick.model(space), bounds, pick.of(1e-100, 1.0, 5e99), RESIDUALS, pick.within(*bounds)
        )  # fmt: skip
        named = pick.of(True, False)
        mechanism = k_ary_levels(epsilon, pick.of(2, 3)) if named else LaplaceNoise(epsilon, pick.steps(4096))
        private = (space.names[0],) if masks == "policy" else ()
        return ResidualTask(epsilon, space, assist, mechanism, masks, private)

    return make


def _symbols(masks: str) -> Callable:
    def make(pick: Pick) -> ResidualTask:
        made = _residual(masks)(pick)
        cells = pick.partition(made.space, 1)
        mechanism = k_ary_symbols(made.epsilon, cells.n_leaves, 2 if pick.small else pick.of(2, 3))
        return replace(made, cells=cells, mechanism=mechanism)

    return make


def _labels(mechanism: Callable) -> Callable:
    def make(pick: Pick) -> LabelTask:
        own = mechanism(pick)
        return LabelTask(pick.grid(own.n_steps), own)

    return make


def _interval(pick: Pick) -> IntervalResponse:
    steps = 4 if pick.small else pick.of(1, 9, 1 << 20)
    low, high = pick.of((0, steps), (0, 0), (steps // 2, steps))
    radius = 1 if pick.small else pick.of(0, 1, steps, (1 << 30) - 1)
    return IntervalResponse(pick.epsilon(), steps, low, high, radius, pick.of("project", "uniform"))


def _bins(pick: Pick) -> BinsResponse:
    starts = pick.of((0,), (0, 1), (0, 2, 4))
    values = tuple(pick.of(-(2.0**31), 0.5, 2.0**31) for _ in starts)
    return BinsResponse(pick.epsilon(), 4 if pick.small else pick.of(4, 4096), starts, values)


def _matrix(pick: Pick) -> MatrixResponse:
    epsilon = pick.epsilon()
    truth = KaryResponse(epsilon, 2).truth
    return MatrixResponse(epsilon, ((truth, ONE - truth), (ONE - truth, truth)), (-(2.0**31), 2.0**31))


def _label_classes(pick: Pick) -> LabelTask:
    names = pick.of(("a", "b"), ("a", "b", "c"), ("no", "0.25", "0.5", "abc"))
    last = len(names) - 1
    top = pick.of(tuple(range(last + 1)), (0, last), (last,), (0,))
    return LabelTask(class_grid(names), TopResponse(pick.epsilon(), last, top), classes=names)


def _gaussian(pick: Pick) -> GaussianNoise:
    return GaussianNoise(pick.of(1.0, 4.0), pick.of(1, 2), delta=pick.of(0.1, 0.01) if pick.small else 1e-5)


KINDS = (
    *(Kind(f"tree, {r}", _tree(r)) for r in ("bits", "unary", "k_ary", "subset")),
    *(Kind(f"classes, {r}", _classes(r)) for r in ("unary", "k_ary", "subset")),
    Kind("assisted, subset", _assisted("subset", 1)),
    Kind("assisted, levels", _assisted("levels", 3)),
    Kind("assisted, two classes", _assisted_classes(("subset", 1))),
    Kind("assisted, three classes", _assisted_classes(("subset", 1), ("levels", 3), ("subset", 2))),
    Kind("pilot", _pilot),
    Kind("first round, policy", _first("policy", False)),
    Kind("first round, own mask", _first("personal", False), masked=True),
    Kind("first round, hidden mask, public model", _first("hidden", True)),
    Kind("second round, k_ary", _second("policy", "k_ary")),
    Kind("second round, bits, own mask", _second("personal", "bits"), masked=True),
    Kind("second round, k_ary, public model", _second("hidden", "k_ary", assisted=True)),
    Kind("one round, policy", _residual("policy")),
    Kind("one round, own mask", _residual("personal"), masked=True),
    Kind("one round, symbols", _symbols("policy")),
    Kind("one round, symbols, own mask", _symbols("personal"), masked=True),
    Kind("labels, Laplace", _labels(lambda p: LaplaceNoise(p.epsilon(), p.steps(1 << 20)))),
    Kind("labels, staircase", _labels(lambda p: StaircaseNoise(p.epsilon(), p.steps(4096)))),
    Kind("labels, Gaussian", _labels(_gaussian)),
    Kind("labels, interval", _labels(_interval)),
    Kind("labels, bins", _labels(_bins)),
    Kind("labels, matrix", _labels(_matrix)),
    Kind("labels, classes", _label_classes),
)
