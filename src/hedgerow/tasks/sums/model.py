"""The model of a sums task: the public model, corrected by a chain of forests as far as noisy sums carry evidence."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError
from hedgerow.tasks.intervals import Ends, cut, holding, widened
from hedgerow.tasks.models import About, Model, Node, check_level
from hedgerow.tasks.rules import reports, tree_nodes
from hedgerow.tasks.sums.check import checked
from hedgerow.tasks.sums.earlier import Earlier, both_signs
from hedgerow.tasks.sums.learn import LEAST, LEAST_CHECKED, Learnt, learn
from hedgerow.tasks.sums.means import LeafMeans, leaf_means
from hedgerow.tasks.sums.noisy import MOST, SERVERS
from hedgerow.tasks.sums.steps import Step, corrections
from hedgerow.tasks.sums.task import SumsTask
from hedgerow.tasks.sums.told import Leaves
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.formula.anatomy import Anatomy
    from hedgerow.formula.formula import Formula
    from hedgerow.formula.terms import Term
    from hedgerow.tasks.shift import ShiftReport

__all__ = ["SumsModel"]


@dataclass(frozen=True, eq=False)
class SumsModel(Model, what="sums model", format="hedgerow/sums-model", version=1):
    """A public model with what a chain of groups adds to it, of which this group is the last so far.

    Attributes
    ----------
    task : SumsTask
        What the group was asked.
    n_reports : int
        Reports of this group.
    sums : tuple of int
        What both servers released.
    """

    task: SumsTask
    n_reports: int
    sums: tuple[int, ...]
    simulation: bool
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.sums) != self.task.length or any(abs(value) > MOST for value in self.sums):
            raise FormatError("the sums of this model are not of its task.")

    @property
    def n_holders(self) -> int:
        """Reports of this group, and as many as were planned of the groups before it."""
        return sum(self.task.sizes[: self.task.group]) + self.n_reports

    @property
    def noise(self) -> float:
        """The variance of the noise of each sum: that of both servers."""
        return SERVERS * float(self.task.variance)

    @property
    def signs(self) -> tuple[FloatArray, FloatArray]:
        """Sums of residuals rounded up, and down, by leaf."""
        return both_signs(self.sums)

    @property
    def checks(self) -> bool:
        """Whether this group only checked what earlier ones added."""
        return bool(self.task.levels)

    @property
    def told(self) -> Earlier:
        """What this group told, for those after it."""
        return self._group(self.learnt.open)

    def _group(self, left: float) -> Earlier:
        """Return what this group told, where it leaves so much of the error open."""
        task = self.task
        return Earlier(
            task.trees.n_leaves,
            task.reference,
            self.sums,
            self.n_reports,
            task.radius,
            tuple(task.sent.tolist()),
            task.open,
            left,
        )

    @cached_property
    def learnt(self) -> Learnt:
        """What all groups so far teach."""
        task = self.task
        groups = (*task.earlier, self._group(1.0))
        return learn(
            [group.told(task.epsilon, task.delta, task.residuals) for group in groups],
            Leaves(task.places, task.steps[-1].trees.n_leaves),
            task.residuals.mean_square,
            task.residuals.n_public,
            LEAST if len(task.sizes) == 1 else LEAST_CHECKED,
            task.process,
        )

    @cached_property
    def scale(self) -> float:
        """The share of earlier steps that is applied: all, but for what a group that checks does not let pass."""
        return checked(self.task, self.signs, self.n_reports, self.noise) if self.checks else 1.0

    @cached_property
    def steps(self) -> tuple[Step, ...]:
        """All that is added to the public model, before the check."""
        task = self.task
        if self.checks or not self.n_reports:
            return task.steps
        last = task.steps[-1]
        return (*task.steps[:-1], last.valued(self.learnt.values, self.learnt.weights))

    @property
    def gate(self) -> bool:
        """Whether the sums carry evidence against the public model; if not, it predicts alone."""
        return self.scale > 0 and any(step.adds for step in self.steps)

    @cached_property
    def means(self) -> LeafMeans:
        """The mean error that was left in each leaf when this group was asked."""
        return leaf_means(self.signs, self.noise, self.task.radius)

    @cached_property
    def added(self) -> FloatArray:
        """What this group adds in each leaf that it was asked about, on average over rows like the public ones."""
        task = self.task
        of_row = task.at_rows(self.steps[-1]) - task.at_rows(task.steps[-1])
        places = self._places(task.reference.astype(np.int64)).ravel()
        count = np.bincount(places, minlength=task.length // 2)
        total = np.bincount(places, np.repeat(of_row, task.weight), task.length // 2)
        found: FloatArray = total / np.maximum(count, 1)
        return found

    def _columns(self, X: object) -> FloatArray:
        """Return design, public prediction and all that is added."""
        task = self.task
        Z = task.space.encode(X)
        g = task.public_model.predict_within(Z, task.label_bounds)
        return corrections(self.steps, task.public_model.design(Z), g)

    def predict(self, X: object) -> FloatArray:
        """Predict labels."""
        return self._sum(self._columns(X))

    def _sum(self, columns: FloatArray) -> FloatArray:
        found: FloatArray = np.clip(columns[:, -2] + self.scale * columns[:, -1], *self.task.label_bounds)
        return found

    def predict_public(self, X: object) -> FloatArray:
        """Predict with the public model alone."""
        return self.task.public_model.predict_within(self.task.space.encode(X), self.task.label_bounds)

    def predict_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for what the group was asked to correct, corrected by its mean error in the leaves.

        That is the model that the group was sent plus the mean error of holders, clipped to the radius, in the leaf of
        the record, averaged over trees. It holds the prediction, and is cut to the label bounds.
        """
        columns = self._columns(X)
        return holding(self._reports(columns, check_level(level)), self._sum(columns))

    def reports_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the same from the sums alone."""
        return self._reports(self._columns(X), check_level(level))

    def _reports(self, columns: FloatArray, level: float) -> Ends:
        task = self.task
        before = corrections(task.steps, columns[:, :-2], columns[:, -2])
        low, high = self.means.ends(self._places(task.trees.apply(before)), level)
        sent = before[:, -2] + before[:, -1]
        return cut((sent + low, sent + high), task.label_bounds)

    def _places(self, leaf: npt.NDArray[np.int64]) -> npt.NDArray[np.int64]:
        """Return leaves numbered through all trees."""
        return np.cumsum((0, *self.task.trees.n_leaves[:-1])) + leaf

    def predict_label_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the *label* of each record.

        Quantiles of public out-of-fold residuals, widened by :meth:`predict_interval`, and cut to the label bounds. A
        shift in the spread of labels is not seen.
        """
        ends = self.predict_interval(X, level)
        return cut(widened(ends, self.predict(X), *self.task.residuals.spread(level)), self.task.label_bounds)

    def formula(self) -> Formula:
        """Return the public model, and what steps add to it."""
        from hedgerow.formula.formula import Formula
        from hedgerow.formula.terms import records

        return Formula.of(self.space, self.term(records()), self.guarantee, task=self.task.id)

    def term(self, rows: Term) -> Term:
        """Return the prediction for encoded records, as a term."""
        from hedgerow.tasks.sums.anatomy import added_terms, public_terms

        design, g = public_terms(self, rows)
        total = g
        for part in added_terms(self, design, g):
            total = total + part
        return total.clip(*self.task.label_bounds)

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return the public model and what each group adds, see :mod:`hedgerow.tasks.sums.anatomy`."""
        from hedgerow.tasks.sums.anatomy import sums_anatomy

        return sums_anatomy(self, check_level(level))

    def about(self) -> About:
        """Return what was made, in short."""
        from hedgerow.tasks.sums.explain import verdict

        facts = {"groups": self.task.group + 1, "gate": self.gate, "kept": self.scale, "checked": self.checks}
        return About(reports(self.n_holders), facts, (verdict(self),))

    @property
    def value_name(self) -> str:
        """What a leaf adds after shrinkage; a prediction adds those of all trees."""
        return "kept"

    def value_words(self, level: float = 0.9) -> str:
        """Return what a leaf adds."""
        return f"added to the model that the group was sent, with the {level:.0%} interval of its mean error there"

    @property
    def value_bounds(self) -> tuple[float, float]:
        """What all groups together can add at most, and what the errors of this one can be."""
        most = self.task.radius + sum(step.bound for step in self.steps)
        return -most, most

    def table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return one row a leaf of each tree, see :func:`hedgerow.tasks.sums.explain.sums_table`."""
        from hedgerow.tasks.sums.explain import sums_table

        return sums_table(self, check_level(level))

    def trees(self) -> tuple[Node, ...]:
        """Return all trees of this group; they share the rows of :meth:`table`."""
        return tree_nodes(self.task.trees, self.task.public_model, self.task.space)

    def shift(self) -> ShiftReport | None:
        """Compare where holders fall with public shares; see :func:`hedgerow.tasks.sums.explain.sums_shift`."""
        from hedgerow.tasks.sums.explain import sums_shift

        return sums_shift(self)

    def _title(self) -> str:
        trees = f"sums over {reports(self.n_holders)} in {self.task.group + 1} groups"
        return f"A public model for {self.task.target!r}, corrected by {trees}."

    def _words(self, rows: list[dict[str, Any]], level: float) -> list[str]:
        from hedgerow.tasks.sums.explain import sums_words

        return sums_words(self, rows)

    def _facts(self) -> dict[str, Any]:
        from hedgerow.tasks.sums.explain import sums_facts

        return sums_facts(self)

    def _draw(self, rows: list[dict[str, Any]], level: float) -> Figure:
        from hedgerow.tasks.assisted.explain import draw_assisted

        return draw_assisted(self, rows)

    def __repr__(self) -> str:
        return f"SumsModel({self.n_holders} reports; keeps {self.scale:.0%}; {self.guarantee})"
