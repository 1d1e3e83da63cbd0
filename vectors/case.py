"""A case of the shared vectors: a task, its holders' records, and the random bytes that lead into corners."""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from hedgerow.features import CategoricalFeature, NumericFeature
from hedgerow.mechanisms.bins import BinsResponse
from hedgerow.mechanisms.gaussian import GaussianNoise
from hedgerow.mechanisms.level import LaplaceNoise
from hedgerow.mechanisms.top import TopResponse
from hedgerow.partition.tree import Partition
from hedgerow.randomness import Randomness
from hedgerow.samplers import ONE, LazyCdf, _geometric_cdf, _laplace_cdf
from hedgerow.space import FeatureSpace
from hedgerow.tasks.labels.task import LabelTask
from hedgerow.tasks.partly_public import CellTask, ResidualTask, SemiTask
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["Case"]

_HEX = 1 << 64
_ODD = (None, "", "old", " +7.5e0\t", "1e400", -(10**400), True, [3])


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
        for column, feature in enumerate(self.space.columns if self.space else ()):
            if isinstance(feature, CategoricalFeature):
                values[feature.name] = feature.categories[int(source.integers(len(feature.categories), 1)[0])]
            else:
                values[feature.name] = self._number(feature, column, source, number)
        low, high = self._label_range()
        share = int(source.integers(1 << 20, 1)[0]) / (1 << 20)
        label = [low, high, low - 1.5, high + 2.5, low + (high - low) * share][min(number % 7, 4)]
        if getattr(task, "classes", None):
            label = task.classes[int(source.integers(len(task.classes), 1)[0])]
        values[task.target] = label
        if isinstance(task, LabelTask):
            values["record"] = int(source.integers(1 << 40, 1)[0])
        mask = None
        if getattr(task, "masks", "") == "personal":
            mask = source.integers(2, len(task.space.columns)).astype(bool).tolist()
        return values, mask

    def odd(self, record: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Yield records in which everything is missing or strange, but for what is public and must be right."""
        public = {"record": record["record"]} if isinstance(self.task, LabelTask) else {}
        yield public
        for value in _ODD:
            yield dict.fromkeys(record, value) | public

    def _number(self, feature: NumericFeature, column: int, source: Randomness, number: int) -> float:
        inside = feature.low + (feature.high - feature.low) * int(source.integers(1 << 16, 1)[0]) / (1 << 16)
        cuts = self._cuts(column) or [inside]
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

    def _label_range(self) -> tuple[float, float]:
        grid = (self._first or self.task).grid
        return grid.low, grid.high

    def _cuts(self, column: int) -> list[float]:
        """Return where a feature is cut."""
        tree = self._partition
        return [] if tree is None else tree.threshold[tree.feature == column].tolist()

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
        if isinstance(self.task, LabelTask | ResidualTask):
            m = self.task.mechanism
            found = {
                "ratio": getattr(m, "ratio", None),
                "reach": getattr(m, "reach", None),
                "near": getattr(m, "near", None),
            }
            if isinstance(m, LaplaceNoise):
                found["ratio"] = m.noise.ratio
            if isinstance(m, BinsResponse | TopResponse):
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
