"""How far a command is, for whoever waits: on standard error if that is a terminal, otherwise nothing at all."""

from __future__ import annotations

import contextlib
import sys
import threading
import time
from collections.abc import Iterator
from typing import IO

__all__ = ["Progress", "say"]

_SOONEST = 0.1  # seconds between two lines: more of them could not be read; by hand
_TICK = 1.0  # seconds after which the line is drawn again though nothing was reported: its clock is in seconds
_BAR = 30  # characters
_CLEAR = "\r\033[K"
_MINUTE = 60  # seconds, by definition


def say(line: str) -> None:
    """Print a line on standard error, in the place of a line of progress if that is a terminal."""
    clear = _CLEAR if sys.stderr.isatty() else ""
    print(f"{clear}{line}", file=sys.stderr, flush=True)


class Progress:
    """One line: what is being done, how much of it and, if the share is known, a bar with the time left; else a clock.

    The line is there from the start and its clock goes on while nothing is reported; it is taken away at the end.

    Examples
    --------
    >>> with Progress("reading") as progress:  # a terminal would see: reading [######...]  20% 100 rows
    ...     progress.update(100, 0.2)
    """

    def __init__(self, what: str, unit: str = "rows") -> None:
        self.what = what
        self.unit = unit
        self.shown = sys.stderr.isatty()
        self._stream: IO[str] = sys.stderr
        self._done = 0
        self._share: float | None = None
        self._note = ""
        self._last = 0.0
        self._start = 0.0
        self._reported = 0.0
        self._lock = threading.RLock()
        self._over = threading.Event()
        self._clock = threading.Thread(target=self._tick, name="progress", daemon=True)

    def __enter__(self) -> Progress:
        self._start = time.monotonic()
        if self.shown:
            self._draw()
            self._last = 0.0  # the first report is shown at once
            self._clock.start()
        return self

    def begin(self, what: str) -> None:
        """Go on to something else, whose time is counted from here."""
        with self._lock:
            self.what = what
            self._done = 0
            self._share = None
            self._note = ""
            self._start = time.monotonic()
            self._last = 0.0

    def update(self, done: int, share: float | None, note: str = "") -> None:
        """Take down how much is done, which share of all that is (None: unknown), and a word on it; show it if due."""
        with self._lock:
            self._done = done
            self._share = share
            self._note = note
            self._reported = time.monotonic()
            if self.shown and self._reported - self._last >= _SOONEST:
                self._draw()

    def step(self, done: int, total: int) -> None:
        """Take down how many steps of all are done; what functions of the library are given to call."""
        self.update(done, done / total)

    @contextlib.contextmanager
    def aside(self) -> Iterator[None]:
        """Take the line away while something else is printed, on standard output say."""
        with self._lock:
            if self.shown:
                print(_CLEAR, end="", file=self._stream, flush=True)
            yield

    def __exit__(self, *_: object) -> None:
        if not self.shown:
            return
        self._over.set()
        self._clock.join()
        print(_CLEAR, end="", file=self._stream, flush=True)

    def _tick(self) -> None:
        while not self._over.wait(_TICK):
            with self._lock:
                self._draw()

    def _draw(self) -> None:
        now = time.monotonic()
        self._last = now
        print(f"\r{self._line(now)}\033[K", end="", file=self._stream, flush=True)

    def _line(self, now: float) -> str:
        words = [self.what]
        if self._share is not None:
            share = min(self._share, 1.0)
            full = int(_BAR * share)
            words.append(f"[{'#' * full}{'.' * (_BAR - full)}] {share:4.0%}")
        if self._done:
            words.append(f"{self._done:,} {self.unit}")
        if self._note:
            words.append(self._note)
        when = self._when(now)
        return " ".join(words) + (f", {when}" if when else "")

    def _when(self, now: float) -> str:
        """Return how long it will still take, or how long it has taken; nothing within the first second."""
        passed = now - self._start
        if passed < _TICK:
            return ""
        if not self._share:
            return duration(passed)
        pace = (self._reported - self._start) / self._share
        left = pace - passed
        return f"about {duration(left)} left" if left >= _TICK else f"{duration(passed)} so far"


def duration(seconds: float) -> str:
    """Return a time in words.

    >>> duration(7.4), duration(200)
    ('7 s', '3 min 20 s')
    """
    whole = round(seconds)
    if whole < _MINUTE:
        return f"{whole} s"
    return f"{whole // _MINUTE} min {whole % _MINUTE} s"
