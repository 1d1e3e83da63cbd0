"""Pilot tasks of the shared vectors: a public model runs on the device, and the bin of its error is randomised."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from hedgerow.portable import Trees
from hedgerow.randomness import Randomness, SeededRandomness
from hedgerow.tasks.assisted.pilot import PilotTask
from hedgerow.tasks.records import one
from vectors.assisted import BOUNDS, SPACE, ModelCase, make_base

__all__ = ["PilotCase", "make_pilot", "pilot_cases"]


class PilotCase(ModelCase):
    """A pilot task; where predictions are exact, errors often lie on the edges of bins, and right beside them."""

    task: PilotTask

    def record(self, source: Randomness, number: int) -> tuple[dict[str, Any], list[bool] | None]:
        """Return a record; every second label is one that puts the error on or next to an edge."""
        values, mask = super().record(source, number)
        # Other models' last digits are the machine's own affair: no label may depend on them.
        if number % 2 and all(isinstance(part, Trees) for part in self.task.public_model.parts):
            edge = self.task.edges[int(source.integers(len(self.task.edges), 1)[0])]
            label = self._predict(values) + edge
            beside = (label, label, math.nextafter(label, -math.inf), math.nextafter(label, math.inf))
            values[self.task.target] = beside[int(source.integers(len(beside), 1)[0])]
        return values, mask

    def _predict(self, record: dict[str, Any]) -> float:
        z = self.task.space.encode_record(record)[None, :]
        return float(self.task.public_model.predict_within(z, self.task.label_bounds)[0])

    def _edges(self) -> Iterator[bytes]:
        """Yield bytes that leave it open at first whether the truth is told, whatever the eight bytes after it."""
        head = bytes([self.parameters()["truth"] >> 56])
        for rest in (bytes(40), b"\xff" * 40, head * 40):
            yield head + rest

    def parameters(self) -> dict[str, int]:
        """Return the integer that the probabilities are made of."""
        return {"truth": self.task.encoding.response.truth}

    def place(self, record: dict[str, Any], source: Randomness) -> dict[str, Any]:
        """Return what the device works out: the prediction, and the bin of its error. Nothing is drawn for that."""
        prediction = self._predict(record)
        label = self.task.labels(one(record.get(self.task.target)))
        return {"prediction": prediction, "bin": int(self.task.bins(label - prediction)[0])}


def make_pilot(
    epsilon: float, edges: tuple[float, ...], kinds: str, seed: int, bounds: tuple[float, float] = BOUNDS
) -> PilotTask:
    """Return a made-up task; ``kinds`` are the parts of its public model, by their first letters.

    >>> make_pilot(1.0, (-4.0, 4.0), "t", 0).encoding
    PilotMessage(epsilon=1.0, n_inputs=3)
    """
    return PilotTask(epsilon, bounds, SPACE, make_base(kinds, SeededRandomness(seed)), edges, "rent")


def pilot_cases() -> Iterator[PilotCase]:
    """Yield all cases: 2 to 255 bins, models whose predictions are exact and others, edges on one side of 0 too."""
    chosen: list[tuple[float, tuple[float, ...], str]] = [
        (1.0, (-6.0, 6.0), ""),
        (0.1, (0.0,), "t"),
        (2.0, (-11.25, -4.0, 4.0, 11.25), "td"),
        (3.0, (-14 * math.pi, -6 * math.pi, -2.5, 2.5, 6 * math.pi, 14 * math.pi), "tdlm"),
        (4.0, tuple(k * math.sqrt(5) for k in range(-6, 7) if k), "d"),
        (47.3, tuple(k / 8 for k in range(1, 255)), "t"),
        (0.5, (3.0, 7.5), "l"),
    ]
    # The last one's range is narrow: predictions are cut to it, and labels beyond it would be in other bins.
    tasks = [make_pilot(*case, seed) for seed, case in enumerate(chosen)]
    tasks.append(make_pilot(1.5, (-3.0, -1.5, 0.0, 1.5, 3.0), "td", len(chosen), (10.0, 14.0)))
    for task, kinds in zip(tasks, [*(kinds for _, _, kinds in chosen), "td"], strict=True):
        yield PilotCase(f"pilot of {task.encoding.n_inputs} bins, {task.epsilon:g}, {kinds or 'constant'}", task, 12)
