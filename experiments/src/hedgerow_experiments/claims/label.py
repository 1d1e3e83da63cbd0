"""The claims of "RPWithPrior: Label Differential Privacy in Regression"."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from hedgerow.compare.scores import Summary
from hedgerow_experiments.claims.base import Check, Verdict, by_share, claims_of, duel
from hedgerow_experiments.found import Evidence

__all__ = ["CLAIMS"]

_LABEL = "label"
_OTHERS = ("Laplace", "Gaussian", "Staircase", "RRonBins", "Unbiased")


def _label_beats(data: str | Sequence[str], high: float, rivals: Sequence[str], learner: str = "network") -> Check:
    def check(found: Evidence) -> Verdict:
        def at(e: float | None) -> bool:
            return e is not None and e <= high

        own = found.cells(_LABEL, dataset=data, setting=learner, method="RPWithPrior", epsilon=at)
        return duel(own, found.cells(_LABEL, dataset=data, setting=learner, method=rivals, epsilon=at))

    return check


def _within_deviation(data: str) -> Check:
    def check(found: Evidence) -> Verdict:
        cells: dict[float, dict[str, Summary]] = defaultdict(dict)
        for s in found.cells(_LABEL, dataset=data, setting="network", method=("RPWithPrior", *_OTHERS)):
            cells[s.epsilon or 0.0][s.method] = s
        rows = [row for row in cells.values() if len(row) == 6 and row["RPWithPrior"].deviation > 0]
        good = 0
        for row in rows:
            own, least = row["RPWithPrior"], min(row.values(), key=lambda s: s.mean)
            good += own.mean - own.deviation <= least.mean + least.deviation
        return by_share(good, len(rows)).told("within one deviation of the best at {} budgets")

    return check


CLAIMS = claims_of(
    "RPWithPrior", "label.md",
    ("table 1", "Crime: RPWithPrior has the lowest error at small budgets (epsilon up to 0.5)",
     _label_beats("crime", 0.5, _OTHERS)),
    ("table 1", "Crime: RPWithPrior is at least level with the best at every budget", _within_deviation("crime")),
    ("table 3", "Housing: RPWithPrior has the lowest error at small budgets (epsilon up to 0.5)",
     _label_beats("housing", 0.5, _OTHERS)),
    ("table 3", "Housing: RPWithPrior is at least level with the best at every budget", _within_deviation("housing")),
    ("tables 1, 3", "At small budgets RPWithPrior beats the additive mechanisms by far",
     _label_beats(("crime", "housing"), 0.5, ("Laplace", "Gaussian", "Staircase"))),
    ("table 7", "Linear simulation: RPWithPrior is lowest at small budgets",
     _label_beats("simulated-linear", 0.5, _OTHERS)),
    ("table 8", "Nonlinear simulation: the same", _label_beats("simulated-nonlinear", 0.5, _OTHERS)),
    ("table 2", "Criteo: RPWithPrior and Unbiased outperform the others (flight delays stand in, with boosting)",
     _label_beats("nyc", 8, ("Laplace", "Gaussian", "Staircase", "RRonBins"), "boosting")),
)  # fmt: skip
