"""Connections of strangers, within limits: the head of a request is short and comes soon, and idle ones make room.

uvicorn's protocol takes a head of any length, waits for one for ever, and accepts connections until the process has no
file left. A proxy in front would see to all three; this is for those who have none.
"""

from __future__ import annotations

import asyncio
import contextlib
import time
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from hedgerow.service.logs import log

if TYPE_CHECKING:
    from hedgerow.service.settings import Settings

__all__ = ["limited", "open_files", "room_for"]

# Files that are no connections: the database and its log, libraries, pipes; 60 were counted, and twice that is by hand.
_OTHER_FILES = 120
_LOG_SECONDS = 10.0  # by hand: who is flooded should read of it, once in a while
_TOO_LONG = b"HTTP/1.1 431 Request Header Fields Too Large\r\nconnection: close\r\ncontent-length: 0\r\n\r\n"


def open_files() -> int:
    """Let the process have as many open files as the system allows; return how many.

    >>> open_files() > 0
    True
    """
    try:
        import resource
    except ModuleNotFoundError:  # Windows has no such limit
        return 8192
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with contextlib.suppress(ValueError, OSError):
        resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
        soft = hard
    return int(soft)


def room_for(most: int, files: int) -> int:
    """Return how many connections there may be: those wished for, or what the open files leave.

    >>> room_for(4000, 1024), room_for(200, 1024)
    (904, 200)
    """
    return max(1, min(most, files - _OTHER_FILES))


class _Limited(HttpToolsProtocol):
    """uvicorn's protocol, with limits that a subclass states."""

    most_head = 0
    head_seconds = 0.0
    most_connections = 0
    _dropped = 0
    _last_log = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; where there is no room, the one that has been idle for longest goes."""
        super().connection_made(transport)
        self._head = 0
        self._too_long = False
        self._since = time.monotonic()
        self._deadline: asyncio.TimerHandle | None = None
        self._expect_head()
        if len(self.connections) > self.most_connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._head_is_there()
        super().connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        """Read on; a head beyond the limit ends the connection."""
        super().data_received(data)
        if self._deadline is None or self.transport.is_closing():
            return
        self._head += len(data)  # of a head that is not complete; what stood before it in the same piece counts, too
        if self._head > self.most_head:
            self._too_long = True
            self.send_400_response("")

    def on_message_begin(self) -> None:
        """Start the clock of a head."""
        super().on_message_begin()
        if self._deadline is None:
            self._expect_head()

    def on_headers_complete(self) -> None:
        """Stop it; a head that came in one piece is measured here."""
        size = len(self.url) + sum(len(name) + len(value) for name, value in self.headers)
        if size > self.most_head:
            self._too_long = True
            raise ValueError("the head is too long")  # the parser's way to stop: send_400_response follows
        self._head_is_there()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Say what was wrong with the head, and hang up."""
        if not self._too_long:
            super().send_400_response(msg)
            return
        self.transport.write(_TOO_LONG)
        self.transport.close()

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete

    def _expect_head(self) -> None:
        self._head = 0
        self._since = time.monotonic()
        self._deadline = self.loop.call_later(self.head_seconds, self.transport.close)

    def _head_is_there(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _make_room(self) -> None:
        others = [c for c in self.connections if isinstance(c, _Limited) and c.idle and not c.transport.is_closing()]
        oldest = min(others, key=lambda c: c._since, default=self)
        oldest.transport.abort()
        self.connections.discard(oldest)
        kind = type(self)
        kind._dropped += 1
        if self._since - kind._last_log >= _LOG_SECONDS:
            log("connections-full", level="warning", most=self.most_connections, dropped=kind._dropped)
            kind._last_log = self._since
            kind._dropped = 0


def limited(settings: Settings) -> Any:
    """Return the protocol class with these limits, for ``uvicorn.run(http=...)``."""
    limits = {
        "most_head": settings.most_head,
        "head_seconds": settings.head_seconds,
        "most_connections": room_for(settings.most_connections, open_files()),
    }
    return type("Limited", (_Limited,), limits)
