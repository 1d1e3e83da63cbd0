"""The model: a task and the totals of its reports. Everything it says is post-processing of those."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from statistics import NormalDist
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.grid import LabelGrid
from hedgerow.tasks.drift import Believed
from hedgerow.tasks.intervals import Ends, believe_leaves, cut, holding, widened
from hedgerow.tasks.leaves import ENDS, MOST_TICKS, LeafModel, split_gains
from hedgerow.tasks.models import About, check_level
from hedgerow.tasks.rules import reports
from hedgerow.tasks.shift import ShiftReport
from hedgerow.tasks.tree.encoding import Moments
from hedgerow.tasks.tree.estimates import LeafEstimates, blend, shift_variance
from hedgerow.tasks.tree.task import LocalTask
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["FALLBACKS", "ClassModel", "TreeModel", "make_model"]

FALLBACKS = ("blend", "public", "none")


@dataclass(frozen=True)
class TreeModel(LeafModel, what="model", format="hedgerow/local-model", version=1):
    """A private regression tree.

    Attributes
    ----------
    task : LocalTask
        The published task: partition, grid, public summary.
    n_reports : int
        Number of reports (public: the curator counted them).
    sums : tuple of int
        The totals.
    fallback : {"blend", "public", "none"}
        What public records add to a leaf's prediction. ``"blend"`` weighs them against the reports by precision,
        less where private means stray from public ones; ``"public"`` uses the public mean only in *starved* leaves
        (estimated number of holders below two standard deviations); ``"none"`` is the paper's (5), reports alone.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.tasks.tree.simulate import simulate_aggregate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = (X[:, 0] > 0.5) * 1.0
    >>> task = LocalTask.design(X[:500], y[:500], epsilon=4.0, label_bounds=(0, 1), max_depth=1,
    ...                         rule="max_edge", min_samples_leaf=20, response="bits", cell_share=0.5)
    >>> model = simulate_aggregate(task, X[500:], y[500:], randomness=1).model()
    >>> model.predict([[0.1, 0.5], [0.9, 0.5]]).round(1).tolist()
    [0.0, 1.0]
    """

    gained = "share of the public variance that splits explain"

    task: LocalTask
    n_reports: int
    sums: tuple[int, ...]
    simulation: bool = False
    fallback: str = "blend"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if self.fallback not in FALLBACKS:
            raise HedgerowError(
                f"The 'fallback' parameter must be one of {list(FALLBACKS)}. Got {self.fallback!r} instead."
            )
        most = self.n_reports * self.task.encoding.largest
        if len(self.sums) != self.task.encoding.n_sums or any(abs(s) > most for s in self.sums):
            raise FormatError(f"the model's totals do not fit its task and {self.n_reports} reports.")

    @classmethod
    def _build(cls, values: dict[str, Any]) -> Self:
        """Construct a model of the task's kind: regression, or classification if the task has classes."""
        kind: Any = TreeModel if values["task"].classes is None else ClassModel
        built: Any = super(TreeModel, kind)._build(values)
        return built  # type: ignore[no-any-return]

    def _moments(self, reading: FloatArray | None = None) -> Moments:
        return self.task.encoding.moments(np.array(self.sums, dtype=np.int64), self.n_reports, reading)

    @cached_property
    def leaves(self) -> LeafEstimates:
        """Estimates for every leaf."""
        return LeafEstimates(self.task.grid, self._moments(), self.n_reports)

    @cached_property
    def leaf_values(self) -> FloatArray:
        """What each leaf predicts."""
        public = self.task.public
        if self.fallback == "none" or public is None:
            return self.leaves.mean
        if self.fallback == "public":
            return np.where(self.starved, np.array(public.mean), self.leaves.mean)
        return self.task.grid.values(blend(self.leaves.moments, *self._prior(), self.task.grid.n_steps))

    def _prior(self) -> tuple[FloatArray, FloatArray]:
        """Return the public mean of each leaf and its variance, in grid steps."""
        public = self.task.public
        grid = self.task.grid
        assert public is not None
        return (np.array(public.mean) - grid.low) / grid.step, public.mean_variance / grid.step**2

    def _known(self) -> FloatArray | float:
        """Return how much public records say about each leaf; nothing unless the model blends."""
        if self.task.public is None or self.fallback != "blend":
            return 0.0
        prior, prior_var = self._prior()
        tau2 = shift_variance(self.leaves.moments, prior, prior_var, self.task.grid.n_steps)
        return np.asarray(1.0 / np.maximum(prior_var + tau2, 1e-12))

    def ends(self, level: float) -> Ends:
        """Return an interval for the mean of each leaf; public means count as far as the reports bear them out."""
        if self.task.public is None or self.fallback != "blend":
            return super().ends(level)
        steps = self.task.grid.n_steps
        low, high = cut(self._believed(self.leaves.moments, *self._prior(), steps).interval(level), (0.0, steps))
        return holding((self.task.grid.values(low), self.task.grid.values(high)), self.leaf_values)

    def _believed(self, moments: Moments, prior: FloatArray, prior_var: FloatArray, steps: float) -> Believed:
        """Return what is believed of each leaf, in grid steps."""
        return believe_leaves(moments, self.n_reports, prior, prior_var, steps)

    def predict_label_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the label of each record: labels spread in a leaf as public ones do, normally."""
        public = self.task.public
        if public is None:
            return super().predict_label_interval(X, level)
        point = self.leaf_values
        stray = NormalDist().inv_cdf((1 + check_level(level)) / 2) * np.sqrt(public.spread)
        low, high = cut(widened(self.ends(level), point, stray, stray), self.task.label_bounds)
        leaf = self.apply(X)
        return low[leaf], high[leaf]

    def importances(self) -> dict[str, float]:
        """Return the share of the label's public variance that the splits on each feature explain."""
        if (public := self.task.public) is None:
            return dict.fromkeys(self.task.space.names, 0.0)
        return split_gains(self.partition, np.array(public.count, dtype=np.float64), np.array(public.mean))

    def predict(self, X: object, *, outside: str = "clip") -> Any:
        """Predict labels.

        ``outside="zero"`` is the paper's rule for records outside the public ranges; by default they clip.
        """
        if outside not in ("clip", "zero"):
            raise HedgerowError(f"The 'outside' parameter must be 'clip' or 'zero'. Got {outside!r} instead.")
        prediction: FloatArray = self.leaf_values[self.apply(X)]
        if outside == "zero":
            if self.task.space.is_categorical.any():
                raise HedgerowError("outside='zero' is for numeric features only; use outside='clip'.")
            columns = [X[c] for c in self.task.space.inputs] if hasattr(X, "columns") else None  # type: ignore[index]
            raw = np.asarray(X) if columns is None else np.column_stack(columns)
            prediction = np.where(self.task.space.outside(raw), 0.0, prediction)
        return prediction

    def table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return one row a leaf, with the number and the mean of its public records, where there are any."""
        rows = super().table(level)
        if (public := self.task.public) is not None:
            for j, row in enumerate(rows):
                row["public_count"] = public.count[j]
                if self.task.classes is None:
                    row["public_mean"] = public.mean[j]
        return rows

    def about(self) -> About:
        """Return what was made, in short."""
        starved = int(self.starved.sum())
        facts = {"n_leaves": self.task.n_leaves, "n_starved": starved, "fallback": self.fallback}
        some = "1 leaf has" if starved == 1 else f"{starved} leaves have"
        remark = f"{some} too few reports to be told from none; see 'hedgerow explain'"
        return About(f"{reports(self.n_reports)}, {self.task.n_leaves} leaves", facts, (remark,) if starved else ())

    def shift(self) -> ShiftReport | None:
        """Compare private and public records leaf by leaf; see :func:`hedgerow.tasks.tree.shift.shift_report`."""
        from hedgerow.tasks.tree.shift import shift_report

        return shift_report(self)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.task.n_leaves} leaves from {self.n_reports} reports; {self.guarantee})"


@dataclass(frozen=True, repr=False)
class ClassModel(TreeModel):
    """A private classification tree: the share of every class in every leaf.

    Each class is read as a label in {0, 1} from the same reports (one against the rest), blended with the public
    shares as a regression would be, and the shares of a leaf are brought back to a distribution.
    """

    @property
    def classes(self) -> tuple[str, ...]:
        """Class names, in the order of the columns of :meth:`predict_proba`."""
        assert self.task.classes is not None
        return self.task.classes

    @cached_property
    def leaf_values(self) -> FloatArray:
        """Class probabilities of each leaf."""
        shares = np.column_stack([self._class_share(c) for c in range(len(self.classes))])
        total = shares.sum(axis=1, keepdims=True)
        return np.where(total > 0, shares / np.where(total > 0, total, 1.0), 1.0 / len(self.classes))

    def _class_leaves(self, c: int) -> LeafEstimates:
        """Return the share of a class in every leaf, from the reports alone."""
        moments = self._moments(np.eye(len(self.classes))[c])
        return LeafEstimates(LabelGrid(0.0, 1.0, 1), moments, self.n_reports)

    def _class_prior(self, c: int) -> tuple[FloatArray, FloatArray] | None:
        """Return the public share of a class in every leaf and its variance; None where nothing is known."""
        public = self.task.public
        if public is None or public.classes is None:
            return None
        counts = np.array(public.classes, dtype=float)
        size = counts.sum(axis=1)
        overall = counts[:, c].sum() / max(counts.sum(), 1.0)
        # One record's weight of the overall share keeps a class that a leaf has not shown yet possible.
        prior = (counts[:, c] + overall) / (size + 1.0)
        return prior, prior * (1 - prior) / (size + 1.0) + 1e-9

    def _class_share(self, c: int) -> FloatArray:
        leaves = self._class_leaves(c)
        prior = self._class_prior(c)
        if self.fallback == "none" or prior is None:
            return leaves.mean
        if self.fallback == "public":
            return np.where(self.starved, prior[0], leaves.mean)
        return blend(leaves.moments, *prior, 1)

    def predict_proba(self, X: object) -> FloatArray:
        """Return class probabilities."""
        proba: FloatArray = self.leaf_values[self.apply(X)]
        return proba

    def predict(self, X: object, *, outside: str = "clip") -> Any:
        """Return the most likely class of each record, by name."""
        if outside != "clip":
            raise HedgerowError(f"The 'outside' parameter must be 'clip' for classes. Got {outside!r} instead.")
        return np.array(self.classes)[self.predict_proba(X).argmax(axis=1)]

    def reports_ends(self, level: float) -> Ends:
        """Return an interval for the share of every class in each leaf, one column a class, from reports alone."""
        return _columns([self._class_leaves(c).interval(level) for c in range(len(self.classes))])

    def ends(self, level: float) -> Ends:
        """Return an interval for the share of every class in each leaf, one column a class."""
        found = [self._class_ends(c, level) for c in range(len(self.classes))]
        return holding(_columns(found), self.leaf_values)

    def _class_ends(self, c: int, level: float) -> Ends:
        leaves = self._class_leaves(c)
        prior = self._class_prior(c)
        if prior is None or self.fallback != "blend":
            return leaves.interval(level)
        return cut(self._believed(leaves.moments, *prior, 1.0).interval(level), (0.0, 1.0))

    def predict_label_interval(self, X: object, level: float = 0.9) -> Ends:
        """Refuse: a class has a probability, and no interval."""
        raise HedgerowError(f"a {self._what} of classes has no interval for a label; use predict_proba.")

    def forecast(self, more: int) -> None:
        """Return None: shares of classes have intervals, and no forecast."""
        return

    @property
    def value_name(self) -> str:
        """The column of class shares."""
        return "classes"

    def value_words(self, level: float = 0.9) -> str:
        """Return what a leaf predicts."""
        return "share of every class"

    @property
    def value_bounds(self) -> None:
        """None: a leaf has a share for every class."""
        return

    def _value(self, j: int, *ends: Any) -> dict[str, Any]:
        found = dict(zip(("classes", *ENDS), (self.leaf_values[j], *ends), strict=True))
        return {name: dict(zip(self.classes, row.tolist(), strict=True)) for name, row in found.items()}

    def _shown(self, row: dict[str, Any]) -> str:
        return ", ".join(f"{c} {p:.0%}" for c, p in row["classes"].items())

    def _draw_leaves(self, ax: Axes, rows: list[dict[str, Any]], level: float) -> None:
        below = np.zeros(len(rows))
        for c, name in enumerate(self.classes):
            ax.bar(range(len(rows)), self.leaf_values[:, c], bottom=below, label=name)
            below += self.leaf_values[:, c]
        ax.set(xlabel="leaf, from left to right", ylabel="class probability")
        if len(rows) <= MOST_TICKS:
            ax.set_xticks(range(len(rows)))
        ax.legend(fontsize=8, ncols=min(6, len(self.classes)))


def _columns(found: list[Ends]) -> Ends:
    return np.column_stack([low for low, _ in found]), np.column_stack([high for _, high in found])


def make_model(
    task: LocalTask, n_reports: int, sums: tuple[int, ...], simulation: bool, fallback: str = "blend"
) -> TreeModel:
    """Return a model of the task's kind: regression, or classification if the task has classes."""
    kind = TreeModel if task.classes is None else ClassModel
    return kind(task, n_reports, sums, simulation, fallback)
