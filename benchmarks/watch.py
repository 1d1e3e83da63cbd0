"""What a fit does while it runs: its memory beyond the page cache, and when its reads and rounds were."""

from __future__ import annotations

import itertools
import threading
import time
from pathlib import Path
from typing import Any

__all__ = ["Marks", "Memory"]

_MEGABYTE = 1024  # kilobytes, in which the system counts


class Memory(threading.Thread):
    """The most memory of this process beyond the page cache (RssAnon) since the start, in megabytes."""

    def __init__(self) -> None:
        super().__init__(daemon=True)
        self.before = self.now()
        self.most = self.before
        self.start()

    def now(self) -> float:
        """Return what the process holds."""
        lines = Path("/proc/self/status").read_text().splitlines()
        return next(int(line.split()[1]) for line in lines if line.startswith("RssAnon")) / _MEGABYTE

    def run(self) -> None:
        """Look ten times a second."""
        while True:
            self.most = max(self.most, self.now())
            time.sleep(0.1)


class Marks:
    """When reads and rounds were: ``read`` while files are read, the object itself as the callback of a fit."""

    def __init__(self) -> None:
        self.reads: list[tuple[int, float]] = []
        self.turns: list[tuple[int, float]] = []
        self.planned: list[int] = []

    def read(self, done: int, share: float | None) -> None:
        """Take down that so many records were read."""
        self.reads.append((done, time.perf_counter()))

    def begin(self, rounds: int) -> None:
        """Take down that a descent begins."""
        self.planned.append(rounds)

    def __call__(self, t: int) -> bool:
        """Take down that a round is over; go on."""
        self.turns.append((t, time.perf_counter()))
        return False

    def summary(self, start: float) -> dict[str, Any]:
        """Return rounds and seconds of each part."""
        again = next((i for i in range(1, len(self.reads)) if self.reads[i][0] <= self.reads[i - 1][0]), None)
        stages = [i for i, (t, _) in enumerate(self.turns) if t == 0] + [len(self.turns)]
        spans = [(b - a, self.turns[b - 1][1] - self.turns[a][1]) for a, b in itertools.pairwise(stages)]
        out: dict[str, Any] = {"rounds": self.planned}
        if again is not None:
            out["first read"] = round(self.reads[again - 1][1] - start, 1)
            out["second read"] = round(self.reads[-1][1] - self.reads[again - 1][1], 1)
        out["seconds a round"] = [round(span / (n - 1), 4) for n, span in spans if n > 1]
        return out
