"""The task of model-assisted learning with classes: one public model a class, and one report about one class."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, Self, cast

import numpy as np

from hedgerow.checks import check_epsilon
from hedgerow.classes import OBSERVED
from hedgerow.content import Content
from hedgerow.errors import HedgerowError
from hedgerow.features import CategoricalFeature
from hedgerow.forms import Budget
from hedgerow.grid import label_column
from hedgerow.guarantee import Guarantee
from hedgerow.portable import PortableModel
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.assisted.classes import MOST_CLASSES, ClassMessage
from hedgerow.tasks.assisted.design import CLASSES
from hedgerow.tasks.assisted.influence import ClassForgery
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.assisted.task import AssistedTask, LeafNumbers, PublicTrees, leaf_numbers
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.question import LabelField, Question
from hedgerow.types import ByteRows, FloatArray

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.class_model import AssistedClassModel
    from hedgerow.tasks.picture import Panel
    from hedgerow.tasks.totals import Totals

__all__ = ["AssistedClassTask", "ClassPart"]


@dataclass(frozen=True, eq=False)
class ClassPart(Content, what="part of this task"):
    """What is asked about one class: an assisted task without what all classes have in common."""

    public_model: PortableModel
    trees: PublicTrees
    radius: float
    randomizer: str
    parameter: int
    residuals: Residuals
    busy: tuple[float, ...]
    reference: LeafNumbers

    def __post_init__(self) -> None:
        object.__setattr__(self, "reference", leaf_numbers(self.reference, self.trees))

    @classmethod
    def of(cls, task: AssistedTask) -> Self:
        """Return the part of a task about the indicator of a class."""
        return cls(**{f.name: getattr(task, f.name) for f in fields(cls)})

    def task(self, epsilon: float, space: FeatureSpace, target: str) -> AssistedTask:
        """Return the task about the indicator of this class: a label of 1 for it, and of 0 for all others."""
        own = {f.name: getattr(self, f.name) for f in fields(self)}
        return AssistedTask(epsilon=epsilon, label_bounds=(0.0, 1.0), space=space, target=target, **own)


@dataclass(frozen=True, eq=False)
class AssistedClassTask(Task, what="assisted class task", format="hedgerow/assisted-class-task", version=1):
    """A question to holders about one class, drawn at random: the leaf in a tree of that class, and the error there.

    Each class is a label in {0, 1} with an assisted task of its own, a *part*; of two classes only the second is asked
    about. A device draws the class without looking at its record, and answers that part with the whole epsilon.
    Make one with :func:`hedgerow.local.assisted.design_assisted_classes`.

    Attributes
    ----------
    epsilon : float
        Budget of one report about the whole record.
    space : FeatureSpace
        Public ranges and categories.
    classes : tuple of str
        The public list of classes, two or more.
    parts : tuple of ClassPart
        One a class; of two classes, for the second.
    missing : str
        What a missing or unknown class counts as; by default the first.
    observed : bool
        Whether the list of classes was read off private labels; the guarantee then says so.
    """

    kind = "assisted-class"
    designed = CLASSES
    in_words = "Private features and class, on top of a public model"

    epsilon: Budget
    space: FeatureSpace
    classes: tuple[str, ...]
    parts: tuple[ClassPart, ...]
    target: str = "y"
    missing: str = cast("str", None)
    observed: bool = False

    def __post_init__(self) -> None:
        if not 2 <= len(self.classes) <= MOST_CLASSES or len(set(self.classes)) != len(self.classes):
            raise HedgerowError(f"'classes' must be 2 .. {MOST_CLASSES} different names. Got {len(self.classes)}.")
        if self.missing is None:
            object.__setattr__(self, "missing", self.classes[0])
        if self.missing not in self.classes:
            raise HedgerowError(f"'missing' must be one of the classes. Got {self.missing!r} instead.")
        if len(self.parts) != len(self.asked):
            raise HedgerowError(f"'parts' must be {len(self.asked)}, one a class asked about. Got {len(self.parts)}.")
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        _ = self.encoding  # refuses what cannot be reported now rather than on the devices

    @classmethod
    def of(cls, classes: Sequence[str], tasks: Sequence[AssistedTask], **more: Any) -> Self:
        """Return one task of those about the indicators of its classes: alike in budget, features and target."""
        first = tasks[0]
        for task in tasks:
            alike = (task.epsilon, task.space, task.target) == (first.epsilon, first.space, first.target)
            if not alike or task.label_bounds != (0.0, 1.0):
                raise HedgerowError("'tasks' must have one epsilon, one space, one target and labels from 0 to 1.")
        parts = tuple(ClassPart.of(task) for task in tasks)
        return cls(first.epsilon, first.space, tuple(classes), parts, first.target, **more)

    @cached_property
    def tasks(self) -> tuple[AssistedTask, ...]:
        """The task about each class: where the label is 1 for it and 0 for all others."""
        return tuple(part.task(self.epsilon, self.space, self.target) for part in self.parts)

    @property
    def asked(self) -> tuple[str, ...]:
        """The classes that holders are asked about: all, or the second of two."""
        return self.classes[1:] if len(self.classes) == 2 else self.classes

    @cached_property
    def encoding(self) -> ClassMessage:
        """The message: a class, and what is said of it."""
        return ClassMessage(tuple(task.encoding for task in self.tasks))

    @property
    def guarantee(self) -> Guarantee:
        """What one report protects, and from whom."""
        promised = self.tasks[0].guarantee
        notes = (*promised.notes, OBSERVED) if self.observed else promised.notes
        return replace(promised, epsilon=self.epsilon, notes=notes)

    def question(self) -> Question:
        """Return what is asked: the features and the class."""
        bounds = (0.0, len(self.classes) - 1.0)
        missing = float(self.classes.index(self.missing))
        return Question(self.space.columns, LabelField(self.target, bounds, missing, self.classes))

    def counting(self, missing: float) -> Self:
        """Return the task in which a missing or unknown class counts as that in this place."""
        return replace(self, missing=self.classes[int(missing)])

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> FloatArray:
        """Return classes as their position in :attr:`classes`; unknown ones as :attr:`missing`."""
        known = CategoricalFeature(self.target, self.classes, self.missing)
        return known.codes(label_column(y, name, n))

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Draw a class for each record without looking at it, and randomise what is asked about that class."""
        first = len(self.classes) - len(self.asked)

        def answer(c: int, rows: Any) -> Any:
            own = (np.asarray(y)[rows] == first + c).astype(np.float64)
            return self.tasks[c].draw(np.asarray(Z)[rows], own, source).payloads

        return Drawn(self.encoding.draw(len(Z), source, answer))

    def model(self, totals: Totals, **options: Any) -> AssistedClassModel:
        """Return the public models, corrected as far as these totals carry evidence."""
        from hedgerow.tasks.assisted.class_model import AssistedClassModel

        return AssistedClassModel(self, totals.n_reports, tuple(totals.sums.tolist()), totals.simulation, **options)

    def odds(self) -> list[str]:
        """Return what is done to a record."""
        from hedgerow.tasks.assisted.words import class_odds

        return class_odds(self)

    def picture(self, payloads: ByteRows, Z: Any, y: Any, *, private: Any = None) -> tuple[Panel, ...]:
        """Return what could have been sent; see :mod:`hedgerow.tasks.assisted.picture`."""
        from hedgerow.tasks.assisted.picture import class_picture

        return class_picture(self, payloads, Z, y)

    def alarms(self) -> Detector:
        """Watch which classes are drawn, and what is said of each."""
        return self.encoding.alarms()

    def influence(self) -> ClassForgery:
        """Return the most that one forged report can do to a correction."""
        return ClassForgery(self)

    def __repr__(self) -> str:
        return f"AssistedClassTask(id={self.id[:12]}..., classes={list(self.classes)}, {self.tasks[0]})"
