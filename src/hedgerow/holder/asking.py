"""Asking a person: the questions of a task with their hints, and what becomes of each value that is given."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from hedgerow.errors import HedgerowError
from hedgerow.features import CategoricalFeature
from hedgerow.holder.texts import Texts
from hedgerow.holder.typed import read_number, read_yes_no
from hedgerow.tasks.base import Task
from hedgerow.tasks.words import plain
from hedgerow.values import BLANKS, category, number
from hedgerow.wording import Wording

__all__ = ["Field", "fields_of", "taken"]

_LISTED = 8  # names of a list in a line


@dataclass(frozen=True)
class Field:
    """One value that is asked for.

    ``bounds`` are those of a number, ``choices`` the list of anything else, and neither those of a record's number.
    """

    task: Task
    name: str
    words: Wording
    bounds: tuple[float, float] | None = None
    choices: tuple[str, ...] | None = None
    clear: str = ""

    @property
    def yes_no(self) -> bool:
        """Whether 0 and 1 are no and yes."""
        return self.words.kind == "yes/no"

    def hint(self, texts: Texts) -> str:
        """Return which values there are, with unit and example."""
        if self.yes_no:
            return texts.say("hint.choices", list=f"{texts.say('no')}, {texts.say('yes')}")
        if self.choices is not None:
            more = len(self.choices) - _LISTED
            shown = [plain(name) for name in self.choices[:_LISTED]]
            return texts.say("hint.choices", list=", ".join([*shown, *([texts.say("hint.more", n=more)] * (more > 0))]))
        if self.bounds is None:
            return texts.say("hint.record")
        low, high = map(texts.number, self.bounds)
        kind = "hint.whole" if self.words.kind else "hint.range"
        parts = [texts.say(kind, low=low, high=high)]
        parts += [texts.say("hint.unit", unit=plain(self.words.unit))] if self.words.unit else []
        return ", ".join([*parts, texts.say("hint.example", example=texts.number(self.example))])

    @property
    def example(self) -> float:
        """A number within the range, to show how one is written: a third of the way, in three digits or whole."""
        assert self.bounds is not None
        low, high = self.bounds
        third = low + (high - low) / 3
        found = float(round(third)) if self.words.kind else float(f"{third:.3g}")
        return found if low <= found <= high else low

    def line(self, texts: Texts) -> str:
        """Return the question in a line, with what is sent in clear."""
        if self.bounds is None and self.choices is None:
            return texts.say("join.record")
        clear = f" ({texts.say(self.clear)})" if self.clear else ""
        asked = plain(self.words.ask(texts.tag))
        question = "" if asked == plain(self.name) else f" {asked}"
        return f"{plain(self.name)}:{question} {self.hint(texts)}{clear}"

    def read(self, value: object, texts: Texts) -> Any:
        """Return a value as tasks read it; what can be read in two ways is refused."""
        if not isinstance(value, str) or self.bounds is None:
            return value
        found = read_yes_no(value) if self.yes_no else value
        read = read_number(found, texts.decimal)
        if read is None:
            why = texts.say("note.unclear", value=plain(value), decimal=texts.decimal)
            raise HedgerowError(f"{plain(self.name)}: {why}.")
        return read

    def counts_as(self, value: object) -> float:
        """Return the number or code that a value counts as, by the task's rule."""
        for feature in self.task.question().features:
            if feature.name == self.name:
                return float(feature.value(value))
        return float(self.task.encode_record({self.name: value, "record": 0})[1][0])

    def note(self, value: object, texts: Texts) -> str:
        """Return what becomes of a value that is not simply taken as it is; nothing of one that is.

        ``value`` is as :meth:`read` returned it.
        """
        empty = value is None or (isinstance(value, str) and not value.strip(BLANKS))
        if self.choices is not None:
            if category(value) in self.choices:
                return ""
            other = plain(self.choices[int(self.counts_as(value))])
            if empty:
                return texts.say("note.not_chosen", value=other)
            return texts.say("note.unknown", value=plain(str(value)), other=other)
        if self.bounds is None:
            return ""
        x = number(value)
        if math.isnan(x):
            key = "note.empty" if empty else "note.no_number"
            return texts.say(key, value=texts.number(self.counts_as(value)))
        return self._out(x, texts)

    def _out(self, x: float, texts: Texts) -> str:
        assert self.bounds is not None
        low, high = self.bounds
        shown = texts.number(x)
        if x > high:
            return texts.say("note.above", value=shown, end=texts.number(high))
        if x < low:
            return texts.say("note.below", value=shown, end=texts.number(low))
        if self.words.kind and not x.is_integer():
            return texts.say("note.not_whole", value=shown)
        return ""


def fields_of(task: Task) -> list[Field]:
    """Return what a task asks for, in the order of a form.

    >>> from hedgerow.tasks import LocalTask
    >>> task = LocalTask.design(epsilon=1.0, label_bounds=(0, 80), features=["age"], feature_bounds=(0, 99),
    ...                         max_depth=4, response="bits", cell_share=0.5)
    >>> age = fields_of(task)[0]
    >>> age.line(Texts("en")), age.note("150", Texts("de"))
    ('age: a number from 0 to 99, for example 33', '150 liegt über 99 und zählt als 99')
    """
    asked = task.question()
    found = [Field(task, "record", Wording("record"))] if asked.numbered else []
    for feature in asked.features:
        clear = "hint.clear" if feature.name in asked.clear else ""
        clear = "hint.clear_unless" if asked.chooses else clear
        words = task.wording(feature.name)
        if isinstance(feature, CategoricalFeature):
            found.append(Field(task, feature.name, words, None, feature.categories, clear))
        else:
            found.append(Field(task, feature.name, words, (feature.low, feature.high), None, clear))
    if asked.label is not None:
        label = asked.label
        bounds = label.bounds if label.classes is None else None
        found.append(Field(task, label.name, task.wording(label.name), bounds, label.classes))
    return found


def taken(task: Task, record: Mapping[str, Any], texts: Texts) -> tuple[dict[str, Any], list[str]]:
    """Return a record as tasks read it, and what becomes of values that are not simply taken, a line each."""
    read = dict(record)
    notes = []
    for field in fields_of(task):
        if field.name in read:
            read[field.name] = field.read(read[field.name], texts)
        if note := field.note(read.get(field.name), texts):
            notes.append(f"{plain(field.name)}: {note}")
    return read, notes
