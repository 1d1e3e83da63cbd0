"""The model: a task and the totals of its reports. Everything it says is post-processing of those."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.bounds import LabelGrid, check_fields, read_list, read_text, read_whole
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.tasks.models import About
from hedgerow.tasks.notes import model_guarantee, read_notes
from hedgerow.tasks.rules import cell_rules, reports
from hedgerow.tasks.tree.encoding import FloatArray
from hedgerow.tasks.tree.estimates import LeafEstimates, blend
from hedgerow.tasks.tree.task import LocalTask

__all__ = ["FALLBACKS", "ClassModel", "Model", "make_model"]

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.tasks.tree.shift import ShiftReport

_FORMAT, _VERSION = "hedgerow/local-model", 1
FALLBACKS = ("blend", "public", "none")
_STARVED = 2.0


@dataclass(frozen=True)
class Model:
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
    notes : tuple of str
        Conditions of the guarantee beyond the task's.

    Examples
    --------
    >>> import numpy as np
    >>> from hedgerow.tasks.tree.simulate import simulate_aggregate
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = (X[:, 0] > 0.5) * 1.0
    >>> task = LocalTask.design(X[:500], y[:500], epsilon=4.0, label_bounds=(0, 1), max_depth=1)
    >>> model = simulate_aggregate(task, X[500:], y[500:], randomness=1).model()
    >>> model.predict([[0.1, 0.5], [0.9, 0.5]]).round(1).tolist()
    [0.0, 1.0]
    """

    task: LocalTask
    n_reports: int
    sums: tuple[int, ...]
    simulation: bool = False
    fallback: str = "blend"
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.fallback not in FALLBACKS:
            raise HedgerowError(
                f"The 'fallback' parameter must be one of {list(FALLBACKS)}. Got {self.fallback!r} instead."
            )
        most = self.n_reports * self.task.encoding.largest
        if len(self.sums) != self.task.encoding.n_sums or any(abs(s) > most for s in self.sums):
            raise FormatError(f"the model's totals do not fit its task and {self.n_reports} reports.")

    @property
    def guarantee(self) -> Guarantee:
        """What the reports behind this model protect."""
        return model_guarantee(self.task.guarantee, self.notes, self.simulation)

    @cached_property
    def leaves(self) -> LeafEstimates:
        """Estimates for every leaf."""
        sums = np.array(self.sums, dtype=np.int64)
        return LeafEstimates(self.task.grid, self.task.encoding.moments(sums, self.n_reports), self.n_reports)

    @cached_property
    def starved(self) -> Any:
        """Which leaves have too few holders to be told from none."""
        return self.leaves.count <= _STARVED * self.leaves.count_sd

    @cached_property
    def leaf_values(self) -> FloatArray:
        """What each leaf predicts."""
        public = self.task.public
        if self.fallback == "none" or public is None:
            return self.leaves.mean
        if self.fallback == "public":
            return np.where(self.starved, np.array(public.mean), self.leaves.mean)
        grid = self.task.grid
        prior = (np.array(public.mean) - grid.low) / grid.step
        prior_var = public.mean_variance / grid.step**2
        return grid.values(blend(self.leaves.moments, prior, prior_var, grid.n_steps))

    def apply(self, X: object) -> Any:
        """Return the leaf of each record."""
        return self.task.partition.apply_raw(X)

    def predict(self, X: object, *, outside: str = "clip") -> FloatArray:
        """Predict labels.

        ``outside="zero"`` is the paper's rule for records outside the public ranges; by default they clip.
        """
        if outside not in ("clip", "zero"):
            raise HedgerowError(f"The 'outside' parameter must be 'clip' or 'zero'. Got {outside!r} instead.")
        prediction: FloatArray = self.leaf_values[self.apply(X)]
        if outside == "zero":
            if self.task.space.is_categorical.any():
                raise HedgerowError("outside='zero' is for numeric features only; use outside='clip'.")
            columns = [X[c] for c in self.task.space.names] if hasattr(X, "columns") else None  # type: ignore[index]
            raw = np.asarray(X) if columns is None else np.column_stack(columns)
            prediction = np.where(self.task.space.outside(raw), 0.0, prediction)
        return prediction

    def predict_interval(self, X: object, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return ``(low, high)`` for the mean label of each record's leaf.

        The interval allows for the mechanism's noise and for sampling the holders; it covers the mean of the
        leaf, not a single label, and it is cut to the label bounds.
        """
        low, high = self.leaves.interval(level)
        leaf = self.apply(X)
        return low[leaf], high[leaf]

    def leaf_table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return one row a leaf: conditions, estimated share, mean, interval, public count and mean."""
        low, high = self.leaves.interval(level)
        rows = []
        for j, rule in enumerate(cell_rules(self.task.partition)):
            row = {
                "leaf": j,
                "cell": rule,
                "share": float(self.leaves.mass[j]),
                "share_sd": float(self.leaves.count_sd[j] / max(self.n_reports, 1)),
                "mean": float(self.leaf_values[j]),
                "low": float(low[j]),
                "high": float(high[j]),
                "starved": bool(self.starved[j]),
            }
            if self.task.public is not None:
                row["public_count"] = self.task.public.count[j]
                row["public_mean"] = self.task.public.mean[j]
            rows.append(row)
        return rows

    def about(self) -> About:
        """Return what was made, in short."""
        starved = int(self.starved.sum())
        facts = {"n_leaves": self.task.n_leaves, "n_starved": starved, "fallback": self.fallback}
        some = "1 leaf has" if starved == 1 else f"{starved} leaves have"
        remark = f"{some} too few reports to be told from none; see 'hedgerow explain'"
        return About(f"{reports(self.n_reports)}, {self.task.n_leaves} leaves", facts, (remark,) if starved else ())

    def shift(self) -> ShiftReport:
        """Compare private and public records leaf by leaf; see :func:`hedgerow.tasks.tree.shift.shift_report`."""
        from hedgerow.tasks.tree.shift import shift_report

        return shift_report(self)

    def explain(self, level: float = 0.9) -> str:
        """Return the model in words: guarantee, tree with means and intervals, importances, shift."""
        from hedgerow.tasks.tree.explain import explain_text

        return explain_text(self, level)

    def plot(self, path: str | PathLike[str] | None = None, *, level: float = 0.9) -> Figure:
        """Draw the tree beside its leaf means, intervals and masses; save to ``path`` if given."""
        from hedgerow.tasks.tree.explain import plot_model

        return plot_model(self, path, level)

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "task": self.task.to_dict(),
            "n_reports": self.n_reports,
            "sums": list(self.sums),
            "simulation": self.simulation,
            "fallback": self.fallback,
            "notes": list(self.notes),
        }

    def to_json(self) -> str:
        """Return the model as versioned JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> Model:
        """Rebuild from :meth:`to_dict`; refuse other versions and unknown fields."""
        if not isinstance(data, Mapping) or data.get("format") != _FORMAT:
            raise FormatError(f"this is not a model: expected a JSON object with format {_FORMAT!r}.")
        if type(data.get("version")) is not int or data["version"] != _VERSION:
            raise FormatError(f"model version {data.get('version')!r} is not supported (this is version {_VERSION}).")
        fields = {"format", "version", "task", "n_reports", "sums", "simulation", "fallback", "notes"}
        check_fields(data, fields, "model")
        try:
            n, sums = read_whole(data, "n_reports", "model"), read_list(data, "sums", "model")
            if n < 0 or not all(type(s) is int for s in sums) or type(data["simulation"]) is not bool:
                raise FormatError("this model is malformed: counts must be integers and 'simulation' true or false.")
            task = LocalTask.from_dict(data["task"])
            model = make_model(task, n, tuple(sums), data["simulation"], read_text(data, "fallback", "model"))
            return replace(model, notes=read_notes(data, "model"))
        except FormatError:
            raise
        except (TypeError, ValueError) as error:
            raise FormatError(f"this model is malformed: {error}") from error

    @classmethod
    def from_json(cls, text: str | bytes) -> Model:
        """Read a model from JSON."""
        try:
            data = json.loads(text)
        except (ValueError, TypeError, RecursionError) as error:
            raise FormatError(f"this model is not valid JSON: {error}") from error
        return cls.from_dict(data)

    def __repr__(self) -> str:
        return f"Model({self.task.n_leaves} leaves from {self.n_reports} reports; {self.guarantee})"


@dataclass(frozen=True, repr=False)
class ClassModel(Model):
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

    def _class_share(self, c: int) -> FloatArray:
        public, n = self.task.public, self.n_reports
        unit = np.eye(len(self.classes))[c]
        moments = self.task.encoding.moments(np.array(self.sums, dtype=np.int64), n, unit)
        mean = LeafEstimates(LabelGrid(0.0, 1.0, 1), moments, n).mean
        if self.fallback == "none" or public is None or public.classes is None:
            return mean
        counts = np.array(public.classes, dtype=float)
        size = counts.sum(axis=1)
        overall = counts[:, c].sum() / max(counts.sum(), 1.0)
        # One record's weight of the overall share keeps a class that a leaf has not shown yet possible.
        prior = (counts[:, c] + overall) / (size + 1.0)
        if self.fallback == "public":
            return np.where(self.starved, prior, mean)
        return blend(moments, prior, prior * (1 - prior) / (size + 1.0) + 1e-9, 1)

    def predict_proba(self, X: object) -> FloatArray:
        """Return class probabilities."""
        proba: FloatArray = self.leaf_values[self.apply(X)]
        return proba

    def predict(self, X: object, *, outside: str = "clip") -> Any:
        """Return the most likely class of each record, by name."""
        if outside != "clip":
            raise HedgerowError(f"The 'outside' parameter must be 'clip' for classes. Got {outside!r} instead.")
        return np.array(self.classes)[self.predict_proba(X).argmax(axis=1)]

    def predict_interval(self, X: object, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return ``(low, high)`` for the share of every class in each record's leaf, one column a class."""
        low, high = self._intervals(level)
        leaf = self.apply(X)
        return low[leaf], high[leaf]

    def _intervals(self, level: float) -> tuple[FloatArray, FloatArray]:
        sums, n, grid = np.array(self.sums, dtype=np.int64), self.n_reports, LabelGrid(0.0, 1.0, 1)
        readings = [self.task.encoding.moments(sums, n, unit) for unit in np.eye(len(self.classes))]
        ends = [LeafEstimates(grid, m, n).interval(level) for m in readings]
        return np.column_stack([e[0] for e in ends]), np.column_stack([e[1] for e in ends])

    def leaf_table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return one row a leaf: conditions, estimated share of holders, class probabilities and intervals."""
        low, high = self._intervals(level)
        rows = []
        for j, rule in enumerate(cell_rules(self.task.partition)):
            row: dict[str, Any] = {
                "leaf": j,
                "cell": rule,
                "share": float(self.leaves.mass[j]),
                "share_sd": float(self.leaves.count_sd[j] / max(self.n_reports, 1)),
                "starved": bool(self.starved[j]),
                "classes": {c: float(self.leaf_values[j, k]) for k, c in enumerate(self.classes)},
                "low": {c: float(low[j, k]) for k, c in enumerate(self.classes)},
                "high": {c: float(high[j, k]) for k, c in enumerate(self.classes)},
            }
            if self.task.public is not None:
                row["public_count"] = self.task.public.count[j]
            rows.append(row)
        return rows


def make_model(
    task: LocalTask, n_reports: int, sums: tuple[int, ...], simulation: bool, fallback: str = "blend"
) -> Model:
    """Return a model of the task's kind: regression, or classification if the task has classes."""
    kind = Model if task.classes is None else ClassModel
    return kind(task, n_reports, sums, simulation, fallback)
