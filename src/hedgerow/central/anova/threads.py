"""Threads that are started once and work for many rounds."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

__all__ = ["Threads", "effective_jobs"]

_T = TypeVar("_T")
_R = TypeVar("_R")


def effective_jobs(jobs: int | None) -> int:
    """Return how many threads to use: None is one, -1 as many as there are processors, -2 one less, and so on."""
    if jobs is None or jobs == 0:
        return 1
    return jobs if jobs > 0 else max(1, (os.cpu_count() or 1) + 1 + jobs)


class Threads:
    """As many threads as there are jobs; they start with the first work that has several parts.

    They end when this object is no longer used. A copy, by pickle or after a fork, starts its own.

    Examples
    --------
    >>> list(Threads(2).map(abs, [-1, 2, -3]))
    [1, 2, 3]
    """

    def __init__(self, jobs: int | None) -> None:
        self.jobs = effective_jobs(jobs)
        self._pool: ThreadPoolExecutor | None = None
        self._process = os.getpid()

    def __reduce__(self) -> tuple[type[Threads], tuple[int]]:
        return Threads, (self.jobs,)

    def map(self, work: Callable[[_T], _R], parts: Sequence[_T]) -> Iterator[_R]:
        """Yield what comes of each part, in order."""
        if self.jobs == 1 or len(parts) < 2:
            return map(work, parts)
        if self._pool is None or self._process != os.getpid():
            self._pool = ThreadPoolExecutor(self.jobs)
            self._process = os.getpid()
        return self._pool.map(work, parts)
