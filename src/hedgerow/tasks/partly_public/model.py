"""The model of the second round: estimates for every cell, and predictions from them. All post-processing."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from hedgerow.errors import FormatError, HedgerowError
from hedgerow.partition.structure import node_levels
from hedgerow.partition.tree import Partition
from hedgerow.tasks.assisted.intervals import attained
from hedgerow.tasks.forecast import Forecast
from hedgerow.tasks.intervals import Ends, believe_leaves, cut, holding, widened
from hedgerow.tasks.leaves import LeafModel
from hedgerow.tasks.models import About
from hedgerow.tasks.partly_public.cells import CellTask
from hedgerow.tasks.partly_public.masks import MASK_WORDS
from hedgerow.tasks.partly_public.selection import node_sums, reaching, strays
from hedgerow.tasks.rules import reports
from hedgerow.tasks.tree.encoding import Moments
from hedgerow.tasks.tree.estimates import LeafEstimates
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.formula import Formula
    from hedgerow.formula.anatomy import Anatomy

__all__ = ["SemiModel", "shrunk"]

_MOMENTS = ("numerator", "denominator", "var_n", "cov", "var_d")


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
    N, D, var_n, cov, var_d = (node_sums(partition, levels, getattr(moments, name)) for name in _MOMENTS)
    value = np.zeros(partition.n_nodes)
    value[0] = N[0] / D[0] if D[0] > 0 else 0.0
    for level in levels:
        inner = level[partition.feature[level] >= 0]
        a = partition.left[inner].astype(np.intp)
        r = value[inner]
        value[a] = value[a + 1] = r
        full = (D[a] > 0) & (D[a + 1] > 0)
        move = []
        noise = np.zeros(len(a))
        size = []
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


@dataclass(frozen=True)
class SemiModel(LeafModel, what="model of two rounds", format="hedgerow/semi-model", version=1):
    """A regression tree from semi-feature local reports.

    Attributes
    ----------
    task : CellTask
        Both rounds' tasks: partition, grid, masks.
    values : tuple of tuples of float
        Numerator, denominator, and their variances and covariance, by cell.
    shrink : float
        0: the paper's (9), ``N_j / D_j``. Above: how strongly splits are doubted, see :func:`shrunk`.
        Either way predictions are clipped to the public label bounds.
    """

    unit = "cells"
    gained = "share of the differences between cells"

    task: CellTask
    n_reports: int
    values: tuple[tuple[float, ...], ...]
    simulation: bool = False
    shrink: float = 1.0
    notes: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        super().__post_init__()
        if not 0 <= self.shrink < 100:  # beyond, nothing is left of any difference
            raise HedgerowError(f"The 'shrink' parameter must be in 0 .. 100. Got {self.shrink!r} instead.")
        if len(self.values) != len(_MOMENTS) or any(len(v) != self.task.n_cells for v in self.values):
            raise FormatError("the model's estimates do not fit its task.")

    @classmethod
    def of(cls, task: CellTask, n_reports: int, moments: Moments, simulation: bool, shrink: float) -> SemiModel:
        """Make a model of a task and its moments."""
        values = tuple(tuple(getattr(moments, name).tolist()) for name in _MOMENTS)
        return cls(task, n_reports, values, simulation, shrink)

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

    def predict(self, X: object) -> FloatArray:
        """Predict labels."""
        prediction: FloatArray = self.leaf_values[self.apply(X)]
        if (assist := self.task.first.assist) is None:
            return prediction
        return np.clip(assist.predict(self.task.first.space.encode(X)) + prediction, *assist.label_bounds)

    def formula(self) -> Formula:
        """Return the tree of cells; with a public model, what cells add to that."""
        if (assist := self.task.first.assist) is None:
            return super().formula()
        from hedgerow.formula.portable import design_term, portable_term, within
        from hedgerow.formula.terms import records
        from hedgerow.formula.trees import tree_sum

        rows = records()
        public = portable_term(assist.public_model, design_term(assist.public_model, rows))
        added = tree_sum(rows, [self.partition], [self.leaf_values])
        return replace(
            super().formula(), value=(within(public, assist.label_bounds) + added).clip(*assist.label_bounds)
        )

    def anatomy(self, level: float = 0.9) -> Anatomy:
        """Return the cell of a record with its rule; with a public model, that and what the cell adds."""
        assist = self.task.first.assist
        found = super().anatomy(level)
        if assist is None:
            return found
        from hedgerow.formula.anatomy import Part
        from hedgerow.formula.portable import design_term, portable_term, within
        from hedgerow.formula.terms import join, records

        public = portable_term(assist.public_model, design_term(assist.public_model, records()))
        public = within(public, assist.label_bounds)
        (cell,) = found.parts
        value = (public + cell.value).clip(*assist.label_bounds)
        assert found.ends is not None
        return replace(
            found,
            formula=replace(found.formula, value=value),
            parts=(Part("public model", public, start=True), cell),
            ends=(join(public, public) + found.ends).clip(*assist.label_bounds),
            covers="the public prediction plus its average error over the people whose records are in the same cell",
        )

    def reports_ends(self, level: float) -> Ends:
        """Return an interval for the mean label of each cell, or for the mean error of the public model there."""
        step = self.task.first.grid.step
        low, high = reaching(self.leaves.interval(level), step * self._strays)
        return self._in_units(cut((low, high), self._reported))

    @cached_property
    def _strays(self) -> FloatArray:
        """By how many levels each cell is too high on average because cuts were chosen by the same labels."""
        task = self.task
        if self.n_reports == 0 or not task.chosen_cuts.any():
            return np.zeros(task.n_cells)
        return strays(self.partition, self.leaves.moments, task.chosen_cuts, task.n_tree_columns, task.answers)

    @property
    def _reported(self) -> tuple[float, float]:
        grid = self.task.first.grid
        return grid.low, grid.high

    def ends(self, level: float) -> Ends:
        """Return an interval for the value of each cell that holds it.

        With a public model, cells stray from its error on public records as far as reports tell. Without one, it is
        what the reports say: the few cells of a tree have too little in common to be told from each other.
        """
        assist = self.task.first.assist
        if assist is None or not self.shrink:
            return super().ends(level)
        grid = self.task.first.grid
        same = np.full(self.task.n_cells, (assist.radius * assist.residuals.clipped_mean - grid.low) / grid.step)
        # Clipped errors may be anywhere in their range, all of them: it is not wide, as a label's is.
        found = believe_leaves(self.leaves.moments, self.n_reports, same, 0.0 * same, 2.0 * grid.n_steps)
        low, high = cut(reaching(found.interval(level), self._strays), (0.0, grid.n_steps))
        return holding(self._in_units((grid.values(low), grid.values(high))), self.leaf_values)

    def _in_units(self, ends: Ends) -> Ends:
        """Return means, or mean errors of the public model, from those of what was reported."""
        if (assist := self.task.first.assist) is None:
            return ends
        linear = (assist.unclipped(ends[0]), assist.unclipped(ends[1]))
        return attained(assist.residuals, assist.radius, assist.label_bounds, linear)

    def predict_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the mean label of each record's cell, cut to the label bounds.

        With a public model, for its prediction plus its mean error among the holders of the record's cell.
        """
        return self._moved(super().predict_interval(X, level), X)

    def reports_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the same from the reports alone (Fieller's interval)."""
        return self._moved(super().reports_interval(X, level), X)

    def predict_label_interval(self, X: object, level: float = 0.9) -> Ends:
        """Return ``(low, high)`` for the label of each record, which strays from that as public errors do.

        Only with a public model: reports do not tell how labels spread within a cell.
        """
        if (assist := self.task.first.assist) is None:
            return super().predict_label_interval(X, level)
        ends = self.predict_interval(X, level)
        return cut(widened(ends, self.predict(X), *assist.residuals.spread(level)), assist.label_bounds)

    def _moved(self, ends: Ends, X: object) -> Ends:
        if (assist := self.task.first.assist) is None:
            return ends
        g = assist.predict(self.task.first.space.encode(X))
        return cut((g + ends[0], g + ends[1]), assist.label_bounds)

    @property
    def value_name(self) -> str:
        """``"mean"``; with a public model ``"correction"``, what the cell adds to that model's prediction."""
        return "mean" if self.task.first.assist is None else "correction"

    @property
    def value_bounds(self) -> tuple[float, float]:
        """The range of the grid; with a public model, of the mean errors that it stands for."""
        grid = self.task.first.grid
        assist = self.task.first.assist
        ends = np.array([grid.low, grid.high])
        if assist is not None:
            ends = assist.unclipped(ends)
        return float(ends[0]), float(ends[1])

    def forecast(self, more: int) -> Forecast | None:
        """Foresee the error of cell means from reports alone; None with a public model, whose error is not told."""
        return super().forecast(more) if self.task.first.assist is None else None

    def about(self) -> About:
        """Return what was made, in short."""
        cells = self.task.n_cells
        return About(f"{reports(self.n_reports)}, {cells} cells", {"n_cells": cells, "shrink": self.shrink})

    def _words(self, rows: list[dict[str, Any]], level: float) -> list[str]:
        first = self.task.first
        private = f": {', '.join(first.private) or 'only the label'}" if first.masks == "policy" else ""
        quiet = []
        if first.assist is not None and not self.leaf_values.any():
            quiet = ["", "The reports carry no evidence against the public model: it predicts."]
        return [f"Private: {MASK_WORDS[first.masks]}{private}.", "", *super()._words(rows, level), *quiet]

    def value_words(self, level: float = 0.9) -> str:
        """Return what a cell predicts, or adds to the public model."""
        if self.task.first.assist is None:
            return super().value_words(level)
        return f"added to the public model, with the {level:.0%} interval of its mean error there"

    def _axis(self) -> str:
        target = self.task.target
        return target if self.task.first.assist is None else f"{target}: added to the public model"

    def _facts(self) -> dict[str, Any]:
        first = self.task.first
        return {
            "masks": first.masks,
            "private": list(first.private) if first.masks == "policy" else None,
            **super()._facts(),
            "shrink": self.shrink,
            "radius": None if first.assist is None else first.assist.radius,
        }

    def __repr__(self) -> str:
        return f"SemiModel({self.task.n_cells} cells from {self.n_reports} reports; {self.guarantee})"
