"""Declared fields to versioned JSON and back: the one codec of tasks, models, totals and schemas.

A class that inherits :class:`Content` is a frozen dataclass; its annotations say what its JSON may hold:

======================================= ==================================================================
annotation                              JSON
======================================= ==================================================================
``float``                               a finite number (JavaScript writes 1.0 as 1, so 1 is fine)
``Budget``                              a number, or the text ``"inf"``
``int``, ``str``, ``bool``              a whole number, text, true or false; never one for another
``Literal["a", "b"]``                   one of these texts
``tuple[T, ...]``, ``tuple[T, T]``      a list; of this length
``T | None``                            null or T
``Annotated[ndarray, Packed("<u2")]``   the array's bytes in base64; its shape follows from the other fields
a :class:`Content`                      an object with exactly its fields
several contents, ``A | B``             the one whose fields these are
======================================= ==================================================================

Reading is strict: a field too many or too few, a wrong type, an infinite number, a field that stands twice or a
value that the class itself refuses is a :class:`~hedgerow.errors.FormatError`, and nothing else ever is raised: who
writes a task may be an enemy of who reads it. Only the standard library and NumPy are loaded.
"""

from __future__ import annotations

import base64
import binascii
import json
import math
import types
import typing
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from functools import cache
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np

from hedgerow.errors import FormatError, HedgerowError

__all__ = ["Budget", "Content", "Packed", "canonical", "parse"]

_LARGEST = 1.7976931348623157e308
_INFINITE = "inf"

Budget = Annotated[float, _INFINITE]
"""A number that may be infinite, as an epsilon may be; JSON has no infinity, so it is written as text."""


@dataclass(frozen=True)
class Packed:
    """How an array travels: its items as little-endian bytes, in base64."""

    dtype: str


def canonical(data: object) -> str:
    r"""Return JSON with sorted keys, no spaces, and ASCII only: equal content, equal text.

    >>> canonical({"b": 1, "a": "\u00e9"})
    '{"a":"\\u00e9","b":1}'
    """
    return json.dumps(data, sort_keys=True, separators=(",", ":"), allow_nan=False)


def parse(text: str | bytes, what: str) -> Any:
    """Return the value of a JSON text; NaN, infinities and a field that stands twice are refused.

    >>> parse('{"a": 1, "a": 2}', "task")
    Traceback (most recent call last):
    ...
    hedgerow.errors.FormatError: this task is not valid JSON: the field 'a' stands twice
    """
    try:
        return json.loads(text, object_pairs_hook=_once, parse_constant=_no_constant)
    except (ValueError, TypeError, RecursionError) as error:
        raise FormatError(f"this {what} is not valid JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for name, value in pairs:
        if name in found:
            raise ValueError(f"the field {name!r} stands twice")
        found[name] = value
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


class Content:
    """A frozen dataclass whose fields are its JSON.

    Parameters of a subclass
    ------------------------
    what : str
        What errors call it.
    format, version : str and int, optional
        Written first, and asked for when read, where the content stands in a file of its own.
    tag : str, optional
        Of a family: the name of the field that tells its members apart, each of which sets it as a class attribute.

    Examples
    --------
    >>> from dataclasses import dataclass
    >>> @dataclass(frozen=True)
    ... class Range(Content, what="range", format="example/range", version=1):
    ...     low: float
    ...     high: float
    >>> Range(0.0, 1.0).to_json()
    '{"format": "example/range", "version": 1, "low": 0.0, "high": 1.0}'
    >>> Range.from_json('{"format": "example/range", "version": 1, "low": 0, "high": true}')
    Traceback (most recent call last):
    ...
    hedgerow.errors.FormatError: range: 'high' must be a finite number. Got True instead.
    """

    _what: ClassVar[str] = "content"
    _head: ClassVar[dict[str, Any]] = {}
    _tag: ClassVar[str] = ""
    _members: ClassVar[dict[str, type[Content]]] = {}

    def __init_subclass__(
        cls, *, what: str = "", format: str = "", version: int = 0, tag: str = "", **options: Any
    ) -> None:
        super().__init_subclass__(**options)
        cls._what = what or cls._what
        if format:
            cls._head = {"format": format, "version": version}
        if tag:
            cls._tag = tag
            cls._members = {}
        elif cls._tag and cls._tag in vars(cls):
            cls._members[getattr(cls, cls._tag)] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        tag = {self._tag: getattr(self, self._tag)} if self._tag else {}
        content = {name: _write(kind, getattr(self, name)) for name, kind in _kinds(type(self)).items()}  # type: ignore[arg-type]
        return {**self._head, **tag, **content}

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Undo :meth:`to_dict`; anything that no :meth:`to_dict` writes is a FormatError."""
        if not isinstance(data, Mapping):
            raise FormatError(f"{cls._what}: expected a JSON object. Got {type(data).__name__} instead.")
        member = cls._member(data)
        if member is not cls:
            return member.from_dict(data)
        cls._check_head(data)
        kinds = _kinds(cls)  # type: ignore[arg-type]
        _check_names(data, {*cls._head, *kinds, *([cls._tag] if cls._tag else [])}, cls._what)
        values = {name: _read(kind, data[name], name, cls._what) for name, kind in kinds.items()}
        return cls._build(values)

    @classmethod
    def _build(cls, values: dict[str, Any]) -> Self:
        """Construct; whatever the class finds wrong with its values is wrong with the text."""
        try:
            return cls(**values)
        except FormatError:
            raise
        except HedgerowError as error:
            raise FormatError(f"{cls._what}: {error}") from error
        except (TypeError, ValueError, KeyError, AttributeError, ArithmeticError, IndexError) as error:
            raise FormatError(f"this {cls._what} is malformed: {error}") from error

    @classmethod
    def _member(cls, data: Mapping[str, Any]) -> type[Self]:
        """Return the member of the family that the tag names."""
        if not cls._tag or cls._tag in vars(cls):
            return cls
        name = data.get(cls._tag)
        if not isinstance(name, str) or name not in cls._members:
            raise FormatError(f"{cls._what}: {cls._tag!r} must be one of {sorted(cls._members)}. Got {name!r} instead.")
        return typing.cast("type[Self]", cls._members[name])

    @classmethod
    def _check_head(cls, data: Mapping[str, Any]) -> None:
        for name, wanted in cls._head.items():
            found = data.get(name)
            if type(found) is not type(wanted) or found != wanted:
                raise FormatError(
                    f"this is not a {cls._what} that can be read here: {name} {wanted!r} is expected. "
                    f"Got {found!r} instead; read it with the release of hedgerow that wrote it."
                )

    def to_json(self) -> str:
        """Return versioned JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Undo :meth:`to_json`."""
        return cls.from_dict(parse(text, cls._what))


def _check_names(data: Mapping[str, Any], expected: set[str], what: str) -> None:
    """Refuse missing or unknown fields, so that versions never mix silently."""
    found = set(data)
    if found != expected:
        missing = sorted(expected - found)
        unknown = sorted(map(str, found - expected))
        raise FormatError(f"{what}: missing fields {missing}, unknown fields {unknown}; wrong version?")


@cache
def _kinds(cls: Any) -> dict[str, Any]:
    """Return the annotation of every field that is given to the constructor."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {f.name: hints[f.name] for f in fields(cls) if f.init}


def _write(kind: Any, value: Any) -> Any:
    """Return a value as JSON holds it."""
    if isinstance(value, Content):
        return value.to_dict()
    if isinstance(value, np.ndarray):
        dtype = typing.get_args(kind)[1].dtype
        return base64.b64encode(np.ascontiguousarray(value, dtype=dtype).tobytes()).decode()
    if isinstance(value, float):
        return _INFINITE if math.isinf(value) and value > 0 else value + 0.0  # -0.0 and 0.0 are one content
    if isinstance(value, tuple | list):
        parts = _item_kinds(kind, len(value))
        return [_write(part, item) for part, item in zip(parts, value, strict=True)]
    return value


def _item_kinds(kind: Any, n: int) -> Sequence[Any]:
    """Return the annotation of each item of a tuple."""
    if typing.get_origin(kind) in (types.UnionType, typing.Union):
        kind = next(k for k in typing.get_args(kind) if k is not type(None))
    items = typing.get_args(kind)
    if len(items) == 2 and items[1] is Ellipsis:
        return [items[0]] * n
    return items


def _read(kind: Any, value: Any, name: str, what: str) -> Any:
    """Return a JSON value as its annotation says."""
    origin = typing.get_origin(kind)
    if origin is Annotated:
        return _read_annotated(kind, value, name, what)
    if origin is Literal:
        return _expect(value in typing.get_args(kind), value, name, what, f"one of {list(typing.get_args(kind))}")
    if origin is tuple:
        return _read_tuple(kind, value, name, what)
    if origin in (types.UnionType, typing.Union):
        return _read_union(kind, value, name, what)
    if isinstance(kind, type) and issubclass(kind, Content):
        return kind.from_dict(value)
    if kind is float:
        return float(_expect(_is_number(value), value, name, what, "a finite number")) + 0.0
    words = {int: "a whole number", str: "text", bool: "true or false"}
    return _expect(type(value) is kind, value, name, what, words[kind])


def _expect(fits: bool, value: Any, name: str, what: str, wanted: str) -> Any:
    if not fits:
        shown = repr(value)
        raise FormatError(f"{what}: {name!r} must be {wanted}. Got {shown[:80]} instead.")
    return value


def _is_number(value: Any) -> bool:
    return type(value) in (int, float) and abs(value) <= _LARGEST


def _read_annotated(kind: Any, value: Any, name: str, what: str) -> Any:
    base, extra = typing.get_args(kind)
    if extra == _INFINITE:
        return math.inf if value == _INFINITE else _read(base, value, name, what)
    text = _expect(type(value) is str, value, name, what, "bytes in base64")
    try:
        return np.frombuffer(base64.b64decode(text, validate=True), dtype=extra.dtype)
    except (binascii.Error, ValueError) as error:
        raise FormatError(f"{what}: {name!r} must be bytes in base64 ({error}).") from error


def _read_tuple(kind: Any, value: Any, name: str, what: str) -> tuple[Any, ...]:
    _expect(type(value) is list, value, name, what, "a list")
    kinds = _item_kinds(kind, len(value))
    _expect(len(kinds) == len(value), value, name, what, f"a list of {len(kinds)}")
    return tuple(_read(k, item, name, what) for k, item in zip(kinds, value, strict=True))


def _read_union(kind: Any, value: Any, name: str, what: str) -> Any:
    choices = typing.get_args(kind)
    if value is None:
        return _expect(type(None) in choices, value, name, what, "given")
    rest = [c for c in choices if c is not type(None)]
    if len(rest) == 1:
        return _read(rest[0], value, name, what)
    _expect(isinstance(value, Mapping), value, name, what, "an object")
    for choice in rest:
        if set(value) == {*choice._head, *_kinds(choice)}:
            return choice.from_dict(value)
    raise FormatError(f"{what}: {name!r} has the fields {sorted(map(str, value))}, which no {what} has there.")
