"""Connections of strangers, within limits: heads are short and come soon, answers are read, and idle ones make room.

uvicorn's protocol takes a head of any length, waits for one for ever, keeps an answer until it is read, and accepts
connections until the process has no file left. A proxy in front sees to all of it; this is for those who have none.
"""

from __future__ import annotations

import asyncio
import contextlib
import sys
import time
from typing import TYPE_CHECKING, Any

from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from hedgerow.service.logs import log

if TYPE_CHECKING:
    from hedgerow.service.settings import Settings

__all__ = ["limited", "open_files", "room_for"]

# Files that are no connections: the database and its log, libraries, pipes; 60 were counted, and twice that is by hand.
_OTHER_FILES = 120
_SLOWEST = 1000  # bytes a second at which an answer must be read; by hand: a tenth of what the slowest phones have
_QUEUED = 16  # requests that may come before those before them are answered; by hand: browsers send none
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


def _queued(connection: Any) -> int:
    """Return how many bytes the system still has to send; 0 where it does not tell.

    It takes new ones when a third of its room is free, which is megabytes: who reads slowly is seen here alone.
    """
    try:
        import fcntl
        import termios

        found = fcntl.ioctl(connection.fileno(), termios.TIOCOUTQ, bytes(4))
    except (ModuleNotFoundError, OSError):
        return 0
    return int.from_bytes(found, sys.byteorder)


class _Limited(HttpToolsProtocol):
    """uvicorn's protocol, with limits that a subclass states."""

    most_head = 0
    head_seconds = 0.0
    most_unread = 0
    send_seconds = 0.0
    most_connections = 0
    _dropped = 0
    _last_log = 0.0

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Take a connection; where there is no room, the one that has been idle for longest goes."""
        super().connection_made(transport)
        self._head = 0
        self._too_long = False
        self._too_many = False
        self._active: Any = None
        self._since = time.monotonic()
        self._deadline: asyncio.TimerHandle | None = None
        self._unread = 0
        self._reader: asyncio.TimerHandle | None = None
        self._expect_head()
        if len(self.connections) > self.most_connections:
            self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Forget the connection."""
        self._head_is_there()
        self._is_read()
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
        if len(self.pipeline) >= _QUEUED:  # each is kept in dozens of times its 18 bytes
            self._too_many = True
            raise ValueError("too many requests at once")
        self._head_is_there()
        super().on_headers_complete()

    def send_400_response(self, msg: str) -> None:
        """Say what was wrong with the head, and hang up."""
        if self._too_many:
            self._drop()
            return
        if not self._too_long:
            super().send_400_response(msg)
            return
        self.transport.write(_TOO_LONG)
        self.transport.close()

    def pause_writing(self) -> None:
        """Watch whether an answer is read that was too long for the system's own memory."""
        super().pause_writing()
        self._watch()
        waiting = [c for c in self.connections if isinstance(c, _Limited) and c._reader is not None]
        if sum(c.transport.get_write_buffer_size() for c in waiting) > self.most_unread:
            min(waiting, key=lambda c: c._since)._drop()

    def resume_writing(self) -> None:
        """Stop watching: most of it is read."""
        self._is_read()
        super().resume_writing()

    def _watch(self) -> None:
        self._unread = self._left()
        self._reader = self.loop.call_later(self.send_seconds, self._must_have_read)

    def _must_have_read(self) -> None:
        if self._left() > self._unread - _SLOWEST * self.send_seconds:
            self._drop()
        else:
            self._watch()

    def _left(self) -> int:
        """Return how many bytes of answers the other side does not have yet."""
        return int(self.transport.get_write_buffer_size()) + _queued(self.transport.get_extra_info("socket"))

    def _drop(self) -> None:
        """End the connection, and whatever is being answered over it: it would be written into nothing."""
        self.pipeline.clear()
        for cycle in (self.cycle, self._active):
            if cycle is not None:
                cycle.disconnected = True
        self.transport.abort()

    def _start_asgi_task(self, cycle: Any, app: Any) -> None:
        """Note which of several requests is being answered: uvicorn knows the last that came."""
        self._active = cycle
        super()._start_asgi_task(cycle, app)

    def _is_read(self) -> None:
        if self._reader is not None:
            self._reader.cancel()
            self._reader = None

    @property
    def idle(self) -> bool:
        """Whether nothing is being answered."""
        return self.cycle is None or self.cycle.response_complete

    @property
    def _may_go(self) -> bool:
        return self.idle or self._reader is not None or self.transport.is_closing()

    def _expect_head(self) -> None:
        self._head = 0
        self._since = time.monotonic()
        self._deadline = self.loop.call_later(self.head_seconds, self.transport.close)

    def _head_is_there(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None

    def _make_room(self) -> None:
        others = [c for c in self.connections if isinstance(c, _Limited) and c._may_go and c is not self]
        # First those that have ended, but for an answer that nobody reads: nothing else ends them.
        oldest = min(others, key=lambda c: (not c.transport.is_closing(), c._since), default=self)
        oldest._drop()
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
        "most_unread": settings.most_unread_bytes,
        "send_seconds": settings.send_seconds,
        "most_connections": room_for(settings.most_connections, open_files()),
    }
    return type("Limited", (_Limited,), limits)
