"""The contract of a model: everything that doors, services and pages know about what a task makes of reports.

A kind's model is one frozen dataclass that inherits :class:`Model`; its fields are its JSON
(:class:`~hedgerow.content.Content`). What a kind cannot tell has an honest default: no interval is an error that says
so, no comparison with public records is None, no table is empty.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from html import escape
from os import PathLike
from typing import TYPE_CHECKING, Any, ClassVar, Self

from hedgerow.content import Content
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.guarantee import Guarantee

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.card import Card
    from hedgerow.explorer import Explorer
    from hedgerow.formula import Formula
    from hedgerow.formula.anatomy import Anatomy
    from hedgerow.space import FeatureSpace
    from hedgerow.summary import Summary
    from hedgerow.tasks.forecast import Forecast
    from hedgerow.tasks.shift import ShiftReport

__all__ = ["About", "Explanation", "Model", "Node", "check_level"]


@dataclass(frozen=True)
class About:
    """What was made of reports, in short: numbers for machines, a headline and remarks for people."""

    headline: str
    facts: dict[str, Any] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()


@dataclass(frozen=True)
class Explanation:
    """A model in words (``str``), in numbers (:meth:`to_dict`, :attr:`rows`) and as a picture (:meth:`plot`)."""

    lines: tuple[str, ...]
    facts: Mapping[str, Any]
    rows: tuple[dict[str, Any], ...]
    draw: Callable[[], Figure]

    def __str__(self) -> str:
        return "\n".join(self.lines)

    def _repr_html_(self) -> str:
        return f"<pre>{escape(str(self))}</pre>"

    def to_dict(self) -> dict[str, Any]:
        """Return it as JSON-ready content; the rows are its ``"leaves"``."""
        return {**self.facts, "leaves": list(self.rows)}

    def plot(self, path: str | PathLike[str] | None = None) -> Figure:
        """Draw it; save to ``path`` if given."""
        figure = self.draw()
        if path is not None:
            figure.savefig(path, dpi=120)
        return figure


@dataclass(frozen=True)
class Node:
    """A node of a tree, for display: how one gets here, and either two children or the place of a row of the table."""

    condition: str
    children: tuple[Node, ...] = ()
    row: int | None = None


class Model(Content, what="model"):
    """What a task makes of reports: a model, or totals that the design of the next task reads.

    ``Model.from_json`` reads a model of any kind.

    Attributes
    ----------
    task : Task
        The published task.
    n_reports : int
        Number of reports (public: the curator counted them).
    simulation : bool
        Whether any of them has seeded noise.
    notes : tuple of str
        Conditions of the guarantee beyond the task's.
    n_outputs, has_intervals
        How many numbers are predicted, and whether with intervals.
    value_name : str
        The column of :meth:`table` that says what a row predicts, or adds to a prediction.
    value_bounds : (low, high) or None
        What that value, and the interval beside it, can be; None where it is not one number.
    """

    n_outputs: ClassVar[int] = 1
    has_intervals: ClassVar[bool] = True

    task: Any
    n_reports: int
    simulation: bool
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.n_reports < 0:
            raise FormatError(f"a {self._what} cannot have {self.n_reports} reports.")

    @classmethod
    def from_dict(cls, data: object) -> Self:
        """Undo :meth:`to_dict`; anything that no model writes is a FormatError."""
        if cls is not Model:
            return super().from_dict(data)
        from hedgerow.tasks.registry import model_class

        name = data.get("format") if isinstance(data, Mapping) else None
        return model_class(name).from_dict(data)  # type: ignore[no-any-return]

    @property
    def guarantee(self) -> Guarantee:
        """What the reports behind it protect: what the task promised, under the model's own conditions too."""
        promised: Guarantee = self.task.guarantee
        notes = tuple(dict.fromkeys((*promised.notes, *self.notes)))
        return replace(promised, simulation=self.simulation, notes=notes)

    @property
    def space(self) -> FeatureSpace:
        """The features of a record to predict for."""
        found: FeatureSpace = self.task.space
        return found

    @property
    def classes(self) -> tuple[str, ...] | None:
        """Class names, in the order of the columns of :meth:`predict_proba`; None for a number."""
        return None

    def predict(self, X: object) -> Any:
        """Predict labels."""
        raise HedgerowError(f"a {self._what} predicts nothing; predict with a model that a task makes.")

    def predict_proba(self, X: object) -> Any:
        """Return the probability of every class."""
        raise HedgerowError(f"a {self._what} with a numeric label has no classes; use predict.")

    def predict_interval(self, X: object, level: float = 0.9) -> tuple[Any, Any]:
        """Return ``(low, high)`` for what :meth:`predict` estimates: the model's function at each record.

        It covers that quantity, given the model's structure, and never excludes the prediction; it is not for a
        record's own label. Each kind says what the quantity is. See :mod:`hedgerow.tasks.intervals`.
        """
        raise HedgerowError(f"a {self._what} has no intervals; use predict.")

    def formula(self) -> Formula:
        """Return what :meth:`predict` computes, for :mod:`hedgerow.export`; refuse, with the reason, what has none."""
        if type(self).predict is Model.predict:
            raise HedgerowError(f"a {self._what} predicts nothing, so that there is nothing to export.")
        raise HedgerowError(f"a {self._what} does not say what it computes (formula), and cannot be exported.")

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return what a prediction is made of and how sure it is, for :meth:`explorer`."""
        from hedgerow.formula.anatomy import Anatomy
        from hedgerow.tasks.anatomy import asked

        return Anatomy(self.formula(), level=check_level(level), **asked(self.task))

    def explorer(self, level: float = 0.9) -> Explorer:
        """Return a page on which one record is tried: its prediction, what that is made of, how sure it is.

        It holds nothing but what was published, and costs no privacy; ``model.explorer().save("model.html")``.
        """
        from hedgerow.explorer import Explorer

        return Explorer(self.anatomy(level))

    def reports_interval(self, X: object, level: float = 0.9) -> tuple[Any, Any]:
        """Return ``(low, high)`` for the same quantity from the reports alone, whatever public records say.

        A prediction that leans on public records may lie outside.
        """
        raise HedgerowError(f"a {self._what} has no intervals; use predict.")

    def predict_label_interval(self, X: object, level: float = 0.9) -> tuple[Any, Any]:
        """Return ``(low, high)`` for the own label of each record."""
        raise HedgerowError(f"a {self._what} does not tell how labels spread; use predict_interval.")

    def about(self) -> About:
        """Return what was made, in short."""
        raise NotImplementedError

    # What it says: all of it is post-processing of what was sent, and costs no privacy.

    @property
    def value_name(self) -> str:
        """The column of :meth:`table` that says what a row predicts."""
        return "mean"

    def value_words(self, level: float = 0.9) -> str:
        """Return what that value is, with the interval beside it, in words."""
        return f"mean with its {level:.0%} interval"

    @property
    def value_bounds(self) -> tuple[float, float] | None:
        """What that value can be."""
        return None

    def table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return one row a leaf (or cell, or bin): what it is, its share of holders, its value, its noise."""
        return []

    def trees(self) -> tuple[Node, ...]:
        """Return the trees whose leaves are the rows of :meth:`table`."""
        return ()

    def shift(self) -> ShiftReport | None:
        """Compare private and public records; None where the reports cannot tell."""
        return None

    def forecast(self, more: int) -> Forecast | None:
        """Foresee the error after ``more`` reports like those counted; None where that is not known."""
        return None

    def explain(self, level: float = 0.9) -> Explanation:
        """Return the model in words, numbers and as a picture: guarantee, leaves with their noise, shift."""
        rows = self.table(level)
        found = self.shift()
        lines = [self._title(), "", f"Guarantee. {self.guarantee}", "", *self._words(rows, level)]
        if found is not None:
            lines += ["", " ".join(["Public against private records.", found.verdict, *found.disagreement])]
        label = (self.task.before or self.task).question().label
        facts = {
            "task": self.task.id,
            "title": self.task.title,
            "target": self.task.target,
            "label_bounds": list(label.bounds) if label and not label.classes else None,
            "classes": list(label.classes) if label and label.classes else None,
            "n_reports": self.n_reports,
            "n_leaves": len(rows),
            **self._facts(),
            "shift": None if found is None else found.to_dict(),
            "simulation": self.simulation,
            "guarantee": self.guarantee.to_dict(),
            "statement": str(self.guarantee),
        }
        return Explanation(tuple(lines), facts, tuple(rows), lambda: self._draw(rows, level))

    def summary(self, level: float = 0.9) -> Summary:
        """Return guarantee, people, leaves with both columns, shift and what more people would buy, on one screen."""
        from hedgerow.tasks.summary import summarise

        return summarise(self, check_level(level))

    def card(
        self, *, purpose: str = "", intended_use: str = "", level: float = 0.9, audits: Sequence[Any] = ()
    ) -> Card:
        """Return one page about the model: use, guarantee, what it says, pictures, schema, shift, audit, making.

        Parameters
        ----------
        purpose, intended_use : str
            In the words of whoever publishes it.
        level : float
            Of intervals.
        audits : sequence of AuditResult
            Of ``hedgerow.audit.audit_task(model.task)``; without, the card says which command audits.
        """
        from hedgerow.card.sections import Told
        from hedgerow.tasks.card import card_of

        return card_of(self, Told(purpose, intended_use), check_level(level), audits)

    def _repr_html_(self) -> str:
        return self.summary()._repr_html_()

    def plot(self, path: str | PathLike[str] | None = None, *, level: float = 0.9) -> Figure:
        """Draw the model; save to ``path`` if given."""
        return self.explain(level).plot(path)

    def _title(self) -> str:
        """Return what it is, in one sentence."""
        raise NotImplementedError

    def _words(self, rows: list[dict[str, Any]], level: float) -> list[str]:
        """Return what an explanation says between guarantee and shift."""
        raise NotImplementedError

    def _facts(self) -> dict[str, Any]:
        """Return what an explanation tells a machine besides what it tells of every model."""
        return {}

    def _draw(self, rows: list[dict[str, Any]], level: float) -> Figure:
        """Draw the rows."""
        raise HedgerowError(f"a {self._what} has no picture.")


def check_level(level: float) -> float:
    """Refuse a level that is no probability."""
    if not 0 < level < 1:
        raise HedgerowError(f"The 'level' parameter must be between 0 and 1. Got {level!r} instead.")
    return level
