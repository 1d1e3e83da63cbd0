"""How a value of a record becomes a number or a category: a public rule with an answer for everything.

A holder whose record raises an error stays silent, and silence tells on the record. So nothing here raises:

* true and false count 1 and 0; numbers count themselves, a whole number beyond all floats as infinite;
* text counts as the number that it spells, :data:`NUMBER`, without the blanks around it; one too large is infinite;
* everything else is missing: NaN, None, other text, lists, whatever has no number of its own.

What becomes of missing values and of unknown categories, the task says (``missing``, ``unknown``); numbers outside a
range, infinite ones too, become its nearest end.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from fractions import Fraction
from typing import Any, cast

import numpy as np
import numpy.typing as npt

from hedgerow.types import RealArray

__all__ = ["BLANKS", "NUMBER", "RULE", "category", "cells", "field", "number", "numbers", "record_values"]

BLANKS = " \t\n\r\v\f"
"""What may stand before and after a number: the blanks of ASCII, the same in every language."""
RULE = "every record is reported: a value beyond its range counts as the end, a missing or unknown one as the task says"
"""The rule in one line, for the notes of a guarantee."""
NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")

# Of texts that Python's float() takes, these characters leave exactly NUMBER between BLANKS: "nan" and "inf" need
# others, and so do 1_000, digits of other scripts and blanks beyond ASCII.
_SPELLING = "0123456789+-.eE" + BLANKS
_HOLDS = (list, tuple, dict, set, frozenset, bytes, np.ndarray)
_PLAIN = frozenset((bool, int, float, np.float64, np.float32, np.int64, np.int32))


def number(value: object) -> float:
    """Return the number that a value stands for; NaN if it is missing.

    >>> number(" 1e3 "), number(True), number(10**400), number("1_000"), number(None)
    (1000.0, 1.0, inf, nan, nan)
    """
    try:
        return _number(_alone(value))
    except Exception:  # a value whose own methods fail is no number, and must not keep its record from reporting
        return math.nan


def _number(value: object) -> float:
    if isinstance(value, str):
        text = _text(value).strip(BLANKS)
        return float(text) if NUMBER.fullmatch(text) else math.nan
    if isinstance(value, np.bool_):
        return float(bool(value))
    if not isinstance(value, int | float | np.integer | np.floating | Decimal | Fraction):
        return math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf


def _alone(value: object) -> object:
    """Return the one item of an array that holds one: a label cut from a column, say."""
    return value.item() if isinstance(value, np.ndarray) and value.size == 1 else value


def _text(value: str) -> str:
    """Return plain text, whatever a subclass of it has overridden."""
    return str.__str__(value)


def category(value: object) -> str | None:
    """Return the name of the category that a value stands for; None if it is missing.

    >>> category(1.0), category("M"), category(float("nan"))
    ('1', 'M', None)
    """
    try:
        value = _alone(value)
        if isinstance(value, str):
            return _text(value)
        if value is None or isinstance(value, _HOLDS) or type(value).__name__ in ("NAType", "NaTType"):
            return None
        if isinstance(value, float | np.floating):
            if math.isnan(value):
                return None
            return str(int(value)) if float(value).is_integer() else str(value)
        return str(value)
    except Exception:  # as in number()
        return None


def cells(column: object, n: int | None = None) -> list[Any]:
    """Return the values of a column as a list; ``n`` missing ones if it cannot be read as one."""
    try:
        read = getattr(column, "to_list", getattr(column, "to_pylist", None))  # of pandas, polars and Arrow
        found = list(cast("Any", column if read is None else read()))
    except Exception:  # as in number()
        found = []
    return found if n is None or len(found) == n else [None] * n


def numbers(column: object, n: int | None = None) -> RealArray:
    """Return a column as floats, missing values as NaN; 32 and 64 bit floats are passed through as they are.

    >>> numbers([1, "2.5", None, "many"]).tolist()
    [1.0, 2.5, nan, nan]
    """
    # Not of lists: one long text among many numbers would make all of them as long.
    array = None if isinstance(column, list | tuple) else _array(column)
    if array is not None and array.dtype.kind in "fiub" and (n is None or array.shape[:1] == (n,)):
        if array.dtype in (np.float32, np.float64):
            return cast("RealArray", array)
        with np.errstate(all="ignore"):  # a long double beyond all floats is infinite
            return cast("RealArray", array.astype(np.float64))
    values = array.tolist() if array is not None and array.ndim == 1 else cells(column, n)
    fast = _fast(values)
    return np.array([number(v) for v in values], dtype=np.float64) if fast is None else fast


def _array(column: object) -> npt.NDArray[Any] | None:
    try:
        return np.asarray(column)
    except Exception:  # as in number()
        return None


def _fast(values: Sequence[Any]) -> RealArray | None:
    """Return all numbers in one go, or None if some of them need to be looked at one by one."""
    kinds = set(map(type, values))
    try:
        if kinds <= _PLAIN:
            return np.array(values, dtype=np.float64)
        if kinds == {str} and not "".join(values).strip(_SPELLING):
            return np.array(values, dtype=object).astype(np.float64)
    except (ValueError, OverflowError):
        pass
    return None


def record_values(record: object, names: Sequence[str]) -> list[Any]:
    """Return the values of one record in the order of ``names``; None for whatever it does not have.

    A record is a mapping by name, or a row of as many values as there are names. Anything else has no values.

    >>> record_values({"b": 2}, ["a", "b"]), record_values([1, 2], ["a", "b"]), record_values("xy", ["a", "b"])
    ([None, 2], [1, 2], [None, None])
    """
    if isinstance(record, Mapping):
        return [field(record, name) for name in names]
    row = [] if isinstance(record, str | bytes) else cells(record)
    return row if len(row) == len(names) else [None] * len(names)


def field(record: Mapping[str, Any], name: str) -> Any:
    """Return one value of a mapping; None if it has none of that name, or fails to say."""
    try:
        return record[name]
    except Exception:  # as in number()
        return None
