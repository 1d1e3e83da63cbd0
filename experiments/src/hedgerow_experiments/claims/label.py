"""The claims of "RPWithPrior: Label Differential Privacy in Regression"."""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Sequence

from hedgerow.compare.scores import Summary
from hedgerow_experiments.claims.base import Check, Verdict, by_share, claims_of, duel, ratio
from hedgerow_experiments.claims.privacy import audited
from hedgerow_experiments.found import Evidence

__all__ = ["CLAIMS"]

_LABEL = "label"
_SECONDS = "label-seconds"
_OTHERS = ("Laplace", "Gaussian", "Staircase", "RRonBins", "Unbiased")
_ALL = ("crime", "housing", "simulated-linear", "simulated-nonlinear")


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


def _steadier(found: Evidence) -> Verdict:
    """Compare deviations over trials with each other mechanism, cell by cell."""
    cells = found.cells(_LABEL, dataset=("crime", "housing"), setting="network", method=("RPWithPrior", *_OTHERS))
    noisy = [s for s in cells if not math.isinf(s.epsilon or 0.0)]
    own = {(s.dataset, s.epsilon): s.deviation for s in noisy if s.method == "RPWithPrior"}
    pairs = [(own.get((s.dataset, s.epsilon)), s.deviation) for s in noisy if s.method != "RPWithPrior"]
    known = [(a, b) for a, b in pairs if a is not None]
    return by_share(sum(a < b for a, b in known), len(known)).told("smaller in {} comparisons")


def _quicker(rivals: Sequence[str], slack: float) -> Check:
    """Return a check that RPWithPrior's labels take at most ``slack`` times as long as those of the quickest rival."""

    def check(found: Evidence) -> Verdict:
        own = found.cells(_SECONDS, setting="6", method="RPWithPrior")
        ratios = ratio(own, found.cells(_SECONDS, setting="6", method=rivals))
        told = f"on {{}} data sets; its seconds over theirs: {', '.join(f'{r:.2g}' for r in ratios)}"
        return by_share(sum(r <= slack for r in ratios), len(ratios)).told(told)

    return check


def _trial_quicker(found: Evidence) -> Verdict:
    own = found.cells(_SECONDS, setting="9", method="RPWithPrior")
    ratios = ratio(own, found.cells(_SECONDS, setting="9", method=("Laplace", "Gaussian", "Staircase")))
    told = f"{{}} within a tenth; its seconds over theirs: {', '.join(f'{r:.2f}' for r in ratios)}"
    return by_share(sum(abs(r - 1) <= 0.1 for r in ratios), len(ratios)).told(told)


_TABLES = claims_of(
    "RPWithPrior", "label.md",
    ("section 3.3", "RPWithPrior is epsilon-label private, given the prior",
     audited("interval response", "interval response, anything outside")),
    ("abstract", "RPWithPrior performs better than the five others on crime, housing and simulated data",
     _label_beats(_ALL, 8, _OTHERS)),
    ("section 5.1", "Its error has a smaller deviation than theirs across budgets (crime, housing)", _steadier),
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

_TIMES = claims_of(
    "RPWithPrior", "seconds.md",
    ("table 6", "Randomising labels by RPWithPrior takes far less time than RRonBins (read as: less than half)",
     _quicker(("RRonBins",), 0.5)),
    ("table 6", "It takes about as long as additive noise (read as: at most twice as long)",
     _quicker(("Laplace", "Gaussian", "Staircase"), 2.0)),
    ("table 9", "A trial with its network takes as long as with additive noise (read as: within a tenth)",
     _trial_quicker),
)  # fmt: skip

CLAIMS = (*_TABLES, *_TIMES)
