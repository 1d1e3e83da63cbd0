"""Tasks of the shared vectors that run a public model on the device.

Models and trees are made up from seeded whole numbers, so that they are the same on every machine.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.mechanisms.joint import LevelResponse, SignedSubset
from hedgerow.portable import Kernel, Linear, Matern, PortableModel, Trees
from hedgerow.randomness import Randomness, SeededRandomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.records import one
from vectors.case import Case

__all__ = ["BOUNDS", "RESIDUALS", "SPACE", "AssistedCase", "ModelCase", "assisted_cases", "make_base", "make_task"]

SPACE = FeatureSpace(
    (
        NumericFeature("age", 0, 99),
        CategoricalFeature("home", ("flat", "house", "Büro ☂"), "house", "Büro ☂"),
        NumericFeature("pay", -3, 9, indicator=True),
    )
)
_COLUMN = [0, 1, 1, 1, 2]
_CODE = [-1, 0, 1, 2, -1]
BOUNDS = (-20.0, 60.0)
_CUTS = [(0.0, 99.0), (0.0, 1.0), (0.0, 1.0), (0.0, 1.0), (-3.0, 9.0), BOUNDS]
"""Range of the cuts of each column of the design, and of the prediction, which comes last."""

RESIDUALS = Residuals(0.0, 16.0, 0.0, 0.75, 0.5, 100, tuple(k / 4 - 12.5 for k in range(101)))


class ModelCase(Case, ABC):
    """A task with a public model; holders' values lie on the cuts of its trees now and then."""

    def _label_range(self) -> tuple[float, float]:
        low, high = self.task.label_bounds
        return float(low), float(high)

    def _trees(self) -> list[Trees]:
        """Return all trees that the device walks."""
        return [part for part in self.task.public_model.parts if isinstance(part, Trees)]

    def _cuts(self, column: int) -> list[float]:
        """Return the cuts of a feature, in all trees."""
        cuts: list[float] = []
        for trees in self._trees():
            split = trees.feature[trees.feature >= 0]
            cuts += trees.threshold[split == _COLUMN.index(column)].tolist()
        return cuts + [math.nextafter(cut, math.inf) for cut in cuts]  # on the cut still, in single precision

    def _number(self, feature: NumericFeature, column: int, source: Randomness, number: int) -> float:
        return super()._number(feature, column, source, int(source.integers(7, 1)[0]))

    @abstractmethod
    def place(self, record: dict[str, Any], source: Randomness) -> dict[str, Any]:
        """Return what the device works out before it randomises; ``source`` gives the bytes that it draws."""


class AssistedCase(ModelCase):
    """A task with a public model and trees of its own."""

    task: AssistedTask

    def _trees(self) -> list[Trees]:
        return [self.task.trees, *super()._trees()]

    def _edges(self) -> Iterator[bytes]:
        """Yield bytes that lead to each tree and leave the first bit there open, whatever the eight bytes after it."""
        for t, (name, value) in enumerate(self.parameters().items()):
            if value < 1 << 64 and name != "size":
                for rest in (bytes(40), b"\xff" * 40, bytes([value >> 56]) * 40):
                    yield b"\x00" + t.to_bytes(4, "little") + bytes([value >> 56]) + rest

    def parameters(self) -> dict[str, int]:
        """Return the integers that the probabilities of each tree are made of."""
        found = {}
        for t, joint in enumerate(self.task.encoding.joint):
            assert isinstance(joint, SignedSubset | LevelResponse)
            found[f"tree {t}"] = joint.hold if isinstance(joint, SignedSubset) else joint.response.truth
        return found

    def place(self, record: dict[str, Any], source: Randomness) -> dict[str, Any]:
        """Return what the device works out: prediction, leaf in every tree, and the level that ``source`` rounds to."""
        g, leaf = self.task.place(self.task.space.encode_record(record)[None, :])
        residual = (self.task.labels(one(record.get(self.task.target))) - g) / self.task.radius
        level = self.task.grid.levels(residual, source)
        return {"prediction": float(g[0]), "leaves": leaf[0].tolist(), "level": int(level[0])}


def _whole(source: Randomness, high: int, n: int) -> npt.NDArray[np.float64]:
    return source.integers(high, n).astype(np.float64)


def _shape(leaves: int, source: Randomness) -> list[bool]:
    """Return which nodes of a tree are inner, level by level."""
    inner: list[bool] = []
    waiting = 1
    while waiting:
        waiting -= 1
        left = leaves - 1 - sum(inner)
        grow = left > 0 and (not waiting or bool(source.integers(4, 1)[0]))
        inner.append(grow)
        waiting += 2 * grow
    return inner


def _trees(leaves: tuple[int, ...], columns: int, source: Randomness, *, shares: bool, single: bool = True) -> Trees:
    """Return trees that cut the first columns of the design; their values are shares, or whole numbers."""
    shapes = [_shape(k, source) for k in leaves]
    inner = [flag for shape in shapes for flag in shape]
    split = source.integers(columns, sum(inner))
    low, high = np.array(_CUTS).T
    cuts = low[split] + (high - low)[split] * (200 + _whole(source, 601, len(split))) / 1000
    feature = np.full(len(inner), -1)
    feature[np.flatnonzero(inner)] = split
    value = np.concatenate([np.full(k, 1 / k) for k in leaves]) if shares else _whole(source, 64, sum(leaves)) / 8 - 4
    return Trees(np.array([len(s) for s in shapes]), feature, cuts, value, single)


def make_base(kinds: str, source: Randomness) -> PortableModel:
    """Return a public model with these parts: t(rees), d(ouble precision trees), l(inear), k(ernel), m(atern)."""
    parts: list[Any] = []
    d = len(_COLUMN)
    for kind in kinds:
        if kind in "td":
            parts.append(_trees((5, 9, 2), d, source, shares=False, single=kind == "t"))
        elif kind == "l":
            parts.append(Linear(_whole(source, 64, d) / 128 - 0.25))
        else:
            points = _whole(source, 512, 7 * d).reshape(7, d) / 128 - 2
            weights = _whole(source, 64, 7) / 4 - 8
            center, scale = np.array([[50.0, 0.25, 0.5, 0.25, 3.0], [30.0, 0.5, 0.5, 0.5, 4.0]])
            if kind == "k":
                parts.append(Kernel(points, weights, center, scale, np.array([0.3])))
            else:
                edges = center + scale * (_whole(source, 128, 3 * d).reshape(3, d) / 64 - 1)
                bends = (_whole(source, 64, 3 * d).reshape(3, d) / 32 - 1) / scale
                parts.append(Matern(points, weights, center, scale, edges, bends))
    return PortableModel(len(SPACE), np.array(_COLUMN), np.array(_CODE), 12.5, tuple(parts))


def make_task(
    epsilon: float, leaves: tuple[int, ...], randomizer: str, parameter: int, kinds: str, radius: float, seed: int
) -> AssistedTask:
    """Return a made-up task; ``kinds`` are the parts of its public model, by their first letters."""
    source = SeededRandomness(seed)
    base = make_base(kinds, source)
    trees = _trees(leaves, len(_CUTS), source, shares=True)
    return AssistedTask(
        epsilon, BOUNDS, SPACE, base, trees, radius, randomizer, parameter, RESIDUALS, (1.0,) * sum(leaves),
        np.zeros((1, len(leaves)), int), "rent",
    )  # fmt: skip


def assisted_cases() -> Iterator[AssistedCase]:
    """Yield all cases: both randomisers, one leaf to hundreds, every kind of public model."""
    chosen: list[tuple[float, tuple[int, ...], str, int, str]] = [
        (1.0, (1,), "subset", 1, ""),
        (0.1, (2, 3), "subset", 1, "l"),
        (1.0, (8, 7, 8), "subset", 2, "t"),
        (0.5, (16, 16, 9, 16), "subset", 8, "tdlkm"),
        (2.5, (40, 33), "subset", 64, "d"),
        (4.0, (200,), "subset", 20, "k"),
        (47.3, (9,), "subset", 3, "lk"),
        (0.3, (4, 4), "levels", 3, "l"),
        (1.0, (2,), "levels", 3, ""),
        (4.0, (8, 8, 5), "levels", 5, "tdlk"),
        (8.0, (64, 50, 64), "levels", 9, "m"),
        (47.3, (1,), "levels", 3, "t"),
    ]
    for seed, (epsilon, leaves, randomizer, parameter, kinds) in enumerate(chosen):
        task = make_task(epsilon, leaves, randomizer, parameter, kinds, math.pi * (2 + seed), seed)
        yield AssistedCase(
            f"assisted {randomizer} {parameter} of {leaves}, {epsilon:g}, {kinds or 'constant'}", task, 12
        )
