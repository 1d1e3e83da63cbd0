"""What is publicly known of one column: its kind, its values, what becomes of others, and how people are asked for it.

Every kind has an answer for every value, by the public rule of :mod:`hedgerow.values`: a number beyond its range counts
as the nearest end, and whatever is missing or unknown counts as the column says.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar, cast

from hedgerow.content import Content
from hedgerow.errors import BoundsError
from hedgerow.features import CategoricalFeature, Feature, NumericFeature, category_name
from hedgerow.grid import middle
from hedgerow.ranges import Range, read_pair
from hedgerow.values import category
from hedgerow.wording import Wording, check_question, check_unit

__all__ = ["CategoryColumn", "ClassColumn", "Column", "NumberColumn", "WholeNumberColumn", "YesNoColumn"]


@dataclass(frozen=True, eq=False)
class Column(Content, what="column", tag="kind"):
    """One column; the kinds are its subclasses.

    Parameters
    ----------
    name : str
    unit : str
        In which the number is given, in words.
    question : dict of str
        How a person is asked for the value, by language ("en", "de-CH").
    """

    name: str
    unit: str = field(default="", kw_only=True)
    question: dict[str, str] = field(default_factory=dict, kw_only=True)

    kind: ClassVar[str]

    def __post_init__(self) -> None:
        if not isinstance(self.name, str) or not self.name:
            raise BoundsError(f"the name of a column must be text. Got {self.name!r} instead.")
        check_unit(self.name, self.unit)
        object.__setattr__(self, "question", check_question(self.name, self.question))

    def ask(self, language: str = "en") -> str:
        """Return the question in a language; if it has none, in English, in any, or else the name.

        >>> NumberColumn("age", 0, 99, question={"en": "How old are you?", "de": "Wie alt sind Sie?"}).ask("de-CH")
        'Wie alt sind Sie?'
        """
        return self.wording.ask(language)

    @property
    def wording(self) -> Wording:
        """How people are asked for the value, as a task publishes it."""
        return Wording(self.name, "", self.unit, self.question)

    @property
    def feature(self) -> Feature:
        """The column as tasks and trees read it."""
        raise BoundsError(f"{self.name!r} is a {self.kind}, which only a label can be.")

    def values(self) -> str:
        """Return which values there are, in words."""
        raise NotImplementedError

    def others(self) -> str:
        """Return what becomes of all other values, in words."""
        raise NotImplementedError


@dataclass(frozen=True, eq=False)
class NumberColumn(Column, what="column of numbers"):
    """Numbers in a public range; one beyond it counts as the nearest end, a missing one as ``missing`` (the middle).

    With ``indicator`` there is a yes/no feature beside it, "<name> is missing", for trees and curves to use.

    >>> NumberColumn("height", 40, 220, unit="cm").feature
    NumericFeature(name='height', low=40.0, high=220.0, missing=130.0, indicator=False)
    """

    low: float
    high: float
    missing: float = cast("float", None)
    indicator: bool = False

    kind: ClassVar[str] = "number"

    def __post_init__(self) -> None:
        super().__post_init__()
        low, high = read_pair((self.low, self.high), f"range of {self.name}")
        object.__setattr__(self, "low", low)
        object.__setattr__(self, "high", high)
        object.__setattr__(self, "missing", middle(low, high, self.missing, repr(self.name)))
        _ = self.feature  # refuses an indicator that is neither true nor false

    @property
    def range(self) -> Range:
        """The lowest and the highest value."""
        return self.low, self.high

    @property
    def feature(self) -> NumericFeature:
        """The column as tasks and trees read it."""
        return NumericFeature(self.name, self.low, self.high, self.missing, self.indicator)

    def values(self) -> str:
        """Return which values there are, in words."""
        return f"{self.low:.12g} to {self.high:.12g}"

    def others(self) -> str:
        """Return what becomes of all other values, in words."""
        told = ", with a yes/no feature that says so" if self.indicator else ""
        return f"missing counts as {self.missing:.12g}{told}"


@dataclass(frozen=True, eq=False)
class WholeNumberColumn(NumberColumn, what="column of whole numbers"):
    """Whole numbers in a public range, which has whole ends.

    >>> WholeNumberColumn("rooms", 1, 9).values()
    '1 to 9'
    """

    kind: ClassVar[str] = "whole number"

    def __post_init__(self) -> None:
        super().__post_init__()
        if not (self.low.is_integer() and self.high.is_integer()):
            raise BoundsError(
                f"the range of {self.name!r} must have whole ends, for it holds whole numbers. "
                f"Got {self.range!r} instead."
            )

    @property
    def wording(self) -> Wording:
        """How people are asked for the value, as a task publishes it."""
        return Wording(self.name, "whole number", self.unit, self.question)


@dataclass(frozen=True, eq=False)
class CategoryColumn(Column, what="column of categories"):
    """One of a public list, in this order; what is not listed counts as ``unknown``, a missing value as ``missing``.

    Both are categories of the list: ``unknown`` is by default "other" if that is listed, else the first; ``missing``
    is by default "missing" if that is listed, else ``unknown``.

    >>> CategoryColumn("sex", ("F", "M", "other")).others()
    'missing or unknown counts as other'
    >>> CategoryColumn("sex", ("F", "M", "other", "missing")).others()
    'missing counts as missing, unknown as other'
    """

    categories: tuple[str, ...]
    unknown: str = cast("str", None)
    missing: str = cast("str", None)

    kind: ClassVar[str] = "category"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.categories, str) or not hasattr(self.categories, "__iter__"):
            raise BoundsError(
                f"'categories' of {self.name!r} must be a list of names. Got {self.categories!r} instead."
            )
        feature = CategoricalFeature(self.name, tuple(self.categories), self.unknown, self.missing)
        object.__setattr__(self, "categories", feature.categories)
        object.__setattr__(self, "unknown", feature.unknown)
        object.__setattr__(self, "missing", feature.missing)

    @property
    def feature(self) -> CategoricalFeature:
        """The column as tasks and trees read it."""
        return CategoricalFeature(self.name, self.categories, self.unknown, self.missing)

    def values(self) -> str:
        """Return which values there are, in words."""
        return ", ".join(self.categories)

    def others(self) -> str:
        """Return what becomes of all other values, in words."""
        return _others(self.missing, self.unknown)


@dataclass(frozen=True, eq=False)
class YesNoColumn(Column, what="column of yes and no"):
    """Yes or no, as the table spells them; what is neither counts as ``unknown`` (no), a missing value as ``missing``.

    ``missing`` is by default as ``unknown``. Spelled 0 and 1 it is a number, so that true, 1 and "1.0" are all yes; a
    missing value and a word then count alike.

    >>> YesNoColumn("smokes", missing="yes").feature
    CategoricalFeature(name='smokes', categories=('no', 'yes'), unknown='no', missing='yes')
    >>> YesNoColumn("smokes", "0", "1").feature
    NumericFeature(name='smokes', low=0.0, high=1.0, missing=0.0, indicator=False)
    """

    no: str = "no"
    yes: str = "yes"
    unknown: str = cast("str", None)
    missing: str = cast("str", None)

    kind: ClassVar[str] = "yes/no"

    def __post_init__(self) -> None:
        super().__post_init__()
        no, yes = CategoricalFeature(self.name, (self.no, self.yes)).categories
        unknown = no if self.unknown is None else self.unknown
        missing = unknown if self.missing is None else self.missing
        feature = CategoricalFeature(self.name, (no, yes), unknown, missing)
        object.__setattr__(self, "no", no)
        object.__setattr__(self, "yes", yes)
        object.__setattr__(self, "unknown", feature.unknown)
        object.__setattr__(self, "missing", feature.missing)
        if (no, yes) == ("0", "1") and feature.unknown != feature.missing:
            raise BoundsError(
                f"{self.name!r} is spelled 0 and 1, so that a word and a missing value count alike: give 'missing' and "
                f"'unknown' one value. Got {feature.missing!r} and {feature.unknown!r} instead."
            )

    @property
    def wording(self) -> Wording:
        """How people are asked for the value, as a task publishes it; a list of two says itself that it is one."""
        spelled = (self.no, self.yes) == ("0", "1")
        return Wording(self.name, "yes/no" if spelled else "", self.unit, self.question)

    @property
    def feature(self) -> Feature:
        """The column as tasks and trees read it."""
        if (self.no, self.yes) == ("0", "1"):
            return NumericFeature(self.name, 0.0, 1.0, float(self.unknown))
        return CategoricalFeature(self.name, (self.no, self.yes), self.unknown, self.missing)

    def values(self) -> str:
        """Return which values there are, in words."""
        return f"{self.no}, {self.yes}"

    def others(self) -> str:
        """Return what becomes of all other values, in words."""
        return _others(self.missing, self.unknown)


@dataclass(frozen=True, eq=False)
class ClassColumn(Column, what="column of classes"):
    """A label that is one of a public list of classes; whatever is missing or not listed counts as ``missing``.

    That is one of the classes, by default the first.

    >>> ClassColumn("ill", (False, True)).others()
    'missing or unknown counts as False'
    >>> ClassColumn("answer", ("yes", "no"), missing="no").others()
    'missing or unknown counts as no'
    """

    classes: tuple[str | int | bool, ...]
    missing: str | int | bool = cast("str", None)

    kind: ClassVar[str] = "class"

    def __post_init__(self) -> None:
        super().__post_init__()
        if isinstance(self.classes, str) or not hasattr(self.classes, "__iter__"):
            raise BoundsError(f"'classes' of {self.name!r} must be a list. Got {self.classes!r} instead.")
        classes = tuple(_plain_class(value) for value in self.classes)
        if not classes or len({category(value) for value in classes}) != len(classes):
            raise BoundsError(
                f"'classes' of {self.name!r} must be a list of distinct classes. Got {classes!r} instead."
            )
        object.__setattr__(self, "classes", classes)
        object.__setattr__(self, "missing", self._listed(self.missing))

    def _listed(self, missing: object) -> str | int | bool:
        """Return what a missing class counts as, as the list spells it; None is the first."""
        if missing is None:
            return self.classes[0]
        for value in self.classes:
            if category(value) == category(missing):
                return value
        raise BoundsError(
            f"'missing' of {self.name!r} must be one of the classes {list(self.classes)}. Got {missing!r} instead."
        )

    def values(self) -> str:
        """Return which values there are, in words."""
        return ", ".join(map(str, self.classes))

    def others(self) -> str:
        """Return what becomes of all other values, in words."""
        return f"missing or unknown counts as {self.missing}"


def _others(missing: object, unknown: object) -> str:
    if missing == unknown:
        return f"missing or unknown counts as {unknown}"
    return f"missing counts as {missing}, unknown as {unknown}"


def _plain_class(value: object) -> str | int | bool:
    """Return a class as JSON can hold it: text, a whole number, or true and false."""
    plain = value.item() if hasattr(value, "item") else value
    if isinstance(plain, float) and plain.is_integer():
        return int(plain)
    return plain if isinstance(plain, int) else category_name(plain)
