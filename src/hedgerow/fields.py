"""Reading the fields of a JSON object, strictly: of the right type, none missing, none unknown."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from hedgerow.errors import FormatError

__all__ = ["check_fields", "read_list", "read_number", "read_text", "read_whole"]


def check_fields(data: Mapping[str, Any], expected: set[str], what: str) -> None:
    """Refuse missing or unknown fields of a JSON object, so that versions never mix silently."""
    if not isinstance(data, Mapping):
        raise FormatError(f"{what}: expected a JSON object. Got {type(data).__name__} instead.")
    keys = set(data)
    if keys != expected:
        missing, unknown = sorted(expected - keys), sorted(keys - expected)
        raise FormatError(f"{what}: missing fields {missing}, unknown fields {unknown}; wrong version?")


def read_number(data: Mapping[str, Any], name: str, what: str) -> float:
    """Return a finite number of a JSON object; JavaScript writes 1.0 as 1, so integers are fine."""
    value = data[name]
    if type(value) not in (int, float) or not abs(value) <= 1.7976931348623157e308:
        raise FormatError(f"{what}: {name!r} must be a finite number. Got {value!r} instead.")
    return float(value)


def read_whole(data: Mapping[str, Any], name: str, what: str) -> int:
    """Return an integer of a JSON object; booleans and floats are not integers."""
    value = data[name]
    if type(value) is not int:
        raise FormatError(f"{what}: {name!r} must be an integer. Got {value!r} instead.")
    return value


def read_text(data: Mapping[str, Any], name: str, what: str) -> str:
    """Return a text of a JSON object."""
    value = data[name]
    if type(value) is not str:
        raise FormatError(f"{what}: {name!r} must be text. Got {value!r} instead.")
    return value


def read_list(data: Mapping[str, Any], name: str, what: str) -> list[Any]:
    """Return a list of a JSON object."""
    value = data[name]
    if type(value) is not list:
        raise FormatError(f"{what}: {name!r} must be a list. Got {type(value).__name__} instead.")
    return value
