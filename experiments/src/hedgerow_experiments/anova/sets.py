"""The sets that PrivateAnova's rules are chosen on, each held out in turn: real ones, and made ones with known ends."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from hedgerow_experiments.anova.declared import MADE
from hedgerow_experiments.diprime.compute import Prepared, prepare

__all__ = ["known", "split"]

_MOST = 5_000  # records of a set that are used at all: a choice needs many fits

Rows = npt.NDArray[np.int64]


@lru_cache(maxsize=32)
def known(code: str) -> Prepared:
    """Return a set without columns that are constant or have gaps."""
    data = _made(code) if code in MADE else prepare(code)
    kept = ~np.isnan(data.X).any(axis=0) & (np.ptp(data.X, axis=0) > 0)
    place = {int(j): at for at, j in enumerate(np.flatnonzero(kept))}
    categories = {place[j]: values for j, values in (data.categories or {}).items() if j in place}
    return Prepared(data.X[:, kept], data.y, categories or None, data.bounds[:, kept])


def _made(code: str) -> Prepared:
    """Friedman's first function of ten features with noise .01, or steps and plateaus of four, a quarter for the test.

    >>> known("friedman 300").X.shape
    (375, 10)
    """
    rng = np.random.default_rng(MADE.index(code))
    if code == "steps":
        X = rng.random((5_000, 4))
        y = 2.0 * (X[:, 0] > 0.35) + (X[:, 0] > 0.7) * (X[:, 1] > 0.6) + 2 * np.minimum(X[:, 2], 0.4)
        y += rng.normal(0, 0.5, len(X))
    else:
        X = rng.random((int(code.split()[1]) * 5 // 4, 10))
        y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3] + 5 * X[:, 4]
        y += rng.normal(0, 0.01, len(X))
    return Prepared(X, (y - y.min()) / np.ptp(y), None, np.stack([X.min(axis=0), X.max(axis=0)]))


def split(n: int, repeat: int) -> tuple[Rows, Rows]:
    """Return four fifths for training and a fifth for the test, of 5,000 records at most.

    >>> [part.size for part in split(9568, 0)]
    [4000, 1000]
    """
    order = np.random.default_rng(1000 + repeat).permutation(n)[:_MOST]
    cut = int(0.8 * len(order))
    return order[:cut], order[cut:]
