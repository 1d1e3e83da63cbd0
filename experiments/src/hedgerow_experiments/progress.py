"""How far a run is and how long it will take, on stderr."""

from __future__ import annotations

import sys
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from typing import Any

from hedgerow_experiments.experiment import Key
from hedgerow_experiments.results import Results

__all__ = ["Progress", "clock"]


def clock(seconds: float) -> str:
    """Return a time to read.

    >>> clock(75), clock(7260)
    ('1:15', '2:01:00')
    """
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02d}:{rest:02d}" if hours else f"{minutes}:{rest:02d}"


class Progress:
    """Estimates what is left from the time that cells of the same kind took, this time or before."""

    def __init__(
        self, name: str, todo: Sequence[Key], results: Results, jobs: int, *, quiet: bool = False, every: float = 10.0
    ) -> None:
        self.name = name
        self.jobs = jobs
        self.quiet = quiet
        self.total = len(todo)
        self.done = 0
        self.start = time.monotonic()
        self.busy = 0.0
        self._left: dict[Any, int] = defaultdict(int)
        self._times: dict[Any, list[float]] = defaultdict(list)
        for key in todo:
            self._left[self._kind(key)] += 1
        for raw, seconds in results.seconds.items():
            self._times[self._kind(Key.read(raw))].append(seconds)
        self._tty = sys.stderr.isatty()
        self._every = 0.2 if self._tty else every
        self._shown = -1e9

    @staticmethod
    def _kind(key: Key) -> tuple[Any, ...]:
        return key.dataset, key.setting, key.group, key.epsilon

    def step(self, cells: Iterable[Any]) -> None:
        """Count cells that were computed."""
        for cell in cells:
            kind = self._kind(cell.key)
            self.done += 1
            self.busy += cell.seconds
            self._left[kind] -= 1
            self._times[kind].append(cell.seconds)
        now = time.monotonic()
        if not self.quiet and now - self._shown >= self._every:
            self._shown = now
            self._print(f"about {clock(self.left())} left")

    def left(self) -> float:
        """Return the seconds that the rest will take."""
        known = {kind: sum(t) / len(t) for kind, t in self._times.items() if t}
        usual = sum(known.values()) / len(known) if known else 0.0
        work = sum(n * known.get(kind, usual) for kind, n in self._left.items())
        elapsed = time.monotonic() - self.start
        # How much work a second of ours does: processes, less what waiting and other programs take.
        speed = min(self.jobs, self.busy / elapsed) if elapsed > 1 and self.busy else float(self.jobs)
        return work / max(speed, 1e-3)

    def finish(self) -> None:
        """Say how long it took."""
        if not self.quiet:
            took = time.monotonic() - self.start
            self._print(f"{clock(took)} by the clock, {clock(self.busy)} of processor time")
            if self._tty:
                print(file=sys.stderr)

    def _print(self, what: str) -> None:
        text = f"{self.name}: {self.done} of {self.total} cells, {what}"
        print(f"\r{text}\x1b[K" if self._tty else text, end="" if self._tty else "\n", file=sys.stderr, flush=True)
