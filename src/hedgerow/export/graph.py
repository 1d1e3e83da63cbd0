"""An ONNX graph while it is being written: nodes, constants (each once) and names that nothing else has."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt

__all__ = ["ML", "Graph"]

ML = "ai.onnx.ml"
"""The domain of trees and of look-ups by text."""


class Graph:
    """Nodes, inputs and constants of a graph; ``node`` and ``constant`` return the name of what they add."""

    def __init__(self, taken: Sequence[str]) -> None:
        self.nodes: list[Any] = []
        self.inputs: list[Any] = []
        self.initializers: list[Any] = []
        self._taken = set(taken)
        self._constants: dict[tuple[str, tuple[int, ...], bytes], str] = {}

    def name(self, stem: str) -> str:
        """Return a name that neither an input nor anything else has."""
        number = len(self._taken)
        while (found := f"{stem}_{number}") in self._taken:
            number += 1
        self._taken.add(found)
        return found

    def node(self, op: str, arguments: Sequence[str], *, domain: str = "", **attributes: Any) -> str:
        """Add an operator with one output."""
        from onnx import helper

        output = self.name(op)
        self.nodes.append(helper.make_node(op, list(arguments), [output], name=output, domain=domain, **attributes))
        return output

    def constant(self, values: npt.ArrayLike) -> str:
        """Add a constant: doubles, unless it is of whole numbers or text."""
        from onnx import numpy_helper

        array = np.asarray(values)
        array = array.astype(np.float64) if array.dtype.kind == "f" else array
        key = (array.dtype.str, array.shape, b"" if array.dtype == object else array.tobytes())
        if key not in self._constants or array.dtype == object:
            self._constants[key] = self.name("constant")
            self.initializers.append(numpy_helper.from_array(array, self._constants[key]))
        return self._constants[key]

    def floats(self, term: str) -> str:
        """Return a term as doubles."""
        from onnx import TensorProto

        return self.node("Cast", [term], to=TensorProto.DOUBLE)

    def whole(self, term: str) -> str:
        """Return a term as 64 bit integers."""
        from onnx import TensorProto

        return self.node("Cast", [term], to=TensorProto.INT64)

    def missing(self, term: str) -> str:
        """Return where a term is NaN: nothing else differs from itself."""
        return self.node("Not", [self.node("Equal", [term, term])])
