"""Events that may tell two inputs apart: found on one half of the samples, to be tested on the other.

A *statistic* maps outputs to small integer codes; an event is a set of codes. Any fixed function of the
output is post-processing and cannot show more loss than there is, so a clumsy statistic costs power, never
truth. Each statistic here is fitted on the first half only:

* ``kinds``: every frequent output is a code, the rare ones share one;
* ``ranges``: ordered outputs cut at quantiles, fine in the tails;
* ``likelihood``: rows of many columns, as the sum of the columns' log likelihood ratios;
* ``granularity``: the lowest set bit of a float, which betrays floating-point noise.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.audit.intervals import loss_bound

__all__ = ["Event", "best_event", "granularity", "statistics"]

Samples = npt.NDArray[Any]
Codes = npt.NDArray[np.int64]
Statistic = Callable[[Samples], Codes]

_OFTEN = 50  # an output seen less often than this in the first half cannot carry an event of its own
_FEW = 512  # distinct outputs that are all tried as cuts; of more, quantiles are. By hand: more take longer
_FEW_COLUMNS = 8  # columns with ranges of their own, likeliest to differ first. By hand: more take longer
_ORDERED = ("ranges", "likelihood")
_GOLDEN = 0x9E3779B97F4A7C15  # 2**64 over the golden ratio, odd: its powers mix the columns of a row (Knuth)


@dataclass(frozen=True)
class Event:
    """The outputs whose code under ``statistic`` is a member."""

    name: str
    statistic: Statistic
    members: npt.NDArray[np.bool_]

    def count(self, outputs: Samples) -> int:
        """Return how many of the outputs are in the event."""
        codes = self.statistic(outputs)
        # A code that the first half never produced is in no event.
        inside = self.members[np.minimum(codes, self.members.size - 1)] & (codes < self.members.size)
        return int(np.count_nonzero(inside))


def best_event(more: Samples, less: Samples, *, delta: float, alpha: float) -> Event | None:
    """Return the event with the largest provable loss in these samples, or ``None``.

    By the Neyman-Pearson lemma the best events are ``{likelihood ratio >= t}``: codes are put in order of their
    observed ratio on one part of the samples, and each prefix is scored on the other part by the very bound
    that the event will be held to. Scored where it was ordered, the noisiest statistic would win.
    """
    part = len(more) // 2
    best = None
    score = 0.0
    for name, statistic in statistics(more[:part], less[:part]):
        size, up, down = _tally(statistic, more, less, part)
        for order in _orders(up[0], down[0], ordered=name.startswith(_ORDERED)):
            # Doubled: the event will be tested on as many samples as both parts have together.
            counts = 2 * np.cumsum(up[1][order]), 2 * np.cumsum(down[1][order])
            bounds = loss_bound(*counts, 2 * (len(more) - part), delta, alpha)
            last = int(np.argmax(bounds))
            if bounds[last] > score:
                members = np.zeros(size, dtype=bool)
                members[order[: last + 1]] = True
                best = Event(name, statistic, members)
                score = float(bounds[last])
    return best


def _tally(
    statistic: Statistic, more: Samples, less: Samples, part: int
) -> tuple[int, tuple[Codes, Codes], tuple[Codes, Codes]]:
    """Return the number of codes, and how often each occurs in both parts of both samples."""
    codes = [statistic(more), statistic(less)]
    size = int(max(c.max() for c in codes)) + 1
    counts = [(np.bincount(c[:part], minlength=size), np.bincount(c[part:], minlength=size)) for c in codes]
    return size, counts[0], counts[1]


def _orders(up: Codes, down: Codes, *, ordered: bool) -> list[Codes]:
    by_ratio = np.argsort(-(up + 0.5) / (down + 0.5), kind="stable")
    if not ordered:
        return [by_ratio]
    # The two tails: where many codes are all a little too likely, the ratios' order is mostly noise.
    ascending = np.arange(up.size)
    return [by_ratio, ascending, ascending[::-1]]


def statistics(more: Samples, less: Samples) -> Iterator[tuple[str, Statistic]]:
    """Yield the statistics that suit the form of the outputs, fitted on these samples."""
    pool = np.concatenate([more, less])
    yield "kinds", _kinds(pool)
    if pool.ndim == 2:
        columns = _informative_columns(more, less)
        if columns:
            scores = np.concatenate([_score(more, columns), _score(less, columns)])
            ranges = _ranges(scores)
            yield "likelihood", lambda outputs: ranges(_score(outputs, columns))
        for j, _, _ in columns[:_FEW_COLUMNS]:
            yield f"ranges of column {j}", _one_column(pool, j)
        return
    yield "ranges", _ranges(pool)
    if pool.dtype.kind == "f":
        yield "granularity", granularity


def _one_column(pool: Samples, j: int) -> Statistic:
    ranges = _ranges(pool[:, j])
    return lambda outputs: ranges(outputs[:, j])


def granularity(outputs: Samples) -> Codes:
    """Return the exponent of the lowest set bit of each float, plus 1100; 0 for zeros and non-finite values.

    The sum ``a + noise`` of floats is a multiple of the spacing of floats near ``a``: with ``a = 1`` no
    result is finer than ``2**-53``, with ``a = 0`` many are. Noise on a grid has one granularity for all.

    >>> (granularity(np.array([0.75, 1.0, 6.0, 0.0])) - 1100).tolist()
    [-2, 0, 1, -1100]
    """
    values = np.asarray(outputs, dtype=np.float64)
    usable = np.isfinite(values) & (values != 0)
    mantissa, exponent = np.frexp(np.where(usable, values, 1.0))
    whole = np.abs(np.ldexp(mantissa, 53)).astype(np.int64)  # a 53-bit integer, exactly
    lowest = np.frexp((whole & -whole).astype(np.float64))[1] - 1
    return np.where(usable, exponent.astype(np.int64) - 53 + lowest + 1100, 0)


def _kinds(pool: Samples) -> Statistic:
    """Code 0 for rare outputs, a code of its own for every frequent one."""
    values, counts = np.unique(_hash(pool), return_counts=True)
    frequent = values[counts >= _OFTEN]

    def code(outputs: Samples) -> Codes:
        keys = _hash(outputs)
        if not frequent.size:
            return np.zeros(len(keys), dtype=np.int64)
        place = np.minimum(np.searchsorted(frequent, keys), frequent.size - 1)
        return np.where(frequent[place] == keys, place + 1, 0).astype(np.int64)

    return code


def _hash(outputs: Samples) -> npt.NDArray[np.uint64]:
    """Return one word an output: the value's own bits, or a sum of multiples over a row (not one-way)."""
    wide = outputs.astype(np.float64 if outputs.dtype.kind == "f" else np.int64, copy=False)
    words = np.ascontiguousarray(wide).view(np.uint64)
    if words.ndim == 1:
        return words
    factors = np.array([pow(_GOLDEN, j + 1, 1 << 64) for j in range(words.shape[1])], dtype=np.uint64)
    total = np.zeros(len(words), dtype=np.uint64)
    for j, factor in enumerate(factors):
        total += words[:, j] * factor
    return total


def _ranges(pool: Samples, cuts: int = 256) -> Statistic:
    """Cut ordered outputs between distinct values if they are few, else at quantiles."""
    edges = _edges(pool, cuts)
    return lambda outputs: np.searchsorted(edges, outputs, side="right").astype(np.int64)


def _edges(pool: Samples, cuts: int) -> Samples:
    ordered = np.sort(pool, kind="stable")
    distinct = ordered[np.flatnonzero(np.r_[True, ordered[1:] != ordered[:-1]])]
    if distinct.size <= min(_FEW, 2 * cuts):
        return distinct
    tail = np.geomspace(1e-5, 1 / cuts, 16)
    levels = np.concatenate([tail, np.linspace(1 / cuts, 1 - 1 / cuts, cuts), 1 - tail[::-1]])
    return np.unique(ordered[(levels * (ordered.size - 1)).astype(np.int64)])


Column = tuple[int, Samples, npt.NDArray[np.float64]]


def _informative_columns(more: Samples, less: Samples) -> list[Column]:
    """Return ``(column, edges, log likelihood ratios)`` of the columns that tell the inputs apart.

    The others are left out: their ratios are nothing but noise. A chi-square test of homogeneity decides,
    at about six standard deviations.
    """
    kept = []
    for j in range(more.shape[1]):
        edges = _edges(np.concatenate([more[:, j], less[:, j]]), 16)
        places = [np.searchsorted(edges, s[:, j], side="right") for s in (more, less)]
        up, down = (np.bincount(p, minlength=edges.size + 1) for p in places)
        seen = up + down > 0
        excess = float((((up - down) ** 2)[seen] / (up + down)[seen]).sum())
        freedom = max(1, int(seen.sum()) - 1)
        if excess > freedom + 6 * np.sqrt(2 * freedom) + 10:
            kept.append((j, edges, np.log((up + 0.5) / (down + 0.5))))
    return kept


def _score(outputs: Samples, columns: list[Column]) -> npt.NDArray[np.float64]:
    total = np.zeros(len(outputs))
    for j, edges, ratios in columns:
        total += ratios[np.searchsorted(edges, outputs[:, j], side="right")]
    return np.round(total, 9)  # so that equal sums stay equal
