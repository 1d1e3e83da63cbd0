"""Tasks of the shared vectors with a public model of classes: a class is drawn, and the message is about that."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from hedgerow.portable import PortableModel, Trees
from hedgerow.randomness import Randomness
from hedgerow.tasks.assisted.class_task import AssistedClassTask
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.records import one
from vectors.assisted import AssistedCase, ModelCase, make_task

__all__ = ["ClassCase", "class_cases", "make_class_task"]


class ClassCase(ModelCase):
    """A task with a public model of classes."""

    task: AssistedClassTask

    def _label_range(self) -> tuple[float, float]:
        return 0.0, 1.0

    def _trees(self) -> list[Trees]:
        return [part.trees for part in self.task.tasks]

    def parameters(self) -> dict[str, int]:
        """Return the integers that the probabilities of each tree of each class are made of."""
        found: dict[str, int] = {}
        for c, part in enumerate(self.task.tasks):
            own = AssistedCase("", part).parameters()
            found |= {f"class {c}, {name}": value for name, value in own.items()}
        return found

    def place(self, record: dict[str, Any], source: Randomness) -> dict[str, Any]:
        """Return what the device works out: the class that is drawn, and what it works out for that."""
        drawn = int(source.integers(len(self.task.tasks), 1)[0])
        part = self.task.tasks[drawn]
        code = int(self.task.labels(one(record.get(self.task.target)))[0])
        is_it = float(code == len(self.task.classes) - len(self.task.asked) + drawn)
        return {"drawn": drawn, **AssistedCase("", part).place({**record, part.target: is_it}, source)}


def make_class_task(epsilon: float, parts: list[tuple[tuple[int, ...], str, int, str]], seed: int) -> AssistedClassTask:
    """Return a made-up task; a part is the leaves of its trees, its randomiser and the parts of its public model.

    >>> make_class_task(1.0, [((2,), "subset", 1, "l")], 0).asked
    ('Büro ☂',)
    """
    names = ("low", "Büro ☂", "high", "1")[: max(2, len(parts))]
    made = [make_task(epsilon, *part, 0.75, seed + c) for c, part in enumerate(parts)]
    return AssistedClassTask.of(names, [_indicator(task) for task in made], missing=names[-1])


def _indicator(task: AssistedTask) -> AssistedTask:
    """Return a task about a label of 0 or 1."""
    base = task.public_model
    scaled = PortableModel(base.n_columns, base.column, base.code, 0.25, base.parts)
    return replace(task, label_bounds=(0.0, 1.0), missing=0.5, public_model=scaled)


def class_cases() -> Iterator[ClassCase]:
    """Yield cases of classes: two and more, messages of one length and of several."""
    chosen: list[tuple[float, list[tuple[tuple[int, ...], str, int, str]]]] = [
        (1.0, [((2, 3), "subset", 1, "l")]),
        (2.0, [((4, 4), "levels", 3, "t"), ((9, 40), "subset", 4, "d"), ((1,), "subset", 1, "")]),
        (0.5, [((8,), "subset", 2, "tdlk")] * 4),
    ]
    for seed, (epsilon, parts) in enumerate(chosen):
        task = make_class_task(epsilon, parts, 50 + 10 * seed)
        yield ClassCase(f"assisted, {len(task.classes)} classes, {epsilon:g}", task, 20)
