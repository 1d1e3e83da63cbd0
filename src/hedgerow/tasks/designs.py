"""How a kind of task is designed: what it needs to know, and what may be said about it. Everything here is public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from importlib import import_module
from typing import TYPE_CHECKING, Any

from hedgerow.errors import HedgerowError
from hedgerow.tasks.models import About
from hedgerow.tasks.options import Option

if TYPE_CHECKING:
    from hedgerow.schema import Schema
    from hedgerow.space import FeatureSpace
    from hedgerow.tasks.base import Task

__all__ = ["Design", "Facts", "described"]


@dataclass(frozen=True)
class Facts:
    """What is publicly known, whatever the kind of task.

    Attributes
    ----------
    X, y : public records and their labels, or None
    feature_bounds, categorical, categories
        Ranges, categorical columns and category lists, as far as they were given; a space is all of it.
    space : FeatureSpace or None
        All features, where the design does without public records.
    schema : Schema or None
        Where the facts are from, if from one: its units, questions and missing label go into the task.
    """

    epsilon: float
    target: str
    label_bounds: tuple[float, float] | None = None
    classes: Sequence[str] | str | None = None
    X: Any = None
    y: Any = None
    feature_bounds: Mapping[str, tuple[float, float]] | FeatureSpace = field(default_factory=dict)
    categorical: Sequence[str] = ()
    categories: Mapping[str, Sequence[str]] = field(default_factory=dict)
    space: FeatureSpace | None = None
    schema: Schema | None = None


def described(schema: Schema, **short_forms: Any) -> Schema:
    """Return a schema that a task can follow; refuse what it says already, and one without a label."""
    for name, given in short_forms.items():
        if given is not None:
            raise HedgerowError(
                f"'{name}' and 'schema' say the same thing: leave '{name}' out, or edit the schema. "
                f"Got {name}={given!r} beside a schema."
            )
    if schema.label is None:
        raise HedgerowError(
            "'schema' has no label: add one by with_label(bounds=(low, high)) or with_label(classes=...)."
        )
    return schema


@dataclass(frozen=True)
class Design:
    """What a kind of task says about its design.

    Attributes
    ----------
    make : str
        ``"module:function"`` of ``(facts, **options) -> (task, about)``, loaded when called; defaults are its own.
    options : tuple of Option
        What may be said, besides facts.
    chosen_by : tuple of str
        Options that ask for this kind; none: the kind that is meant if nothing else is said.
    records : bool
        Whether there must be public records.
    classes : bool
        Whether the label may be a class.
    """

    make: str
    options: tuple[Option, ...]
    chosen_by: tuple[str, ...] = ()
    records: bool = True
    classes: bool = False

    def __call__(self, facts: Facts, **options: Any) -> tuple[Task, About]:
        """Design a task; say what it is, in short."""
        module, _, name = self.make.partition(":")
        made: tuple[Task, About] = getattr(import_module(module), name)(facts, **options)
        return made
