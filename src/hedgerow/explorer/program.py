"""An anatomy as plain data that the page's script reads: steps, their arrays as bytes, and words.

Nothing in it is ever executed: a step is the name of an operation that the script has, and numbers.
"""

from __future__ import annotations

import base64
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.formula.anatomy import Anatomy, Part
from hedgerow.formula.inputs import Input, TextInput
from hedgerow.formula.terms import Term
from hedgerow.schema.words import one_line

__all__ = ["program_of"]


def program_of(anatomy: Anatomy) -> dict[str, Any]:
    """Return an anatomy as JSON-ready data.

    Examples
    --------
    >>> from hedgerow.formula import Formula, NumberInput
    >>> from hedgerow.formula.terms import records
    >>> found = program_of(Anatomy(Formula((NumberInput("x", 0.0, 1.0, 0.5),), records() * 2.0), target="hours"))
    >>> [step["op"] for step in found["steps"]], found["value"], found["inputs"][0]["start"]
    (['constant', 'records', 'multiply'], 2, 0.5)
    """
    formula = anatomy.formula
    terms = [formula.value, *_terms(anatomy)]
    steps = Term("all", tuple(terms)).steps()[:-1]
    place = {id(term): i for i, term in enumerate(steps)}
    arrays = _Arrays()
    listed = []
    for term in steps:
        data = {name: arrays.add(array) for name, array in term.data.items()}
        listed.append({"op": term.op, "args": [place[id(arg)] for arg in term.args], "data": data})
    return {
        "inputs": [_input(column, anatomy) for column in formula.inputs],
        "steps": listed,
        "arrays": arrays.packed,
        "value": place[id(formula.value)],
        "ends": None if anatomy.ends is None else place[id(anatomy.ends)],
        "parts": [_part(part, place) for part in anatomy.parts],
        "classes": None if formula.classes is None else [one_line(str(name)) for name in formula.classes],
        "outputs": formula.n_outputs,
        "bounds": [[float(low), float(high)] for low, high in anatomy.bounds],
        "level": anatomy.level,
        "covers": anatomy.covers,
        "target": one_line(anatomy.target),
        "unit": one_line(anatomy.unit),
    }


def _terms(anatomy: Anatomy) -> list[Term]:
    found = [] if anatomy.ends is None else [anatomy.ends]
    for part in anatomy.parts:
        found.append(part.value)
        if part.place is not None:
            found.append(part.place)
    return found


def _part(part: Part, place: dict[int, int]) -> dict[str, Any]:
    where = None if part.place is None else place[id(part.place)]
    return {
        "name": one_line(part.name),
        "value": place[id(part.value)],
        "place": where,
        "texts": list(part.texts),
        "start": part.start,
    }


class _Arrays:
    """Arrays as base64 of little-endian bytes, each kept once."""

    def __init__(self) -> None:
        self.packed: list[dict[str, Any]] = []
        self._known: dict[tuple[str, tuple[int, ...], bytes], int] = {}

    def add(self, array: npt.NDArray[Any]) -> int:
        """Return the place of an array."""
        kind = "<f8" if array.dtype.kind == "f" else "<i4"
        data = np.ascontiguousarray(array, dtype=kind).tobytes()
        key = (kind, array.shape, data)
        if key not in self._known:
            self._known[key] = len(self.packed)
            text = base64.b64encode(data).decode("ascii")
            self.packed.append({"type": kind, "shape": list(array.shape), "data": text})
        return self._known[key]


def _input(column: Input, anatomy: Anatomy) -> dict[str, Any]:
    """Return a column: what becomes of every value, and what it is called; numbers that are none are null."""
    words = anatomy.words.get(column.name)
    shown = {
        "name": one_line(column.name),
        "unit": "" if words is None else one_line(words.unit),
        "whole": words is not None and words.kind != "",
    }
    if isinstance(column, TextInput):
        keys = [one_line(key) for key in column.keys]
        codes = {"codes": list(column.codes), "unknown": column.unknown, "missing": column.missing}
        return {**shown, "kind": "text", "keys": keys, **codes}
    low = _finite(column.low)
    high = _finite(column.high)
    missing = _finite(column.missing)
    start = 0.0
    if missing is not None:
        start = missing
    elif low is not None and high is not None:
        start = low / 2 + high / 2
    ends = {"low": low, "high": high, "missing": missing, "start": start, "indicator": column.indicator}
    return {**shown, "kind": "number", **ends}


def _finite(value: float) -> float | None:
    return float(value) if np.isfinite(value) else None
