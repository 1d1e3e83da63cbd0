"""Wrong tokens: each is answered late, few at a time, and the log says how many there were.

Tokens have 256 random bits, so guessing is hopeless; but somebody who tries should be seen.
"""

from __future__ import annotations

import asyncio
import time

from hedgerow.service.logs import log
from hedgerow.service.problems import Problem

__all__ = ["Guesses"]

# By hand: a person who mistyped does not mind, and a machine gets some 20 tries a second in all.
_SECONDS = 0.5
_AT_ONCE = 10
_LOG_SECONDS = 10.0


class Guesses:
    """Counts wrong tokens of this process."""

    def __init__(self, seconds: float = _SECONDS) -> None:
        self.count = 0
        self.seconds = seconds
        self._waiting = 0
        self._logged = 0
        self._last = -_LOG_SECONDS

    async def wrong(self) -> None:
        """Count one, wait; refuse at once where too many wait already."""
        self.count += 1
        self._log()
        if self._waiting >= _AT_ONCE:
            raise Problem("too-many-attempts", "Wait a little before the next try.")
        self._waiting += 1
        try:
            await asyncio.sleep(self.seconds)
        finally:
            self._waiting -= 1

    def _log(self) -> None:
        now = time.monotonic()
        if now - self._last >= _LOG_SECONDS:
            log("wrong-tokens", level="warning", count=self.count - self._logged)
            self._logged = self.count
            self._last = now
