"""A partition in other forms: text, and a scikit-learn tree (and so ONNX, dtreeviz, treelite)."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import HedgerowError
from hedgerow.partition.walk import round_up
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from sklearn.tree import DecisionTreeRegressor

    from hedgerow.partition.tree import Partition

__all__ = ["check_leaf_values", "describe_split", "export_text", "node_means", "to_sklearn"]


def check_leaf_values(tree: Partition, values: npt.ArrayLike, name: str = "values") -> FloatArray:
    """Return one finite number a leaf, or say what is wrong."""
    array = np.asarray(values, dtype=np.float64)
    if array.shape != (tree.n_leaves,) or not np.isfinite(array).all():
        raise HedgerowError(
            f"'{name}' must hold one finite number for each of the {tree.n_leaves} leaves. "
            f"Got an array of shape {array.shape} instead."
        )
    return array


def describe_split(tree: Partition, node: int) -> tuple[str, str]:
    """Return the condition for going left and the one for going right."""
    column = int(tree.feature[node])
    name = tree.space.names[column]
    if tree.subset_offset[node] < 0:
        cut = f"{tree.threshold[node]:.6g}"
        return f"{name} < {cut}", f"{name} >= {cut}"
    categories = getattr(tree.space.features[column], "categories", ())
    chosen = ", ".join(c for c, goes_left in zip(categories, tree.subset(node), strict=True) if goes_left)
    return f"{name} in {{{chosen}}}", f"{name} not in {{{chosen}}}"


def export_text(tree: Partition, values: npt.ArrayLike | None = None) -> str:
    """Return the tree as indented text.

    Examples
    --------
    >>> from hedgerow.space import FeatureSpace
    >>> from hedgerow.partition import grow
    >>> tree = grow("max_edge", FeatureSpace.from_bounds((0, 8), ["age"]), None, None, max_depth=1)
    >>> print(export_text(tree, [2.5, 7]))
    |--- age < 4
    |   |--- leaf 0: 2.5
    |--- age >= 4
    |   |--- leaf 1: 7
    """
    known = None if values is None else check_leaf_values(tree, values)
    lines = []
    stack: list[tuple[int, int, str]] = [(0, 0, "")]
    while stack:
        node, depth, condition = stack.pop()
        if condition:
            lines.append("|   " * (depth - 1) + "|--- " + condition)
        leaf = int(tree.leaf_of_node[node])
        if leaf >= 0:
            value = "" if known is None else f": {known[leaf]:.6g}"
            lines.append("|   " * depth + f"|--- leaf {leaf}{value}")
            continue
        yes, no = describe_split(tree, node)
        child = int(tree.left[node])
        stack += [(child + 1, depth + 1, no), (child, depth + 1, yes)]
    return "\n".join(lines)


def to_sklearn(tree: Partition, values: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> DecisionTreeRegressor:
    """Return a fitted scikit-learn regressor that predicts ``values[leaf]``.

    scikit-learn goes left on ``x <= t`` with float32 ``x``; here left is ``x < t``. So each threshold becomes
    the largest float32 below it, which makes the two the same on every float32 record. The tree expects
    records in the public ranges; inner nodes carry the mean of their leaves weighted by ``counts`` (default:
    all leaves equal), and the variance between their leaves as impurity.

    Raises
    ------
    HedgerowError
        If the tree has a categorical split: scikit-learn has no such thing.

    Examples
    --------
    >>> from hedgerow.space import FeatureSpace
    >>> from hedgerow.partition import grow
    >>> tree = grow("max_edge", FeatureSpace.from_bounds((0, 8), ["age"]), None, None, max_depth=1)
    >>> tree.to_sklearn([2.5, 7]).predict([[3.9], [4.0]]).tolist()
    [2.5, 7.0]
    """
    from sklearn.tree import DecisionTreeRegressor

    categorical = np.unique(tree.feature[tree.subset_offset >= 0])
    if categorical.size:
        names = [tree.space.names[j] for j in categorical]
        raise HedgerowError(
            f"to_sklearn cannot express the splits on the categorical columns {names}; "
            "one-hot encode them before the design, or use export_text."
        )
    known = check_leaf_values(tree, values)
    weights = np.ones(tree.n_leaves) if counts is None else check_leaf_values(tree, counts, "counts")
    # A real fit on two records gives every attribute this version of scikit-learn expects.
    corners = np.stack([np.zeros(len(tree.space)), np.ones(len(tree.space))])
    model = DecisionTreeRegressor(max_depth=max(tree.depth, 1)).fit(corners, [0.0, 1.0])
    model.tree_ = _sklearn_tree(model.tree_, tree, known, weights)
    return model


def _sklearn_tree(template: Any, tree: Partition, values: FloatArray, counts: FloatArray) -> Any:
    """Return a scikit-learn ``Tree`` with the nodes of ``tree``, made by its pickling interface."""
    from sklearn.tree._tree import Tree

    inner = tree.feature >= 0
    mean, variance, weight = node_means(tree, values, counts)
    upper = round_up(tree.threshold, np.float32).astype(np.float32)
    nodes = np.zeros(tree.n_nodes, dtype=template.__getstate__()["nodes"].dtype)
    nodes["left_child"] = np.where(inner, tree.left, -1)
    nodes["right_child"] = np.where(inner, tree.left + 1, -1)
    nodes["feature"] = np.where(inner, tree.feature, -2)
    nodes["threshold"] = np.where(inner, np.nextafter(upper, np.float32(-np.inf)), -2.0)
    nodes["impurity"] = variance
    nodes["n_node_samples"] = np.maximum(np.rint(weight), 0)
    nodes["weighted_n_node_samples"] = weight
    # Only ever a new Tree: setting the state of one that holds nodes writes past the end of its memory.
    target = Tree(len(tree.space), np.ones(1, dtype=np.intp), 1)
    target.__setstate__(
        {
            "max_depth": tree.depth,
            "node_count": tree.n_nodes,
            "nodes": nodes,
            "values": mean.reshape(-1, 1, 1),
        }
    )
    return target


def node_means(tree: Partition, values: FloatArray, counts: FloatArray) -> tuple[FloatArray, FloatArray, FloatArray]:
    """Return weighted mean and variance of the leaf values below each node, and the total weight.

    Noisy counts can be negative or zero: those leaves get no weight, and a node without weight counts its
    leaves equally.
    """
    leaf = tree.leaf_of_node
    ends = leaf >= 0
    weight = np.zeros(tree.n_nodes)
    mean = np.zeros(tree.n_nodes)
    variance = np.zeros(tree.n_nodes)
    weight[ends], mean[ends] = np.maximum(counts[leaf[ends]], 0), values[leaf[ends]]
    # Children come after their parent, so the last node first.
    for node in np.flatnonzero(~ends)[::-1].tolist():
        pair = slice(int(tree.left[node]), int(tree.left[node]) + 2)
        weight[node] = weight[pair].sum()
        share = weight[pair] / weight[node] if weight[node] > 0 else np.full(2, 0.5)
        mean[node] = share @ mean[pair]
        variance[node] = share @ (variance[pair] + (mean[pair] - mean[node]) ** 2)
    return mean, variance, weight
