"""The tasks of the shared vectors, their records, and the random bytes that lead into corners."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hedgerow.bounds import CategoricalFeature, FeatureSpace, LabelGrid, NumericFeature
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.interval import IntervalResponse
from hedgerow.mechanisms.level import LaplaceNoise, LevelMechanism
from hedgerow.mechanisms.staircase import StaircaseNoise
from hedgerow.mechanisms.unbiased import MatrixResponse
from hedgerow.partition import grow
from hedgerow.partition.tree import Partition
from hedgerow.protocol.label import LabelTask
from hedgerow.protocol.semi import CellTask, SemiTask
from hedgerow.protocol.task import LocalTask
from hedgerow.randomness import Randomness
from hedgerow.samplers import ONE, LazyCdf, _geometric_cdf, _laplace_cdf

__all__ = ["Case", "cases"]

_HEX = 1 << 64


@dataclass(frozen=True)
class Case:
    """A task, how many seeded vectors it gets, and what its holders' values are."""

    name: str
    task: Any
    n: int = 8

    @property
    def space(self) -> FeatureSpace | None:
        """The features, if the task asks for any."""
        return self._first.space if self._first is not None else getattr(self.task, "space", None)

    @property
    def _first(self) -> SemiTask | None:
        return self.task.first if isinstance(self.task, CellTask) else None

    @property
    def _partition(self) -> Partition | None:
        return getattr(self.task, "partition", None)

    def record(self, source: Randomness, number: int) -> tuple[dict[str, Any], list[bool] | None]:
        """Return a record, with values on and beyond the edges now and then, and a mask."""
        task: Any = self._first or self.task
        values: dict[str, Any] = {}
        for column, feature in enumerate(self.space.features if self.space else ()):
            if isinstance(feature, CategoricalFeature):
                values[feature.name] = feature.categories[int(source.integers(len(feature.categories), 1)[0])]
            else:
                values[feature.name] = self._number(feature, column, source, number)
        low, high = task.grid.low, task.grid.high
        share = int(source.integers(1 << 20, 1)[0]) / (1 << 20)
        label = [low, high, low - 1.5, high + 2.5, low + (high - low) * share][min(number % 7, 4)]
        if getattr(task, "classes", None):
            label = task.classes[int(source.integers(len(task.classes), 1)[0])]
        values[task.target] = label
        if isinstance(task, LabelTask):
            values["record"] = int(source.integers(1 << 40, 1)[0])
        mask = None
        if getattr(task, "masks", "") == "personal":
            mask = source.integers(2, len(task.space)).astype(bool).tolist()
        return values, mask

    def _number(self, feature: NumericFeature, column: int, source: Randomness, number: int) -> float:
        inside = feature.low + (feature.high - feature.low) * int(source.integers(1 << 16, 1)[0]) / (1 << 16)
        cuts = [inside]
        if self._partition is not None:
            cuts = self._partition.threshold[self._partition.feature == column].tolist() or cuts
        cut = cuts[int(source.integers(len(cuts), 1)[0])]
        width = feature.high - feature.low
        choices = (
            inside,
            cut,
            math.nextafter(cut, -math.inf),
            feature.low,
            feature.high,
            feature.low - width,
            3 * feature.high,
        )
        return float(choices[number % len(choices)])

    def scripts(self) -> list[bytes]:
        """Return chosen first bytes: runs, carries, and draws on the edge of a threshold."""
        runs = [bytes([value]) * size for value in (0, 255) for size in (1, 3, 12, 40)]
        return [*runs, b"\x80" * 16, b"\x7f\xff" * 16, *self._edges()]

    def _edges(self) -> Iterator[bytes]:
        """Yield bytes that put the first table look-up on a threshold, one below it and one above it."""
        for before, law in self._laws():
            for i in sorted({0, len(law._low) // 3, len(law._low) // 2, len(law._low) - 1}):
                for shift in (-1, 0, 1):
                    u = (int(law._low[i]) + shift) % _HEX
                    yield before + (u >> 48).to_bytes(2, "little") + ((u << 16) % _HEX).to_bytes(8, "little")
        flip = self.parameters().get("flip") or self.parameters().get("rare") or self.parameters().get("hold")
        if flip:
            yield bytes(3) + bytes([flip >> 56]) * 40
            yield bytes([flip >> 56]) * 40

    def _laws(self) -> Iterator[tuple[bytes, LazyCdf]]:
        """Yield the tables that the task draws from first, with the bytes that come before: rounding, sign."""
        if ratio := self.parameters().get("ratio"):
            staircase = getattr(getattr(self.task, "mechanism", None), "kind", "") == "staircase"
            wide = 256 * math.log2(ratio / ONE) >= -8
            if staircase:
                yield b"\x00\x00", _geometric_cdf(ratio, 1, wide)
            elif wide:
                yield b"\x00\x00", _geometric_cdf(ratio, 1, True)
            else:
                yield b"\x00", _laplace_cdf(ratio)
        if isinstance(getattr(self.task, "mechanism", None), GaussianNoise):
            yield b"\x00", self.task.mechanism._cdf

    def parameters(self) -> dict[str, int]:
        """Return the integers that the probabilities of this task are made of."""
        if isinstance(self.task, LabelTask):
            m = self.task.mechanism
            found = {
                "ratio": getattr(m, "ratio", None),
                "reach": getattr(m, "reach", None),
                "near": getattr(m, "near", None),
            }
            if isinstance(m, LaplaceNoise):
                found["ratio"] = m.noise.ratio
            if isinstance(m, BinsResponse):
                found["truth"] = m.response.truth
        elif isinstance(self.task, LocalTask):
            found = _local_parameters(self.task)
        else:
            label = (self._first or self.task).label
            found = {"ratio": label.fine.ratio, "coarse": label.coarse.ratio, "stay": label.stay}
        return {name: int(value) for name, value in found.items() if value is not None}


def _local_parameters(task: LocalTask) -> dict[str, int | None]:
    encoding: Any = task.encoding
    if task.response == "bits":
        return {"flip": encoding.cell.flip, "ratio": encoding.label.ratio, "reach": encoding.label.reach}
    m = encoding.mechanism
    return {name: getattr(m, name, None) for name in ("rare", "truth", "hold", "size")}


def _local(
    space: FeatureSpace, depth: int, bounds: tuple[float, float], steps: int, epsilon: float, **more: Any
) -> LocalTask:
    """Return a task with a tree that needs no data."""
    partition = grow("max_edge", space, None, None, max_depth=depth)
    return LocalTask(epsilon, LabelGrid(*bounds, steps), partition, **more)


def _local_cases() -> Iterator[Case]:
    kinds = {"kind": ["flat", "house", "Büro ☂", "other"]}
    mixed = FeatureSpace.from_bounds((0.1, 90.7), ["age", "kind", "income"], categories=kinds)
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
    one, classes = FeatureSpace.from_bounds((-2, 2), ["x"]), ("no", "yes", "per☂haps")
    for response in ("unary", "k_ary", "subset"):
        task = _local(one, 2, (0.0, 2.0), 2, 1.5, response=response, classes=classes)
        yield Case(f"{response} of classes", task, 6)


def _label_cases() -> Iterator[Case]:
    third, rest = ONE // 3, ONE - ONE // 3
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


def _semi_cases() -> Iterator[Case]:
    space = FeatureSpace(
        (NumericFeature("age", 0, 99), NumericFeature("pay", -1, 9), CategoricalFeature("sex", ("F", "M")))
    )
    for name, options in {
        "policy": {"private_columns": ["pay"]},
        "personal": {},
        "hidden": {"hide_mask": True},
        "nothing private": {"private_columns": []},
        "all for the label": {"label_share": 1.0, "private_columns": []},
    }.items():
        first = SemiTask.design(space, epsilon=1.5, label_bounds=(0, 10), **options)  # type: ignore[arg-type]
        yield Case(f"first round, {name}", first, 8)
        for response in ("k_ary", "bits"):
            yield Case(f"second round, {name}, {response}", CellTask(first, _tree(space), response), 6)


def _tree(space: FeatureSpace) -> Partition:
    """Return a tree that cuts every feature, with a categorical split."""
    feature = [1, 0, 2, -1, -1, 0, -1, -1, -1]
    threshold = [4.5, 50.0, 0.0, 0.0, 0.0, 20.25, 0.0, 0.0, 0.0]
    left = [1, 3, 5, 3, 4, 7, 6, 7, 8]
    return Partition(space, feature, threshold, left, [-1, -1, 0, *[-1] * 6], [True, False])  # type: ignore[arg-type]


def cases() -> Iterator[Case]:
    """Yield all cases, in a fixed order."""
    yield from _local_cases()
    yield from _label_cases()
    yield from _semi_cases()
