"""Everything a fit says: fitted attributes to any depth, published JSON, warnings and printed text."""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Callable, Iterator, Mapping
from decimal import Decimal
from fractions import Fraction
from types import BuiltinFunctionType, CodeType, FunctionType, NoneType
from typing import Any

import numpy as np

__all__ = ["difference", "said", "stated"]

_PLAIN = (
    int, str, bytes, complex, NoneType, np.generic, np.dtype, Fraction, Decimal, frozenset, set, range, slice, type,
    CodeType, BuiltinFunctionType,
)  # fmt: skip


def said(run: Callable[[], Any]) -> tuple[Any, list[str]]:
    """Run, and return the result and all that was warned or printed."""
    printed = io.StringIO()
    with warnings.catch_warnings(record=True) as caught, contextlib.redirect_stdout(printed):
        warnings.simplefilter("always")
        result = run()
    words = [f"{w.category.__name__}: {w.message}" for w in caught]
    return result, [*words, printed.getvalue()]


def stated(estimator: Any) -> dict[str, Any]:
    """Return what an estimator keeps after a fit, parameters too, and what it publishes; by name."""
    out = dict(vars(estimator))
    model = getattr(estimator, "model_", None)
    if model is not None:
        out["model_.to_json()"] = model.to_json()
    out["str(guarantee_)"] = str(estimator.guarantee_)
    if hasattr(estimator, "feature_importances_"):
        out["feature_importances_"] = estimator.feature_importances_
    return out


def difference(one: Any, two: Any, path: str = "", seen: set[tuple[int, int]] | None = None) -> str | None:
    """Return where two things differ, to any depth, or None.

    >>> difference({"a": [1, np.array([2.0, math.nan])]}, {"a": [1, np.array([2.0, math.nan])]})
    >>> difference({"a": [1, (2, 3)]}, {"a": [1, (2, 4)]})
    "['a'][1][1]"
    """
    seen = set() if seen is None else seen
    if one is two or (id(one), id(two)) in seen:
        return None
    seen.add((id(one), id(two)))
    if type(one) is not type(two):
        return path or "type"
    if isinstance(one, np.ndarray):
        return None if _same_array(one, two, path, seen) else path
    if isinstance(one, float | np.floating):
        return None if one == two or (math.isnan(one) and math.isnan(two)) else path
    if isinstance(one, Mapping):
        if list(one) != list(two):
            return path + ".keys()"
        return _first(difference(one[k], two[k], f"{path}[{k!r}]", seen) for k in one)
    if isinstance(one, list | tuple):
        if len(one) != len(two):
            return f"len({path})"
        pairs = enumerate(zip(one, two, strict=True))
        return _first((difference(a, b, f"{path}[{i}]", seen) for i, (a, b) in pairs))
    if isinstance(one, FunctionType):
        return difference((one.__code__, _cells(one)), (two.__code__, _cells(two)), path, seen)
    if isinstance(one, _PLAIN):
        return None if one == two else path
    return difference(_inner(one), _inner(two), path, seen)


def _first(found: Any) -> str | None:
    return next((where for where in found if where is not None), None)


def _same_array(one: Any, two: Any, path: str, seen: set[tuple[int, int]]) -> bool:
    if one.shape != two.shape or one.dtype != two.dtype:
        return False
    if one.dtype.kind == "O":
        return difference(one.tolist(), two.tolist(), path, seen) is None
    return one.tobytes() == two.tobytes() or bool(np.array_equal(one, two, equal_nan=one.dtype.kind in "fc"))


def _cells(function: FunctionType) -> tuple[Any, ...]:
    return tuple(cell.cell_contents for cell in function.__closure__ or ())


def _inner(value: Any) -> Any:
    """Return what a pickle of the object would hold."""
    try:
        parts = value.__reduce_ex__(4)
    except TypeError:  # cannot be pickled: whatever it keeps
        return dict(vars(value))
    return parts if isinstance(parts, str) else tuple(list(p) if isinstance(p, Iterator) else p for p in parts)
