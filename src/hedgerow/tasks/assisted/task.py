"""The task of model-assisted learning: the public model, the trees, and how to report a residual."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Annotated, Any, Self, cast

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.forms import Budget, Form, from_base64, to_base64
from hedgerow.grid import LARGEST, SMALLEST, LabelGrid, check_label_bounds, label_numbers, middle
from hedgerow.guarantee import Guarantee
from hedgerow.portable import PortableModel, Trees
from hedgerow.randomness import Randomness
from hedgerow.space import FeatureSpace
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.assisted.design import DESIGN
from hedgerow.tasks.assisted.influence import AssistedForgery
from hedgerow.tasks.assisted.message import RANDOMIZERS, AssistedMessage
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.question import LabelField, Question
from hedgerow.tasks.records import for_each
from hedgerow.types import ByteRows, FloatArray
from hedgerow.values import RULE

if TYPE_CHECKING:
    from hedgerow.tasks.assisted.model import AssistedModel
    from hedgerow.tasks.picture import Panel
    from hedgerow.tasks.totals import Totals

__all__ = ["AssistedTask", "LeafNumbers", "PublicTrees", "leaf_numbers"]

_ROUNDED = 1e-6  # that a sum of up to 4096 shares may be off by; rounding alone makes less than 1e-12


def _write_trees(trees: Trees) -> str:
    d = trees.n_features
    return to_base64(PortableModel(d, np.arange(d), np.full(d, -1), 0.0, (trees,)).to_bytes())


def _read_trees(value: Any) -> Trees:
    parts = PortableModel.from_bytes(from_base64(value)).parts
    if len(parts) != 1 or not isinstance(parts[0], Trees):
        raise FormatError("'trees' of this task are not trees.")
    return parts[0]


def _write_leaves(leaves: npt.NDArray[np.integer]) -> str:
    return to_base64(leaves.tobytes())


def leaf_numbers(given: Any, trees: Trees) -> npt.NDArray[np.integer]:
    """Return the numbers of leaves, a row for each record, in one byte each or two; from bytes or an array."""
    kind = np.dtype("u1" if max(trees.n_leaves) <= 256 else "<u2")
    if isinstance(given, bytes):
        return np.frombuffer(given, kind).reshape(-1, len(trees.sizes))
    return np.asarray(given).astype(kind)


PublicTrees = Annotated[Trees, Form(_write_trees, _read_trees)]
"""Trees as a task holds them."""
LeafNumbers = Annotated[npt.NDArray[np.integer], Form(_write_leaves, from_base64)]
"""Numbers of leaves as a task holds them; :func:`leaf_numbers` gives the bytes their shape."""


@dataclass(frozen=True, eq=False)
class AssistedTask(Task, what="assisted task", format="hedgerow/assisted-task", version=3):
    """A question to holders: the leaf in a tree drawn at random, and how wrong the public model is there.

    Frozen; equal content means equal :attr:`id`. Make one with :func:`hedgerow.local.assisted.design_assisted`.

    Attributes
    ----------
    epsilon : float
        Budget of one report about the whole record.
    label_bounds : (low, high)
        Public range of the label; labels outside are clipped by the holder, predictions by everyone.
    space : FeatureSpace
        Public ranges and categories.
    public_model : PortableModel
        The public model.
    trees : Trees
        Partitions of (design of the record, public prediction); the values of their leaves are the public shares.
    radius : float
        Residuals are clipped to ``[-radius, radius]``.
    randomizer, parameter : {"subset", "levels"}, int
        The joint randomiser of (leaf, residual), with the size of its subsets or its number of levels.
    residuals : Residuals
        Summary of public residuals.
    busy : tuple of float
        For every leaf, tree by tree: public share of its records whose residual rounds to another level than 0 (1 for
        ``"subset"``, which has no level 0).
    reference : array of shape (rows, trees)
        Leaves of rows like the public ones; the curator needs it to know which leaves overlap, holders do not.
    missing : float
        What a missing label counts as; by default the middle of the bounds.
    """

    kind = "assisted"
    designed = DESIGN
    in_words = "Private features and label, on top of a public model"

    epsilon: Budget
    label_bounds: tuple[float, float]
    space: FeatureSpace
    public_model: PortableModel
    trees: PublicTrees
    radius: float
    randomizer: str
    parameter: int
    residuals: Residuals
    busy: tuple[float, ...]
    reference: LeafNumbers
    target: str = "y"
    missing: float = cast("float", None)

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        object.__setattr__(self, "label_bounds", check_label_bounds(self.label_bounds))
        object.__setattr__(self, "missing", middle(*self.label_bounds, self.missing, "the label"))
        object.__setattr__(self, "radius", float(self.radius))
        if not SMALLEST <= self.radius <= LARGEST:  # so that an error over the radius is finite
            raise HedgerowError(f"The 'radius' parameter must be in 1e-100 .. 1e100. Got {self.radius!r} instead.")
        if self.randomizer not in RANDOMIZERS:
            raise HedgerowError(
                f"The 'randomizer' parameter must be one of {list(RANDOMIZERS)}. Got {self.randomizer!r} instead."
            )
        if self.public_model.n_columns != len(self.space) or self.trees.n_features > len(self.public_model.column) + 1:
            raise FormatError("the public model and the trees of this task do not fit its features.")
        if not all(abs(sum(p) - 1) < _ROUNDED and min(p) > 0 for p in self.shares):
            raise FormatError("the leaves of each tree of this task must have public shares that add up to 1.")
        if len(self.busy) != len(self.trees.value) or not all(0 < b <= 1 for b in self.busy):
            raise FormatError("'busy' must be a share above 0 for each leaf of this task.")
        object.__setattr__(self, "reference", leaf_numbers(self.reference, self.trees))
        fits = self.reference.ndim == 2 and self.reference.shape[1] == len(self.trees.sizes) and len(self.reference)
        if not fits or (self.reference >= np.array(self.trees.n_leaves)).any():
            raise FormatError("'reference' must name a leaf of each tree of this task, in one row or more.")
        _ = self.encoding  # refuses what cannot be reported now rather than on the devices

    @cached_property
    def shares(self) -> tuple[FloatArray, ...]:
        """Public shares of the leaves of each tree."""
        ends = np.cumsum(self.trees.n_leaves)
        return tuple(np.split(self.trees.value, ends[:-1]))

    @cached_property
    def encoding(self) -> AssistedMessage:
        """The message, with its randomisers."""
        return AssistedMessage(self.epsilon, self.trees.n_leaves, self.randomizer, self.parameter)

    @property
    def grid(self) -> LabelGrid:
        """Levels of the clipped residual over the radius."""
        return LabelGrid(-1.0, 1.0, self.encoding.n_levels - 1)

    def counting(self, missing: float) -> Self:
        """Return the task in which a missing label counts as this one."""
        return replace(self, missing=missing)

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> FloatArray:
        """Return labels, clipped to the bounds; missing ones as the task says."""
        labels = label_numbers(y, self.label_bounds, self.missing, name=name, n=n)
        return np.clip(labels.astype(np.float64), *self.label_bounds)

    def place(self, Z: npt.ArrayLike) -> tuple[FloatArray, npt.NDArray[np.int64]]:
        """Return the public prediction of encoded records, and their leaf in every tree."""
        g = self.public_model.predict_within(Z, self.label_bounds)
        return g, self.trees.apply(np.column_stack([self.public_model.design(Z), g]))

    def inputs(self, Z: npt.ArrayLike, y: FloatArray) -> tuple[npt.NDArray[np.int64], FloatArray]:
        """Return what is randomised: the leaf in every tree, and the error over the radius (not clipped yet)."""
        g, leaf = self.place(Z)
        return leaf, (y - g) / self.radius

    @property
    def guarantee(self) -> Guarantee:
        """What one report protects, and from whom."""
        notes = ("one report a person; every further report spends epsilon again", RULE)
        return Guarantee(epsilon=self.epsilon, protects="record", trust="local", neighbours="replace", notes=notes)

    def question(self) -> Question:
        """Return what is asked: the features and the label."""
        return Question(self.space.columns, LabelField(self.target, self.label_bounds, self.missing))

    def odds(self) -> list[str]:
        """Return what is done to a record, by the randomiser."""
        from hedgerow.tasks.assisted.words import odds

        return odds(self)

    def picture(self, payloads: ByteRows, Z: Any, y: Any, *, private: Any = None) -> tuple[Panel, ...]:
        """Return what could have been sent; see :mod:`hedgerow.tasks.assisted.picture`."""
        from hedgerow.tasks.assisted.picture import picture

        return picture(self, payloads, Z, y)

    def alarms(self) -> Detector:
        """Watch which trees, leaves and signs are named."""
        return self.encoding.alarms()

    def influence(self) -> AssistedForgery:
        """Return the most that one forged report can do to a correction."""
        return AssistedForgery(self)

    def model(self, totals: Totals, **options: Any) -> AssistedModel:
        """Return the public model, corrected as far as these totals carry evidence."""
        from hedgerow.tasks.assisted.model import AssistedModel

        return AssistedModel(self, totals.n_reports, tuple(totals.sums.tolist()), totals.simulation, **options)

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Randomise the leaf and the error of encoded records, in a tree drawn at random."""
        leaf, error = for_each(self, self.inputs, Z, y)
        return Drawn(self.encoding.draw(leaf, self.grid.levels(error, source), source))

    def __repr__(self) -> str:
        return (
            f"AssistedTask(id={self.id[:12]}..., epsilon={self.epsilon:g}, {len(self.shares)} trees of up to "
            f"{max(self.trees.n_leaves)} leaves, {self.encoding.joint[0].name}, radius={self.radius:.3g}, "
            f"{self.public_model})"
        )
