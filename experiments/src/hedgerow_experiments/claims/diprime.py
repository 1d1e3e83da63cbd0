"""The claims of "Balance is key: Private median splits yield high-utility random trees", and our own."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from hedgerow_experiments.claims.base import (
    HOLDS,
    NOT,
    OPEN,
    Check,
    Verdict,
    by_share,
    claims_of,
    duel,
    geometric,
    ratio,
)
from hedgerow_experiments.found import Evidence

__all__ = ["CLAIMS", "OURS"]

_DP = "diprime"


def _forest(setting: str, own: str | Sequence[str], rivals: str | Sequence[str], data: str | None = None) -> Check:
    def check(found: Evidence) -> Verdict:
        better = "higher" if setting == "2" else "lower"
        return duel(
            found.cells(_DP, setting=setting, method=own, dataset=data),
            found.cells(_DP, setting=setting, method=rivals, dataset=data), better=better,
        )  # fmt: skip

    return check


def _little_to_choose(found: Evidence) -> Verdict:
    by_set: dict[str, list[float]] = defaultdict(list)
    for s in found.cells(_DP, setting="2", method=("DiPriMe", "DiPriMeExp", "DiPriMeFlip")):
        by_set[s.dataset].append(s.mean)
    spans = {d: max(v) - min(v) for d, v in by_set.items() if len(v) == 3}
    said = ", ".join(f"{d} {v:.3f}" for d, v in spans.items())
    good = sum(v <= 0.03 for v in spans.values())
    return by_share(good, len(spans)).told(f"accuracies within 0.03 of each other on {{}} sets ({said})")


def _traffic(found: Evidence) -> Verdict:
    base = ratio(found.cells(_DP, setting="1", method="DiPriMe", dataset="MET"),
                 found.cells(_DP, setting="1", method="DiPriMeFlip", dataset="MET"))  # fmt: skip
    if not base:
        return Verdict(OPEN, "no results")
    return Verdict(HOLDS if base[0] > 1.5 else NOT, f"error of DiPriMe over that of DiPriMeFlip on MET: {base[0]:.2f}")


def _true_cost(found: Evidence) -> Verdict:
    """Ask the guarantee of the paper's own scheme, fitted on a few made records."""
    import numpy as np

    from hedgerow.central import DiPriMeForestRegressor

    X = np.random.default_rng(0).random((400, 6))
    known: dict[str, Any] = {"label_bounds": (0, 1), "feature_bounds": (0, 1)}
    forest = DiPriMeForestRegressor(10.0, accounting="paper", random_state=0, **known)
    cost = forest.fit(X, X[:, 0]).guarantee_.epsilon
    said = (
        f"at the paper's budget of 10 and K = 5 the scheme's guarantee is {cost:g} (a counterexample is in the tests)"
    )
    return Verdict(HOLDS if cost <= 10 else NOT, said)


CLAIMS = claims_of(
    "DiPriMe", "diprime.md",
    ("table 1", "DiPriMeExp and DiPriMeFlip clearly outperform DP-ERT and DP-RF (regression)",
     _forest("1", ("DiPriMeExp", "DiPriMeFlip"), ("DP-ERT", "DP-RF"))),
    ("table 1", "DiPriMeFlip beats DP-ERT (regression)", _forest("1", "DiPriMeFlip", "DP-ERT")),
    ("table 1", "DP-RF performs very poorly: worse than DP-ERT in regression", _forest("1", "DP-ERT", "DP-RF")),
    ("table 1", "Without privacy, median forests are worse than random forests", _forest("1", "RF", "Median")),
    ("section 4.1", "Where targets matter for splits (traffic), base DiPriMe is much worse than DiPriMeFlip", _traffic),
    ("table 2", "Without privacy, median forests are consistently worse than random forests (classification)",
     _forest("2", "RF", "Median")),
    ("table 2", "DiPriMe and its variants far exceed DP-ERT, DP-RF and DP-DF (classification)",
     _forest("2", ("DiPriMe", "DiPriMeExp", "DiPriMeFlip"), ("DP-ERT", "DP-RF", "DP-DF"))),
    ("table 2", "DiPriMeFlip beats DP-ERT (classification)", _forest("2", "DiPriMeFlip", "DP-ERT")),
    ("table 2", "There is little to choose between the variants (read as: accuracies within 0.03)", _little_to_choose),
    ("section 3", "K candidate medians cost no more than one, so that the scheme is epsilon-private", _true_cost),
)  # fmt: skip


def _never_worse(shifted: bool) -> Check:
    """Return a check that takes "never" at its word: one run that is more than 1 % worse refutes it."""

    def check(found: Evidence) -> Verdict:
        own = [s for s in found.cells("frontier", method="AssistedForest") if ("->" in s.dataset) == shifted]
        public = {s.dataset: s.values for s in found.cells("frontier", method="public model")}
        ratios = [v / public[s.dataset][r] for s in own for r, v in s.values.items() if r in public.get(s.dataset, {})]
        good = sum(r <= 1.01 for r in ratios)
        worst = max(ratios or [0.0])
        told = f"at most 1 % worse in {{}} runs; geometric mean {geometric(ratios):.3f}, worst {worst:.2f}"
        verdict = by_share(good, len(ratios)).told(told)
        return verdict if good == len(ratios) else verdict._replace(word=NOT)

    return check


def _anova(setting: str, rival: str) -> Check:
    def check(found: Evidence) -> Verdict:
        return duel(
            found.cells("anova", setting=setting, method="PrivateAnova"),
            found.cells("anova", setting=setting, method=rival),
            better="higher" if setting == "classification" else "lower",
        )

    return check


OURS = (
    *claims_of("ours", "frontier.md",
             ("frontier", "AssistedForest is never worse than the best public model, public and private records alike",
              _never_worse(False)),
             ("frontier", "The same where public and private records differ", _never_worse(True))),
    *claims_of("ours", "anova.md",
             ("anova", "PrivateAnova beats DP-EBM (regression)", _anova("regression", "DP-EBM")),
             ("anova", "PrivateAnova beats DP-EBM (classification)", _anova("classification", "DP-EBM")),
             ("anova", "PrivateAnova beats DiPriMe (regression)", _anova("regression", "DiPriMe"))),
)  # fmt: skip
