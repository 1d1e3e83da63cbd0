"""What to use when, by trust model and epsilon, with the evidence: ``hedgerow bench which``, and the page."""

from __future__ import annotations

from collections.abc import Iterable
from html import escape
from typing import Any, NamedTuple

import numpy as np

from hedgerow.compare.web import plain_table
from hedgerow.recommended import RECOMMENDED, Recommendation
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.page.common import epsilons, versus
from hedgerow_experiments.page.trust import intervals, kept, repeats
from hedgerow_experiments.page.verdicts import ANCHOR, LEADS, PUBLIC, Pair, as_errors, compare, peers

__all__ = ["Answer", "Share", "about", "answers", "in_words", "measured", "section", "sentence", "to_json"]

_ENDS = ("one value for all", "tree", "random forest", "boosting")


class Share(NamedTuple):
    """What a method keeps of what can be learnt: the median over data sets, and a 90 % interval."""

    method: str
    median: float
    low: float
    high: float
    sets: int

    def __str__(self) -> str:
        middle, low, high = (round(100 * v) for v in (self.median, self.low, self.high))
        return f"{middle} % ({low} to {high})"

    @property
    def remark(self) -> str:
        """What is to be said of a method that has learnt noise: a constant would be better."""
        return "worse than one value for all" if self.high < 0 else ""


class Answer(NamedTuple):
    """What to use in a trust model at an epsilon, what it keeps, and how it does beside each rival and anchor."""

    recommended: Recommendation
    epsilon: float
    shares: list[Share]
    pairs: list[Pair]

    @property
    def lead(self) -> str:
        """The method that is recommended where there are public records."""
        return LEADS[self.recommended.key][0]


def measured(found: Evidence, epsilon: float) -> list[float]:
    """Return an epsilon if it was measured, else those next to it, below and above."""
    known = epsilons(found.cells("library"))
    below = [e for e in known if e <= epsilon]
    above = [e for e in known if e >= epsilon]
    return list(dict.fromkeys([*below[-1:], *above[:1]]))


def answers(found: Evidence, keys: Iterable[str] = (), at: Iterable[float] = ()) -> list[Answer]:
    """Return an answer for each trust model and epsilon; all that were run unless some are named."""
    cells = as_errors(found.cells("library"))
    if not cells:
        return []
    known = epsilons(cells)
    shares = kept(cells)
    reach = intervals(cells)
    out = []
    for one in RECOMMENDED:
        if keys and one.key not in keys:
            continue
        rivals = peers(found, one.key)
        named = list(dict.fromkeys([*rivals, *(m for own in rivals.values() for m in own)]))
        for epsilon in at or known:
            kept_here = []
            for method in named:
                values = [v for (_, m, e), v in shares.items() if m == method and e in (epsilon, None)]
                ends = reach.get((method, epsilon), reach.get((method, None)))
                if values and ends:
                    kept_here.append(Share(method, float(np.median(values)), *ends, len(values)))
            pairs = [compare(cells, lead, other, epsilon) for lead, own in rivals.items() for other in own]
            out.append(Answer(one, epsilon, kept_here, [p for p in pairs if p is not None]))
    return out


def sentence(answer: Answer) -> str:
    """Return the answer in a sentence: what the lead keeps, beside the public model and the anchor."""
    share = next((s for s in answer.shares if s.method == answer.lead), None)
    if share is None:
        return ""
    told = [f"keeps {share} of what can be learnt"]
    for other in (PUBLIC, ANCHOR):
        pair = next((p for p in answer.pairs if (p.ours, p.other) == (answer.lead, other)), None)
        if pair is not None:
            told.append(_beside(pair))
    return f"At epsilon {answer.epsilon:g} {answer.lead} {'; '.join(told)}."


def _beside(pair: Pair) -> str:
    name = {PUBLIC: "the public model", ANCHOR: "DP-EBM"}.get(pair.other, pair.other)
    joined = {"level": "level with", "not told apart": "not told apart from"}
    by = f" (error {versus(pair.ratio)})" if pair.word in ("better", "worse") else ""
    return f"{joined.get(pair.word, f'{pair.word} than')} {name}{by}"


def in_words(found: Evidence, some: list[Answer]) -> str:
    """Return answers as text for a terminal."""
    lines = [about(found), ""]
    for answer in some:
        one = answer.recommended
        lines += [
            f"{one.model}, epsilon {answer.epsilon:g}",
            f"  who may see a record: {one.who}",
            f"  use {_plain(one.use)}",
        ]
        width = max((len(s.method) for s in answer.shares), default=0)
        lines += ["  keeps of what can be learnt, median data set (90 % interval):"]
        ordered = sorted(answer.shares, key=lambda s: -s.median)
        lines += [f"    {s.method:<{width}}  {s}{': ' if s.remark else ''}{s.remark}" for s in ordered]
        for lead in dict.fromkeys(p.ours for p in answer.pairs):
            lines += [f"  {lead} beside"]
            lines += [f"    {p.other:<{width}}  {p}" for p in answer.pairs if p.ours == lead]
        lines += [""]
    return "\n".join(lines)


def _plain(text: str) -> str:
    return text.replace("`", "")


def about(found: Evidence) -> str:
    """Return what the answers rest on."""
    cells = found.cells("library")
    sets = len({s.dataset for s in cells})
    return (
        f"From {sets} public data sets, at most 5,000 records each, a tenth of them public; splits of each: "
        f"{repeats(cells)}. "
        "Share: 1 is the best model without privacy, 0 one value for all. Pairs are compared on the same splits of the "
        "sets that both ran; the ratio of errors is that of the median set, with a 90 % interval over other sets and "
        "splits, and level where that is within 1 %; better or worse on a set by a t test over splits (5 %)."
    )


def section(found: Evidence, key: str) -> str:
    """Return the verdicts of a trust model as tables, one for each epsilon."""
    parts = []
    for answer in answers(found, [key]):
        by_method = {s.method: s for s in answer.shares}
        rows = []
        for pair in answer.pairs:
            share = by_method.get(pair.other)
            rows.append(
                (
                    escape(pair.ours), escape(pair.other), "-" if share is None else str(share),
                    f"{pair.ratio:.2f} <small>({pair.low:.2f} to {pair.high:.2f})</small>",
                    f"{pair.better} : {pair.worse} <small>of {pair.sets}</small>",
                    f'<span class="{_CLASS[pair.word]}">{pair.word}</span>',
                )
            )  # fmt: skip
        if rows:
            head = ("method", "beside", "which keeps", "error / error", "better : worse on sets", "verdict")
            parts.append(f"<h3>{escape(_title(answer))}</h3>{plain_table(head, rows, (0, 1, 5))}")
    return "".join(parts)


def _title(answer: Answer) -> str:
    leads = [str(next((f"{s.method} keeps {s}" for s in answer.shares if s.method == lead), "")) for lead in LEADS[
        answer.recommended.key] if lead]  # fmt: skip
    return f"Epsilon {answer.epsilon:g}: {'; '.join(filter(None, leads))} of what can be learnt"


_CLASS = {"better": "yes", "worse": "no", "level": "open", "not told apart": "open"}


def to_json(some: list[Answer]) -> list[dict[str, Any]]:
    """Return answers as plain data."""
    return [
        {
            "trust": a.recommended.key, "epsilon": a.epsilon, "who": a.recommended.who, "use": a.recommended.names,
            "keeps": [s._asdict() for s in a.shares], "beside": [{**p._asdict(), "verdict": p.word} for p in a.pairs],
        }
        for a in some
    ]  # fmt: skip
