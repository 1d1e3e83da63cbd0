"""CPU seconds of competing functions, in interleaved rounds."""

from __future__ import annotations

import statistics
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True)
class Row:
    """One line of the table; ``limit`` is what the project promises, if anything."""

    name: str
    value: float
    unit: str = "s"
    limit: float | None = None
    at_least: bool = False

    @property
    def met(self) -> bool | None:
        """Whether the promise was kept; None where there is none."""
        if self.limit is None:
            return None
        return self.value >= self.limit if self.at_least else self.value <= self.limit

    def __str__(self) -> str:
        promise = "" if self.limit is None else f"{'>=' if self.at_least else '<='} {self.limit:g}"
        verdict = {None: "", True: "ok", False: "MISSED"}[self.met]
        return f"{self.name:<66} {self.value:>10.4g} {self.unit:<5} {promise:>8}  {verdict}".rstrip()


def interleave(functions: Mapping[str, Callable[[], object]], rounds: int) -> dict[str, float]:
    """Return the median CPU seconds of each function: round by round, so that noise hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(rounds):
        for name, function in functions.items():
            start = time.process_time()
            function()
            seconds[name].append(time.process_time() - start)
    return {name: statistics.median(values) for name, values in seconds.items()}


def fresh(code: str, *arguments: str) -> str:
    """Run code in a new Python process and return what it prints."""
    done = subprocess.run([sys.executable, "-c", code, *arguments], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"a benchmark's process failed:\n{done.stderr}")
    return done.stdout
