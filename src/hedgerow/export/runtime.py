"""A published model that runs with NumPy alone, as an estimator of scikit-learn where that is installed.

This text is at once a module of hedgerow (``hedgerow.export.to_sklearn`` returns its classes) and the head of the files
that ``hedgerow export -o model.py`` writes: it must not import anything but NumPy and the standard library.
"""

from __future__ import annotations

import base64
import io
import json
import math
import re
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin
except ImportError:  # predictions need none of it

    class BaseEstimator:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""

    class RegressorMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""

    class ClassifierMixin:  # type: ignore[no-redef]
        """Stands in for scikit-learn's."""


__all__ = ["ExportedClassifier", "ExportedRegressor", "evaluate", "load"]

_ROWS = 4096  # records at a time; by hand
_NUMBER = re.compile(r"[+-]?([0-9]+(\.[0-9]*)?|\.[0-9]+)([eE][+-]?[0-9]+)?")


class _Exported(BaseEstimator):  # type: ignore[misc]
    """A model that was made elsewhere: its program says what it computes."""

    def __init__(self, program: dict[str, Any] | None = None) -> None:
        self.program = program

    def fit(self, X: Any, y: Any = None) -> Any:
        """Refuse: what was learnt under a guarantee is not learnt again here."""
        raise ValueError("an exported model is not fitted again; wrap it in sklearn.frozen.FrozenEstimator instead.")

    def __sklearn_is_fitted__(self) -> bool:
        return self.program is not None

    @property
    def feature_names_in_(self) -> Any:
        """Names of the columns, in order."""
        return np.array([column["name"] for column in self._program["inputs"]], dtype=object)

    @property
    def n_features_in_(self) -> int:
        """Number of columns."""
        return len(self._program["inputs"])

    @property
    def facts_(self) -> dict[str, Any]:
        """What travels with the model: guarantee, its statement, schema and task."""
        facts: dict[str, Any] = self._program["facts"]
        return facts

    @property
    def _program(self) -> dict[str, Any]:
        if self.program is None:
            raise ValueError("this model has no program; take it from hedgerow.export.to_sklearn or from its file.")
        return self.program


class ExportedRegressor(RegressorMixin, _Exported):  # type: ignore[misc]
    """A published model of a number."""

    def predict(self, X: Any) -> Any:
        """Predict labels for a data frame, a mapping of columns or a matrix of records."""
        found = evaluate(self._program, X)
        return found[:, 0] if found.shape[1] == 1 else found


class ExportedClassifier(ClassifierMixin, _Exported):  # type: ignore[misc]
    """A published model of a class."""

    @property
    def classes_(self) -> Any:
        """Class labels, in the order of the columns of :meth:`predict_proba`."""
        return np.array(self._program["classes"])

    def predict_proba(self, X: Any) -> Any:
        """Return the probability of every class."""
        return evaluate(self._program, X)

    def predict(self, X: Any) -> Any:
        """Return the most likely class of each record."""
        return self.classes_[self.predict_proba(X).argmax(axis=1)]


def load(text: str, arrays: str) -> Any:
    """Return the model of a program, its arrays as a base64 archive of NumPy."""
    program = json.loads(text)
    with np.load(io.BytesIO(base64.b64decode(arrays)), allow_pickle=False) as stored:
        for step in program["steps"]:
            step["data"] = {name: stored[key] for name, key in step["data"].items()}
    return ExportedRegressor(program) if program["classes"] is None else ExportedClassifier(program)


def evaluate(program: dict[str, Any], X: Any) -> Any:
    """Return what a program computes of raw records: one row a record."""
    Z = _encoded(program["inputs"], X)
    with np.errstate(all="ignore"):
        parts = [_block(program["steps"], Z[start : start + _ROWS]) for start in range(0, max(len(Z), 1), _ROWS)]
    return np.concatenate(parts)


def _block(steps: list[dict[str, Any]], Z: Any) -> Any:
    values: list[Any] = []
    for step in steps:
        if step["op"] == "records":
            values.append(Z)
        else:
            values.append(_OPERATIONS[step["op"]](*(values[i] for i in step["args"]), **step["data"]))
    return np.broadcast_to(values[-1], (len(Z), values[-1].shape[1]))


# Records.


def _encoded(inputs: list[dict[str, Any]], X: Any) -> Any:
    """Return raw records as numbers: cut to their ranges, categories as codes."""
    columns = _columns([column["name"] for column in inputs], X)
    found = []
    for column, values in zip(inputs, columns, strict=True):
        found.append(_codes(column, values) if "keys" in column else _numbers(column, values))
    for column, values in zip(inputs, columns, strict=True):
        if column.get("indicator"):
            found.append(np.isnan(_floats(values)).astype(np.float64))
    return np.column_stack(found)


def _columns(names: list[str], X: Any) -> list[Any]:
    """Return the columns that are asked for: by name where there are names, else by position."""
    if hasattr(X, "columns") or isinstance(X, Mapping):
        present = list(X.columns) if hasattr(X, "columns") else list(X)
        if absent := [name for name in names if name not in present]:
            raise ValueError(f"X lacks the columns {absent}; the model asks for {names}.")
        return [_listed(X[name]) for name in names]
    rows = np.asarray(X) if isinstance(X, np.ndarray) else np.array([list(row) for row in X], dtype=object)
    if rows.ndim != 2 or rows.shape[1] != len(names):
        raise ValueError(f"X must have {len(names)} columns, {names}. Got an array of shape {rows.shape} instead.")
    return list(rows.T)


def _listed(column: Any) -> Any:
    """Return a column as an array of numbers or of plain values."""
    read = getattr(column, "to_list", getattr(column, "to_pylist", None))
    array = np.asarray(column)
    if array.dtype.kind in "fiub" or read is None:
        return array
    return np.array([*read(), None], dtype=object)[:-1]


def _floats(values: Any) -> Any:
    if values.dtype.kind in "fiub":
        return values.astype(np.float64)
    return np.array([_number(value) for value in values], dtype=np.float64)


def _numbers(column: dict[str, Any], values: Any) -> Any:
    x = _floats(values)
    return np.clip(np.where(np.isnan(x), column["missing"], x), column["low"], column["high"])


def _number(value: Any) -> float:
    """Return the number that a value stands for; NaN if it is missing or none."""
    if isinstance(value, str):
        text = value.strip(" \t\n\r\v\f")
        return float(text) if _NUMBER.fullmatch(text) else math.nan
    try:
        return float(value)
    except OverflowError:
        return math.inf if value > 0 else -math.inf
    except (TypeError, ValueError):
        return math.nan


def _codes(column: dict[str, Any], values: Any) -> Any:
    codes = {None: column["missing"], "": column["missing"], **dict(zip(column["keys"], column["codes"], strict=True))}
    found = [codes.get(_category(value), column["unknown"]) for value in values.tolist()]
    return np.array(found, dtype=np.float64)


def _category(value: Any) -> str | None:
    """Return the name of the category that a value stands for: 1 and 1.0 are "1"; None if it is missing."""
    if isinstance(value, float):
        if math.isnan(value):
            return None
        return str(int(value)) if value.is_integer() else str(value)
    if value is None or type(value).__name__ in ("NAType", "NaTType"):
        return None
    return str(value)


# What terms are made by.


def _trees(X: Any, *, roots: Any, feature: Any, threshold: Any, left: Any, value: Any, depth: Any) -> Any:
    """Return the sum over trees of the values of the leaf that each row reaches; right is ``x >= threshold``."""
    flat = np.ascontiguousarray(X).ravel()
    base = np.arange(len(X)) * X.shape[1]
    # A leaf is its own left child, and nothing is at or above NaN.
    cut = np.where(left == np.arange(len(left)), np.nan, threshold)
    total = np.zeros((len(X), value.shape[1]))
    for root in roots.tolist():
        node = np.full(len(X), root)
        for _ in range(int(depth)):
            child = left.take(node) + (flat.take(base + feature.take(node)) >= cut.take(node))
            if np.array_equal(child, node):
                break
            node = child
        total += value.take(node, axis=0)
    return total


_OPERATIONS: dict[str, Callable[..., Any]] = {
    "constant": lambda values: values,
    "add": lambda a, b: a + b,
    "subtract": lambda a, b: a - b,
    "multiply": lambda a, b: a * b,
    "divide": lambda a, b: a / b,
    "exp": np.exp,
    "square_root": np.sqrt,
    "round": np.rint,
    "truncate": np.trunc,
    "absolute": np.abs,
    "single": lambda a: a.astype(np.float32).astype(np.float64),
    "row_sum": lambda a: a.sum(axis=1, keepdims=True),
    "clip": lambda a, low, high: np.clip(a, low, high),
    "pick": lambda a, columns: a[:, columns],
    "product": lambda a, matrix: a @ matrix,
    "lookup": lambda code, table: table[code[:, 0].astype(np.int64)],
    "trees": _trees,
    "where_missing": lambda test, a, b: np.where(np.isnan(test), a, b),
    "where_positive": lambda test, a, b: np.where(test > 0, a, b),
    "join": lambda *parts: np.column_stack(parts),
}
