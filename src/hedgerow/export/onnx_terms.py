"""Every operation of a formula in ONNX."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.export.graph import ML, Graph

__all__ = ["EMITTERS"]

Data = Mapping[str, npt.NDArray[Any]]
Emitter = Callable[[Graph, list[str], Data], str]

_LESS = 1  # BRANCH_LT of TreeEnsemble: the true branch, our left one, is x < threshold
_SUM = 1  # SUM of TreeEnsemble's aggregate functions
_LARGEST = float(np.finfo(np.float64).max)


def _plain(op: str) -> Emitter:
    return lambda graph, arguments, data: graph.node(op, arguments)


def _constant(graph: Graph, arguments: list[str], data: Data) -> str:
    return graph.constant(data["values"])


def _truncate(graph: Graph, arguments: list[str], data: Data) -> str:
    size = graph.node("Floor", [graph.node("Abs", arguments)])
    return graph.node("Mul", [size, graph.node("Sign", arguments)])


def _single(graph: Graph, arguments: list[str], data: Data) -> str:
    from onnx import TensorProto

    return graph.floats(graph.node("Cast", arguments, to=TensorProto.FLOAT))


def _row_sum(graph: Graph, arguments: list[str], data: Data) -> str:
    return graph.node("ReduceSum", [*arguments, graph.constant(np.array([1]))], keepdims=1)


def _clip(graph: Graph, arguments: list[str], data: Data) -> str:
    low, high = (graph.constant(np.clip(data[end], -_LARGEST, _LARGEST)) for end in ("low", "high"))
    return graph.node("Clip", [*arguments, low, high])


def _pick(graph: Graph, arguments: list[str], data: Data) -> str:
    return graph.node("Gather", [*arguments, graph.constant(data["columns"])], axis=1)


def _product(graph: Graph, arguments: list[str], data: Data) -> str:
    return graph.node("MatMul", [*arguments, graph.constant(data["matrix"])])


def _lookup(graph: Graph, arguments: list[str], data: Data) -> str:
    code = graph.node("Squeeze", [*arguments, graph.constant(np.array([1]))])
    return graph.node("Gather", [graph.constant(data["table"]), graph.whole(code)], axis=0)


def _where_missing(graph: Graph, arguments: list[str], data: Data) -> str:
    test, then, otherwise = arguments
    return graph.node("Where", [graph.missing(test), then, otherwise])


def _where_positive(graph: Graph, arguments: list[str], data: Data) -> str:
    test, then, otherwise = arguments
    return graph.node("Where", [graph.node("Greater", [test, graph.constant(0.0)]), then, otherwise])


def _join(graph: Graph, arguments: list[str], data: Data) -> str:
    return graph.node("Concat", arguments, axis=1)


def _trees(graph: Graph, arguments: list[str], data: Data) -> str:
    """Add an ensemble: of values where leaves have one, else of the numbers of leaves, whose rows are then added."""
    value = data["value"]
    if value.shape[1] == 1:
        return _ensemble(graph, arguments, data, value[:, 0], by_tree=False)
    ends = np.flatnonzero(data["left"] == np.arange(len(value)))
    number = np.zeros(len(value))
    number[ends] = np.arange(len(ends))
    leaf = graph.whole(_ensemble(graph, arguments, data, number, by_tree=True))
    rows = graph.node("Gather", [graph.constant(value[ends]), leaf], axis=0)
    return graph.node("ReduceSum", [rows, graph.constant(np.array([1]))], keepdims=0)


def _ensemble(graph: Graph, arguments: list[str], data: Data, value: npt.NDArray[np.float64], *, by_tree: bool) -> str:
    """Add a TreeEnsemble of one output, or of one a tree.

    Its inner nodes and its leaves have numbers of their own. A tree must have an inner node: one that is a leaf gets a
    node with that leaf on both sides.
    """
    from onnx import TensorProto, helper

    tree = np.searchsorted(data["roots"], np.arange(len(value)), side="right") - 1
    left = data["left"]
    leaf = left == np.arange(len(value))
    split = ~leaf
    split[data["roots"]] = True
    below = np.where(leaf, left, left + 1)
    place = np.where(leaf, np.cumsum(leaf) - 1, np.cumsum(split) - 1)
    threshold = np.where(leaf, 0.0, data["threshold"])
    roots = np.cumsum(split)[data["roots"]] - 1
    whole = {
        "nodes_featureids": data["feature"][split],
        "nodes_truenodeids": place[left[split]],
        "nodes_falsenodeids": place[below[split]],
        "nodes_trueleafs": leaf[left[split]],
        "nodes_falseleafs": leaf[below[split]],
        "leaf_targetids": tree[leaf] if by_tree else np.zeros(int(leaf.sum()), dtype=int),
        "tree_roots": roots,
    }
    n = int(split.sum())
    return graph.node(
        "TreeEnsemble",
        arguments,
        domain=ML,
        aggregate_function=_SUM,
        n_targets=len(roots) if by_tree else 1,
        nodes_splits=helper.make_tensor("splits", TensorProto.DOUBLE, [n], threshold[split]),
        nodes_modes=helper.make_tensor("modes", TensorProto.UINT8, [n], [_LESS] * n),
        leaf_weights=helper.make_tensor("weights", TensorProto.DOUBLE, [int(leaf.sum())], value[leaf]),
        **{name: array.astype(np.int64).tolist() for name, array in whole.items()},
    )


EMITTERS: dict[str, Emitter] = {
    "constant": _constant,
    "add": _plain("Add"),
    "subtract": _plain("Sub"),
    "multiply": _plain("Mul"),
    "divide": _plain("Div"),
    "exp": _plain("Exp"),
    "square_root": _plain("Sqrt"),
    "round": _plain("Round"),
    "truncate": _truncate,
    "absolute": _plain("Abs"),
    "single": _single,
    "row_sum": _row_sum,
    "clip": _clip,
    "pick": _pick,
    "product": _product,
    "lookup": _lookup,
    "trees": _trees,
    "where_missing": _where_missing,
    "where_positive": _where_positive,
    "join": _join,
}
