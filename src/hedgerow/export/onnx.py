"""A formula as an ONNX model: inputs by name, the schema's rules inside the graph, everything in double precision.

Trees are ``ai.onnx.ml`` ensembles (``TreeEnsemble``, version 5: the first whose outputs are doubles); all else is plain
``ai.onnx`` operators. Numbers are doubles from end to end, so that a record next to a threshold goes the same way as in
``predict``; nothing is rounded to float32 but where the model itself does so.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.export.graph import ML, Graph
from hedgerow.export.onnx_terms import EMITTERS
from hedgerow.formula import Formula, NumberInput, TextInput

if TYPE_CHECKING:
    from onnx import ModelProto

__all__ = ["check_installed", "onnx_model"]

_OPSET = 18  # of ONNX itself, as of its release 1.13
_TREES = 5  # of ai.onnx.ml: TreeEnsemble
_IR = 9  # what ONNX Runtime has read since 1.16


def check_installed() -> None:
    """Refuse at once, with what to install, where the package is not there."""
    try:
        import onnx  # noqa: F401
    except ImportError:
        raise HedgerowError("export to ONNX needs the package onnx: pip install 'hedgerow[onnx]'.") from None


def onnx_model(formula: Formula) -> ModelProto:
    """Return the ONNX model of a formula.

    Inputs are one column each, of shape [N, 1]: doubles (NaN: missing) or strings (empty: missing). Outputs are
    ``prediction`` of shape [N] (or [N, outputs]); or ``label`` [N] and ``probabilities`` [N, classes].
    """
    check_installed()
    from onnx import checker, helper

    graph = Graph([column.name for column in formula.inputs])
    columns = [_encoded(graph, column) for column in formula.inputs]
    told = [column.name for column in formula.inputs if isinstance(column, NumberInput) and column.indicator]
    encoded = graph.node("Concat", [*columns, *(graph.floats(graph.missing(name)) for name in told)], axis=1)
    names: dict[int, str] = {}
    for term in formula.value.steps():
        arguments = [names[id(arg)] for arg in term.args]
        names[id(term)] = encoded if term.op == "records" else EMITTERS[term.op](graph, arguments, term.data)
    value = names[id(formula.value)]
    outputs = _outputs(graph, formula, value)
    made = helper.make_graph(graph.nodes, "hedgerow", graph.inputs, outputs, graph.initializers)
    opsets = [helper.make_opsetid("", _OPSET), helper.make_opsetid("ai.onnx.ml", _TREES)]
    model = helper.make_model(made, opset_imports=opsets, ir_version=_IR, producer_name="hedgerow")
    for key, fact in formula.facts.items():
        if fact is not None:
            entry = model.metadata_props.add()
            entry.key = f"hedgerow.{key}"
            entry.value = fact if isinstance(fact, str) else json.dumps(fact)
    checker.check_model(model)
    return model


def _encoded(graph: Graph, column: NumberInput | TextInput) -> str:
    """Add an input and the rules of the schema: missing, unknown and clipped values."""
    from onnx import TensorProto, helper

    if not column.name:
        raise HedgerowError("ONNX inputs need a name, and one column of this model has none; name it.")
    kind = TensorProto.STRING if isinstance(column, TextInput) else TensorProto.DOUBLE
    graph.inputs.append(helper.make_tensor_value_info(column.name, kind, ["N", 1]))
    if isinstance(column, TextInput):
        return _codes(graph, column)
    found = column.name
    if not np.isnan(column.missing):
        found = graph.node("Where", [graph.missing(found), graph.constant(column.missing), found])
    if np.isfinite(column.low) and np.isfinite(column.high):
        found = graph.node("Clip", [found, graph.constant(column.low), graph.constant(column.high)])
    return found


def _codes(graph: Graph, column: TextInput) -> str:
    if "" in column.keys and column.missing != column.unknown:
        raise HedgerowError(
            f"the empty text is a category of {column.name!r}, and ONNX has no other text for a missing value, which "
            "does not count as an unknown one here; give that category a name."
        )
    codes = {"": column.missing, **dict(zip(column.keys, column.codes, strict=True))}
    code = graph.node(
        "LabelEncoder",
        [column.name],
        domain=ML,
        keys_strings=list(codes),
        values_int64s=list(codes.values()),
        default_int64=column.unknown,
    )
    return graph.floats(code)


def _outputs(graph: Graph, formula: Formula, value: str) -> list[Any]:
    """Name what comes out."""
    from onnx import TensorProto

    if formula.classes is not None:
        best = graph.node("ArgMax", [value], axis=1, keepdims=0)
        names = _class_labels(formula.classes)
        label = graph.node("Gather", [graph.constant(names), best])
        kinds = {"i": TensorProto.INT64, "b": TensorProto.BOOL, "f": TensorProto.DOUBLE, "O": TensorProto.STRING}
        shape = ["N", len(formula.classes)]
        return [
            _output(graph, "label", label, kinds[names.dtype.kind], ["N"]),
            _output(graph, "probabilities", value, TensorProto.DOUBLE, shape),
        ]
    if formula.n_outputs > 1:
        return [_output(graph, "prediction", value, TensorProto.DOUBLE, ["N", formula.n_outputs])]
    flat = graph.node("Squeeze", [value, graph.constant(np.array([1]))])
    return [_output(graph, "prediction", flat, TensorProto.DOUBLE, ["N"])]


def _output(graph: Graph, name: str, term: str, kind: int, shape: list[Any]) -> Any:
    from onnx import helper

    if name in {column.name for column in graph.inputs}:
        raise HedgerowError(f"a column is named {name!r}, as an output of the ONNX model is; rename the column.")
    graph.nodes.append(helper.make_node("Identity", [term], [name]))
    return helper.make_tensor_value_info(name, kind, shape)


def _class_labels(classes: tuple[Any, ...]) -> Any:
    """Return class labels as ONNX has them: whole numbers, truth values, doubles, or text."""
    names = np.array(classes)
    if names.dtype.kind in "iu":
        return names.astype(np.int64)
    return names.astype(object) if names.dtype.kind in "UO" else names
