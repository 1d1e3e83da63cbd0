"""What the papers say, checked against our results: each claim is data, with a function that gives the verdict.

A claim "A is better than B" is read over all cells (data set and epsilon) where both were measured. It *holds* if A is
better in at least nine of ten of them, *does not hold* if in fewer than half, and holds *partly* in between; a claim
about *most* cells holds if it does in more than half, and does not hold otherwise. Beside the count stand the geometric
mean of the ratio of A to B, how often the difference is significant either way (signed-rank test, 5 %), and the mean
relative difference with its standard error, which says whether more repeats could change anything.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from itertools import pairwise
from typing import NamedTuple

from hedgerow.compare.scores import Summary
from hedgerow_experiments.claims.precision import Precision, precision
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.ranks import paired, signed_rank
from hedgerow_experiments.tables import LEVEL

__all__ = [
    "HOLDS", "NOT", "OPEN", "PARTLY", "Check", "Claim", "Verdict", "by_share", "claims_of", "curve", "duel",
    "geometric", "ratio", "trend", "valley",
]  # fmt: skip

HOLDS = "holds"
PARTLY = "partly"
NOT = "does not hold"
OPEN = "not measured"


Check = Callable[[Evidence], "Verdict"]


class Verdict(NamedTuple):
    """A word and what it rests on; how precisely the difference is known, where the claim is about one."""

    word: str
    evidence: str
    precision: Precision | None = None

    def told(self, text: str) -> Verdict:
        """Return the same with other words for the evidence; ``{}`` stands for it. Not for what was not measured.

        >>> Verdict("holds", "3 of 3").told("better in {} cells").evidence
        'better in 3 of 3 cells'
        """
        return self if self.word == OPEN else self._replace(evidence=text.replace("{}", self.evidence))


class Claim(NamedTuple):
    """What a paper says, where it says so, and how it is checked; ``page`` has the numbers."""

    paper: str
    where: str
    text: str
    check: Check
    page: str


def claims_of(paper: str, page: str, *texts: tuple[str, str, Check]) -> tuple[Claim, ...]:
    """Return claims of one paper whose numbers are on one page."""
    return tuple(Claim(paper, where, text, check, page) for where, text, check in texts)


def best(cells: Iterable[Summary]) -> dict[tuple[str, float | None], Summary]:
    """Return the best of several methods by data set and epsilon (lower is better)."""
    out: dict[tuple[str, float | None], Summary] = {}
    for s in cells:
        key = (s.dataset, s.epsilon)
        if key not in out or s.mean < out[key].mean:
            out[key] = s
    return out


def duel(
    ours: Iterable[Summary],
    theirs: Iterable[Summary],
    *,
    better: str = "lower",
    fixed: bool = False,
    most: bool = False,
) -> Verdict:
    """Return whether the first are better than the second, cell by cell.

    Parameters
    ----------
    ours, theirs : iterables of Summary
        Of several methods on a side the best in each cell counts: in hindsight, for both sides alike.
    better : {"lower", "higher"}
        Which values are good.
    fixed : bool
        The second do not depend on epsilon.
    most : bool
        The claim is about most cells only.
    """
    sign = 1.0 if better == "lower" else -1.0
    a = best(s._replace(values={r: sign * v for r, v in s.values.items()}) for s in ours)
    b = best(s._replace(values={r: sign * v for r, v in s.values.items()}) for s in theirs)
    pairs = [(s, other) for (d, e), s in a.items() if (other := b.get((d, None if fixed else e))) is not None]
    wins = sum(s.mean < o.mean for s, o in pairs)
    tests = [paired(s.values, o.values) for s, o in pairs]
    surely = sum(signed_rank(x, y) < LEVEL for x, y in tests)
    against = sum(signed_rank(y, x) < LEVEL for x, y in tests)
    mean = geometric([s.mean / o.mean for s, o in pairs if s.mean * o.mean > 0])
    known = precision(pairs)
    gain = "" if known is None or math.isnan(known.error) else f", mean gain {known}"
    told = f"better in {{}} cells (significantly in {surely}, significantly worse in {against}); ratio {mean:.2f}{gain}"
    return by_share(wins, len(pairs), most=most).told(told)._replace(precision=known)


def by_share(count: int, total: int, *, most: bool = False) -> Verdict:
    """Return the verdict for ``count`` of ``total``.

    >>> [by_share(n, 10).word for n in (9, 5, 4)], by_share(6, 10, most=True).word, by_share(0, 0).word
    (['holds', 'partly', 'does not hold'], 'holds', 'not measured')
    """
    if total == 0:
        return Verdict(OPEN, "no results")
    if most:
        word = HOLDS if 2 * count > total else NOT
    else:
        word = HOLDS if 10 * count >= 9 * total else NOT if 2 * count < total else PARTLY
    return Verdict(word, f"{count} of {total}")


def ratio(ours: Iterable[Summary], theirs: Iterable[Summary], *, fixed: bool = False) -> list[float]:
    """Return the ratios of means, cell by cell."""
    a = best(ours)
    b = best(theirs)
    pairs = [(s, b.get((d, None if fixed else e))) for (d, e), s in a.items()]
    return [s.mean / o.mean for s, o in pairs if o is not None and o.mean > 0]


def geometric(values: Sequence[float]) -> float:
    """Return the geometric mean."""
    return math.exp(math.fsum(map(math.log, values)) / len(values)) if values else math.nan


def curve(cells: Iterable[Summary]) -> list[tuple[float, float]]:
    """Return points (x, mean) of one curve, epsilon where there is no x."""
    return sorted((s.x if s.x is not None else s.epsilon or 0.0, s.mean) for s in cells)


def valley(points: Sequence[tuple[float, float]], slack: float = 0.0) -> bool:
    """Return whether a curve falls to an inner minimum and rises after it, but for a relative ``slack``.

    >>> valley([(1, 3.0), (2, 1.0), (3, 2.0)]), valley([(1, 1.0), (2, 2.0), (3, 3.0)])
    (True, False)
    """
    values = [v for _, v in points]
    low = values.index(min(values))
    falls = all(b <= a * (1 + slack) for a, b in pairwise(values[: low + 1]))
    rises = all(b >= a * (1 - slack) for a, b in pairwise(values[low:]))
    return 0 < low < len(values) - 1 and falls and rises


def trend(values: Sequence[float], *, up: bool, slack: float = 0.0) -> bool:
    """Return whether values only rise (or fall), but for a relative ``slack``, and do so in all.

    >>> trend([1.0, 1.5, 3.0], up=True), trend([1.0, 0.5, 3.0], up=True), trend([2.0, 2.0], up=True)
    (True, False, True)
    """
    signed = list(values) if up else [-v for v in values]
    return all(b >= a - slack * abs(a) for a, b in pairwise(signed)) and (len(signed) < 2 or signed[-1] >= signed[0])
