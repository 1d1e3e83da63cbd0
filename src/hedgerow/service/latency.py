"""How long requests take, as a histogram of Prometheus: counts of answers within so many seconds."""

from __future__ import annotations

import bisect

__all__ = ["BUCKETS", "Latency"]

BUCKETS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0)
"""Upper ends in seconds: the default ones of Prometheus' clients."""


class Latency:
    """Counts of one kind of request.

    >>> seen = Latency()
    >>> seen.add(0.02); seen.add(3.0)
    >>> seen.lines('route="x"')[2]
    '_bucket{route="x",le="0.025"} 1'
    >>> seen.lines('route="x"')[-2:]
    ['_sum{route="x"} 3.02', '_count{route="x"} 2']
    """

    def __init__(self) -> None:
        self.counts = [0] * (len(BUCKETS) + 1)
        self.seconds = 0.0

    def add(self, seconds: float) -> None:
        """Count one."""
        self.counts[bisect.bisect_left(BUCKETS, seconds)] += 1
        self.seconds += seconds

    def lines(self, labels: str) -> list[str]:
        """Return the lines of this histogram, without the name of the family."""
        lines = []
        total = 0
        for end, n in zip([*map("{:g}".format, BUCKETS), "+Inf"], self.counts, strict=True):
            total += n
            lines.append(f'_bucket{{{labels},le="{end}"}} {total}')
        return [*lines, f"_sum{{{labels}}} {self.seconds:g}", f"_count{{{labels}}} {total}"]
