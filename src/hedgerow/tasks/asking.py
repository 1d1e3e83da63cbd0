"""The part of every task that follows a schema: how people are asked for its values, and what a missing label is."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Self

from hedgerow.errors import BoundsError, FormatError
from hedgerow.features import NumericFeature, category_name
from hedgerow.tasks.published import Published
from hedgerow.wording import Wording

if TYPE_CHECKING:
    from hedgerow.schema import Column, Schema
    from hedgerow.tasks.question import LabelField, Question

__all__ = ["Asks"]


@dataclass(frozen=True, eq=False)
class Asks(Published):
    """What is published with its questions in words.

    Parameters
    ----------
    asking : tuple of Wording
        In the order of the question; nothing about values that are asked for by their name alone. It is a part of the
        content, so of the id: a server that changes a word has another task. The law of a report does not depend on it.
    """

    asking: tuple[Wording, ...] = field(default=(), kw_only=True)

    def question(self) -> Question:
        """Return what is asked of a record."""
        raise NotImplementedError

    def counting(self, missing: float) -> Self:
        """Return the task in which a missing label counts as this one; of classes, as that in this place."""
        raise NotImplementedError

    def wording(self, name: str) -> Wording:
        """Return how people are asked for a value: by its name, if the task says no more."""
        return next((words for words in self.asking if words.name == name), Wording(name))

    def following(self, schema: Schema | None) -> Self:
        """Return the task with the schema's units, questions and missing label; without a schema, the task itself.

        Examples
        --------
        >>> from hedgerow.schema import NumberColumn, Schema
        >>> from hedgerow.tasks import LocalTask
        >>> schema = Schema((NumberColumn("age", 0, 99, unit="years"),), NumberColumn("hours", 0, 80, missing=38))
        >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99),
        ...                         max_depth=4, response="bits", cell_share=0.5, target="hours")
        >>> task = task.following(schema)
        >>> [words.unit for words in task.asking], task.labels([None]).tolist()
        (['years'], [38.0])
        """
        if schema is None:
            return self
        made = self
        asked = self.question()
        columns = {column.name: column for column in schema.columns if column.name in _features(asked)}
        if asked.label is not None and schema.label is not None:
            columns[asked.label.name] = schema.label
            made = self.counting(_missing(asked.label, schema.label))
        found = [replace(columns[name].wording, name=name) for name in asked.names if name in columns]
        said = tuple(words for words in found if words.kind or words.unit or words.question)
        return replace(made, asking=said)._checked()

    def _check_read(self) -> None:
        super()._check_read()
        self._checked()

    def _checked(self) -> Self:
        """Return self; refuse words about what is not asked, in another order, twice, or of another kind."""
        asked = self.question()
        numbers = {f.name: (f.low, f.high) for f in asked.features if isinstance(f, NumericFeature)}
        names = [*_features(asked)]
        if asked.label is not None:
            names.append(asked.label.name)
            numbers |= {asked.label.name: asked.label.bounds} if asked.label.classes is None else {}
        said = [words.name for words in self.asking]
        if said != [name for name in dict.fromkeys(names) if name in said]:
            raise FormatError("'asking' of this task must be about what it asks, in that order.")
        for words in self.asking:
            if words.kind and words.name not in numbers:
                raise FormatError(f"'asking' of this task calls {words.name!r} a number, and it is none.")
            if words.kind == "yes/no" and numbers[words.name] != (0.0, 1.0):
                raise FormatError(f"'asking' of this task calls {words.name!r} yes or no, and it is not 0 or 1.")
        return self


def _features(asked: Question) -> list[str]:
    return [feature.name for feature in asked.features]


def _missing(label: LabelField, column: Column) -> float:
    """Return what a missing label counts as: a number, or the place of a class."""
    stated = getattr(column, "missing", None)
    if (label.classes is None) != (column.kind != "class"):
        raise BoundsError(f"the label of this schema is a {column.kind}, and this task is about another kind of label.")
    if label.classes is None:
        return float(stated)  # type: ignore[arg-type]
    name = category_name(stated)
    if name not in label.classes:
        raise BoundsError(f"'missing' of the schema's label is {name!r}, which is none of this task's classes.")
    return float(label.classes.index(name))
