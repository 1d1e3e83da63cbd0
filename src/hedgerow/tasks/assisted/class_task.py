"""The task of model-assisted learning with classes: one public model a class, and one report about one class."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any, cast

import numpy as np

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.features import CategoricalFeature
from hedgerow.fields import read_list, read_text
from hedgerow.grid import label_column
from hedgerow.guarantee import Guarantee
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.assisted.classes import MOST_CLASSES, ClassMessage
from hedgerow.tasks.assisted.influence import ClassForgery
from hedgerow.tasks.assisted.task import AssistedTask
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.published import check_published, reading_task
from hedgerow.tasks.question import LabelField, Question
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.class_model import AssistedClassModel
    from hedgerow.tasks.totals import Totals

__all__ = ["AssistedClassTask"]

_FORMAT, _VERSION = "hedgerow/assisted-class-task", 1
_FIELDS = {"target", "epsilon", "space", "classes", "missing", "parts"}
# What all parts have in common: a part is about a label that is 1 for its class and 0 for all others.
_COMMON = {"format", "version", "target", "epsilon", "space", "label_bounds", "missing"}
_INDICATOR = {"label_bounds": [0.0, 1.0], "missing": 0.5}


@dataclass(frozen=True, eq=False)
class AssistedClassTask(Task):
    """A question to holders about one class, drawn at random: the leaf in a tree of that class, and the error there.

    Each class is a label in {0, 1} with an assisted task of its own, a *part*; of two classes only the second is asked
    about. A device draws the class without looking at its record, and answers that part with the whole epsilon.
    Make one with :func:`hedgerow.local.assisted.design_assisted_classes`.

    Attributes
    ----------
    classes : tuple of str
        The public list of classes, two or more.
    parts : tuple of AssistedTask
        One a class (of two classes, for the second), alike in budget, features and target.
    missing : str
        What a missing or unknown class counts as; by default the first.
    """

    kind = "assisted-class"
    in_words = "Private features and class, on top of a public model"

    classes: tuple[str, ...]
    parts: tuple[AssistedTask, ...]
    missing: str = cast("str", None)

    def __post_init__(self) -> None:
        if self.missing is None:
            object.__setattr__(self, "missing", self.classes[0])
        if not 2 <= len(self.classes) <= MOST_CLASSES or len(set(self.classes)) != len(self.classes):
            raise HedgerowError(f"'classes' must be 2 .. {MOST_CLASSES} different names. Got {len(self.classes)}.")
        if self.missing not in self.classes:
            raise HedgerowError(f"'missing' must be one of the classes. Got {self.missing!r} instead.")
        if len(self.parts) != len(self.asked):
            raise HedgerowError(f"'parts' must be {len(self.asked)}, one a class asked about. Got {len(self.parts)}.")
        first = self.parts[0]
        for part in self.parts:
            alike = (part.epsilon, part.space, part.target) == (first.epsilon, first.space, first.target)
            if not alike or part.label_bounds != (0.0, 1.0):
                raise HedgerowError("'parts' must have one epsilon, one space, one target and labels from 0 to 1.")
        _ = self.encoding

    @property
    def asked(self) -> tuple[str, ...]:
        """The classes that holders are asked about: all, or the second of two."""
        return self.classes[1:] if len(self.classes) == 2 else self.classes

    @property
    def epsilon(self) -> float:
        """Budget of one report about the whole record."""
        return self.parts[0].epsilon

    @property
    def space(self) -> FeatureSpace:
        """Public ranges and categories."""
        return self.parts[0].space

    @property
    def target(self) -> str:  # type: ignore[override]
        """The label's name."""
        return self.parts[0].target

    @cached_property
    def encoding(self) -> ClassMessage:
        """The message: a class, and what is said of it."""
        return ClassMessage(tuple(part.encoding for part in self.parts))

    @property
    def guarantee(self) -> Guarantee:
        """What one report protects, and from whom."""
        return self.parts[0].guarantee

    def question(self) -> Question:
        """Return what is asked: the features and the class."""
        return Question(self.space.features, LabelField(self.target, (0.0, len(self.classes) - 1.0), self.classes))

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> FloatArray:
        """Return classes as their position in :attr:`classes`; unknown ones as :attr:`missing`."""
        known = CategoricalFeature(self.target, self.classes, self.missing)
        return known.codes(label_column(y, name, n))

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Draw a class for each record without looking at it, and randomise what is asked about that class."""
        first = len(self.classes) - len(self.asked)

        def answer(c: int, rows: Any) -> Any:
            own = (np.asarray(y)[rows] == first + c).astype(np.float64)
            return self.parts[c].draw(np.asarray(Z)[rows], own, source).payloads

        return Drawn(self.encoding.draw(len(Z), source, answer))

    def model(self, totals: Totals, **options: Any) -> AssistedClassModel:
        """Return the public models, corrected as far as these totals carry evidence."""
        from hedgerow.tasks.assisted.class_model import AssistedClassModel

        return AssistedClassModel(self, totals.n_reports, tuple(totals.sums.tolist()), totals.simulation, **options)

    def odds(self) -> list[str]:
        """Return what is done to a record."""
        from hedgerow.tasks.assisted.words import class_odds

        return class_odds(self)

    def alarms(self) -> Detector:
        """Watch which classes are drawn, and what is said of each."""
        return self.encoding.alarms()

    def influence(self) -> ClassForgery:
        """Return the most that one forged report can do to a correction."""
        return ClassForgery(self)

    def _content(self) -> dict[str, Any]:
        parts = [part._content() for part in self.parts]
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "target": self.target,
            "epsilon": "inf" if math.isinf(self.epsilon) else self.epsilon,
            "space": self.space.to_dict(),
            "classes": list(self.classes),
            "missing": self.missing,
            "parts": [{name: value for name, value in part.items() if name not in _COMMON} for part in parts],
        }

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> AssistedClassTask:
        """Rebuild from :meth:`to_dict`; refuse other versions, unknown fields and a wrong digest."""
        what = "assisted class task"
        check_published(data, _FORMAT, _VERSION, _FIELDS, what)
        with reading_task():
            classes = read_list(data, "classes", what)
            if not all(type(name) is str for name in classes):
                raise FormatError("'classes' of this task must be texts.")
            shared = {name: data[name] for name in ("target", "epsilon", "space")}
            parts = [AssistedTask.part(shared | _INDICATOR, part) for part in read_list(data, "parts", what)]
            task = cls(tuple(classes), tuple(parts), read_text(data, "missing", what))
        return task._check_id(data["id"])

    def __repr__(self) -> str:
        return f"AssistedClassTask(id={self.id[:12]}..., classes={list(self.classes)}, {self.parts[0]})"
