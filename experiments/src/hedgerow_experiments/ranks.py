"""Paired comparisons as in the papers: Wilcoxon's signed-rank test, exact, and sums of ranks."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np

__all__ = ["mean_ranks", "paired", "signed_rank"]


def mean_ranks(values: Sequence[float]) -> list[float]:
    """Return ranks from 1, equal values sharing the mean of theirs.

    >>> mean_ranks([0.2, 0.1, 0.2])
    [2.5, 1.0, 2.5]
    """
    x = np.asarray(values, dtype=np.float64)
    below = (x < x[:, None]).sum(axis=1)
    equal = (x == x[:, None]).sum(axis=1)
    ranks: list[float] = (below + (equal + 1) / 2).tolist()
    return ranks


def signed_rank(first: Sequence[float], second: Sequence[float]) -> float:
    r"""Return the one-sided p-value of "``first`` is smaller than ``second``" for paired values.

    Pairs without a difference are dropped. With :math:`W` the sum of the ranks of :math:`|d_i|` over pairs with
    :math:`d_i = a_i - b_i > 0`, the value is :math:`P(W' \le W)` when all :math:`2^n` signs are equally likely. It is
    exact for ties too: ranks are doubled, so that shared ones are whole numbers, and the sums are counted.

    >>> signed_rank([1.0, 2.0, 3.0, 4.0], [2.0, 4.0, 6.0, 8.0])
    0.0625
    >>> signed_rank([1.0], [1.0])
    1.0
    """
    a, b = (np.asarray(v, dtype=np.float64) for v in (first, second))
    d = (a - b)[a != b]
    if len(d) == 0:
        return 1.0
    ranks = np.rint(2 * np.array(mean_ranks(np.abs(d).tolist()))).astype(np.int64)
    chances = np.ones(1)
    for rank in ranks:
        grown = np.zeros(len(chances) + rank)
        grown[: len(chances)] += chances / 2
        grown[rank:] += chances / 2
        chances = grown
    return float(min(1.0, chances[: int(ranks[d > 0].sum()) + 1].sum()))


def paired(first: Mapping[int, float], second: Mapping[int, float]) -> tuple[list[float], list[float]]:
    """Return the values of the repeats that both have.

    >>> paired({0: 1.0, 1: 2.0}, {1: 3.0, 2: 4.0})
    ([2.0], [3.0])
    """
    common = sorted(first.keys() & second.keys())
    return [first[r] for r in common], [second[r] for r in common]
