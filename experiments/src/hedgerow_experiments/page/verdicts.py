"""Which method is better, from the rows of ``library``: pairs on the same splits of the sets that both ran.

The error is the test MSE, or the share of wrong classes. On each set two methods are compared split by split: one is
*better* there if the mean difference is below 0 by Student's t over splits at 5 %, with the variance that Nadeau and
Bengio (2003) give for splits that share records. Over sets, the ratio of mean errors is that of the median set, and its
90 % interval is over other sets and splits like these: sets are drawn again with replacement, and splits within each.
Splits share records, so that the part of the splits is somewhat too narrow; that of the sets is by far the larger.
"""

from __future__ import annotations

import math
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from scipy.stats import t as student

from hedgerow.compare.scores import Summary
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.library.compute import METHODS

__all__ = ["ANCHOR", "LEADS", "LEVEL", "PUBLIC", "Pair", "Scores", "as_errors", "compare", "peers", "scores"]

LEVEL = 0.9
"""Of intervals over sets and splits."""
DRAWS = 400  # the quantiles .05 and .95 of so many are within .02 of themselves, as probabilities
_ALPHA = 0.05  # of a verdict on one set, two-sided; by hand
_LEVEL_WITH = 0.01  # from 1 % on, a gain is said to pay by 'hedgerow advise' as well
_TESTED = 0.2 / 0.8  # test records over those to learn from, in the splits of the library

PUBLIC = "public model"
ANCHOR = "DP-EBM (interpret)"
LEADS = {
    "local": ("AssistedForest", ""),
    "aggregate": ("SecureSum", ""),
    "semi": ("HistOfTree on a public model", "HistOfTree"),
    "label": ("LabelPrivate on a public model", "LabelPrivate"),
    "central": ("PrivateAnova on a public model", "PrivateAnova"),
}
"""What is recommended in each trust model: with public records, and without (nothing, where there must be some)."""

Scores = Mapping[str, Mapping[int, float]]
"""Errors of one method by data set and split."""


class Pair(NamedTuple):
    """Two methods at one epsilon: the ratio of errors on the median set, its interval, and where which is better.

    >>> print(Pair("a", "b", 1.0, 12, 0.8, 0.7, 0.9, 9, 1))
    better: error x 0.80 (0.70 to 0.90); better on 9 of 12 sets, worse on 1
    >>> [Pair("a", "b", 1.0, 12, 1.0, low, high, 0, 0).word for low, high in [(0.995, 0.999), (0.9, 1.1), (1.1, 1.2)]]
    ['level', 'not told apart', 'worse']
    """

    ours: str
    other: str
    epsilon: float
    sets: int
    ratio: float
    low: float
    high: float
    better: int
    worse: int

    @property
    def word(self) -> str:
        """The verdict: "level" within 1 %, "better", "worse", or "not told apart" where the interval has 1 in it."""
        if self.low >= 1 - _LEVEL_WITH and self.high <= 1 + _LEVEL_WITH:
            return "level"
        return "better" if self.high < 1 else "worse" if self.low > 1 else "not told apart"

    def __str__(self) -> str:
        reach = f"error x {self.ratio:.2f} ({self.low:.2f} to {self.high:.2f})"
        return f"{self.word}: {reach}; better on {self.better} of {self.sets} sets, worse on {self.worse}"


def as_errors(cells: Iterable[Summary]) -> list[Summary]:
    """Return scores that are lower where better: accuracies become shares of wrong classes."""
    return [
        s._replace(metric="error", values={r: 1 - v for r, v in s.values.items()}) if s.metric == "accuracy" else s
        for s in cells
    ]


def scores(cells: Iterable[Summary], method: str, epsilon: float | None) -> Scores:
    """Return the errors of a method at an epsilon, or of one that needs none."""
    return {s.dataset: s.values for s in cells if s.method == method and s.epsilon in (epsilon, None)}


def compare(cells: Sequence[Summary], ours: str, other: str, epsilon: float) -> Pair | None:
    """Return how one method does beside another on the splits of the sets that both ran; None if there are none."""
    mine, theirs = scores(cells, ours, epsilon), scores(cells, other, epsilon)
    pairs = []
    for name in sorted(mine.keys() & theirs.keys()):
        common = sorted(mine[name].keys() & theirs[name].keys())
        if common:
            pairs.append(np.array([[mine[name][r], theirs[name][r]] for r in common]))
    if not pairs:
        return None
    verdicts = [_on_one_set(pair[:, 0] - pair[:, 1]) for pair in pairs]
    ratio = float(np.median([_ratio(*pair.mean(axis=0)) for pair in pairs]))
    low, high = _interval(pairs)
    return Pair(ours, other, epsilon, len(pairs), ratio, low, high, verdicts.count(-1), verdicts.count(1))


def _ratio(ours: float, other: float) -> float:
    if other > 0:
        return float(ours / other)
    return 1.0 if ours == 0 else math.inf  # all classes right: of two such methods neither is better


def _on_one_set(differences: np.ndarray) -> int:
    """Return -1 if differences are below 0, 1 if above, 0 if that cannot be told."""
    n = len(differences)
    middle = float(np.mean(differences))
    if n < 2 or middle == 0:
        return 0
    error = math.sqrt(float(np.var(differences, ddof=1)) * (1 / n + _TESTED))
    beyond = abs(middle) > error * float(student.ppf(1 - _ALPHA / 2, n - 1))
    return int(np.sign(middle)) if beyond else 0


def _interval(pairs: Sequence[np.ndarray]) -> tuple[float, float]:
    """Return where the median ratio might as well be: sets are drawn again, and the splits of each."""
    rng = np.random.default_rng(0)
    places = rng.integers(0, len(pairs), (DRAWS, len(pairs)))
    table = np.empty((DRAWS, len(pairs)))
    for place, pair in enumerate(pairs):
        weights = rng.multinomial(len(pair), np.full(len(pair), 1 / len(pair)), DRAWS)
        drawn = weights @ pair
        table[:, place] = [_ratio(*errors) for errors in drawn]
    medians = np.median(np.take_along_axis(table, places, axis=1), axis=1)
    low, high = np.quantile(medians, [(1 - LEVEL) / 2, (1 + LEVEL) / 2], method="nearest")  # some may be infinite
    return float(low), float(high)


def peers(found: Evidence, key: str) -> dict[str, list[str]]:
    """Return what the methods of a trust model are to be compared with: by lead, its rivals, then the two anchors.

    The rivals of a lead with public records are all methods of the trust model; of one without, those that need none.
    """
    ran = {s.method for s in found.cells("library")}
    own = [name for name, method in METHODS.items() if method.trust == key and name in ran]
    out: dict[str, list[str]] = defaultdict(list)
    for lead, with_public in zip(LEADS[key], (True, False), strict=True):
        if lead in own:
            rivals = [m for m in own if m != lead and (with_public or not METHODS[m].public)]
            anchors = [PUBLIC] if METHODS[lead].public else []
            anchors += [ANCHOR] if ANCHOR not in rivals else []
            out[lead] = [*rivals, *(a for a in anchors if a in ran)]
    return dict(out)
