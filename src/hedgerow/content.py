"""Declared fields to versioned JSON and back: the one codec of tasks, models, totals and schemas.

A class that inherits :class:`Content` is a frozen dataclass; its annotations say what its JSON may hold:

======================================= ==================================================================
annotation                              JSON
======================================= ==================================================================
``float``                               a finite number (JavaScript writes 1.0 as 1, so 1 is fine)
``Budget``                              a number, or the text ``"inf"``
``int``, ``str``, ``bool``              a whole number, text, true or false; never one for another
``Hex``                                 a whole number of any size as hexadecimal text
``Literal["a", "b"]``                   one of these texts
``tuple[T, ...]``, ``tuple[T, T]``      a list; of this length
``dict[str, T]``, ``dict[int, T]``      an object with any names
``NamedTuple``                          a list of its fields
``T | None``, ``str | int``             null or T; one of these
``Annotated[ndarray, listed("<f8")]``   a list of numbers (of lists, with ``ndim=2``)
``Annotated[T, Form(write, read)]``     whatever ``write`` makes of it
a class with ``from_bytes``             its bytes in base64
a :class:`Content`                      an object with exactly its fields
several contents, ``A | B``             the one whose fields these are
======================================= ==================================================================

:mod:`hedgerow.forms` and :mod:`hedgerow.arrays` have the form of each annotation. Reading is strict: a field too many
or too few, a wrong type, an infinite number, a field that stands twice or a value that the class itself refuses is a
:class:`~hedgerow.errors.FormatError`, and nothing else ever is raised: who writes a task may be an enemy of who reads
it. Only the standard library is loaded.
"""

from __future__ import annotations

import json
import typing
from collections.abc import Mapping
from dataclasses import fields
from functools import cache
from typing import Any, ClassVar, Self

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.forms import Form, form_of

__all__ = ["Content", "canonical", "parse"]


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
    except Exception as error:  # not ValueError alone: lists may be nested too deep, or memory too small
        raise FormatError(f"this {what} is not valid JSON: {error}") from error


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the field {twice!r} stands twice")
    return found


def _no_constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


class Content:
    """A frozen dataclass whose fields are its JSON; of one class, equal content is equal.

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
    '{"format":"example/range","high":1.0,"low":0.0,"version":1}'
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
        if version:
            cls._head = {"format": format, "version": version} if format else {"version": version}
        if tag:
            cls._tag = tag
            cls._members = {}
        elif cls._tag and cls._tag in vars(cls):
            cls._members[getattr(cls, cls._tag)] = cls

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        tag = {self._tag: getattr(self, self._tag)} if self._tag else {}
        content = {name: form.write(getattr(self, name)) for name, form in _forms(type(self)).items()}  # type: ignore[arg-type]
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
        forms = _forms(cls)  # type: ignore[arg-type]
        cls._check_names(data, {*cls._head, *forms} | ({cls._tag} if cls._tag else set()))
        return cls._build({name: cls._read(form, name, data[name]) for name, form in forms.items()})

    @classmethod
    def _read(cls, form: Form, name: str, value: Any) -> Any:
        try:
            return form.read(value)
        except FormatError:
            raise
        except Exception as error:
            raise FormatError(f"{cls._what}: {name!r} {error}") from error

    @classmethod
    def _build(cls, values: dict[str, Any]) -> Self:
        """Construct; whatever the class finds wrong with its values is wrong with the text."""
        try:
            content = cls(**values)
            content._check_read()
            return content
        except FormatError:
            raise
        except HedgerowError as error:
            raise FormatError(f"{cls._what}: {error}") from error
        except Exception as error:  # who writes a task may be an enemy of who reads it
            raise FormatError(f"this {cls._what} is malformed: {error}") from error

    def _check_read(self) -> None:
        """Refuse what this library writes nowhere, beyond what the constructor refuses."""

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
        """Refuse other formats and versions, so that versions never mix silently."""
        head = cls._head
        if "format" in head and data.get("format") != head["format"]:
            article = "an" if cls._what[0] in "aeiou" else "a"
            raise FormatError(
                f"this is not {article} {cls._what}: expected a JSON object with format {head['format']!r}."
            )
        found = data.get("version")
        if "version" in head and (type(found) is not int or found != head["version"]):
            raise FormatError(
                f"{cls._what}: version {found!r} is not supported, only {head['version']}; "
                "read it with the release of hedgerow that wrote it."
            )

    @classmethod
    def _check_names(cls, data: Mapping[str, Any], expected: set[str]) -> None:
        found = set(data)
        if found != expected:
            missing = sorted(expected - found)
            unknown = sorted(map(str, found - expected))
            raise FormatError(f"{cls._what}: missing fields {missing}, unknown fields {unknown}; wrong version?")

    def to_json(self) -> str:
        """Return canonical JSON: equal content, equal text."""
        return canonical(self.to_dict())

    @classmethod
    def from_json(cls, text: str | bytes) -> Self:
        """Undo :meth:`to_json`."""
        return cls.from_dict(parse(text, cls._what))

    def __eq__(self, other: object) -> bool:
        return type(other) is type(self) and self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(self.to_json())


@cache
def _forms(cls: Any) -> dict[str, Form]:
    """Return the form of every field that is given to the constructor."""
    hints = typing.get_type_hints(cls, include_extras=True)
    return {f.name: form_of(hints[f.name]) for f in fields(cls) if f.init}
