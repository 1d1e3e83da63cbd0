"""Small tasks of every kind and round, with records that are neighbours of each other: what is audited whole.

Each kind has a module ``examples`` in its folder, with a tuple ``EXAMPLES``; a kind is found by being registered. The
tasks are small, so that everything a device can send is enumerated: two leaves or cells, a label grid of a few steps.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from fractions import Fraction
from importlib import import_module
from typing import Any

import numpy as np

from hedgerow.portable import Linear, PortableModel
from hedgerow.space import FeatureSpace
from hedgerow.tasks.registry import TASKS, task_class

__all__ = ["CLASS_RECORDS", "RECORDS", "SPACE", "Example", "examples", "find_example", "fitting", "public_model"]

Record = Mapping[str, Any]

SPACE = FeatureSpace.from_bounds((0, 1), ["x"])

# Both halves, both ends of the label, a label that is rounded at random, and values that are missing or are none.
RECORDS: tuple[Record, ...] = (
    {"x": 0.2, "y": 0.0},
    {"x": 0.2, "y": 1.0},
    {"x": 0.8, "y": 0.3},
    {"x": "unknown", "y": math.nan},
    {"x": 0.8, "y": 1.0},
)

CLASS_RECORDS: tuple[Record, ...] = tuple(
    {"x": x, "y": y} for x, y in ((0.2, "a"), (0.2, "b"), (None, "z"), (0.8, "b"))
)


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
    quick_from : float
        The smallest epsilon from which the exact tier takes about a second (with smaller ones there are more paths);
        measured on 2 cores of 2.5 GHz, by ``hedgerow audit --mechanism NAME --epsilon E --samples 0``.
    """

    name: str
    build: Callable[[float], Any]
    records: tuple[Record, ...] = RECORDS
    mask: tuple[bool, ...] | None = None
    claim: Callable[[Any], float] = lambda task: float(task.guarantee.epsilon)
    left_out: Fraction = Fraction(1, 1 << 30)
    quick_from: float = 0.0


def examples() -> tuple[Example, ...]:
    """Return the examples of every registered kind, in the order of the registry.

    Kinds whose reports are sealed have none: what their servers release is audited by their own tests.

    >>> sorted({example.build(1.0).kind for example in examples()})
    ['assisted', 'assisted-class', 'label', 'local', 'pilot', 'residual', 'semi-first', 'semi-second']
    """
    open_kinds = [module for name, (module, _) in TASKS.items() if not task_class(name).sealed]
    folders = dict.fromkeys(module.rpartition(".")[0] for module in open_kinds)
    return tuple(example for folder in folders for example in import_module(f"{folder}.examples").EXAMPLES)


def find_example(name: str) -> Example:
    """Return the example of this name."""
    return next(example for example in examples() if example.name == name)


def fitting(task: Any) -> tuple[Example, ...]:
    """Return the examples that are like a task: of its kind, with its response, with classes or a number as it has.

    >>> [example.name for example in fitting(find_example("tree, bits").build(1.0))]
    ['tree, bits']
    """
    return tuple(example for example in examples() if _traits(example.build(1.0)) == _traits(task))


def _traits(task: Any) -> tuple[str, object, bool]:
    label = (task.before or task).question().label
    return task.kind, getattr(task, "response", None), bool(label is not None and label.classes)


def public_model(n_columns: int) -> PortableModel:
    """Return the public model ``1/4 + x/2`` of the first column.

    >>> public_model(1).predict(np.array([[0.5]])).tolist()
    [0.5]
    """
    columns = np.arange(n_columns)
    slope = np.where(columns == 0, 0.5, 0.0)
    return PortableModel(n_columns, columns, np.full(n_columns, -1), 0.25, (Linear(slope),))
