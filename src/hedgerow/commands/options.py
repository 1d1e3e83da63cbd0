"""Options that kinds of tasks declare: all are offered, and those that a kind lacks are refused by name."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from hedgerow.commands.arguments import names, share, whole
from hedgerow.errors import HedgerowError
from hedgerow.tasks.options import Option

__all__ = ["Offered"]

_TYPES: dict[str, tuple[Callable[[str], Any], str]] = {
    "words": (str, "TEXT"),
    "file": (str, "FILE"),
    "whole": (whole, "N"),
    "seed": (int, "N"),
    "number": (float, "X"),
    "share": (share, "S"),
    "names": (names, "COL,COL"),
}
"""How a value is read, and what help calls it."""


class Offered:
    """The options of all kinds together; ``kinds`` has the options of each."""

    def __init__(self, kinds: Mapping[str, Iterable[Option]]) -> None:
        self.kinds = {kind: {option.name: option for option in options} for kind, options in kinds.items()}

    def add_to(self, parser: argparse.ArgumentParser) -> None:
        """Add every option once, with what each kind says of it."""
        for name in dict.fromkeys(name for options in self.kinds.values() for name in options):
            self._add(parser, [options[name] for options in self.kinds.values() if name in options])

    def _add(self, parser: argparse.ArgumentParser, same: list[Option]) -> None:
        option = same[0]
        keywords: dict[str, Any] = {"help": "; or: ".join(dict.fromkeys(o.help for o in same)), "default": None}
        choices = tuple(dict.fromkeys(choice for o in same for choice in o.choices))
        if option.takes == "flag":
            keywords |= {"action": "store_const", "const": True}
        elif choices:
            keywords |= {"choices": choices}
        else:
            kind, metavar = _TYPES[option.takes]
            keywords |= {"type": kind, "metavar": metavar}
        if option.bare:
            keywords |= {"nargs": "?", "const": option.bare}
        parser.add_argument(_flag(option.name), **keywords)

    def given(self, arguments: argparse.Namespace) -> list[str]:
        """Return the names of the options that were given."""
        every = dict.fromkeys(name for options in self.kinds.values() for name in options)
        return [name for name in every if getattr(arguments, name) is not None]

    def read(self, arguments: argparse.Namespace, kind: str) -> dict[str, Any]:
        """Return what was given, by the parameters of this kind's own function; refuse by name what it lacks."""
        own = self.kinds.get(kind, {})
        values = {}
        for name in self.given(arguments):
            value = getattr(arguments, name)
            if name not in own:
                raise HedgerowError(
                    f"{_flag(name)} is for {self._those_with(name)} tasks; this is {_a(kind)} task: leave it out."
                )
            choices = own[name].choices
            if choices and value not in choices:
                raise HedgerowError(
                    f"{_flag(name)} of {_a(kind)} task is one of {', '.join(choices)}. Got {value!r} instead."
                )
            values[own[name].parameter or name] = value
        return values

    def _those_with(self, name: str) -> str:
        *others, last = [kind for kind, options in self.kinds.items() if name in options]
        return f"{', '.join(others)} and {last}" if others else last


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _a(kind: str) -> str:
    return f"an {kind}" if kind[0] in "aeiou" else f"a {kind}"
