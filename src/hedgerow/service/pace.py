"""Work in the background that lets uploads go first."""

from __future__ import annotations

import threading
import time

from hedgerow.service.writer import Writer

__all__ = ["PACE", "Pace"]

PACE = 3.0
"""Times as long as a piece of work took is the pause after it, while uploads wait; by hand."""


class Pace:
    """Pauses after each piece of work while uploads wait; until the service stops.

    Examples
    --------
    >>> from types import SimpleNamespace
    >>> rest = Pace(SimpleNamespace(waiting=0), threading.Event())
    >>> rest()
    """

    def __init__(self, writer: Writer, stop: threading.Event, pace: float = PACE) -> None:
        self.writer = writer
        self.stop = stop
        self.pace = pace
        self._since = time.monotonic()

    def __call__(self) -> None:
        """Pause, if anybody waits."""
        if self.writer.waiting:
            self.stop.wait(self.pace * (time.monotonic() - self._since))
        self._since = time.monotonic()
