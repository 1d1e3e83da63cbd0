r"""Reports that no honest randomiser would send in bulk.

What a single report says about its holder is hidden by noise, and the law of that noise is public. So there are
events A (a report has 7 set bits, a report supports cell 3, a label lies far beyond its bounds) whose probability is
between two known numbers whatever the record is: ``low <= P(A | record) <= high``. Among n independent honest
reports the number of events then lies, in distribution, between Bin(n, low) and Bin(n, high); the count is called
strange if either tail is smaller than ``alpha / (2 x events)``. All of this is exact: over all events together the
chance that honest reports raise an alarm at a given look is at most alpha = 1e-6.

An event may also be watched *among* the reports that show another, wider one: if ``P(A | B, record) <= high`` for every
record, then among the reports that show B, however many these are, the number that show A is at most
Bin(reports with B, high), in distribution. That finds copies (:mod:`hedgerow.tasks.copies`).

It is a test of the population, not of a person, and it sees what breaks the law of the noise. Reports that lie about
their record and then randomise honestly cannot be told from honest ones by anybody.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.content import Content
from hedgerow.samplers import ONE
from hedgerow.types import IntArray

__all__ = [
    "ALPHA",
    "MOST_EVENTS",
    "NOTHING",
    "Alarm",
    "Detector",
    "Event",
    "Rows",
    "far_levels",
    "join",
    "named",
    "set_bits",
    "within",
]

ALPHA = 1e-6  # chance of a false alarm of one look at honest reports, shared among all events
MOST_EVENTS = 4096
"""More events than this share alpha to no use: each would have to be off by six standard deviations and more."""
_BINS = 24
"""Runs that a range of counts is cut into: fine enough to see where a law bends, few enough to share alpha among."""
Rows = npt.NDArray[np.uint8]
_POPCOUNT = np.array([i.bit_count() for i in range(256)], dtype=np.uint8)


@dataclass(frozen=True)
class Event:
    """Something a report may show, with the least and the greatest probability over all records.

    ``among`` is the place of the event, in the same detector, that reports must show to be looked at; None for all.
    """

    name: str
    low: float
    high: float
    among: int | None = None


@dataclass(frozen=True)
class Alarm(Content, what="alarm"):
    """An event that was seen too often or too rarely.

    ``expected`` is the nearer end of what honest reports give on average; ``chance`` bounds the probability of a
    count so far out.
    """

    event: str
    seen: int
    expected: float
    chance: float


@dataclass(frozen=True)
class Detector:
    """Counts events in payloads and says which counts are strange.

    Examples
    --------
    >>> from hedgerow.tasks import LocalTask, privatize_many
    >>> task = LocalTask.design(epsilon=2.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1),
    ...                         response="unary", max_depth=4)
    >>> detector = task.alarms()
    >>> honest = privatize_many(task, np.full((2000, 1), 0.3), np.ones(2000), randomness=1).payloads
    >>> detector.alarms(detector.count(honest), 2000)
    []
    >>> forged = np.full_like(honest, 255)
    >>> alarms = detector.alarms(detector.count(honest) + detector.count(forged), 4000)
    >>> alarms[0].event, alarms[0].seen >= 2000
    ('19 to 32 set bits', True)
    """

    events: tuple[Event, ...]
    counter: Callable[[Rows], IntArray]

    def count(self, rows: Rows) -> IntArray:
        """Return how often each event is seen."""
        return self.counter(rows) if self.events else np.zeros(0, dtype=np.int64)

    def alarms(self, counts: npt.ArrayLike, n: int) -> list[Alarm]:
        """Return the strange counts among ``n`` reports, strangest first."""
        from scipy.special import betainc, betaincc

        if not self.events or n == 0:
            return []
        seen = np.asarray(counts, dtype=np.int64)
        (low, high) = self.bounds
        trials = np.where(self._among < 0, n, seen[self._among])
        # P(Bin(trials, high) >= seen) and P(Bin(trials, low) <= seen), looked at only where they can be small.
        above = np.ones(len(seen))
        below = np.ones(len(seen))
        many = seen > trials * high
        few = seen < trials * low
        above[many] = betainc(seen[many], trials[many] - seen[many] + 1, high[many])
        below[few] = betaincc(seen[few] + 1, trials[few] - seen[few], low[few])
        chance = np.minimum(above, below)
        expected = trials * np.where(below < above, low, high)
        limit = ALPHA / (2 * len(self.events))
        strange = [i for i in np.argsort(chance, kind="stable").tolist() if chance[i] < limit]
        return [Alarm(self.events[i].name, int(seen[i]), float(expected[i]), float(chance[i])) for i in strange]

    @cached_property
    def bounds(self) -> tuple[npt.NDArray[np.float64], npt.NDArray[np.float64]]:
        """The least and the greatest probabilities."""
        return np.array([e.low for e in self.events]), np.array([e.high for e in self.events])

    @cached_property
    def _among(self) -> IntArray:
        """The place of the wider event of each, -1 for all reports."""
        return np.array([-1 if e.among is None else e.among for e in self.events], dtype=np.int64)


def join(parts: Sequence[Detector]) -> Detector:
    """Return one detector of the events of several; they share alpha."""
    events: list[Event] = []
    for part in parts:
        before = len(events)
        for event in part.events:
            events.append(event if event.among is None else replace(event, among=before + event.among))
    none = np.zeros(0, dtype=np.int64)
    return Detector(tuple(events), lambda rows: np.concatenate([none, *(part.count(rows) for part in parts)]))


NOTHING = join([])
"""The detector without events, where nothing is known."""


def within(
    names: Sequence[str], low: npt.ArrayLike, high: npt.ArrayLike, counter: Callable[[Rows], IntArray]
) -> Detector:
    """Watch events whose probabilities lie between these numbers, as rounded to floats."""
    ends = zip(np.broadcast_to(low, len(names)).tolist(), np.broadcast_to(high, len(names)).tolist(), strict=True)
    # Twelve digits are far more than rounding takes away; the bounds stay on the safe side.
    safe = [(a * (1 - 1e-12), min(1.0, b * (1 + 1e-12))) for a, b in ends]
    return Detector(tuple(Event(name, a, b) for name, (a, b) in zip(names, safe, strict=True)), counter)


def named(names: Sequence[str], p: float, q: float, counter: Callable[[Rows], IntArray]) -> Detector:
    """Watch what reports may name or support: each between q and p of them, however the holders are spread."""
    return within(names, min(p, q), max(p, q), counter)


def set_bits(k: int, p: float, q: float, head: int) -> Detector:
    """Watch the number of set bits: one Bernoulli(p) and k - 1 of Bernoulli(q), whatever the record is."""
    law = np.convolve(_binomial(k - 1, q), [1 - p, p])
    edges = _edges(law)
    runs = list(itertools.pairwise(edges))
    chances = [math.fsum(law[a:b]) for a, b in runs]
    names = [f"{a} to {b - 1} set bits" if b - a > 1 else f"{a} set bits" for a, b in runs]
    # Rounding errors are far below this; it keeps the bounds on the safe side.
    ends = [(c * (1 - 1e-8), min(1.0, c * (1 + 1e-8) + 1e-15)) for c in chances]
    events = tuple(Event(name, low, high) for name, (low, high) in zip(names, ends, strict=True))

    def count(rows: Rows) -> IntArray:
        bits = _POPCOUNT[rows[:, head:]].sum(axis=1, dtype=np.int64)
        seen = np.bincount(bits, minlength=k + 1)
        return np.add.reduceat(seen, edges[:-1]).astype(np.int64)

    return Detector(events, count)


def _binomial(n: int, q: float) -> npt.NDArray[np.float64]:
    from scipy.special import gammaln, xlog1py, xlogy

    i = np.arange(n + 1)
    law = np.exp(gammaln(n + 1) - gammaln(i + 1) - gammaln(n - i + 1) + xlogy(i, q) + xlog1py(n - i, -q))
    return np.asarray(law / law.sum())


def _edges(law: npt.NDArray[np.float64]) -> list[int]:
    """Cut the range of a law into at most about ``_BINS`` runs, the outer ones rare."""
    total = np.cumsum(law)
    marks = np.concatenate([[1e-9, 1e-6, 1e-3], np.linspace(0, 1, _BINS - 4)[1:-1], [1 - 1e-3, 1 - 1e-6, 1 - 1e-9]])
    cuts = np.searchsorted(total, marks) + 1
    return sorted({0, *cuts[cuts < len(law)].tolist(), len(law)})


def far_levels(noise: Any, levels: Callable[[Rows], IntArray]) -> Detector:
    """Watch noisy labels beyond their bounds by multiples of the noise's scale: at most the tail of the noise.

    The discrete Laplace has ``P(noise >= d) = r**d / (1 + r)``, and a true level is within the bounds.
    """
    if not noise.reach:
        return NOTHING
    r = noise.ratio / ONE
    scale = noise.n_steps / noise.epsilon
    steps = sorted({d for d in (round(m * scale) for m in (0.5, 1, 2, 4, 8, 16)) if 1 <= d <= noise.reach})
    chance = [min(1.0, (1 + 1e-6) * r**d / (1 + r)) for d in steps]
    names = [f"label {d} steps {side} its bounds" for side in ("below", "above") for d in steps]
    events = tuple(Event(name, 0.0, c) for name, c in zip(names, chance * 2, strict=True))

    def count(rows: Rows) -> IntArray:
        level = levels(rows)
        below = [(level <= -d).sum() for d in steps]
        return np.array(below + [(level >= noise.n_steps + d).sum() for d in steps], dtype=np.int64)

    return Detector(events, count)
