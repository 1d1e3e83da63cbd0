"""The task a curator publishes: everything a holder needs, and nothing that is private."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np

from hedgerow.checks import check_epsilon
from hedgerow.classes import OBSERVED, check_public_classes
from hedgerow.errors import FormatError, HedgerowError, shown
from hedgerow.features import CategoricalFeature, category_name
from hedgerow.forms import Budget
from hedgerow.grid import LabelGrid, check_label_bounds, check_labels, check_public_range, label_column, middle
from hedgerow.guarantee import Guarantee
from hedgerow.partition import grow
from hedgerow.partition.tree import Partition
from hedgerow.randomness import Randomness, as_randomness
from hedgerow.ranges import listed_columns
from hedgerow.space import FeatureSpace
from hedgerow.tasks.alarms import Detector
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.class_labels import check_class_grid, class_levels
from hedgerow.tasks.designs import described
from hedgerow.tasks.influence import LeafForgery
from hedgerow.tasks.options import Option, by_parameter
from hedgerow.tasks.question import LabelField, Question
from hedgerow.tasks.tree.bits import BitsEncoding, split_epsilon
from hedgerow.tasks.tree.cells import KaryEncoding, SubsetEncoding, UnaryCellEncoding
from hedgerow.tasks.tree.design import DESIGN
from hedgerow.tasks.tree.encoding import Encoding
from hedgerow.tasks.tree.public import PublicLeaves
from hedgerow.tasks.tree.tuning import RESPONSES, resolve
from hedgerow.types import ByteRows, RealArray
from hedgerow.values import RULE

if TYPE_CHECKING:
    from hedgerow.schema import Schema
    from hedgerow.tasks.picture import Panel
    from hedgerow.tasks.totals import Totals
    from hedgerow.tasks.tree.model import TreeModel

__all__ = ["RESPONSES", "LocalTask", "PublicLeaves"]

_CELLS = {c.response: c for c in (UnaryCellEncoding, KaryEncoding, SubsetEncoding)}


@dataclass(frozen=True)
class LocalTask(Task, what="local task", format="hedgerow/local-task", version=2):
    """A question to data holders: which leaf are you in, and what is your label, under local privacy.

    Frozen; equal content means equal :attr:`id`. Use :meth:`design` to make one from public data.

    Attributes
    ----------
    epsilon : float
        Budget of one report about the whole record (features and label together).
    response : {"bits", "unary", "k_ary", "subset"}
        The message: the paper's flipped bits and noisy label, or one categorical report of (leaf, level).
    cell_share : float
        For ``"bits"``: the share rho of epsilon that protects the leaf; the label gets the rest.
    grid : LabelGrid
        Public label bounds and grid.
    partition : Partition
        The published tree, with the public feature ranges and categories.
    public : PublicLeaves or None
        Public counts and means by leaf, where there was public data.
    classes : tuple of str or None
        Public class names, for classification: the label is a class and levels are its position.
    observed : bool
        Whether the classes were read off private labels; the guarantee then says so.

    Examples
    --------
    >>> import numpy as np
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 2)); y = X[:, 0]
    >>> task = LocalTask.design(X, y, epsilon=2.0, label_bounds=(0, 1), max_depth=2, rule="max_edge",
    ...                         min_samples_leaf=20, response="bits", cell_share=0.5)
    >>> task.n_leaves, task.response
    (4, 'bits')
    >>> LocalTask.from_json(task.to_json()) == task
    True
    """

    kind = "local"
    designed = DESIGN
    in_words = "Private features and label"
    model_options: ClassVar[Mapping[str, Option]] = by_parameter(
        Option(
            "fallback",
            "what public labels add: weighed by precision, only where reports are too few, or nothing "
            "(default: none with the response bits, else blend)",
            choices=("blend", "public", "none"),
        )
    )

    epsilon: Budget
    grid: LabelGrid
    partition: Partition
    response: str = "bits"
    cell_share: float = 0.5
    public: PublicLeaves | None = None
    target: str = "y"
    title: str = ""
    classes: tuple[str, ...] | None = None
    observed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        if self.response not in RESPONSES:
            raise HedgerowError(
                f"The 'response' parameter must be one of {list(RESPONSES)}. Got {self.response!r} instead."
            )
        object.__setattr__(self, "cell_share", float(self.cell_share))
        split_epsilon(self.epsilon, self.cell_share)
        if self.classes is not None:
            check_class_grid(self.classes, self.grid)
            if self.response == "bits":
                raise FormatError("a task with classes needs a categorical response, not 'bits'.")
        if self.public is not None:
            lengths = {len(self.public.count), len(self.public.mean), len(self.public.sd)}
            if lengths != {self.partition.n_leaves}:
                raise FormatError("the public summary does not have one entry for each leaf of the partition.")
        _ = self.encoding  # refuses an epsilon too small for the message now rather than on the devices

    @classmethod
    def design(  # noqa: PLR0913 - one keyword for each thing that is public
        cls,
        X_public: object = None,
        y_public: object = None,
        *,
        epsilon: float,
        label_bounds: object = None,
        classes: Sequence[object] | None = None,
        rule: str = "auto",
        max_depth: int | str = "auto",
        min_samples_leaf: int | str = "auto",
        cell_share: float | str = "auto",
        response: str = "auto",
        n_steps: int | None = None,
        n_holders: int | None = None,
        blend: bool | None = None,
        feature_bounds: object = None,
        categorical_features: Sequence[int | str] | None = None,
        categories: Mapping[str, Sequence[object]] | None = None,
        features: Sequence[str] | int | None = None,
        target: str = "y",
        title: str = "",
        random_state: object = None,
        schema: Schema | None = None,
    ) -> LocalTask:
        """Grow a partition on public records and make a task of it.

        Whatever is ``"auto"`` is chosen by predicted error from the public records and the noise that ``n_holders``
        holders (by default ten for each public record) would leave, see :mod:`hedgerow.tasks.tree.tuning`; the
        paper's settings are :data:`hedgerow.tasks.tree.tuning.PAPER`. ``blend`` says whether the model will weigh
        public means against reports, or use reports alone: by default as :meth:`model` does, so not if ``response`` is
        "bits" by name. Without public records pass ``features`` (names or their number) and ``feature_bounds``: the
        partition is then fixed in advance. A ``schema`` says all about features and label, in the place of their
        bounds and lists; its units and questions go into the task. Nothing here may be private.
        """
        if schema is not None:
            schema = described(
                schema,
                feature_bounds=feature_bounds,
                label_bounds=label_bounds,
                classes=classes,
                categories=categories,
                categorical_features=categorical_features,
            )
            feature_bounds = schema.space
            label_bounds = schema.label_bounds
            classes = schema.classes
            features = schema.names if features is None else features
            target = cast("Any", schema.label).name if target == "y" else target
        epsilon = check_epsilon(epsilon)
        names = class_names(classes, y_public)
        bounds = check_label_bounds(label_bounds) if names is None else (0.0, len(names) - 1.0)
        if X_public is None:
            space = _without_public(feature_bounds, features, categorical_features, categories)
            Z = None
            y = None
            if y_public is not None:
                raise HedgerowError("'X_public' is required with 'y_public': the records of the public labels.")
        else:
            space = FeatureSpace.from_public(
                X_public,
                feature_bounds=feature_bounds,
                categorical_features=categorical_features,
                categories=categories,
            )
            if y_public is None:
                raise HedgerowError("'y_public' is required with 'X_public': the labels of the public records.")
            Z = space.encode(X_public)
            if not len(Z):
                raise HedgerowError("Found 0 sample(s) in 'X_public' while a minimum of 1 is required.")
            labels = _public_labels(names, target, y_public, len(Z))
            if names is None:
                check_public_range(labels, bounds)
            y = np.clip(labels, *bounds)
        if names is not None:
            n_steps = len(names) - 1
        plan = resolve(
            space, Z, y, epsilon=epsilon, bounds=bounds, n_holders=n_holders, rule=rule, max_depth=max_depth,
            min_samples_leaf=min_samples_leaf, cell_share=cell_share, response=response, n_steps=n_steps,
            by_class=names is not None, blend=response != "bits" if blend is None else blend,
        )  # fmt: skip
        partition = grow(
            plan.rule,
            space,
            Z,
            y if names is None or y is None else np.eye(len(names))[y.astype(np.int64)],
            max_depth=plan.max_depth,
            min_samples_leaf=plan.min_samples_leaf,
            randomness=as_randomness(random_state),
        )
        public = None
        if Z is not None:
            n_classes = 0 if names is None else len(names)
            public = PublicLeaves.summarise(partition.apply(Z), y, partition.n_leaves, n_classes)
        message = plan.message
        missing = middle(*bounds, None if names is None else 0.0, "the label")  # the first class
        grid = LabelGrid(*bounds, message.n_steps, missing)
        made = cls(epsilon, grid, partition, message.response, message.cell_share, public, target, title, names)
        return made.following(schema)

    def counting(self, missing: float) -> Self:
        """Return the task in which a missing label counts as this one; of classes, as that in this place."""
        return replace(self, grid=replace(self.grid, missing=missing))

    @cached_property
    def encoding(self) -> Encoding:
        """The message, with its mechanisms."""
        if self.response == "bits":
            return BitsEncoding(self.epsilon, self.n_leaves, self.grid.n_steps, self.cell_share)
        return _CELLS[self.response](self.epsilon, self.n_leaves, self.grid.n_steps)

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> RealArray:
        """Return labels as numbers, classes as their position in :attr:`classes`; unknown ones by the grid's rule."""
        if self.classes is None:
            return self.grid.labels(y, name=name, n=n)
        return class_levels(self.target, self.classes, self.grid, y, name=name, n=n)

    @property
    def space(self) -> FeatureSpace:
        """The public schema of the features."""
        return self.partition.space

    @property
    def n_leaves(self) -> int:
        """Number of leaves."""
        return self.partition.n_leaves

    @property
    def label_bounds(self) -> tuple[float, float]:
        """Public label bounds."""
        return self.grid.low, self.grid.high

    @property
    def guarantee(self) -> Guarantee:
        """What one report protects, and from whom."""
        observed = (OBSERVED,) if self.observed else ()
        return Guarantee(
            epsilon=self.epsilon,
            protects="record",
            trust="local",
            neighbours="replace",
            notes=("one report a person; every further report spends epsilon again", RULE, *observed),
        )

    def question(self) -> Question:
        """Return what is asked: the features and the label."""
        return Question(self.space.columns, LabelField(self.target, self.label_bounds, self.grid.missing, self.classes))

    def odds(self) -> list[str]:
        """Return what is done to a record, by the response."""
        from hedgerow.tasks.tree.words import odds

        return odds(self)

    def picture(self, payloads: ByteRows, Z: Any, y: Any, *, private: Any = None) -> tuple[Panel, ...]:
        """Return what could have been sent; see :mod:`hedgerow.tasks.tree.picture`."""
        from hedgerow.tasks.tree.picture import picture

        return picture(self, payloads, Z, y)

    def alarms(self) -> Detector:
        """Return what looks for forged reports, by the response."""
        return self.encoding.alarms()

    def influence(self) -> LeafForgery:
        """Return the most that one forged report can do to a leaf."""
        return LeafForgery(self.grid, *self.encoding.extremes(), numeric=self.classes is None)

    def model(self, totals: Totals, *, fallback: str | None = None) -> TreeModel:
        """Return the model that totals make.

        ``fallback`` says what public labels add, see :class:`.TreeModel`; by default nothing with the paper's report
        ("bits": its estimator as printed), a blend by precision with any other.
        """
        from hedgerow.tasks.tree.model import make_model

        if fallback is None:
            fallback = "none" if self.response == "bits" else "blend"
        return make_model(self, totals.n_reports, tuple(totals.sums.tolist()), totals.simulation, fallback)

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Randomise the leaf and the level of encoded records."""
        from hedgerow.tasks.tree.holder import payloads

        return Drawn(payloads(self, Z, y, source))

    def _simulate(self, X: Any, y: Any, source: Randomness, private: Any, kept: Any) -> Totals:
        """Draw the totals of holders with these records, at O(n + cells): see :mod:`hedgerow.tasks.tree.simulate`."""
        from hedgerow.tasks.tree.simulate import simulate_aggregate

        return simulate_aggregate(self, X, y, source)

    def __repr__(self) -> str:
        low, high = self.label_bounds
        values = f"[{low:g}, {high:g}]" if self.classes is None else f"{len(self.classes)} classes"
        return (
            f"LocalTask(id={self.id[:12]}..., epsilon={self.epsilon:g}, response={self.response!r}, "
            f"leaves={self.n_leaves}, label={self.target!r} in {values})"
        )


def class_names(classes: object, y_public: object) -> tuple[str, ...] | None:
    """Return class names: given, or ``"public"``: those of the public labels; None for a numeric label."""
    if classes is None:
        return None
    if isinstance(classes, str):
        if classes != "public" or y_public is None:
            raise HedgerowError(
                f"The 'classes' parameter must be a list of class names, or 'public' with public labels. "
                f"Got {shown(classes)} instead: classes are never read from private labels."
            )
        classes = np.unique(np.asarray(y_public))
    names = tuple(category_name(c) for c in cast("Sequence[object]", classes))
    if len(set(names)) != len(names) or len(names) < 2:
        raise HedgerowError(f"'classes' must name at least 2 distinct classes. Got {shown(list(names))} instead.")
    return names


def _public_labels(classes: tuple[str, ...] | None, target: str, y: object, n: int) -> RealArray:
    """Return *public* labels as numbers, or the codes of classes; one that is none of them is refused."""
    if classes is None:
        return check_labels(y, name="y_public", n=n)
    column = label_column(y, "y_public", n)
    check_public_classes(column, classes)
    return CategoricalFeature(target, classes).codes(column)


def _without_public(
    feature_bounds: object,
    features: Sequence[str] | int | None,
    categorical_features: Sequence[int | str] | None,
    categories: Mapping[str, Sequence[object]] | None,
) -> FeatureSpace:
    """Return the schema when there is no public data: ranges and category lists must be given."""
    space = FeatureSpace.from_bounds(feature_bounds, 1 if features is None else features, categories=categories)
    chosen = set(listed_columns(categorical_features, space.inputs, "categorical_features"))
    listed = {name for name, is_list in zip(space.names, space.is_categorical, strict=True) if is_list}
    if chosen - listed:
        raise HedgerowError(
            f"'categories' is required without public data for the columns {sorted(chosen - listed)}: pass "
            "categories={column: [names]}. They are never read from private records."
        )
    return space
