"""How a value of a declared type stands in JSON: the forms that :mod:`hedgerow.content` is made of."""

from __future__ import annotations

import base64
import math
import re
import sys
import types
import typing
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from operator import methodcaller
from typing import Annotated, Any, Literal

__all__ = ["Budget", "Form", "Hex", "expect", "form_of", "from_base64", "to_base64"]

_LARGEST = sys.float_info.max


@dataclass(frozen=True)
class Form:
    """How a value is written as JSON and read from it.

    ``read`` raises ValueError, in words that follow the name of the field, for what ``write`` never gives.
    """

    write: Callable[[Any], Any]
    read: Callable[[Any], Any]


def expect(fits: bool, value: Any, wanted: str) -> None:
    """Refuse a value of JSON that does not fit."""
    if not fits:
        raise ValueError(f"must be {wanted}. Got {repr(value)[:80]} instead.")


# Numbers and text.


def _as_it_is(value: Any) -> Any:
    return value


def _read_plain(kind: type, wanted: str, value: Any) -> Any:
    expect(type(value) is kind, value, wanted)
    return value


def _write_number(value: Any) -> float:
    return float(value) + 0.0  # -0.0 and 0.0 are one content


def _read_number(value: Any) -> float:
    fits = type(value) in (int, float) and abs(value) <= _LARGEST and float(value) == value
    expect(fits, value, "a finite number")  # and one that a float can hold: a claim is never rounded
    return float(value) + 0.0


def _write_budget(value: float) -> float | str:
    return "inf" if value == math.inf else _write_number(value)


def _read_budget(value: Any) -> float:
    return math.inf if value == "inf" else _read_number(value)


def _read_hex(value: Any) -> int:
    fits = type(value) is str and re.fullmatch("0|-?[1-9a-f][0-9a-f]*", value) is not None
    expect(fits, value, "a whole number as hexadecimal text")
    return int(value, 16)


Budget = Annotated[float, Form(_write_budget, _read_budget)]
"""A number that may be infinite, as an epsilon may be; JSON has no infinity, so it is written as text."""

Hex = Annotated[int, Form("{:x}".format, _read_hex)]
"""A whole number beyond the 53 bits that all languages read exactly."""

_WORDS = {int: "a whole number", str: "text", bool: "true or false"}
_PLAIN: dict[Any, Form] = {kind: Form(_as_it_is, partial(_read_plain, kind, words)) for kind, words in _WORDS.items()}
_PLAIN[float] = Form(_write_number, _read_number)


# Bytes.


def to_base64(data: bytes) -> str:
    """Return bytes as text."""
    return base64.b64encode(data).decode()


def from_base64(value: Any) -> bytes:
    """Undo :func:`to_base64`, strictly."""
    expect(type(value) is str, value, "bytes in base64")
    try:
        return base64.b64decode(value, validate=True)
    except ValueError as error:
        raise ValueError(f"must be bytes in base64 ({error}).") from error


# Types.


def form_of(kind: Any) -> Form:
    """Return the form of an annotation."""
    origin = typing.get_origin(kind)
    inner = typing.get_args(kind)
    if origin is Annotated:
        return typing.cast("Form", inner[1])
    if origin is Literal:
        return Form(_as_it_is, partial(_read_word, inner))
    if origin is tuple:
        return _listed_items(inner)
    if origin is dict:
        return _named_items(inner[0], form_of(inner[1]))
    if origin in (types.UnionType, typing.Union):
        return _any_of(inner)
    if kind in _PLAIN:
        return _PLAIN[kind]
    if hasattr(kind, "_fields"):  # a named tuple
        form = _listed_items(tuple(typing.get_type_hints(kind).values()))
        return Form(form.write, lambda value: kind(*form.read(value)))
    if hasattr(kind, "from_dict"):
        return Form(methodcaller("to_dict"), kind.from_dict)
    return Form(lambda value: to_base64(value.to_bytes()), lambda value: kind.from_bytes(from_base64(value)))


def _read_word(words: tuple[str, ...], value: Any) -> str:
    expect(type(value) is str and value in words, value, f"one of {list(words)}")
    return typing.cast("str", value)


def _listed_items(kinds: tuple[Any, ...]) -> Form:
    """Return the form of a list of items of one form, or of one with a form for each item."""
    if kinds[1:] == (Ellipsis,):
        form = form_of(kinds[0])
        plain = kinds[0] in _WORDS

        def write(value: Any) -> list[Any]:
            return list(map(form.write, value))

        def read(value: Any) -> tuple[Any, ...]:
            expect(type(value) is list, value, "a list")
            if plain and all(type(item) is kinds[0] for item in value):  # sums can be many: no call for each
                return tuple(value)
            return tuple(map(form.read, value))

        return Form(write, read)

    forms = [form_of(kind) for kind in kinds]

    def write_each(value: Any) -> list[Any]:
        return [form.write(item) for form, item in zip(forms, value, strict=True)]

    def read_each(value: Any) -> tuple[Any, ...]:
        expect(type(value) is list and len(value) == len(forms), value, f"a list of {len(forms)}")
        return tuple(form.read(item) for form, item in zip(forms, value, strict=True))

    return Form(write_each, read_each)


def _named_items(key: type, form: Form) -> Form:
    """Return the form of an object with any names; whole numbers are names in digits."""

    def write(value: Any) -> dict[str, Any]:
        return {str(name): form.write(item) for name, item in value.items()}

    def read(value: Any) -> dict[Any, Any]:
        expect(isinstance(value, Mapping), value, "an object")
        found = {key(name): form.read(item) for name, item in value.items()}
        expect([str(name) for name in found] == list(value), list(value), "an object, with names as they are written")
        return found

    return Form(write, read)


def _any_of(kinds: tuple[Any, ...]) -> Form:
    """Return the form of one of several: null, by the type of a plain value, by the fields of an object."""
    given = [kind for kind in kinds if kind is not type(None)]
    forms = {kind: form_of(kind) for kind in given}

    def write(value: Any) -> Any:
        if value is None:
            return None
        return forms[given[0] if len(given) == 1 else type(value)].write(value)

    def read(value: Any) -> Any:
        if value is None:
            expect(len(given) < len(kinds), value, "given")
            return None
        return forms[given[0] if len(given) == 1 else _fitting(given, value)].read(value)

    return Form(write, read)


def _fitting(kinds: list[Any], value: Any) -> Any:
    """Return the plain type that a value has, or the content whose fields are most like its own."""
    if type(value) in kinds:
        return type(value)
    contents = [kind for kind in kinds if kind not in _PLAIN]
    wanted = "an object" if contents else " or ".join(kind.__name__ for kind in kinds)
    expect(bool(contents) and isinstance(value, Mapping), value, wanted)
    return max(contents, key=lambda kind: len(set(value) & set(kind.__dataclass_fields__)))
