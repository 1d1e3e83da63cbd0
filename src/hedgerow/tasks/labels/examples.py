"""Small label tasks: every mechanism of labels."""

from __future__ import annotations

from collections.abc import Callable

from hedgerow.grid import LabelGrid
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.k_ary import KaryResponse
from hedgerow.mechanisms.level import LaplaceNoise, LevelMechanism
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.mechanisms.top import TopResponse
from hedgerow.mechanisms.unbiased import MatrixResponse
from hedgerow.samplers import ONE
from hedgerow.tasks.class_labels import class_grid
from hedgerow.tasks.examples import Example, Record
from hedgerow.tasks.labels.task import LabelTask

__all__ = ["EXAMPLES"]

_RECORDS: tuple[Record, ...] = tuple({"record": 7, "y": y} for y in (0.0, 0.25, 0.3, None, 0.75, 1.0))


def _labels(name: str, mechanism: Callable[[float], LevelMechanism]) -> Example:
    def build(epsilon: float) -> LabelTask:
        own = mechanism(epsilon)
        return LabelTask(LabelGrid(0.0, 1.0, own.n_steps), own)

    return Example(f"labels, {name}", build, _RECORDS)


def _matrix(epsilon: float) -> MatrixResponse:
    truth = KaryResponse(epsilon, 2).truth
    return MatrixResponse(epsilon, ((truth, ONE - truth), (ONE - truth, truth)), (-0.5, 1.5))


def _interval(outside: str) -> Callable[[float], IntervalResponse]:
    return lambda epsilon: IntervalResponse(epsilon, 8, low=1, high=6, radius=1, outside=outside)


def _classes(name: str, top: tuple[int, ...]) -> Example:
    names = ("a", "b", "c")

    def build(epsilon: float) -> LabelTask:
        return LabelTask(class_grid(names), TopResponse(epsilon, 2, top), classes=names)

    # The last is as far from the first as can be: both can be sent. One is not listed, one cannot be sent.
    return Example(name, build, tuple({"record": 7, "y": y} for y in ("a", None, "z", "b", "c")))


EXAMPLES = (
    _labels("Laplace", lambda epsilon: LaplaceNoise(epsilon, 2)),
    _labels("staircase", lambda epsilon: StaircaseNoise(epsilon, 2)),
    _labels("Gaussian", lambda epsilon: GaussianNoise(epsilon, 2, delta=0.1)),
    _labels("interval", _interval("project")),
    _labels("interval or anywhere", _interval("uniform")),
    _labels("bins", lambda epsilon: BinsResponse(epsilon, 8, (0, 3, 6), (1.0, 4.0, 7.0))),
    _labels("matrix", _matrix),
    _classes("labels, classes", (0, 1, 2)),
    _classes("labels, top classes", (0, 2)),
)
