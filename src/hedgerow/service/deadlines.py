"""Deadlines of one length for many requests: one timer for all of them.

``asyncio.timeout`` sets a timer for each, which costs as much as reading a small report.
"""

from __future__ import annotations

import asyncio
import threading
from collections import deque
from collections.abc import Callable

__all__ = ["Deadline", "Deadlines"]


class Deadline:
    """A moment by which something must be done; else ``late`` is called."""

    __slots__ = ("end", "late")

    def __init__(self, end: float, late: Callable[[], object]) -> None:
        self.end = end
        self.late: Callable[[], object] | None = late

    def stop(self) -> None:
        """Say that it is done."""
        self.late = None


class Deadlines(threading.local):
    """Deadlines of ``seconds``, in the order of their ends; each thread's event loop has its own.

    Examples
    --------
    >>> async def work():
    ...     heard = []
    ...     limits = Deadlines(0.01)
    ...     limits.start(lambda: heard.append("late"))
    ...     limits.start(lambda: heard.append("never")).stop()
    ...     await asyncio.sleep(0.05)
    ...     return heard
    >>> asyncio.run(work())
    ['late']
    """

    def __init__(self, seconds: float) -> None:
        self.seconds = seconds
        self._loop: asyncio.AbstractEventLoop | None = None
        self._waiting: deque[Deadline] = deque()
        self._timer: asyncio.TimerHandle | None = None

    def start(self, late: Callable[[], object]) -> Deadline:
        """Call ``late`` after so many seconds, unless the deadline is stopped before."""
        loop = asyncio.get_running_loop()
        if loop is not self._loop:
            self._loop = loop
            self._waiting.clear()
            self._timer = None
        while self._waiting and self._waiting[0].late is None:
            self._waiting.popleft()
        made = Deadline(loop.time() + self.seconds, late)
        self._waiting.append(made)
        if self._timer is None:
            self._timer = loop.call_at(made.end, self._look)
        return made

    def _look(self) -> None:
        """Call whoever is late, and come back for the next."""
        assert self._loop is not None
        now = self._loop.time()
        while self._waiting and (self._waiting[0].late is None or self._waiting[0].end <= now):
            late = self._waiting.popleft().late
            if late is not None:
                late()
        self._timer = self._loop.call_at(self._waiting[0].end, self._look) if self._waiting else None
