"""The tasks of the shared vectors."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.level import LaplaceNoise, LevelMechanism
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.mechanisms.top import TopResponse
from hedgerow.mechanisms.unbiased import MatrixResponse
from hedgerow.partition import grow
from hedgerow.samplers import ONE
from hedgerow.space import FeatureSpace
from hedgerow.tasks.class_labels import class_grid
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.tree.task import LocalTask
from vectors.assisted import assisted_cases
from vectors.case import Case
from vectors.classes import class_cases
from vectors.pilot import pilot_cases
from vectors.rounds import round_cases

__all__ = ["Case", "cases"]


def _local(
    space: FeatureSpace, depth: int, bounds: tuple[float, float], steps: int, epsilon: float, **more: Any
) -> LocalTask:
    """Return a task with a tree that needs no data."""
    partition = grow("max_edge", space, None, None, max_depth=depth)
    return LocalTask(epsilon, LabelGrid(*bounds, steps), partition, **more)


def _local_cases() -> Iterator[Case]:
    kind = CategoricalFeature("kind", ("flat", "house", "Büro ☂", "other"), missing="flat")
    age, income = (NumericFeature(name, 0.1, 90.7, indicator=name == "age") for name in ("age", "income"))
    mixed = FeatureSpace((age, kind, income))
    for epsilon in (0.1, 1.0, 2.5, 8.0, 1 / 3, 47.3):
        steps = max(2, math.ceil(8 * epsilon))
        yield Case(f"bits {epsilon:.3g}", _local(mixed, 5, (0.0, 60.0), steps, epsilon, target="rent"), 12)
        for response in ("unary", "k_ary", "subset"):
            task = _local(mixed, 3, (0.0, 60.0), 2 if epsilon > 2 else 1, epsilon, response=response, target="rent")
            yield Case(f"{response} {epsilon:.3g}", task)
    plain = FeatureSpace.from_bounds((0, 1), 2)
    for steps, epsilon in ((1, 1.0), (1000, 0.5), (1 << 16, 1.0), (1 << 20, 0.2), (4096, 177.0), (4096, 178.0)):
        yield Case(f"bits of {steps} steps, {epsilon:g}", _local(plain, 3, (-1.0, 3.0), steps, epsilon), 10)
    yield Case("bits, one leaf", _local(plain, 0, (-1.0, 3.0), 16, 1.0), 4)
    yield Case("bits, a third for the cell", _local(plain, 3, (-1.0, 3.0), 8, 0.7, cell_share=1 / 3), 4)
    yield Case("k_ary, many cells", _local(plain, 5, (-1.0, 3.0), 1 << 20, 9.0, response="k_ary"), 6)
    yield Case("subset, large", _local(plain, 3, (-1.0, 3.0), 9, 0.5, response="subset"), 4)
    one = FeatureSpace.from_bounds((-2, 2), ["x"])
    classes = ("no", "yes", "per☂haps")
    for response in ("unary", "k_ary", "subset"):
        task = _local(one, 2, (0.0, 2.0), 2, 1.5, response=response, classes=classes)
        yield Case(f"{response} of classes", task, 6)


def _label_cases() -> Iterator[Case]:
    third = ONE // 3
    rest = ONE - ONE // 3
    rows = ((rest, third), (ONE // 2, ONE // 2), (third, rest))
    uneven = tuple((ONE - 6 * w, *(w,) * 6) for w in (ONE // 8, ONE // 9, ONE // 7))
    mechanisms: list[LevelMechanism] = [
        LaplaceNoise(1.0, 16),
        LaplaceNoise(0.3, 4000),
        StaircaseNoise(2.0, 10),
        StaircaseNoise(0.01, 3),
        StaircaseNoise(6.0, 40, 7),
        GaussianNoise(1.0, 8, 1e-4),
        IntervalResponse(2.0, 100, low=10, high=60, radius=5),
        IntervalResponse(1.0, 50, low=10, high=20, radius=2, outside="uniform"),
        IntervalResponse(1.0, 50, low=10, high=10, radius=3),
        BinsResponse(2.0, 9, starts=(0, 4, 7), values=(1.5, 5.0, 8.0)),
        BinsResponse(2.0, 9, starts=(0,), values=(4.5,)),
        MatrixResponse(1.0, rows, (-0.5, 2.5)),
        MatrixResponse(0.9, uneven, tuple(range(7))),
    ]
    for m in mechanisms:
        yield Case(f"label {m.kind} {m.epsilon:g}", LabelTask(LabelGrid(-5.0, 95.0, m.n_steps), m, target="wait"), 7)
    names = ("no", "yes", "per☂haps", "__proto__")
    for epsilon, top in ((1.0, (0, 1, 2, 3)), (0.2, (1, 3)), (3.0, (2,)), (40.0, (0, 1, 3))):
        task = LabelTask(class_grid(names), TopResponse(epsilon, 3, top), target="answer", classes=names)
        yield Case(f"label of classes, {len(top)} can be sent", task, 7)


def _missing_cases() -> Iterator[Case]:
    """Yield a task of each kind whose missing label is neither the middle of its range nor the first class."""
    seen = set()
    for case in (*_local_cases(), *_label_cases(), *round_cases(), *assisted_cases(), *pilot_cases(), *class_cases()):
        label = case.task.question().label
        kind = (type(case.task), type(case), label is not None and label.classes is not None)
        if label is None or kind in seen:
            continue
        seen.add(kind)
        low, high = label.bounds
        missing = 1.0 if label.classes is not None else low + 0.8125 * (high - low)
        yield replace(case, name=f"{case.name}, a missing label is {missing:g}", task=case.task.counting(missing), n=2)


def cases() -> Iterator[Case]:
    """Yield all cases, in a fixed order."""
    yield from _local_cases()
    yield from _label_cases()
    yield from round_cases()
    yield from assisted_cases()
    yield from pilot_cases()
    yield from class_cases()
    yield from _missing_cases()
