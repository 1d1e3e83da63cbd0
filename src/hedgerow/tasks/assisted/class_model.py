"""The assisted model of classes: public probabilities, corrected class by class as far as reports carry evidence."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.tasks.assisted.class_task import AssistedClassTask
from hedgerow.tasks.assisted.model import AssistedModel
from hedgerow.tasks.class_shares import probabilities, probability_term
from hedgerow.tasks.models import About, Model, Node
from hedgerow.tasks.rules import moved, reports
from hedgerow.tasks.shift import ShiftReport
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.formula import Formula

__all__ = ["AssistedClassModel"]


@dataclass(frozen=True)
class AssistedClassModel(Model, what="assisted model of classes", format="hedgerow/assisted-class-model", version=1):
    """Public class probabilities, each corrected as :class:`~.model.AssistedModel` says, brought to a sum of 1.

    Attributes
    ----------
    task : AssistedClassTask
        The published task.
    sums : tuple of int
        The totals, class by class.
    """

    has_intervals = False

    task: AssistedClassTask
    n_reports: int
    sums: tuple[int, ...]
    simulation: bool = False
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.sums) != self.task.encoding.n_sums or sum(part.n_reports for part in self.parts) != self.n_reports:
            raise FormatError(f"the model's totals do not fit its task and {self.n_reports} reports.")

    @cached_property
    def parts(self) -> tuple[AssistedModel, ...]:
        """The model of each class that was asked about: of its indicator, a label of 0 or 1."""
        found = []
        for part, sums in zip(self.task.tasks, self.task.encoding.split(np.array(self.sums)), strict=True):
            n = sum(tree for tree, _, _ in part.encoding.split(sums))
            found.append(AssistedModel(part, n, tuple(sums.tolist()), self.simulation, self.notes))
        return tuple(found)

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names, in the order of the columns of :meth:`predict_proba`."""
        return self.task.classes

    def predict_proba(self, X: object) -> FloatArray:
        """Return class probabilities; of more than two classes, brought to a sum of 1."""
        return probabilities([part.predict(X) for part in self.parts])

    def predict(self, X: object) -> Any:
        """Return the most likely class of each record, by name."""
        return np.array(self.classes)[self.predict_proba(X).argmax(axis=1)]

    def formula(self) -> Formula:
        """Return the formulas of all classes, brought to a sum of 1."""
        from hedgerow.formula.formula import Formula
        from hedgerow.formula.terms import records

        rows = records()
        value = probability_term([part.term(rows) for part in self.parts])
        return Formula.of(self.space, value, self.guarantee, classes=self.classes, task=self.task.id)

    def about(self) -> About:
        """Return what was made, in short."""
        corrected = [name for name, part in zip(self.task.asked, self.parts, strict=True) if part.gate]
        facts = {"classes": list(self.classes), "corrected": corrected}
        nothing = "the reports carry no evidence against the public model: it predicts alone"
        remark = f"corrected for {', '.join(corrected)}" if corrected else nothing
        return About(f"{reports(self.n_reports)}, {len(self.classes)} classes", facts, (remark,))

    @property
    def value_name(self) -> str:
        """What a leaf adds to the public probability of its class."""
        return "kept"

    def value_words(self, level: float = 0.9) -> str:
        """Return what a leaf adds."""
        return self.parts[0].value_words(level)

    @property
    def value_bounds(self) -> tuple[float, float]:
        """What can be added for any class."""
        ends = np.array([part.value_bounds for part in self.parts])
        return float(ends[:, 0].min()), float(ends[:, 1].max())

    def table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return one row a leaf of each tree of each class."""
        named = zip(self.task.asked, self.parts, strict=True)
        return [{"class": name, **row} for name, part in named for row in part.table(level)]

    def trees(self) -> tuple[Node, ...]:
        """Return the trees of all classes."""
        found: list[Node] = []
        at = 0
        for name, part in zip(self.task.asked, self.parts, strict=True):
            for tree in part.trees():
                found.append(replace(moved(tree, at), condition=f"{name}, {tree.condition}"))
            at += len(part.task.trees.value)
        return tuple(found)

    def shift(self) -> ShiftReport | None:
        """Compare where holders fall, over the trees of all classes; None where no report tells."""
        found = [(name, part.shift()) for name, part in zip(self.task.asked, self.parts, strict=True)]
        told = [(name, report) for name, report in found if report is not None]
        if not told:
            return None
        rows = [replace(leaf, cell=f"{name}, {leaf.cell}") for name, report in told for leaf in report.leaves]
        leaves = tuple(replace(leaf, leaf=j) for j, leaf in enumerate(rows))
        # Each class has holders of its own; by Bonferroni, the least of C chances is below p with chance C p at most.
        least = min(report.p_share for _, report in told)
        return ShiftReport(leaves, min(1.0, len(told) * least), 1.0, min(report.detectable for _, report in told))

    def _title(self) -> str:
        public = f"A public model for {self.task.target!r} of {len(self.classes)} classes"
        return f"{public}, corrected by {reports(self.n_reports)}."

    def _words(self, rows: list[dict[str, Any]], level: float) -> list[str]:
        lines: list[str] = []
        for name, part in zip(self.task.asked, self.parts, strict=True):
            own = [row for row in rows if row["class"] == name]
            lines += [f"Class {name!r}, from {reports(part.n_reports)}.", *part._words(own, level), ""]
        return lines[:-1]

    def _facts(self) -> dict[str, Any]:
        named = zip(self.task.asked, self.parts, strict=True)
        return {"by_class": {name: part._facts() for name, part in named}}

    def _draw(self, rows: list[dict[str, Any]], level: float) -> Any:
        return self.parts[0]._draw(rows, level)

    def __repr__(self) -> str:
        return f"AssistedClassModel({list(self.classes)} from {self.n_reports} reports; {self.guarantee})"
