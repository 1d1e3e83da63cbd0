"""Cells in the words of the features: what the splits on the way to a leaf come to, feature by feature."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from hedgerow.features import CategoricalFeature
from hedgerow.partition.export import describe_split
from hedgerow.partition.tree import Partition
from hedgerow.portable import PortableModel, Trees
from hedgerow.space import FeatureSpace
from hedgerow.tasks.models import Node

__all__ = [
    "ADDED",
    "PREDICTION",
    "cell_rules",
    "in_words",
    "moved",
    "partition_node",
    "reports",
    "tree_nodes",
    "tree_rules",
]

PREDICTION = "the public prediction"
ADDED = "what is added to it so far"
Condition = tuple[str, str, Any]
"""A feature; one of ``< >= <= >`` with a number, or ``in`` with two tuples: categories, and all that there are."""


def reports(n: int) -> str:
    """Return a number of reports in words.

    >>> reports(1), reports(2000)
    ('1 report', '2,000 reports')
    """
    return f"{n:,} report" if n == 1 else f"{n:,} reports"


def in_words(conditions: Iterable[Condition]) -> str:
    """Return conditions that hold together, one a feature, in the order in which the features came up.

    Examples
    --------
    >>> in_words([("age", ">=", 10.0), ("sex", "in", (("F",), ("F", "M"))), ("age", ">=", 20.0), ("age", "<", 30.0)])
    '20 <= age < 30 and sex in {F}'
    >>> in_words([("heating", "in", (("coal", "gas"), ("coal", "gas", "pump")))])
    'heating not in {pump}'
    >>> in_words([])
    'everything'
    """
    low: dict[str, tuple[float, str]] = {}
    high: dict[str, tuple[float, str]] = {}
    listed: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {}
    names: list[str] = []
    for name, sign, bound in conditions:
        names.append(name)
        if sign == "in":
            some, every = bound
            before = listed.get(name, (some, every))[0]
            listed[name] = (tuple(c for c in before if c in some), every)
        elif sign in (">", ">="):
            # At one bound "x > b" says more than "x >= b".
            low[name] = max(low.get(name, (bound, sign)), (bound, sign), key=lambda end: (end[0], end[1] == ">"))
        else:
            high[name] = min(high.get(name, (bound, sign)), (bound, sign), key=lambda end: (end[0], end[1] == "<="))
    return " and ".join(_one(n, low.get(n), high.get(n), listed.get(n)) for n in dict.fromkeys(names)) or "everything"


def _one(
    name: str,
    low: tuple[float, str] | None,
    high: tuple[float, str] | None,
    listed: tuple[tuple[str, ...], tuple[str, ...]] | None,
) -> str:
    if listed is not None:
        some = listed[0]
        others = [c for c in listed[1] if c not in listed[0]]
        if len(others) < len(some):  # the shorter list is easier to read
            return f"{name} not in {{{', '.join(others)}}}"
        return f"{name} in {{{', '.join(some)}}}"
    if low is not None and high is not None:
        return f"{low[0]:.6g} {'<' if low[1] == '>' else '<='} {name} {high[1]} {high[0]:.6g}"
    bound, sign = low or high or (0.0, "")
    return f"{name} {sign} {bound:.6g}"


def cell_rules(partition: Partition) -> list[str]:
    """Return the rule of each leaf of a partition.

    Examples
    --------
    >>> from hedgerow.partition import grow
    >>> cell_rules(grow("max_edge", FeatureSpace.from_bounds((0, 8), ["age"]), None, None, max_depth=2))
    ['age < 2', '2 <= age < 4', '4 <= age < 6', 'age >= 6']
    """
    rules = [""] * partition.n_leaves
    paths: list[tuple[Condition, ...]] = [()] * partition.n_nodes
    for node in range(partition.n_nodes):  # children come after their parents
        column = int(partition.feature[node])
        leaf = int(partition.leaf_of_node[node])
        if leaf >= 0:
            rules[leaf] = in_words(paths[node])
            continue
        feature = partition.space.features[column]
        child = int(partition.left[node])
        cut = float(partition.threshold[node])
        sides: tuple[Condition, Condition] = ((feature.name, "<", cut), (feature.name, ">=", cut))
        if isinstance(feature, CategoricalFeature):
            sides = _sides(feature, partition.subset(node).tolist())
        paths[child], paths[child + 1] = ((*paths[node], side) for side in sides)
    return rules


def partition_node(tree: Partition) -> Node:
    """Return a partition as nested nodes, each leaf with its number.

    Examples
    --------
    >>> from hedgerow.partition import grow
    >>> root = partition_node(grow("max_edge", FeatureSpace.from_bounds((0, 8), ["age"]), None, None, max_depth=1))
    >>> [(child.condition, child.row) for child in root.children]
    [('age < 4', 0), ('age >= 4', 1)]
    """

    def build(node: int, condition: str) -> Node:
        if tree.feature[node] < 0:
            return Node(condition, row=int(tree.leaf_of_node[node]))
        first = int(tree.left[node])
        return Node(condition, tuple(build(first + i, side) for i, side in enumerate(describe_split(tree, node))))

    return build(0, "everyone")


def _sides(feature: CategoricalFeature, goes_left: Iterable[bool]) -> tuple[Condition, Condition]:
    chosen = list(zip(feature.categories, goes_left, strict=True))
    left, right = (tuple(c for c, is_left in chosen if is_left is side) for side in (True, False))
    every = feature.categories
    return (feature.name, "in", (left, every)), (feature.name, "in", (right, every))


def tree_rules(trees: Trees, base: PortableModel, space: FeatureSpace) -> list[list[str]]:
    """Return the rules of the leaves of each tree over a public model's design, its prediction, and what is added.

    Examples
    --------
    >>> import numpy as np
    >>> space = FeatureSpace.from_bounds((0, 8), ["age"])
    >>> base = PortableModel(1, [0], [-1], 0.0, ())
    >>> tree_rules(Trees([3, 3], [0, -1, -1, 1, -1, -1], [4.0, 0.5], np.zeros(4)), base, space)
    [['age <= 4', 'age > 4'], ['the public prediction <= 0.5', 'the public prediction > 0.5']]
    """
    return [[in_words(path) for path, feature in nodes if feature < 0] for nodes in _paths(trees, base, space)]


def tree_nodes(trees: Trees, base: PortableModel, space: FeatureSpace) -> tuple[Node, ...]:
    """Return these trees as nested nodes, leaves numbered through all of them."""
    found = []
    row = 0
    for t, nodes in enumerate(_paths(trees, base, space)):
        below: list[Node] = []  # children come after their parents, two by two: from the last node to the first
        row += sum(feature < 0 for _, feature in nodes)
        leaf = row
        for path, feature in reversed(nodes):
            condition = in_words(path[-1:]) if path else f"tree {t}"
            if feature < 0:
                leaf -= 1
                below.append(Node(condition, row=leaf))
            else:
                children = (below[1], below[0])
                below = below[2:]
                below.append(Node(condition, children))
        found.append(below[0])
    return tuple(found)


def moved(node: Node, by: int) -> Node:
    """Return a tree with its rows further down the table."""
    if node.row is not None:
        return Node(node.condition, row=node.row + by)
    return Node(node.condition, tuple(moved(child, by) for child in node.children))


def _paths(trees: Trees, base: PortableModel, space: FeatureSpace) -> list[list[tuple[tuple[Condition, ...], int]]]:
    """Return, for each tree, its nodes breadth first: the conditions on the way, and the column (-1 for a leaf)."""
    found = []
    thresholds = iter(trees.threshold.tolist())
    features = iter(trees.feature.tolist())
    for size in trees.sizes.tolist():
        paths: list[tuple[Condition, ...]] = [()]
        nodes = []
        for node in range(size):
            column = next(features)
            nodes.append((paths[node], column))
            if column >= 0:  # the children of the next inner node are the next two nodes
                paths += [(*paths[node], side) for side in _design_sides(base, space, column, next(thresholds))]
        found.append(nodes)
    return found


def _design_sides(base: PortableModel, space: FeatureSpace, column: int, cut: float) -> tuple[Condition, Condition]:
    """Return what a split of one column of the design says about the feature behind it."""
    if column >= len(base.column):
        name = PREDICTION if column == len(base.column) else ADDED
        return (name, "<=", cut), (name, ">", cut)
    feature = space.features[int(base.column[column])]
    code = int(base.code[column])
    if not isinstance(feature, CategoricalFeature):
        name = feature.name if code < 0 else f"[{feature.name} = {code}]"
        return (name, "<=", cut), (name, ">", cut)
    values = [k if code < 0 else int(k == code) for k in range(len(feature.categories))]
    return _sides(feature, [v <= cut for v in values])
