"""A formula as a program: plain data that the NumPy runtime reads, in memory or in a file of its own."""

from __future__ import annotations

import base64
import inspect
import io
import json
import textwrap
from dataclasses import asdict
from typing import Any

import numpy as np

from hedgerow.export import runtime
from hedgerow.formula import Formula

__all__ = ["program_of", "python_text"]

_WIDTH = 110  # characters of a line


def program_of(formula: Formula) -> dict[str, Any]:
    """Return the program of a formula: inputs, steps with their arrays, classes and facts."""
    steps = formula.value.steps()
    place = {id(term): i for i, term in enumerate(steps)}
    return {
        "inputs": [asdict(column) for column in formula.inputs],
        "steps": [
            {"op": term.op, "args": [place[id(arg)] for arg in term.args], "data": dict(term.data)} for term in steps
        ],
        "classes": None if formula.classes is None else list(formula.classes),
        "facts": dict(formula.facts),
    }


def python_text(formula: Formula) -> str:
    """Return a Python file that predicts as the formula says, with NumPy alone.

    Names and sentences of the model are only ever inside of quoted strings, whatever is in them.
    """
    program = program_of(formula)
    arrays: dict[str, Any] = {}
    known: dict[tuple[str, tuple[int, ...], bytes], str] = {}
    for step in program["steps"]:
        for name, array in step["data"].items():
            key = known.setdefault((array.dtype.str, array.shape, array.tobytes()), f"a{len(known)}")
            arrays[key] = array
            step["data"][name] = key
    packed = io.BytesIO()
    np.savez_compressed(packed, **arrays)
    return _file(json.dumps(program), base64.b64encode(packed.getvalue()).decode())


def _file(program: str, arrays: str) -> str:
    """Return the text of the file: the runtime, the program as a string, the arrays as a string."""
    quoted = "\n".join(f"    {program[i : i + _WIDTH]!r}" for i in range(0, len(program), _WIDTH))
    packed = "\n".join(f"    {line!r}" for line in textwrap.wrap(arrays, _WIDTH))
    return (
        f"{inspect.getsource(runtime)}\n\n"
        "# The model: what it computes, as JSON, and its arrays.\n\n"
        f"_PROGRAM = (\n{quoted}\n)\n"
        f"_ARRAYS = (\n{packed}\n)\n\n"
        "model = load(_PROGRAM, _ARRAYS)\n"
        '"""The model: ``model.predict(records)``; ``model.facts_["statement"]`` says what was promised."""\n'
    )
