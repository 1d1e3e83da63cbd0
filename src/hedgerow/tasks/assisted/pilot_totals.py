"""What the pilot found: exact totals, and the shares of bins that they estimate."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.errors import FormatError
from hedgerow.tasks.assisted.pilot import PilotTask
from hedgerow.tasks.models import About, Model
from hedgerow.tasks.rules import reports
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["PilotTotals"]


@dataclass(frozen=True)
class PilotTotals(Model, what="pilot's result", format="hedgerow/pilot-totals", version=1):
    """The totals of a pilot; versioned JSON.

    Attributes
    ----------
    task : PilotTask
        The published task.
    n_reports : int
        Number of reports.
    sums : tuple of int
        Reports that named each bin.
    """

    has_intervals = False

    task: PilotTask
    n_reports: int
    sums: tuple[int, ...]
    simulation: bool = False

    def __post_init__(self) -> None:
        super().__post_init__()
        if len(self.sums) != self.task.encoding.n_sums or min(self.sums) < 0 or sum(self.sums) != self.n_reports:
            raise FormatError(f"the pilot's totals do not fit its task and {self.n_reports} reports.")

    @property
    def shares(self) -> FloatArray:
        """Unbiased estimates of the share of holders in each bin; some may be below 0."""
        message = self.task.encoding
        return (np.array(self.sums) / max(self.n_reports, 1) - float(message.response.q)) / message.kappa

    def covariance(self, shares: npt.ArrayLike) -> FloatArray:
        r"""Return the covariance of :attr:`shares` for holders drawn with these true shares.

        With :math:`\pi = q + \kappa s`, it is :math:`(\mathrm{diag}(\pi) - \pi \pi^T)/(n \kappa^2)`.
        """
        message = self.task.encoding
        named = float(message.response.q) + message.kappa * np.asarray(shares, dtype=np.float64)
        return (np.diag(named) - np.outer(named, named)) / (max(self.n_reports, 1) * message.kappa**2)

    def about(self) -> About:
        """Return what the pilot found, in short."""
        facts = {"edges": list(self.task.edges), "shares": self.shares.tolist()}
        shares = ", ".join(f"{share:.0%}" for share in self.shares)
        next_step = "next: hedgerow design ... --assisted --pilot-totals, with this file"
        return About(f"{reports(self.n_reports)} of the pilot", facts, (f"shares of bins: {shares}", next_step))

    @property
    def value_name(self) -> str:
        """The share of a bin."""
        return "share"

    def table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return one row a bin of errors: its ends, the share of holders in it and the noise in that."""
        edges = [f"{edge:.6g}" for edge in self.task.edges]
        names = [f"error < {edges[0]}", *(f"{a} <= error < {b}" for a, b in pairwise(edges))]
        sd = np.sqrt(np.maximum(np.diag(self.covariance(np.clip(self.shares, 0.0, 1.0))), 0.0))
        return [
            {"leaf": j, "cell": name, "share": share, "share_sd": float(sd[j])}
            for j, (name, share) in enumerate(zip([*names, f"error >= {edges[-1]}"], self.shares.tolist(), strict=True))
        ]

    def _title(self) -> str:
        return f"A pilot: how wrong the public model for {self.task.target!r} is, from {reports(self.n_reports)}."

    def _words(self, rows: list[dict[str, Any]], level: float) -> list[str]:
        lines = [f"  {row['share']:6.1%} +- {row['share_sd']:.1%}  {row['cell']}" for row in rows]
        return ["Errors of the public model (share of holders with its standard deviation):", *lines]

    def _draw(self, rows: list[dict[str, Any]], level: float) -> Figure:
        from matplotlib.figure import Figure

        figure = Figure(figsize=(8, 4), layout="constrained")
        ax = figure.subplots()
        ax.bar(range(len(rows)), [row["share"] for row in rows], yerr=[row["share_sd"] for row in rows])
        ax.set_xticks(range(len(rows)), [row["cell"] for row in rows], rotation=30, ha="right", fontsize=8)
        ax.set(ylabel="share of holders", title="errors of the public model")
        return figure

    def __repr__(self) -> str:
        note = ", simulation" if self.simulation else ""
        return f"PilotTotals({self.n_reports} reports to task {self.task.id[:12]}...{note})"
