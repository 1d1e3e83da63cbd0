"""Schema: what is publicly known of every column and of the label, said once and used everywhere."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from hedgerow.content import Content
from hedgerow.errors import BoundsError
from hedgerow.grid import LabelGrid, check_label_bounds
from hedgerow.ranges import Range
from hedgerow.schema.columns import CategoryColumn, ClassColumn, Column, NumberColumn, WholeNumberColumn, YesNoColumn
from hedgerow.schema.draft import draft_column, draft_label, public_columns
from hedgerow.schema.words import as_html, as_text
from hedgerow.space import FeatureSpace

__all__ = ["Schema"]


@dataclass(frozen=True, eq=False, repr=False)
class Schema(Content, what="schema", format="hedgerow/schema", version=1):
    """What is publicly known of every column and of the label.

    Everything in it is public: it is published with each task and model. Never make one of private rows.

    Parameters
    ----------
    columns : sequence of Column
        In the order of the table: :class:`~hedgerow.schema.NumberColumn` and its like.
    label : Column, optional
        A number or a whole number with its bounds, or a :class:`~hedgerow.schema.ClassColumn`.
    guessed : dict of lists
        By column, which facts nobody has stated: :meth:`draft` guessed them.

    Examples
    --------
    >>> public = {"age": [17, 41, 93], "sex": ["F", "M", "F"], "y": [3.0, 70.5, 21.0]}
    >>> schema = Schema.draft(public, target="y")
    >>> schema
    Schema of 2 columns and the label y
      age  whole number   15 to 95; missing counts as 55; guessed: kind, range, missing
      sex  category       F, M, other; missing or unknown counts as other; guessed: categories, unknown, missing
      y    label: number  0 to 75; missing counts as 37.5; guessed: kind, range, missing
    Check what was guessed. A draft must be made of public rows: made of private ones, its ranges and categories give \
people away.
    >>> schema = schema.with_range("age", 0, 99, missing=40, unit="years").with_label(bounds=(0, 80))
    >>> schema.space.encode([[150, "M"], [None, "X"]]).tolist()
    [[99.0, 1.0], [40.0, 2.0]]
    >>> schema.label_bounds, Schema.from_json(schema.to_json()) == schema
    ((0.0, 80.0), True)
    """

    columns: tuple[Column, ...]
    label: Column | None = None
    guessed: dict[str, tuple[str, ...]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "columns", tuple(self.columns))
        for column in (*self.columns, *([] if self.label is None else [self.label])):
            if not isinstance(column, Column):
                raise BoundsError(f"a schema is made of columns. Got {column!r} instead.")
        if not self.columns:
            raise BoundsError("a schema needs at least one column beside the label.")
        names = [*self.names, *([] if self.label is None else [self.label.name])]
        if twice := [name for name in names if names.count(name) > 1]:
            raise BoundsError(f"a schema names each column once, the label too. Got {twice[0]!r} twice.")
        _check_roles(self.columns, self.label)
        object.__setattr__(self, "guessed", {name: tuple(self.guessed[name]) for name in sorted(self.guessed)})

    @classmethod
    def draft(cls, public_frame: Any, target: str | None = "y", *, names: Sequence[str] | None = None) -> Schema:
        """Propose a schema from PUBLIC rows; check what it guessed.

        Ranges are rounded out, whole numbers and yes/no are recognised, categories get an ``other`` for unknown values,
        and ``missing`` where the public rows have gaps. A column without any value is left out. :attr:`guessed` says
        what to check.

        A draft made of private rows leaks them: the lowest and highest value of each number, each category that one
        person alone has. It must be made of rows that anybody may see.

        Parameters
        ----------
        public_frame : pandas, polars or Arrow table, dict of columns, or array
        target : str or None
            The label's column; None if there is none.
        names : list of str, optional
            Of the columns of an array, the label's among them; by default x0, x1, ...

        Examples
        --------
        >>> schema = Schema.draft({"smokes": [True, False], "y": ["ill", "well"]})
        >>> schema.classes, schema.guessed
        (('ill', 'well'), {'smokes': ('kind', 'unknown'), 'y': ('classes', 'missing')})
        """
        found = public_columns(public_frame, names)
        if target is not None and target not in found:
            raise BoundsError(
                f"'target' must be one of the columns {list(found)}, or None without a label. Got {target!r} instead."
            )
        columns: list[Column] = []
        guessed: dict[str, tuple[str, ...]] = {}
        label = None
        for name, values in found.items():
            if name == target:
                label, guessed[name] = draft_label(name, values)
                continue
            column, guessed[name] = draft_column(name, values)
            columns += [] if column is None else [column]
        return cls(tuple(columns), label, guessed)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Schema:
        """Read a file that :meth:`save` wrote, strictly."""
        return cls.from_json(Path(path).read_bytes())

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the schema as JSON, in lines that people can edit."""
        Path(path).write_bytes(self.as_file())

    def as_file(self) -> bytes:
        """Return what :meth:`save` writes."""
        text = json.dumps(self.to_dict(), indent=2, ensure_ascii=False, allow_nan=False) + "\n"
        return text.encode("utf-8", "backslashreplace")  # half a character becomes JSON's own escape

    # What estimators and tasks ask for

    @property
    def names(self) -> tuple[str, ...]:
        """The columns without the label, in order."""
        return tuple(column.name for column in self.columns)

    @property
    def space(self) -> FeatureSpace:
        """The columns as tasks and trees read them."""
        return FeatureSpace(tuple(column.feature for column in self.columns))

    @property
    def label_bounds(self) -> Range | None:
        """The range of a label that is a number; None of any other."""
        return self.label.range if isinstance(self.label, NumberColumn) else None

    @property
    def classes(self) -> tuple[str | int | bool, ...] | None:
        """The classes of a label that has some; None of any other."""
        return self.label.classes if isinstance(self.label, ClassColumn) else None

    def grid(self, n_steps: int) -> LabelGrid:
        """Return the grid of a label that is a number.

        >>> Schema((NumberColumn("age", 0, 99),), NumberColumn("y", 0, 80, missing=10)).grid(8)
        LabelGrid(low=0.0, high=80.0, n_steps=8, missing=10.0)
        """
        if not isinstance(self.label, NumberColumn):
            raise BoundsError("a grid needs a label with bounds: with_label(bounds=(low, high)).")
        return LabelGrid(*self.label.range, n_steps, self.label.missing)

    def __getitem__(self, name: str) -> Column:
        """Return a column, or the label, by its name."""
        for column in (*self.columns, *([] if self.label is None else [self.label])):
            if column.name == name:
                return column
        known = [*self.names, *([] if self.label is None else [self.label.name])]
        raise BoundsError(f"the schema has no column {name!r}; it has {known}.")

    # A new one, with something stated; what is stated is no guess any more

    def with_column(self, column: Column, *stated: str) -> Schema:
        """Return a schema with this column in the place of its namesake, or as the last; the label likewise.

        ``stated`` are the facts that are no guesses now, by default all.
        """
        left = [fact for fact in self.guessed.get(column.name, ()) if stated and fact not in stated]
        guessed = {name: facts for name, facts in self.guessed.items() if name != column.name}
        guessed |= {column.name: tuple(left)} if left else {}
        if self.label is not None and self.label.name == column.name:
            return replace(self, label=column, guessed=guessed)
        if column.name not in self.names:
            return replace(self, columns=(*self.columns, column), guessed=guessed)
        columns = tuple(column if c.name == column.name else c for c in self.columns)
        return replace(self, columns=columns, guessed=guessed)

    def with_range(
        self,
        name: str,
        low: float,
        high: float,
        *,
        missing: float | None = None,
        indicator: bool | None = None,
        unit: str | None = None,
    ) -> Schema:
        """Return a schema in which a column, old or new, is a number of this range; whole numbers stay such.

        A missing value counts as ``missing``; with ``indicator`` a yes/no feature says so.

        >>> Schema((NumberColumn("age", 0, 90),)).with_range("age", 0, 120)["age"].values()
        '0 to 120'
        """
        old = self._column(name)
        whole = isinstance(old, WholeNumberColumn) and float(low).is_integer() and float(high).is_integer()
        kind = WholeNumberColumn if whole else NumberColumn
        kept: float | None = missing
        if missing is None and isinstance(old, NumberColumn) and "missing" not in self.guessed.get(name, ()):
            kept = old.missing if old.missing != NumberColumn(name, *old.range).missing else None
        told = getattr(old, "indicator", False) if indicator is None else indicator
        column = kind(name, low, high, kept, told, **_asked(old, unit))  # type: ignore[arg-type]
        return self.with_column(column)

    def with_categories(
        self, name: str, categories: Iterable[object], *, unknown: str | None = None, missing: str | None = None
    ) -> Schema:
        """Return a schema in which a column, old or new, has these categories, in this order."""
        asked = _asked(self._column(name), None)
        return self.with_column(CategoryColumn(name, categories, unknown, missing, **asked))  # type: ignore[arg-type]

    def with_yes_no(
        self, name: str, no: str = "no", yes: str = "yes", *, unknown: str | None = None, missing: str | None = None
    ) -> Schema:
        """Return a schema in which a column, old or new, is spelled so for no and yes."""
        asked = _asked(self._column(name), None)
        return self.with_column(YesNoColumn(name, no, yes, unknown, missing, **asked))  # type: ignore[arg-type]

    def with_missing(self, name: str, value: float | str | None = None, *, indicator: bool | None = None) -> Schema:
        """Return a schema in which a missing value of a column or the label counts as this one.

        ``indicator`` is for numbers: whether there is a yes/no feature beside it that says so.

        >>> schema = Schema((NumberColumn("age", 0, 99),)).with_missing("age", 40, indicator=True)
        >>> schema.space.names, schema.space.encode([[None]]).tolist()
        (('age', 'age is missing'), [[40.0, 1.0]])
        """
        column: Any = self[name]
        changed: dict[str, Any] = {} if value is None else {"missing": value}
        if indicator is not None:
            if not isinstance(column, NumberColumn):
                raise BoundsError(
                    f"'indicator' is for numbers, and {name!r} is a {column.kind}: give it a category of its own."
                )
            changed["indicator"] = indicator
        return self.with_column(replace(column, **changed), "missing")

    def with_unknown(self, name: str, value: str) -> Schema:
        """Return a schema in which a value of a column that is not listed counts as this one."""
        column: Any = self[name]
        if not isinstance(column, CategoryColumn | YesNoColumn):
            raise BoundsError(f"{name!r} has no unknown values of its own: use with_missing({name!r}, ...).")
        return self.with_column(replace(column, unknown=value), "unknown")

    def with_question(self, name: str, question: str | Mapping[str, str], language: str = "en") -> Schema:
        """Return a schema that asks so for a column or the label: a text in one language, or a dict of several.

        >>> schema = Schema((NumberColumn("age", 0, 99),)).with_question("age", "Wie alt sind Sie?", "de")
        >>> schema["age"].question
        {'de': 'Wie alt sind Sie?'}
        """
        asked = {language: question} if isinstance(question, str) else question
        if not isinstance(asked, Mapping):
            raise BoundsError(f"'question' of {name!r} must be text, or a dict by language. Got {question!r} instead.")
        column = self[name]
        return self.with_column(replace(column, question={**column.question, **asked}), "question")

    def with_unit(self, name: str, unit: str) -> Schema:
        """Return a schema in which a column or the label has this unit."""
        return self.with_column(replace(self[name], unit=unit), "unit")

    def with_label(
        self,
        name: str | None = None,
        *,
        bounds: object = None,
        classes: Iterable[object] | None = None,
        missing: float | str | None = None,
        unit: str | None = None,
    ) -> Schema:
        """Return a schema with this label: a number with ``bounds``, or one of ``classes``.

        A missing label counts as ``missing``: by default the middle of the bounds, or the first class. A class that is
        not listed counts as that too.

        >>> Schema((NumberColumn("age", 0, 99),)).with_label("y", classes=["no", "yes"]).classes
        ('no', 'yes')
        """
        if (bounds is None) == (classes is None):
            raise BoundsError("a label has either 'bounds' or 'classes': pass one of them.")
        old = self.label
        name = name or ("y" if old is None else old.name)
        label: Column
        if classes is not None:
            label = ClassColumn(name, classes, missing, **_asked(old, unit))  # type: ignore[arg-type]
        else:
            low, high = check_label_bounds(bounds)
            label = NumberColumn(name, low, high, missing, **_asked(old, unit))  # type: ignore[arg-type]
        names = {name, name if old is None else old.name}
        guessed = {column: facts for column, facts in self.guessed.items() if column not in names}
        return replace(self, label=label, guessed=guessed)

    def without(self, *names: str) -> Schema:
        """Return a schema without these columns; the label may be one of them."""
        for name in names:
            self[name]
        label = None if self.label is not None and self.label.name in names else self.label
        columns = tuple(column for column in self.columns if column.name not in names)
        guessed = {name: facts for name, facts in self.guessed.items() if name not in names}
        return replace(self, columns=columns, label=label, guessed=guessed)

    def _column(self, name: str) -> Column | None:
        """Return a column that is no label, if there is one of this name."""
        if self.label is not None and self.label.name == name:
            raise BoundsError(
                f"{name!r} is the label: use with_label(bounds=(low, high)) or with_label(classes=[...])."
            )
        return self[name] if name in self.names else None

    def __repr__(self) -> str:
        return as_text(self.columns, self.label, self.guessed)

    def _repr_html_(self) -> str:
        return as_html(self.columns, self.label, self.guessed)


def _asked(old: Column | None, unit: str | None) -> dict[str, Any]:
    """Return unit and question of a column as they were, but for a new unit."""
    was = "" if old is None else old.unit
    return {"unit": was if unit is None else unit, "question": {} if old is None else old.question}


def _check_roles(columns: Sequence[Column], label: Column | None) -> None:
    """Refuse classes as a feature, and a label that is neither a number with fitting bounds nor classes."""
    FeatureSpace(tuple(column.feature for column in columns))  # says itself what is wrong
    if label is None or isinstance(label, ClassColumn):
        return
    if getattr(label, "indicator", False):
        raise BoundsError(f"'indicator' of {label.name!r} is for columns: a missing label counts as one value.")
    if not isinstance(label, NumberColumn):
        raise BoundsError(f"the label {label.name!r} is a {label.kind}: use with_label(classes=[...]) for classes.")
    check_label_bounds(label.range, name=f"range of {label.name}")
