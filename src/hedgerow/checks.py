"""What a parameter may be: declared once where it belongs, checked in one place, refused in one shape.

>>> rules = {"max_depth": Whole() | OneOf("auto"), "share": Real(0, 1)}
>>> check_parameters({"max_depth": "deep", "share": 0.5}, rules, owner="Tree")
Traceback (most recent call last):
...
hedgerow.errors.HedgerowError: The 'max_depth' parameter of Tree must be an int >= 1 or 'auto'. Got 'deep' instead.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from hedgerow.errors import HedgerowError, shown

__all__ = [
    "EPSILON",
    "Flag",
    "Kind",
    "OneOf",
    "Real",
    "Rule",
    "Whole",
    "check_epsilon",
    "check_parameters",
    "check_positive",
    "declared_rules",
]


class Rule:
    """What one parameter may be. ``rule | rule`` allows what either allows."""

    words: str

    def allows(self, value: object) -> bool:
        """Return whether a value will do."""
        raise NotImplementedError

    def __or__(self, other: Rule) -> Rule:
        return _Either(self, other)


@dataclass(frozen=True)
class _Either(Rule):
    first: Rule
    second: Rule

    @property
    def words(self) -> str:  # type: ignore[override]
        return f"{self.first.words} or {self.second.words}"

    def allows(self, value: object) -> bool:
        return self.first.allows(value) or self.second.allows(value)


class OneOf(Rule):
    """Some words, or None: ``OneOf("auto", None)``."""

    def __init__(self, *values: str | None) -> None:
        self.values = values
        self.words = " or ".join(repr(value) for value in values)
        if len(values) > 2:
            self.words = f"one of {values}"

    def allows(self, value: object) -> bool:
        """Return whether it is one of the words."""
        return (value is None or isinstance(value, str)) and value in self.values


class Flag(Rule):
    """True or False."""

    words = "True or False"

    def allows(self, value: object) -> bool:
        """Return whether it is a truth value."""
        return isinstance(value, bool | np.bool_)


class Whole(Rule):
    """An int that is not too small, nor too large."""

    def __init__(self, least: int = 1, most: int | None = None) -> None:
        self.least = least
        self.most = most
        self.words = f"an int >= {least}"
        if most is not None:
            self.words += f" and <= {most}"

    def allows(self, value: object) -> bool:
        """Return whether it is such an int."""
        if isinstance(value, bool) or not isinstance(value, int | np.integer):
            return False
        return bool(self.least <= value and (self.most is None or value <= self.most))


class Real(Rule):
    """A number between two others; ``ends`` says which of the two will do themselves: "", "low", "high" or "both"."""

    def __init__(self, low: float, high: float = math.inf, *, ends: str = "") -> None:
        self.low = low
        self.high = high
        self.low_too = ends in ("low", "both")
        self.high_too = ends in ("high", "both")
        self.words = f"a number {'>=' if self.low_too else '>'} {low:g}"
        if high < math.inf:
            self.words += f" and {'<=' if self.high_too else '<'} {high:g}"

    def allows(self, value: object) -> bool:
        """Return whether it is such a number."""
        if isinstance(value, bool) or not isinstance(value, int | float | np.integer | np.floating | Fraction):
            return False
        number = float(value)
        above = self.low < number or (self.low_too and number == self.low)
        return above and (number < self.high or (self.high_too and number == self.high))


@dataclass(frozen=True)
class Kind(Rule):
    """An instance of some type."""

    words: str
    types: tuple[type, ...]

    def allows(self, value: object) -> bool:
        """Return whether it is an instance."""
        return isinstance(value, self.types)


EPSILON = Real(0, ends="high")
"""A privacy budget; infinity is no noise at all, for study."""
EPSILON.words = "a number > 0 (inf: no noise)"


def check_parameters(values: Mapping[str, object], rules: Mapping[str, Rule], *, owner: str = "") -> None:
    """Raise unless each value is what the rule of its name allows."""
    of = ""
    if owner:
        of = f" of {owner}"
    for name, rule in rules.items():
        if name in values and not rule.allows(values[name]):
            raise HedgerowError(f"The '{name}' parameter{of} must be {rule.words}. Got {shown(values[name])} instead.")


def declared_rules(kind: type) -> dict[str, Rule]:
    """Return what the parameters of a class may be: its own ``_parameters`` and those of its base classes."""
    rules: dict[str, Rule] = {}
    for part in reversed(kind.__mro__):
        rules.update(part.__dict__.get("_parameters", {}))
    return rules


def check_epsilon(epsilon: object, *, name: str = "epsilon") -> float:
    """Return a valid privacy budget: a float above 0, ``inf`` allowed (no noise, for study)."""
    check_parameters({name: epsilon}, {name: EPSILON})
    return float(epsilon)  # type: ignore[arg-type]


def check_positive(value: object, *, name: str, least: int = 1) -> int:
    """Return an integer of at least ``least``."""
    check_parameters({name: value}, {name: Whole(least)})
    return int(value)  # type: ignore[call-overload, no-any-return]
