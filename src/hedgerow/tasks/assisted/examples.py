"""Small tasks with a public model: two trees of two leaves each, and a pilot of four bins."""

from __future__ import annotations

import math
from collections.abc import Callable

import numpy as np

from hedgerow.portable import Trees
from hedgerow.tasks.assisted.class_task import AssistedClassTask
from hedgerow.tasks.assisted.pilot import PilotTask
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.examples import CLASS_RECORDS, SPACE, Example, public_model

__all__ = ["EXAMPLES", "RADIUS", "RESIDUALS"]

RESIDUALS = Residuals(0.0, 0.05, 0.0, 0.9, 0.5, 100, tuple(np.linspace(-0.5, 0.5, 101).tolist()))
RADIUS = 0.5  # where the example's public residuals end


def _assisted(randomizer: str, parameter: int) -> Callable[[float], AssistedTask]:
    # A cut of the feature, and one of the public prediction (the column after the design).
    sizes = np.array([3, 3])
    features = np.array([0, -1, -1, 1, -1, -1])
    trees = Trees(sizes, features, np.array([0.5, 0.4]), np.full(4, 0.5), single=False)

    def build(epsilon: float) -> AssistedTask:
        return AssistedTask(
            epsilon,
            (0.0, 1.0),
            SPACE,
            public_model(1),
            trees,
            RADIUS,
            randomizer,
            parameter,
            RESIDUALS,
            (1.0,) * 4,
            np.zeros((1, 2), dtype=int),
        )

    return build


def _pilot(epsilon: float) -> PilotTask:
    return PilotTask(epsilon, (0.0, 1.0), SPACE, public_model(1), (-0.3, 0.0, 0.3))


def _classes(*parts: tuple[str, int]) -> Callable[[float], AssistedClassTask]:
    names = ("a", "b", "c")[: max(2, len(parts))]
    return lambda epsilon: AssistedClassTask.of(names, [_assisted(*part)(epsilon) for part in parts])


EXAMPLES = (
    Example("assisted, subset", _assisted("subset", 1)),
    Example("assisted, levels", _assisted("levels", 3)),
    Example("assisted, two classes", _classes(("subset", 1)), CLASS_RECORDS),
    Example(
        "assisted, three classes",
        _classes(("subset", 1), ("levels", 3), ("subset", 2)),
        CLASS_RECORDS,
        quick_from=math.inf,
    ),
    Example("pilot", _pilot),
)
