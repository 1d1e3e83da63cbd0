"""The model of one round: a public model, and corrections over the public features. All post-processing.

Corrections read what :meth:`ResidualTask.inputs` has: values that people showed, the public prediction where all of
them did, and the group of private values where it was told.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.partition.tree import Partition
from hedgerow.portable import PortableModel
from hedgerow.tasks.intervals import Ends, cut, holding, widened
from hedgerow.tasks.leaves import LeafModel
from hedgerow.tasks.models import About
from hedgerow.tasks.partly_public.masks import MASK_WORDS
from hedgerow.tasks.partly_public.residual import ResidualTask
from hedgerow.tasks.rules import reports
from hedgerow.tasks.tree.encoding import Moments
from hedgerow.tasks.tree.estimates import LeafEstimates
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.formula import Formula, Term
    from hedgerow.formula.anatomy import Anatomy
    from hedgerow.tasks.forecast import Forecast

__all__ = ["CorrectedModel"]

_MOMENTS = ("numerator", "denominator", "var_n", "cov", "var_d")


@dataclass(frozen=True)
class CorrectedModel(LeafModel, what="corrected model", format="hedgerow/corrected-model", version=1):
    r"""Public model plus corrections over the public features: ``clip(g(x) + c(x_public))``.

    Where groups of private values were told with the error, corrections depend on the record's group as well.

    Corrections are learnt from noisy errors by whatever predicts those of others best; they are nothing where the
    reports carry no evidence against the public model. To be told and to have intervals, people are grouped by a small
    tree over the public features. It was grown from one half of the reports, and what is said of the groups is from the
    other: no group was chosen for its noise.

    Attributes
    ----------
    task : ResidualTask
        The published task.
    correction : PortableModel
        What is added to the public model, over the inputs of corrections (``task.inputs``).
    groups : Partition
        The groups.
    values : tuple of tuples of float
        By group: sum of noisy errors (in steps), number of people, and their variances and covariance.
    added : tuple of float
        The mean correction of the people of each group.
    """

    unit = "groups"
    gained = "share of the differences between groups"

    task: ResidualTask
    n_reports: int
    correction: PortableModel
    groups: Partition
    values: tuple[tuple[float, ...], ...]
    added: tuple[float, ...]
    simulation: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.groups.space != self.task.space or self.correction.n_columns != len(self.task.space) + 2:
            raise FormatError("the corrections or groups of this model are over other features than its task.")
        lengths = {len(column) for column in (*self.values, self.added)}
        if len(self.values) != len(_MOMENTS) or lengths != {self.groups.n_leaves}:
            raise FormatError("the model's estimates do not fit its groups.")

    @property
    def partition(self) -> Partition:
        """The groups."""
        return self.groups

    @cached_property
    def leaves(self) -> LeafEstimates:
        """Estimates for every group, of noisy errors."""
        moments = Moments(*(np.array(v) for v in self.values))
        return LeafEstimates(self.task.grid, moments, self.n_reports)

    @property
    def leaf_values(self) -> FloatArray:
        """What is added to the public model in each group, on average."""
        return np.array(self.added)

    @property
    def corrects(self) -> bool:
        """Whether anything is added to the public model."""
        return bool(self.correction.parts) or self.correction.intercept != 0

    def _parts(self, X: object) -> tuple[FloatArray, FloatArray]:
        """Return public predictions, and predictions."""
        Z = self.task.space.encode(X)
        inputs = self.task.inputs(Z)
        g = inputs[:, len(self.task.space)]
        added = np.nan_to_num(self.correction.predict(inputs))
        return g, np.clip(g + added, *self.task.label_bounds)

    def predict(self, X: object) -> FloatArray:
        """Predict labels."""
        return self._parts(X)[1]

    def predict_public(self, X: object) -> FloatArray:
        """Predict with the public model alone."""
        return self._parts(X)[0]

    def formula(self) -> Formula:
        """Return the public model, and what is added to it."""
        from hedgerow.formula.terms import records

        return replace(super().formula(), value=self._terms(records())[2])

    def _terms(self, rows: Term) -> tuple[Term, Term, Term]:
        """Return the public prediction, what is added to it, and the prediction, as terms."""
        from hedgerow.formula.portable import design_term, portable_term, within
        from hedgerow.formula.terms import join
        from hedgerow.formula.trees import tree_sum

        bounds = self.task.label_bounds
        model = self.task.assist.public_model
        public = within(portable_term(model, design_term(model, rows)), bounds)
        group = public * 0.0
        if self.task.cells is not None:
            group = tree_sum(rows, [self.task.cells], [np.arange(self.task.n_cells, dtype=np.float64)])
        everything = join(rows.pick(range(len(self.task.space))), public, group)
        added = portable_term(self.correction, design_term(self.correction, everything))
        return public, added, (public + added).clip(*bounds)

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return the public prediction, what is added to it, and the group of a record."""
        from hedgerow.formula.anatomy import Part, holding_term
        from hedgerow.formula.terms import join, records

        found = super().anatomy(level)
        (group,) = found.parts
        public, added, value = self._terms(records())
        assert found.ends is not None
        ends = (join(public, public) + found.ends).clip(*self.task.label_bounds)
        return replace(
            found,
            formula=replace(found.formula, value=value),
            parts=(Part("public model", public, start=True), replace(group, name="correction", value=added)),
            ends=holding_term(ends.pick([0]), ends.pick([1]), value),
            covers="the public prediction plus its average error over the people whose records are in the same group",
        )

    def reports_ends(self, level: float) -> Ends:
        """Return an interval for the mean error of the public model in each group, from the reports alone."""
        return self.task.reading.in_units(self.leaves.interval(level))

    def ends(self, level: float) -> Ends:
        """Return the same, believing that groups stray from public errors as far as reports tell."""
        return holding(self.task.reading.believed(self.leaves, level), self.leaf_values)

    def predict_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the public prediction plus its mean error among the people of the record's group.

        The interval holds the prediction and is cut to the label bounds.
        """
        low, high = super().predict_interval(X, level)
        g, predicted = self._parts(X)
        return holding(cut((g + low, g + high), self.task.label_bounds), predicted)

    def reports_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the same from the reports alone."""
        low, high = super().reports_interval(X, level)
        g = self._parts(X)[0]
        return cut((g + low, g + high), self.task.label_bounds)

    def predict_label_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the label of each record, which strays from that as public errors do."""
        ends = self.predict_interval(X, level)
        spread = self.task.assist.residuals.spread(level)
        return cut(widened(ends, self.predict(X), *spread), self.task.label_bounds)

    @property
    def value_name(self) -> str:
        """What the people of a group get added to the public prediction, on average."""
        return "correction"

    @property
    def value_bounds(self) -> tuple[float, float]:
        """The mean errors that the grid stands for."""
        ends = self.task.reading.read(np.array([self.task.grid.low, self.task.grid.high]))
        return float(ends[0]), float(ends[1])

    def forecast(self, more: int) -> Forecast | None:
        """None: the error of corrections is not told by that of groups."""
        return None

    def about(self) -> About:
        """Return what was made, in short."""
        nothing = "the reports carry no evidence against the public model: it predicts alone"
        kept = f"corrections over {len(self._used)} features: {', '.join(self._used)}"
        facts = {"corrects": self.corrects, "n_groups": self.groups.n_leaves, "radius": self.task.assist.radius}
        return About(reports(self.n_reports), facts, (kept if self.corrects else nothing,))

    @property
    def _used(self) -> list[str]:
        """What corrections may read, in words."""
        inputs = self.task.space.inputs
        names = (*self.task.space.names, "the public prediction", self._group)
        read = {names[j] for j in self.correction.column.tolist()}
        return [name for name in (*inputs, *names[-2:]) if name in read]

    @property
    def _group(self) -> str:
        """What the groups of private values are, in words."""
        if self.task.cells is None:
            return "no group"
        cut = {self.task.space.names[j] for j in self.task.cells.feature.tolist() if j >= 0}
        return f"the group of {', '.join(name for name in self.task.space.names if name in cut)}"

    def value_words(self, level: float = 0.9) -> str:
        """Return what a group adds to the public model."""
        return f"added to the public model, with the {level:.0%} interval of its mean error there"

    def _title(self) -> str:
        title = f"A public model for {self.task.target!r}, corrected by {reports(self.n_reports)}."
        return self.task.title or title

    def _words(self, rows: list[dict[str, Any]], level: float) -> list[str]:
        task = self.task
        private = f": {', '.join(task.private) or 'only the label'}" if task.masks == "policy" else ""
        lines = [f"Private: {MASK_WORDS[task.masks]}{private}.", "", *super()._words(rows, level), ""]
        if not self.corrects:
            return [*lines, "The reports carry no evidence against the public model: it predicts."]
        return [*lines, f"Corrections vary within groups; they read {', '.join(self._used) or 'nothing'}."]

    def _axis(self) -> str:
        return f"{self.task.target}: added to the public model"

    def _facts(self) -> dict[str, Any]:
        task = self.task
        return {
            "masks": task.masks,
            "private": list(task.private) if task.masks == "policy" else None,
            **super()._facts(),
            "corrects": self.corrects,
            "radius": task.assist.radius,
        }

    def __repr__(self) -> str:
        return f"CorrectedModel({self.n_reports} reports; {self.guarantee})"
