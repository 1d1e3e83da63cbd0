"""The model of the second round: estimates for every cell, and predictions from them. All post-processing."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from hedgerow.bounds import check_fields
from hedgerow.errors import FormatError
from hedgerow.guarantee import Guarantee
from hedgerow.partition.tree import Partition
from hedgerow.protocol.encoding import FloatArray, Moments
from hedgerow.protocol.estimates import LeafEstimates
from hedgerow.protocol.semi.cells import CellTask

__all__ = ["SemiModel", "shrunk"]

_FORMAT, _VERSION = "hedgerow/semi-model", 1
_MOMENTS = ("numerator", "denominator", "var_n", "cov", "var_d")
_FIELDS = {"format", "version", "task", "n_reports", "simulation", "shrink", *_MOMENTS}


def shrunk(moments: Moments) -> FloatArray:
    r"""Return cell means drawn towards the overall mean, the more the noisier they are (empirical Bayes).

    With mu the overall mean and ``e_j = N_j - mu D_j``, of variance ``V_j``, suppose that true cell means scatter
    around mu with variance tau^2. The best linear estimate of a cell's deviation from mu is

    .. math:: \frac{D_j e_j}{D_j^2 + V_j / \tau^2}, \qquad
              \tau^2 = \frac{\sum_j (e_j^2 - V_j)^{}}{\sum_j D_j^2 - \mathrm{Var}(D_j)}

    with tau^2 by moments, cut at 0. A cell that cannot be told from an empty one predicts mu; one with
    many holders keeps its own mean.
    """
    N, D = moments.numerator, np.maximum(moments.denominator, 0.0)
    total = moments.denominator.sum()
    mu = float(N.sum() / total) if total > 0 else 0.0
    e = N - mu * moments.denominator
    V = np.maximum(moments.var_n - 2 * mu * moments.cov + mu * mu * moments.var_d, 0.0)
    size = float(np.maximum((moments.denominator**2 - np.maximum(moments.var_d, 0.0)).sum(), 0.0))
    tau2 = max(0.0, float((e * e - V).sum())) / size if size > 0 else 0.0
    if tau2 == 0:
        return np.full(len(N), mu)
    weight = D * D + V / tau2
    deviation = np.divide(D * e, weight, out=np.zeros(len(N)), where=weight > 0)
    return np.asarray(mu + deviation)


@dataclass(frozen=True)
class SemiModel:
    """A regression tree from semi-feature local reports.

    Attributes
    ----------
    task : CellTask
        Both rounds' tasks: partition, grid, masks.
    shrink : bool
        True: noisy cells are drawn towards the overall mean (:func:`shrunk`). False: the paper's (9), ``N_j / D_j``.
        Either way predictions are clipped to the public label bounds.
    """

    task: CellTask
    n_reports: int
    values: tuple[tuple[float, ...], ...]
    simulation: bool = False
    shrink: bool = True

    def __post_init__(self) -> None:
        if len(self.values) != len(_MOMENTS) or any(len(v) != self.task.n_cells for v in self.values):
            raise FormatError("the model's estimates do not fit its task.")

    @classmethod
    def of(cls, task: CellTask, n_reports: int, moments: Moments, simulation: bool, shrink: bool) -> SemiModel:
        """Make a model of a task and its moments."""
        values = tuple(tuple(getattr(moments, name).tolist()) for name in _MOMENTS)
        return cls(task, n_reports, values, simulation, shrink)

    @property
    def guarantee(self) -> Guarantee:
        """What the reports behind this model protect."""
        return replace(self.task.guarantee, simulation=self.simulation)

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
        """What each cell predicts."""
        if not self.shrink:
            return self.leaves.mean
        grid = self.task.first.grid
        if self.n_reports == 0:
            return grid.values(np.full(self.task.n_cells, grid.n_steps / 2))
        return grid.values(np.clip(shrunk(self.leaves.moments), 0.0, grid.n_steps))

    def apply(self, X: object) -> Any:
        """Return the cell of each record."""
        return self.partition.apply_raw(X)

    def predict(self, X: object) -> FloatArray:
        """Predict labels."""
        prediction: FloatArray = self.leaf_values[self.apply(X)]
        return prediction

    def predict_interval(self, X: object, level: float = 0.9) -> tuple[FloatArray, FloatArray]:
        """Return ``(low, high)`` for the mean label of each record's cell, cut to the label bounds."""
        low, high = self.leaves.interval(level)
        cell = self.apply(X)
        return low[cell], high[cell]

    def to_dict(self) -> dict[str, Any]:
        """Return a JSON-ready form."""
        return {
            "format": _FORMAT,
            "version": _VERSION,
            "task": self.task.to_dict(),
            "n_reports": self.n_reports,
            "simulation": self.simulation,
            "shrink": self.shrink,
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
            return cls(task, int(data["n_reports"]), values, bool(data["simulation"]), bool(data["shrink"]))
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
