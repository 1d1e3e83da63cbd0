"""The partition: a flat, immutable tree over the feature space, published and the same for everyone."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple, cast

import numpy as np
import numpy.typing as npt

from hedgerow.arrays import listed
from hedgerow.content import Content
from hedgerow.errors import BoundsError
from hedgerow.partition.structure import check_structure, leaf_numbers, node_levels
from hedgerow.partition.walk import ScalarWalk, Walk
from hedgerow.space import FeatureSpace
from hedgerow.types import BoolArray, FloatArray, IndexArray, Int32Array

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from sklearn.tree import DecisionTreeRegressor

__all__ = ["CellBounds", "Leaf", "Partition"]

# Up to these, rows are walked in plain Python, which needs no arrays set up; by hand.
_FEW_ROWS = 32
_FEW_VALUES = 4096


@dataclass(frozen=True)
class Leaf:
    """One cell, with the conditions that lead to it."""

    index: int
    node: int
    depth: int
    conditions: tuple[str, ...]


class CellBounds(NamedTuple):
    """The cells as boxes: ``low <= x < high`` (``<=`` at the public upper end) and allowed categories.

    ``low`` and ``high`` have one row a leaf; ``categories`` maps each categorical column to a mask with one
    row a leaf and one column a category.
    """

    low: FloatArray
    high: FloatArray
    categories: dict[int, BoolArray]


@dataclass(frozen=True, eq=False, repr=False)
class Partition(Content, what="partition", version=1):
    """A binary tree whose leaves are the cells ``A_1 .. A_L`` of the feature space.

    Inner node ``k`` sends a record ``x`` to ``left[k]`` if ``x[feature[k]] < threshold[k]``, else to
    ``left[k] + 1``. At a categorical split the record goes left if ``subsets[subset_offset[k] + code]``.

    Parameters
    ----------
    space : FeatureSpace
        The public schema; :meth:`apply` takes records encoded by it.
    feature : int32 array
        Column split at each node, -1 at leaves.
    threshold : float64 array
        Cut point; 0 at leaves and categorical splits.
    left : int32 array
        Left child, the right one follows it; a leaf is its own left child.
    subset_offset : int32 array
        Where the node's categories start in ``subsets``; -1 for numeric splits and leaves.
    subsets : bool array
        True for each category that goes left, one run a categorical split, in node order.

    Examples
    --------
    >>> space = FeatureSpace.from_bounds((0, 1), ["x"])
    >>> tree = Partition(space, [0, -1, -1], [0.5, 0, 0], [1, 1, 2], [-1, -1, -1], [])
    >>> tree.apply(np.array([[0.2], [0.5], [0.9]])).tolist()
    [0, 1, 1]
    >>> Partition.from_dict(tree.to_dict()) == tree
    True
    """

    space: FeatureSpace
    feature: Annotated[Int32Array, listed("<i4")]
    threshold: Annotated[FloatArray, listed("<f8")]
    left: Annotated[Int32Array, listed("<i4")]
    subset_offset: Annotated[Int32Array, listed("<i4")]
    subsets: Annotated[BoolArray, listed("?")]

    def __post_init__(self) -> None:
        for name, dtype in _ARRAYS.items():
            array: npt.NDArray[Any] = np.array(getattr(self, name), dtype=dtype).reshape(-1)
            # Adding 0.0 turns -0.0 into 0.0, so that equal trees have equal bytes.
            array = array + 0.0 if name == "threshold" else array
            array.setflags(write=False)
            object.__setattr__(self, name, array)
        check_structure(self.space, self.feature, self.threshold, self.left, self.subset_offset, self.subsets)

    def __reduce__(self) -> tuple[Any, ...]:
        # Walks stay behind: which of them were made tells how many records a tree was applied to.
        return Partition, tuple(getattr(self, field.name) for field in fields(self))

    @property
    def n_nodes(self) -> int:
        """Number of nodes, inner ones and leaves."""
        return len(self.feature)

    @property
    def n_leaves(self) -> int:
        """Number of cells."""
        return (self.n_nodes + 1) // 2

    @property
    def depth(self) -> int:
        """Largest number of splits on the way to a leaf."""
        return len(self._levels) - 1

    @cached_property
    def _levels(self) -> list[IndexArray]:
        return node_levels(self.feature, self.left)

    @cached_property
    def leaf_of_node(self) -> Int32Array:
        """Leaf index of each node, from left to right; -1 for inner nodes."""
        numbers = leaf_numbers(self.feature, self.left, self._levels)
        numbers.setflags(write=False)
        return numbers

    @cached_property
    def _walks(self) -> dict[str, Walk]:
        return {}

    @cached_property
    def _scalar(self) -> ScalarWalk:
        return ScalarWalk(self)

    def apply(self, Z: npt.NDArray[Any]) -> Int32Array:
        """Return the leaf index of each *encoded* record.

        ``Z`` is a finite matrix as :meth:`FeatureSpace.encode` makes it, float32 or float64, in any memory
        layout. Whatever the type, ``x < threshold`` is decided as if both were float64. Beyond the result
        only block-sized scratch memory is used.
        """
        Z = np.asarray(Z)
        if Z.ndim != 2 or Z.shape[1] != len(self.space) or Z.dtype.kind not in "fiub":
            raise BoundsError(
                f"'Z' must be a numeric matrix with {len(self.space)} columns, as space.encode(X) gives it. "
                f"Got shape {Z.shape} of type {Z.dtype} instead; for raw records use apply_raw(X)."
            )
        if len(Z) <= _FEW_ROWS and Z.size <= _FEW_VALUES:
            return np.array([self._scalar.row(row) for row in Z.tolist()], dtype=np.int32)
        return cast("Int32Array", self._walk(Z.dtype).rows(Z))

    def _walk(self, dtype: npt.DTypeLike) -> Walk:
        kind = "f4" if dtype == np.float32 else "f8"
        walk = self._walks.get(kind)
        if walk is None:
            walk = self._walks.setdefault(kind, Walk(self, kind))
        return walk

    def apply_raw(self, X: object) -> Int32Array:
        """Encode records (clipping them to the public ranges) and return their leaves."""
        if (
            isinstance(X, np.ndarray)
            and X.ndim == 2
            and X.shape[1] == len(self.space.columns) == len(self.space)
            and len(X) > _FEW_ROWS
        ):
            # Where clipping moves no record to another leaf, one pass checks and walks. What is wrong with a
            # record that is not finite, the encoder says.
            walk = self._walk(X.dtype)
            if X.dtype in (np.float32, np.float64) and walk.checks and walk.clips_nothing(self.space):
                leaves = walk.rows(X, check=True)
                if leaves is not None:
                    return leaves
        return self.apply(self.space.encode(X))

    def iter_leaves(self) -> Iterator[Leaf]:
        """Yield the leaves from left to right, each with its conditions in words.

        Examples
        --------
        >>> space = FeatureSpace.from_bounds((0, 1), ["x"])
        >>> tree = Partition(space, [0, -1, -1], [0.5, 0, 0], [1, 1, 2], [-1, -1, -1], [])
        >>> [leaf.conditions for leaf in tree.iter_leaves()]
        [('x < 0.5',), ('x >= 0.5',)]
        """
        from hedgerow.partition.export import describe_split

        stack: list[tuple[int, tuple[str, ...]]] = [(0, ())]
        while stack:
            node, path = stack.pop()
            if self.feature[node] < 0:
                yield Leaf(int(self.leaf_of_node[node]), node, len(path), path)
                continue
            yes, no = describe_split(self, node)
            child = int(self.left[node])
            stack += [(child + 1, (*path, no)), (child, (*path, yes))]

    def cell_bounds(self) -> CellBounds:
        """Return the box of each leaf, in leaf order.

        Examples
        --------
        >>> space = FeatureSpace.from_bounds((0, 1), ["x"])
        >>> tree = Partition(space, [0, -1, -1], [0.5, 0, 0], [1, 1, 2], [-1, -1, -1], [])
        >>> tree.cell_bounds().high.tolist()
        [[0.5], [1.0]]
        """
        from hedgerow.partition.cells import leaf_cells

        return CellBounds(*leaf_cells(self, self._levels))

    def subset(self, node: int) -> BoolArray:
        """Return which categories go left at a categorical split."""
        start = int(self.subset_offset[node])
        return self.subsets[start : start + int(self.space.n_categories[self.feature[node]])]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Partition):
            return NotImplemented
        return self.space == other.space and self._bytes() == other._bytes()

    def __hash__(self) -> int:
        return hash((self.space, self._bytes()))

    def _bytes(self) -> tuple[bytes, ...]:
        return tuple(getattr(self, name).tobytes() for name in _ARRAYS)

    def __repr__(self) -> str:
        return f"Partition(n_leaves={self.n_leaves}, depth={self.depth}, features={list(self.space.names)})"

    def export_text(self, values: npt.ArrayLike | None = None) -> str:
        """Return the tree as indented text, with one value a leaf if given."""
        from hedgerow.partition.export import export_text

        return export_text(self, values)

    def to_sklearn(self, values: npt.ArrayLike, counts: npt.ArrayLike | None = None) -> DecisionTreeRegressor:
        """Return a fitted scikit-learn tree with these leaf values; see :func:`.export.to_sklearn`."""
        from hedgerow.partition.export import to_sklearn

        return to_sklearn(self, values, counts)

    def plot(self, values: npt.ArrayLike | None = None, ax: Axes | None = None, **options: Any) -> Axes:
        """Draw the tree with Matplotlib; see :func:`.plot.plot_partition`."""
        from hedgerow.partition.plot import plot_partition

        return plot_partition(self, values, ax, **options)


_ARRAYS: dict[str, type] = {
    "feature": np.int32,
    "threshold": np.float64,
    "left": np.int32,
    "subset_offset": np.int32,
    "subsets": np.bool_,
}
