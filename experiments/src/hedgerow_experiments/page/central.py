"""The results page on the label and the central model."""

from __future__ import annotations

from html import escape

from hedgerow.compare.scores import Summary
from hedgerow.compare.web import details, plain_table
from hedgerow_experiments.anova.anchors import ANCHORS, EPSILONS, SOURCE
from hedgerow_experiments.claims.base import geometric
from hedgerow_experiments.data.public_facts import FACTS
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.page.common import by_epsilon, multiples, section, tables, versus
from hedgerow_experiments.printed import Printed, beside_the_paper
from hedgerow_experiments.tables import Table, tabulate

__all__ = ["CENTRAL", "LABEL"]

_MECHANISMS = ("auto", "RPWithPrior", "RRonBins", "Unbiased", "Laplace", "Staircase", "Gaussian")
_CASES = {"crime": "Communities and Crime", "housing": "California housing", "nyc": "Flight delays",
          "simulated-linear": "Simulated, linear", "simulated-nonlinear": "Simulated, nonlinear"}  # fmt: skip
_NAMES = {code: f"{facts.name} ({code})" for code, facts in FACTS.items()}


def _label(found: Evidence) -> tuple[str, str]:
    cells = found.cells("label", setting="network", method=_MECHANISMS)
    if not cells:
        return "", ""
    low = [s for s in cells if s.epsilon is not None and s.epsilon <= 1]
    gains = by_epsilon([s for s in low if s.method == "auto"], [s for s in low if s.method in _MECHANISMS[4:]])
    told = [r for rs in gains.values() for r in rs]
    said = (
        f"The mechanism that is chosen by closed form has an error {versus(geometric(told))} that of the best additive "
        "noise, on average over epsilon up to 1." if told else ""
    )  # fmt: skip
    rerun = [
        (_CASES.get(d, d), _by_budget(cells, d, found.printed("label", "network")))
        for d in dict.fromkeys(s.dataset for s in cells)
    ]
    text = "<p>A network trained on labels that were randomised once. All features are public.</p>"
    folded = tables(
        rerun, "Tables 1, 3, 7 and 8 of the RPWithPrior paper, rerun (bold: within a deviation of the best)"
    )
    return said, text + multiples(cells, _MECHANISMS, names=_CASES) + folded


def _by_budget(cells: list[Summary], data: str, figures: list[Printed]) -> Table:
    chosen = sorted((s for s in cells if s.dataset == data), key=lambda s: s.epsilon or 0.0)
    known = {(f"{p.epsilon:g}", p.method): p.value for p in figures if p.dataset == data}
    return tabulate(
        chosen, row=lambda s: f"{s.epsilon:g}", columns=_MECHANISMS, paper=known, marks="overlap", corner="epsilon"
    )


_FORESTS = ("DiPriMeFlip", "DiPriMeExp", "DiPriMe", "DP-ERT", "DP-RF", "DP-DF", "RF", "ERT", "Median")


def _central(found: Evidence) -> tuple[str, str]:
    said, body = _anova(found)
    rerun = []
    for setting, epsilon, what in (("1", 10.0, "test MSE"), ("2", 2.0, "accuracy")):
        chosen = found.cells("diprime", setting=setting)
        columns = [m for m in _FORESTS if any(s.method == m for s in chosen)]
        table = beside_the_paper(
            chosen, found.printed("diprime", setting), epsilon=epsilon, columns=columns,
            better="higher" if setting == "2" else "lower", compete=[m for m in columns if m in _FORESTS[:6]],
            family=lambda m: "DiPriMe" if m.startswith("DiPriMe") else m,
        )  # fmt: skip
        rerun.append((f"Table {setting}, epsilon {epsilon:g}: {what}", table))
    anchors = _anchors() if found.rows("library") or body else ""
    return said, anchors + body + tables(rerun, "Tables 1 and 2 of the DiPriMe paper, rerun")


def _anchors() -> str:
    """Return what others' figures say that are not run here."""
    rows = [(escape(name), *(f"{value:.2f}" for value in values)) for name, values in ANCHORS.items()]
    head = ("error of PrivateAnova over that of", *(f"epsilon {e:g}" for e in EPSILONS))
    return details(
        "Anchors that are not run here: S-BDT, AdaSSP", f"<p>{escape(SOURCE)}</p>{plain_table(head, rows, (0,))}"
    )


def _anova(found: Evidence) -> tuple[str, str]:
    cells = found.cells("anova", setting="regression")
    own, peer = ([s for s in cells if s.method == m] for m in ("PrivateAnova", "DP-EBM"))
    ratios = by_epsilon(own, peer)
    if not cells:
        return "", ""
    told = ", ".join(f"{versus(geometric(r))} that of DP-EBM at epsilon {e:g}" for e, r in ratios.items())
    shown = ("PrivateAnova", "DP-EBM", "DiPriMe")
    ends = ("mean", "random forest")
    text = (
        "<p>Targets scaled to [0, 1], 90 % of the records to learn from. Delta is 1e-5 for PrivateAnova and DP-EBM, 0 "
        "for DiPriMe. Dashed: no privacy.</p>"
    )
    charts = multiples([s for s in cells if s.method in (*shown, *ends)], shown, ends, names=_NAMES)
    return f"PrivateAnova's error is {told}, on the same splits." if ratios else "", text + charts


LABEL = section("label", "Label", ("label.md",), _label)
CENTRAL = section("central", "Central", ("anova.md", "diprime.md", "stated_bounds.md"), _central)
