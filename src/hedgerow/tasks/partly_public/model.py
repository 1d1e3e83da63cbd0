"""The model of the second round: estimates for every cell, and predictions from them. All post-processing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from os import PathLike
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.bounds import check_fields
from hedgerow.errors import FormatError, HedgerowError
from hedgerow.guarantee import Guarantee
from hedgerow.partition.structure import node_levels
from hedgerow.partition.tree import Partition
from hedgerow.tasks.models import About
from hedgerow.tasks.notes import model_guarantee, read_notes
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.rules import reports
from hedgerow.tasks.tree.encoding import FloatArray, Moments
from hedgerow.tasks.tree.estimates import LeafEstimates

__all__ = ["SemiModel", "shrunk"]

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_FORMAT, _VERSION = "hedgerow/semi-model", 1
_MOMENTS = ("numerator", "denominator", "var_n", "cov", "var_d")
_FIELDS = {"format", "version", "task", "n_reports", "simulation", "shrink", "notes", *_MOMENTS}


def shrunk(partition: Partition, moments: Moments, width: float, strength: float) -> FloatArray:
    r"""Return cell means (in levels) in which the two sides of a split differ only as far as noise leaves it credible.

    From the root down, a node passes its value r to its children a and b, which move apart by their contrast times w:

    .. math:: c = \frac{N_a - r D_a}{E_a} - \frac{N_b - r D_b}{E_b}, \qquad
              s^2 = \frac{V_a}{E_a^2} + \frac{V_b}{E_b^2}, \qquad w = \max\Big(0,\ 1 - \frac{k s^2}{c^2}\Big)

    (positive-part James-Stein). The strength k is 1 for splits that were fixed, or chosen among a few, and 2 for cuts
    chosen among very many: those are chosen for their contrast, noise included. V_a is the variance of
    ``N_a - r D_a``, for inner nodes the sum over their cells, which is an upper bound. ``E = D + V / (tau^2 D)`` keeps
    a number D of holders that is mostly noise from being divided by: no side is expected to differ by much more than
    tau, a quarter of the label's ``width``. A side that cannot be told from an empty one gets the parent's value; with
    many holders nothing is shrunk.
    """
    levels = node_levels(partition.feature, partition.left)
    N, D, var_n, cov, var_d = (_node_sums(partition, levels, getattr(moments, name)) for name in _MOMENTS)
    value = np.zeros(partition.n_nodes)
    value[0] = N[0] / D[0] if D[0] > 0 else 0.0
    for level in levels:
        inner = level[partition.feature[level] >= 0]
        a = partition.left[inner].astype(np.intp)
        r = value[inner]
        value[a] = value[a + 1] = r
        full = (D[a] > 0) & (D[a + 1] > 0)
        move, noise, size = [], np.zeros(len(a)), []
        for side in (a, a + 1):
            spread = np.maximum(var_n[side] - 2 * r * cov[side] + r * r * var_d[side], 0.0)
            size.append(np.where(full, D[side], 1.0))
            enough = size[-1] + spread * 16 / (width * width * size[-1])
            move.append((N[side] - r * D[side]) / enough)
            noise += strength * spread / enough**2
        contrast = np.where(full, move[0] - move[1], 0.0)
        believed = full & (contrast**2 > noise)
        kept = np.where(believed, contrast - noise / np.where(believed, contrast, 1.0), 0.0)
        value[a] += kept * size[1] / (size[0] + size[1])
        value[a + 1] -= kept * size[0] / (size[0] + size[1])
    leaf = partition.leaf_of_node
    out = np.empty(partition.n_leaves)
    out[leaf[leaf >= 0]] = value[leaf >= 0]
    return out


def _node_sums(partition: Partition, levels: list[Any], values: FloatArray) -> FloatArray:
    """Return the sums over the cells below each node."""
    total, leaf = np.zeros(partition.n_nodes), partition.leaf_of_node
    total[leaf >= 0] = values[leaf[leaf >= 0]]
    for level in reversed(levels):
        inner = level[partition.feature[level] >= 0]
        total[inner] = total[partition.left[inner]] + total[partition.left[inner] + 1]
    return total


@dataclass(frozen=True)
class SemiModel:
    """A regression tree from semi-feature local reports.

    Attributes
    ----------
    task : CellTask
        Both rounds' tasks: partition, grid, masks.
    shrink : float
        0: the paper's (9), ``N_j / D_j``. Above: how strongly splits are doubted, see :func:`shrunk`.
        Either way predictions are clipped to the public label bounds.
    notes : tuple of str
        Conditions of the guarantee beyond the task's.
    """

    task: CellTask
    n_reports: int
    values: tuple[tuple[float, ...], ...]
    simulation: bool = False
    shrink: float = 1.0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if not 0 <= self.shrink < 100:
            raise HedgerowError(f"The 'shrink' parameter must be in 0 .. 100. Got {self.shrink!r} instead.")
        if len(self.values) != len(_MOMENTS) or any(len(v) != self.task.n_cells for v in self.values):
            raise FormatError("the model's estimates do not fit its task.")

    @classmethod
    def of(cls, task: CellTask, n_reports: int, moments: Moments, simulation: bool, shrink: float) -> SemiModel:
        """Make a model of a task and its moments."""
        values = tuple(tuple(getattr(moments, name).tolist()) for name in _MOMENTS)
        return cls(task, n_reports, values, simulation, shrink)

    @property
    def guarantee(self) -> Guarantee:
        """What the reports behind this model protect."""
        return model_guarantee(self.task.guarantee, self.notes, self.simulation)

    @property
    def partition(self) -> Partition:
        """The published partition."""
        return self.task.partition

    @cached_property
    def leaves(self) -> LeafEstimates:
        """Estimates for every cell."""
        moments = Moments(*(np.array(v) for v in self.values))
        return LeafEstimates(self.task.first.grid, moments, self.n_reports)

    @cached_property
    def leaf_values(self) -> FloatArray:
        """What each cell predicts; with a public model, what it adds to that."""
        if (assist := self.task.first.assist) is not None:
            return assist.corrections(self.task.first.grid, self.leaves.moments, self.shrink)
        if not self.shrink:
            return self.leaves.mean
        grid = self.task.first.grid
        if self.n_reports == 0:
            return grid.values(np.full(self.task.n_cells, grid.n_steps / 2))
        return grid.values(
            np.clip(shrunk(self.partition, self.leaves.moments, grid.n_steps, self.shrink), 0.0, grid.n_steps)
        )

    def apply(self, X: object) -> Any:
        """Return the cell of each record."""
        return self.partition.apply_raw(X)

    def predict(self, X: object) -> FloatArray:
        """Predict labels."""
        prediction: FloatArray = self.leaf_values[self.apply(X)]
        if (assist := self.task.first.assist) is None:
            return prediction
        return np.clip(assist.predict(self.task.first.space.encode(X)) + prediction, *assist.label_bounds)

    def predict_interval(self, X: object, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return ``(low, high)`` for the mean label of each record's cell, cut to the label bounds."""
        low, high = self.leaves.interval(level)
        cell = self.apply(X)
        if (assist := self.task.first.assist) is None:
            return low[cell], high[cell]
        g = assist.predict(self.task.first.space.encode(X))
        ends = (assist.unclipped(v)[cell] for v in (low, high))
        low, high = (np.clip(g + end, *assist.label_bounds) for end in ends)
        return low, high

    def leaf_table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return one row a cell; see :func:`hedgerow.tasks.partly_public.explain.cell_table`."""
        from hedgerow.tasks.partly_public.explain import cell_table

        return cell_table(self, level)

    def explain(self, level: float = 0.9) -> str:
        """Return the model in words: guarantee, what is private, cells with their noise, importances."""
        from hedgerow.tasks.partly_public.explain import explain_semi

        return explain_semi(self, level)

    def plot(self, path: str | PathLike[str] | None = None, *, level: float = 0.9) -> Figure:
        """Draw the tree of cells beside their values, intervals and shares; save to ``path`` if given."""
        from hedgerow.tasks.partly_public.explain import plot_semi

        return plot_semi(self, path, level)

    def about(self) -> About:
        """Return what was made, in short."""
        cells = self.task.n_cells
        return About(f"{reports(self.n_reports)}, {cells} cells", {"n_cells": cells, "shrink": self.shrink})

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "task": self.task.to_dict(),
            "n_reports": self.n_reports,
            "simulation": self.simulation,
            "shrink": self.shrink,
            "notes": list(self.notes),
            **{name: list(v) for name, v in zip(_MOMENTS, self.values, strict=True)},
        }

    def to_json(self) -> str:
        """Return the model as versioned JSON."""
        return json.dumps(self.to_dict(), allow_nan=False)

    @classmethod
    def from_dict(cls, data: Mapping[str, Any]) -> SemiModel:
        """Rebuild from :meth:`to_dict`; refuse other versions and unknown fields."""
        if not isinstance(data, Mapping) or data.get("format") != _FORMAT or data.get("version") != _VERSION:
            raise FormatError(f"this is not a semi-feature model of version {_VERSION} ({_FORMAT!r}).")
        check_fields(data, _FIELDS, "semi-feature model")
        try:
            values = tuple(tuple(float(v) for v in data[name]) for name in _MOMENTS)
            task = CellTask.from_dict(data["task"])
            n, simulation, shrink = int(data["n_reports"]), bool(data["simulation"]), float(data["shrink"])
            return cls(task, n, values, simulation, shrink, read_notes(data, "semi-feature model"))
        except FormatError:
            raise
        except (TypeError, ValueError) as error:
            raise FormatError(f"this model is malformed: {error}") from error

    @classmethod
    def from_json(cls, text: str | bytes) -> SemiModel:
        """Read a model from JSON."""
        try:
            return cls.from_dict(json.loads(text))
        except (json.JSONDecodeError, UnicodeDecodeError, TypeError) as error:
            raise FormatError(f"this model is not valid JSON: {error}") from error

    def __repr__(self) -> str:
        return f"SemiModel({self.task.n_cells} cells from {self.n_reports} reports; {self.guarantee})"
