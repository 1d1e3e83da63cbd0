"""The model of classes from noisy sums: public probabilities, corrected class by class."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import FormatError
from hedgerow.guarantee import Guarantee
from hedgerow.tasks.class_shares import probabilities, probability_term
from hedgerow.tasks.models import About, Model, Node
from hedgerow.tasks.rules import moved, reports
from hedgerow.tasks.sums.model import SumsModel
from hedgerow.tasks.sums.task import SumsTask
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.formula import Formula

__all__ = ["SumsClassModel"]


@dataclass(frozen=True, eq=False)
class SumsClassModel(Model, what="sums model of classes", format="hedgerow/sums-class-model", version=1):
    """Public class probabilities, each corrected as :class:`~.model.SumsModel` says, brought to a sum of 1.

    Attributes
    ----------
    names : tuple of str
        The classes.
    parts : tuple of SumsModel
        One a class, of its indicator, a label of 0 or 1, from holders of its own; of two classes, for the second.
    """

    has_intervals = False

    names: tuple[str, ...]
    parts: tuple[SumsModel, ...]
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if len(self.names) < 2 or len(self.parts) != len(self.asked):
            raise FormatError("'parts' of this model must be one a class; of two classes, one.")
        first = self.parts[0].task
        alike = (first.space, first.epsilon, first.delta)
        if any((part.task.space, part.task.epsilon, part.task.delta) != alike for part in self.parts):
            raise FormatError("'parts' of this model must have one space and one budget.")

    @property
    def asked(self) -> tuple[str, ...]:
        """The classes that are corrected: all, or the second of two."""
        return self.names[1:] if len(self.names) == 2 else self.names

    @property
    def task(self) -> SumsTask:
        """The last task about the first class that was asked about."""
        return self.parts[0].task

    @property
    def n_reports(self) -> int:  # type: ignore[override]
        """Reports of all groups of all classes."""
        return sum(part.n_holders for part in self.parts)

    @property
    def simulation(self) -> bool:  # type: ignore[override]
        """Whether any noise came from a seed."""
        return any(part.simulation for part in self.parts)

    @property
    def guarantee(self) -> Guarantee:
        """What each holder is promised: everyone is in one group about one class."""
        promised = self.parts[0].guarantee
        notes = tuple(dict.fromkeys((*promised.notes, *self.notes)))
        return replace(promised, simulation=self.simulation, notes=notes)

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names, in the order of the columns of :meth:`predict_proba`."""
        return self.names

    def predict_proba(self, X: object) -> FloatArray:
        """Return class probabilities; of more than two classes, brought to a sum of 1."""
        return probabilities([part.predict(X) for part in self.parts])

    def predict(self, X: object) -> Any:
        """Return the most likely class of each record, by name."""
        return np.array(self.names)[self.predict_proba(X).argmax(axis=1)]

    def formula(self) -> Formula:
        """Return the formulas of all classes, brought to a sum of 1."""
        from hedgerow.formula.formula import Formula
        from hedgerow.formula.terms import records

        rows = records()
        value = probability_term([part.term(rows) for part in self.parts])
        return Formula.of(self.space, value, self.guarantee, classes=self.names, task=self.task.id)

    def about(self) -> About:
        """Return what was made, in short."""
        corrected = [name for name, part in zip(self.asked, self.parts, strict=True) if part.gate]
        facts = {"classes": list(self.names), "corrected": corrected}
        nothing = "the sums carry no evidence against the public model: it predicts alone"
        remark = f"corrected for {', '.join(corrected)}" if corrected else nothing
        return About(f"{reports(self.n_reports)}, {len(self.names)} classes", facts, (remark,))

    @property
    def value_name(self) -> str:
        """What a leaf adds to the public probability of its class."""
        return self.parts[0].value_name

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
        named = zip(self.asked, self.parts, strict=True)
        return [{"class": name, **row} for name, part in named for row in part.table(level)]

    def trees(self) -> tuple[Node, ...]:
        """Return the trees of all classes."""
        found: list[Node] = []
        at = 0
        for name, part in zip(self.asked, self.parts, strict=True):
            for tree in part.trees():
                found.append(replace(moved(tree, at), condition=f"{name}, {tree.condition}"))
            at += len(part.table())
        return tuple(found)

    def _title(self) -> str:
        public = f"A public model for {self.task.target!r} of {len(self.names)} classes"
        return f"{public}, corrected by sums over {reports(self.n_reports)}."

    def _words(self, rows: list[dict[str, Any]], level: float) -> list[str]:
        lines: list[str] = []
        for name, part in zip(self.asked, self.parts, strict=True):
            own = [row for row in rows if row["class"] == name]
            lines += [f"Class {name!r}, from {reports(part.n_holders)}.", *part._words(own, level), ""]
        return lines[:-1]

    def _facts(self) -> dict[str, Any]:
        named = zip(self.asked, self.parts, strict=True)
        return {"by_class": {name: part._facts() for name, part in named}}

    def _draw(self, rows: list[dict[str, Any]], level: float) -> Any:
        return self.parts[0]._draw(rows, level)

    def __repr__(self) -> str:
        return f"SumsClassModel({list(self.names)} from {self.n_reports} reports; {self.guarantee})"
