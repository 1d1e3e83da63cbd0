"""Bodies that arrive at once share a purse of memory.

A small body always has room: there are no more of them than connections. What larger ones have sent so far is counted,
and where all together pass the limit, the one that would pass it is told to come back.
"""

from __future__ import annotations

import asyncio

from starlette.requests import ClientDisconnect
from starlette.types import Receive

from hedgerow.service.deadlines import Deadlines
from hedgerow.service.problems import Problem

__all__ = ["SMALL", "Bodies"]

SMALL = 1 << 16
"""Bytes that a body may have outside the purse: what uvicorn holds of each connection anyway."""


class Bodies:
    """Reads bodies; ``waiting`` is how many bytes of large ones have arrived and are not handed on yet."""

    def __init__(self, room: int, seconds: float) -> None:
        self.room = room
        self.waiting = 0
        self.seconds = seconds
        self._deadlines = Deadlines(seconds)

    async def receive(self, receive: Receive, declared: str, most: int) -> bytes:
        """Return the body, refusing one that is too large, too slow, cut off, or for which there is no room now."""
        if not declared.isdecimal() or _beyond(declared, most):
            raise _too_large(most)
        task = asyncio.current_task()
        assert task is not None
        overdue: list[bool] = []
        deadline = self._deadlines.start(lambda: overdue.append(task.cancel()))
        try:
            return await self._parts(receive, most)
        except asyncio.CancelledError:
            if not overdue:
                raise
            task.uncancel()
            raise Problem("body-timeout", f"The body must arrive within {self.seconds:g} seconds.") from None
        finally:
            deadline.stop()

    async def _parts(self, receive: Receive, most: int) -> bytes:
        parts: list[bytes] = []
        size = 0
        taken = 0
        more = True
        try:
            while more:
                message = await receive()
                if message["type"] == "http.disconnect":
                    raise ClientDisconnect
                parts.append(message.get("body", b""))
                more = message.get("more_body", False)
                size += len(parts[-1])
                if size > most:
                    raise _too_large(most)
                if size > SMALL:
                    self._take(size - taken)
                    taken = size
        finally:
            self.waiting -= taken
        return parts[0] if len(parts) == 1 else b"".join(parts)

    def _take(self, n: int) -> None:
        if self.waiting + n > self.room:
            raise Problem("busy", "Too many large bodies are arriving at once.")
        self.waiting += n


def _beyond(declared: str, most: int) -> bool:
    """Return whether a number is beyond another; Python reads none of thousands of digits, be they zeros.

    >>> _beyond("0" * 5000, 8), _beyond("9" * 5000, 8), _beyond("008", 8), _beyond("9", 8)
    (False, True, False, True)
    """
    digits = declared.lstrip("0")
    return len(digits) > len(str(most)) or int(digits or "0") > most


def _too_large(most: int) -> Problem:
    return Problem("body-too-large", f"A body may have at most {most} bytes.")
