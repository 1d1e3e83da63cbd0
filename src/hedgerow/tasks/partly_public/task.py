"""The first round's task: send a noisy label, and the features that are yours to leave public."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar, Self, cast

import numpy as np
import numpy.typing as npt

from hedgerow.checks import check_epsilon
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.forms import Budget
from hedgerow.grid import LabelGrid, check_label_bounds, label_numbers
from hedgerow.guarantee import Guarantee
from hedgerow.mechanisms.gradual import GradualLaplace
from hedgerow.portable import PortableModel
from hedgerow.randomness import Randomness
from hedgerow.ranges import listed_columns
from hedgerow.space import FeatureSpace
from hedgerow.tasks.alarms import Detector, far_levels
from hedgerow.tasks.base import Drawn, Task
from hedgerow.tasks.designs import described
from hedgerow.tasks.options import Option, by_parameter
from hedgerow.tasks.partly_public.assist import Assist
from hedgerow.tasks.partly_public.design import DESIGN
from hedgerow.tasks.partly_public.first import FirstMessage, FirstReports
from hedgerow.tasks.partly_public.growing import RULES
from hedgerow.tasks.partly_public.masks import Masked
from hedgerow.tasks.question import LabelField, Question
from hedgerow.tasks.tree.bits import split_epsilon
from hedgerow.types import ByteRows, FloatArray, IntArray
from hedgerow.values import RULE

if TYPE_CHECKING:
    from hedgerow.schema import Schema
    from hedgerow.tasks.partly_public.cells import CellTask
    from hedgerow.tasks.picture import Panel
    from hedgerow.tasks.totals import KeptRows

__all__ = ["SemiTask"]

_ROUNDS = "two rounds about one record; the noisy label is drawn once and used in both, and one record answers once"


@dataclass(frozen=True)
class SemiTask(Masked, Task, what="semi-feature task", format="hedgerow/semi-task", version=2):
    """A question to holders who keep some of their features, and the label, private.

    Frozen; equal content means equal :attr:`id`. The second round's task, :class:`CellTask`, contains this one.

    Attributes
    ----------
    epsilon : float
        Budget of one holder for both rounds together.
    label_share : float
        The share rho of epsilon that protects the label; the cell gets the rest. 1 leaves nothing for cells: for
        partitions that cut no private feature.
    masks : {"policy", "personal", "hidden"}
        "policy": ``private`` lists the private columns, the same for everybody. "personal": each holder chooses and
        says so. "hidden": each holder chooses and does not say; all features are treated as private.
    private : tuple of str
        Private columns of a policy.
    assist : Assist or None
        A public model: its error takes the label's place, and ``grid`` is that of the clipped error.

    Examples
    --------
    >>> task = SemiTask.design(["age", "income"], epsilon=2.0, label_bounds=(0, 1), feature_bounds=(0, 1),
    ...                        private_columns=["income"])
    >>> task.masks, task.private, SemiTask.from_json(task.to_json()) == task
    ('policy', ('income',), True)
    """

    kind = "semi-first"
    designed = DESIGN
    in_words = "Some features public, first of two rounds"
    makes = "task"
    model_options: ClassVar[Mapping[str, Option]] = by_parameter(
        Option("rule", "how the tree grows (default: auto)", choices=("auto", *RULES)),
        Option("max_depth", "depth of the tree (default: 3 for cart, else 4)", "whole"),
        Option("n_bins", "bins of each histogram feature (default: 2)", "whole"),
        Option("n_private", "number of histogram features (default: auto)", "whole"),
        Option("response", "the message (default: k_ary)", choices=("k_ary", "bits")),
        Option("seed", "of random splits (they are public)", "seed", parameter="randomness"),
    )

    epsilon: Budget
    grid: LabelGrid
    space: FeatureSpace
    label_share: float = 0.5
    masks: str = "personal"
    private: tuple[str, ...] = ()
    target: str = "y"
    title: str = ""
    assist: Assist | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "epsilon", check_epsilon(self.epsilon))
        _split(self.epsilon, self.label_share)
        self._check_masks()
        _ = self.label  # refuses an epsilon too small for the label now rather than on the devices
        if self.assist is not None:
            if self.assist.public_model.n_columns != len(self.space):
                raise FormatError("the public model of this task does not fit its features.")
            if (self.grid.low, self.grid.high) != (-self.assist.radius, self.assist.radius):
                raise FormatError("the grid of this task must reach from -radius to radius of its public model.")

    @classmethod
    def design(  # noqa: PLR0913 - one keyword for each thing that is public
        cls,
        features: Sequence[str] | int | FeatureSpace | None = None,
        *,
        epsilon: float,
        label_bounds: object = None,
        feature_bounds: object = None,
        label_share: float = 0.5,
        private_columns: Sequence[str | int] | None = None,
        hide_mask: bool = False,
        n_steps: int | None = None,
        target: str = "y",
        title: str = "",
        public_model: PortableModel | None = None,
        residuals: npt.ArrayLike = (),
        schema: Schema | None = None,
    ) -> SemiTask:
        """Make a task from public facts only.

        ``private_columns`` fixes the mask by policy; without it each holder chooses, openly or (``hide_mask``) not.
        ``public_model`` is a public model to start from, with its out-of-fold ``residuals`` on public records.
        A ``schema`` says all about features and label; its units and questions go into the task.
        """
        if schema is not None:
            schema = described(schema, label_bounds=label_bounds, feature_bounds=feature_bounds)
            label_bounds = schema.label_bounds
            features = schema.space if features is None else features
            feature_bounds = schema.space
            target = cast("Any", schema.label).name if target == "y" else target
        if features is None:
            raise HedgerowError("'features' is required: the names of the columns, or a schema that has them.")
        bounds = check_label_bounds(label_bounds)
        space = features if isinstance(features, FeatureSpace) else FeatureSpace.from_bounds(feature_bounds, features)
        masks = "hidden" if hide_mask else "personal"
        names: tuple[str, ...] = ()
        if private_columns is not None and not hide_mask:
            masks = "policy"
            names = _names(space, private_columns)
        label = _split(check_epsilon(epsilon), float(label_share))[0]
        assist = None if public_model is None else Assist.choose(public_model, residuals, bounds, label)
        bounds = bounds if assist is None else (-assist.radius, assist.radius)
        grid = LabelGrid.for_epsilon(bounds, label) if n_steps is None else LabelGrid(*bounds, n_steps)
        made = cls(epsilon, grid, space, float(label_share), masks, names, target, title, assist)
        return made.following(schema)

    def counting(self, missing: float) -> Self:
        """Return the task in which a missing label counts as this one."""
        if self.assist is None:
            return replace(self, grid=replace(self.grid, missing=missing))
        return replace(self, assist=replace(self.assist, missing=missing))

    def labels(self, y: object, *, name: str = "y", n: int | None = None) -> FloatArray:
        """Return labels as numbers, missing ones as the task says."""
        return label_numbers(y, self.label_bounds, self.missing, name=name, n=n).astype(np.float64)

    def reported(self, Z: npt.ArrayLike, y: FloatArray) -> FloatArray:
        """Return what encoded records report: the label, or the public model's error."""
        return y if self.assist is None else self.assist.errors(Z, y)

    @property
    def epsilons(self) -> tuple[float, float]:
        """The budgets of the label and of the cell, for holders with something private; they sum to epsilon."""
        return _split(self.epsilon, self.label_share)

    @cached_property
    def label(self) -> GradualLaplace:
        """The label's noise: ``coarse`` with the label's share, ``fine`` with all of epsilon."""
        return GradualLaplace(self.epsilon, self.grid.n_steps, self.epsilons[0])

    @property
    def guarantee(self) -> Guarantee:
        """What both rounds together protect, from whom, and under which condition."""
        return Guarantee(
            epsilon=self.epsilon,
            protects="private features and label",
            trust="local",
            neighbours="replace",
            notes=(_ROUNDS, *self.conditions, RULE),
        )

    @property
    def label_bounds(self) -> tuple[float, float]:
        """Public bounds of the label itself; the grid may be that of a public model's error."""
        return (self.grid.low, self.grid.high) if self.assist is None else self.assist.label_bounds

    @property
    def missing(self) -> float:
        """What a missing label counts as; the grid may be that of a public model's error."""
        return self.grid.missing if self.assist is None else self.assist.missing

    def question(self) -> Question:
        """Return what is asked: the features, of which some are sent in clear, and the label."""
        label = LabelField(self.target, self.label_bounds, self.missing)
        return Question(self.space.columns, label, clear=self.clear, chooses=self.masks == "personal")

    @cached_property
    def encoding(self) -> FirstMessage:
        """The message."""
        return FirstMessage(self)

    @property
    def takes_mask(self) -> bool:
        """Masks are what the task is about."""
        return True

    @property
    def keeps(self) -> bool:
        """The labels as drawn, for the second round."""
        return True

    def encode(self, X: Any, y: Any) -> tuple[FloatArray, FloatArray]:
        """Return records in double precision, and labels."""
        Z = self.read_features(X)
        return Z, self.labels(y, n=len(Z))

    def draw(self, Z: Any, y: Any, source: Randomness, *, private: Any = None, kept: Any = None) -> Drawn:
        """Draw the labels of both rounds; see :func:`.holder.draw_first`."""
        from hedgerow.tasks.partly_public.holder import draw_first

        return draw_first(self, Z, y, private, source)

    def batch(self, tokens: ByteRows, payloads: ByteRows, simulation: bool = False, kept: Any = None) -> FirstReports:
        """Return rows as reports, with their columns."""
        return FirstReports(self, tokens, payloads, simulation, kept)

    def pledge(self, payloads: ByteRows) -> list[bytes]:
        """Return the noisy level of each report: the second round must send the same."""
        return [row[:4].tobytes() for row in payloads]

    def kept_from_bytes(self, data: bytes) -> Any:
        """Read what a device kept of the first round."""
        from hedgerow.tasks.partly_public.holder import Secrets

        return Secrets.from_bytes(self, data)

    def join_kept(self, parts: Sequence[Any]) -> Any:
        """Put together what devices kept of the first round."""
        from hedgerow.tasks.partly_public.holder import Secrets

        return Secrets.join(self, parts)

    def reopen(self, body: bytes, kept: bytes, record: Mapping[str, Any]) -> tuple[Any, Mapping[str, Any]]:
        """Return the secrets, and the record to answer the second round with.

        What was sent in clear counts as it was sent, whatever the record says now: no change makes a device silent.
        """
        sent = FirstReports.from_bytes(self, body)
        Z = sent.Z[0].tolist()
        columns = zip(self.space.columns, Z, sent.private[0].tolist(), strict=False)
        clear: dict[str, Any] = {f.name: f.decode(value) for f, value, private in columns if not private}
        for code, column in zip(Z[len(self.space.columns) :], self.space.told, strict=True):
            if code == 1:
                clear[self.space.inputs[column]] = None
        return self.kept_from_bytes(kept), {**record, **clear}

    def model(self, totals: KeptRows, **options: Any) -> CellTask:
        """Return the second round's task, grown from the reports; see :func:`.files.design_cells`."""
        from hedgerow.tasks.partly_public.files import design_cells

        return design_cells(FirstReports.of(totals.reports()), **options)

    def odds(self) -> list[str]:
        """Return what leaves in the first round."""
        from hedgerow.tasks.partly_public.words import first_odds

        return first_odds(self)

    def picture(self, payloads: ByteRows, Z: Any, y: Any, *, private: Any = None) -> tuple[Panel, ...]:
        """Return what could have been sent; see :mod:`hedgerow.tasks.partly_public.picture`."""
        from hedgerow.tasks.partly_public.picture import first_picture

        return first_picture(self, payloads, Z, y, private)

    def alarms(self) -> Detector:
        """Watch noisy labels far beyond their bounds.

        Holders whose cell is certain use less noise, so the tail of the coarse label bounds everybody's.
        """
        coarse = self.label.coarse

        def levels(rows: ByteRows) -> IntArray:
            return np.ascontiguousarray(rows[:, :4]).view("<u4")[:, 0].astype(np.int64) - coarse.reach

        return far_levels(coarse, levels)

    def __repr__(self) -> str:
        return f"SemiTask(id={self.id[:12]}..., epsilon={self.epsilon:g}, masks={self.masks!r}, d={len(self.space)})"


def _split(epsilon: float, share: float) -> tuple[float, float]:
    if not 0 < share <= 1:
        raise HedgerowError(f"The 'label_share' parameter must be in (0, 1]. Got {share!r} instead.")
    return (epsilon, 0.0) if share == 1 else split_epsilon(epsilon, share)


def _names(space: FeatureSpace, columns: Sequence[str | int]) -> tuple[str, ...]:
    return tuple(listed_columns(columns, space.inputs, "private_columns"))
