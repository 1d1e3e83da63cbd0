"""The page ``claims.md``: every claim of the papers with our verdict."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from hedgerow.compare.scores import Summary
from hedgerow_experiments.claims.base import HOLDS, NOT, OPEN, PARTLY, Claim, Verdict
from hedgerow_experiments.claims.diprime import CLAIMS as DIPRIME
from hedgerow_experiments.claims.diprime import OURS
from hedgerow_experiments.claims.diprime_figures import CLAIMS as DIPRIME_FIGURES
from hedgerow_experiments.claims.histoftree import CLAIMS as HISTOFTREE
from hedgerow_experiments.claims.label import CLAIMS as RPWITHPRIOR
from hedgerow_experiments.claims.lpdt import CLAIMS as LPDT
from hedgerow_experiments.claims.sentences import SENTENCES
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.forms import pipes
from hedgerow_experiments.found import Evidence

__all__ = ["ALL", "PAPERS", "Checked", "check_all", "count", "pages", "to_markdown"]

PAPERS = {
    "LPDT": "Decision Tree for Locally Private Estimation with Public Data (local model)",
    "HistOfTree": "Locally Private Estimation with Public Features (semi-feature local model)",
    "RPWithPrior": "RPWithPrior: Label Differential Privacy in Regression (label model)",
    "DiPriMe": "Balance is key: Private median splits yield high-utility random trees (central model)",
    "ours": "What we say ourselves",
}
ALL: Sequence[Claim] = (*LPDT, *HISTOFTREE, *RPWITHPRIOR, *DIPRIME, *DIPRIME_FIGURES, *OURS)
_MARKS = {HOLDS: "**holds**", PARTLY: "*partly*", NOT: "**does not hold**", OPEN: "not measured"}

_HEAD = """# What the papers claim, and what we found

Written by `hedgerow bench page` from the committed results; nothing here is typed in by hand. A claim that A is
better than B is read over all cells (data set and epsilon) where both were measured, each method at its best parameters
in hindsight, as the papers do it. It **holds** if A is better in at least nine of ten cells, **does not hold** if in
fewer than half, and holds *partly* in between; one about "most" holds if it does in more than half. "Ratio" is the
geometric mean of A over B; "mean gain" is how much better A is than B, relative to B, in the mean over cells, with its
standard error over splits; "significantly" is the Wilcoxon test over splits at 5 %, which four splits or fewer can
never show. What rests on fewer than ten repeats says so: it may change with more. A claim with "never" is judged
run by run, and one run refutes it. Our data, grids and fixes differ from the papers' in ways that the linked pages
list. [Below](#sentence-by-sentence) every sentence of the papers' abstracts and conclusions has the claims that test
it, or the reason why none does.
"""


class Checked(NamedTuple):
    """A claim and its verdict."""

    claim: Claim
    verdict: Verdict


FEW = 10
"""Verdicts from fewer repeats say so."""


class _Watched(Evidence):
    """Evidence that remembers how many repeats the cells have that a claim asks for."""

    def __init__(self, found: Evidence) -> None:
        super().__init__({})
        self.repeats: set[int] = set()
        self._found = found

    def cells(self, experiment: str, **wanted: Any) -> list[Summary]:
        """Return the cells that match, and note their repeats."""
        cells = self._found.cells(experiment, **wanted)
        self.repeats |= {len(s.values) for s in cells}
        return cells


def check_all(found: Evidence, claims: Sequence[Claim] = ALL) -> list[Checked]:
    """Return all claims with their verdicts, which say so if they rest on few repeats."""
    return [Checked(claim, _check(found, claim)) for claim in claims]


def _check(found: Evidence, claim: Claim) -> Verdict:
    watched = _Watched(found)
    verdict = claim.check(watched)
    fewest = min(watched.repeats, default=FEW)
    if verdict.word == OPEN or fewest >= FEW:
        return verdict
    most = max(watched.repeats)
    span = f"{fewest}" if fewest == most else f"{fewest} to {most}"
    return verdict._replace(evidence=f"{verdict.evidence}; few repeats: {span} a cell")


def pages(found: Evidence) -> Files:
    """Return ``claims.md``."""
    return {"claims.md": to_markdown(check_all(found)).encode()}


def count(checked: Sequence[Checked], paper: str | None = None) -> dict[str, int]:
    """Return how many claims of a paper have each verdict."""
    chosen = [c for c in checked if paper is None or c.claim.paper == paper]
    return {word: sum(c.verdict.word == word for c in chosen) for word in (HOLDS, PARTLY, NOT, OPEN)}


def to_markdown(checked: Sequence[Checked]) -> str:
    """Return the page."""
    papers = [p for p in PAPERS if any(c.claim.paper == p for c in checked)]
    counts = [[f"[{p}](#{_anchor(PAPERS[p])})", *map(str, count(checked, p).values())] for p in papers]
    lines = [_HEAD, *pipes(["paper", HOLDS, PARTLY, NOT, OPEN], counts)]
    for paper in papers:
        rows = [
            [claim.where, claim.text, _MARKS[verdict.word], f"{verdict.evidence} ([numbers]({claim.page}))"]
            for claim, verdict in checked
            if claim.paper == paper
        ]
        lines += ["", f"## {PAPERS[paper]}", "", *pipes(["where", "claim", "verdict", "evidence"], rows)]
    return "\n".join([*lines, "", *_sentences(checked)]) + "\n"


def _sentences(checked: Sequence[Checked]) -> list[str]:
    """Return the table of sentences, with the verdicts of the claims that test them; a sentence without is marked."""
    words = {(c.claim.paper, c.claim.text): c.verdict.word for c in checked}
    rows = []
    for s in SENTENCES:
        found = [f"{_MARKS[words[s.paper, text]]}: {text}" for text in s.claims if (s.paper, text) in words]
        rows.append([s.paper, s.where, s.says, "; ".join(found) or "-", s.why or "-"])
    head = ["paper", "where", "sentence, in short", "tested by", "not tested, because"]
    return ["## Sentence by sentence", "", "The papers' abstracts and conclusions.", "", *pipes(head, rows)]


def _anchor(title: str) -> str:
    """Return the anchor that Markdown gives a heading."""
    kept = "".join(c for c in title.lower() if c.isalnum() or c in " -_")
    return "-".join(kept.split())
