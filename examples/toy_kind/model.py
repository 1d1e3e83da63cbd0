"""The model: the share, debiased."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from hedgerow.tasks.models import About, Model
from toy_kind.task import ShareTask


@dataclass(frozen=True)
class ShareModel(Model, what="share model", format="example/share-model", version=1):
    """How many said yes, and the share of people above the tariff that this estimates."""

    task: ShareTask
    n_reports: int
    n_yes: int
    simulation: bool = False

    @property
    def share(self) -> float:
        """The share: ``(yes/n - q)/(p - q)`` is unbiased; it is clipped to 0 .. 1."""
        response = self.task.encoding.response
        p, q = float(response.p), float(response.q)
        return float(np.clip((self.n_yes / max(self.n_reports, 1) - q) / (p - q), 0.0, 1.0))

    def predict(self, X: object) -> Any:
        """Predict the share for everybody."""
        return np.full(len(X), self.share)  # type: ignore[arg-type]

    def about(self) -> About:
        """Return what was found, in short."""
        return About(f"{self.share:.0%} of {self.n_reports:,} people are above the tariff", {"share": self.share})

    def table(self, level: float = 0.9) -> list[dict[str, Any]]:
        """Return the one row."""
        return [{"rule": "above the tariff", "mean": self.share}]

    def _title(self) -> str:
        return f"The share of {self.task.target} above the public tariff, from {self.n_reports} reports."

    def _words(self, rows: list[dict[str, Any]], level: float) -> list[str]:
        return [f"{self.share:.0%}"]
