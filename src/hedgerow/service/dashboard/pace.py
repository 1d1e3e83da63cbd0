"""What is hoped for and what is to be expected: how many reports, and when, if they come as they did of late."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from hedgerow.digits import in_full, plain
from hedgerow.service.dashboard.timeline import DAY, day, when

__all__ = ["NO_AIM", "Aim", "Pace", "outlook", "pace_of"]

_LATELY = 7 * DAY  # weekdays differ, so a pace is that of whole weeks where there are any
_FAR = 100 * 365 * DAY  # nobody plans beyond
_NORMAL_95 = 1.6449  # the 95 % point of the normal law: 90 % lie within so many standard deviations


@dataclass(frozen=True)
class Pace:
    """So many reports in so many seconds, up to now."""

    reports: int
    seconds: float

    @property
    def words(self) -> str:
        """Say it by the day.

        >>> Pace(1200, 2 * 86_400).words
        '600 a day'
        """
        return f"{in_full(plain(self.reports * DAY / self.seconds, 2))} a day"

    def within(self, seconds: float) -> tuple[int, int]:
        """Return the ends of a 90 % interval of the number of reports in the time to come.

        If people come independently of each other, k reports in a time t foretell m = k s / t reports in a time s, with
        variance m (1 + s / t): that of counting then, and that of having counted only k until now.

        >>> Pace(100, 1000.0).within(1000.0)
        (76, 124)
        """
        m = self.reports * seconds / self.seconds
        spread = _NORMAL_95 * math.sqrt(m * (1 + seconds / self.seconds))
        return max(0, math.floor(m - spread)), math.ceil(m + spread)


def pace_of(marks: Sequence[tuple[int, int]], accepted: int, opens: int, now: float) -> Pace:
    """Return the pace since the last mark that is a week old or older, or since the opening.

    >>> pace_of([(3600, 50), (90_000, 700)], 800, 0, 700_000.0)
    Pace(reports=50, seconds=610000.0)
    """
    start = opens
    before = 0
    for until, n in marks:
        if until > now - _LATELY:
            break
        start = max(start, until)
        before += n
    return Pace(accepted - before, max(now - start, 1.0))


@dataclass(frozen=True)
class Aim:
    """A target, how much of it there is, and sentences about both."""

    target: int | None
    percent: int
    lines: tuple[str, ...]


NO_AIM = Aim(None, 0, ())
"""Nothing is hoped for, and nothing is known."""


def outlook(target: int | None, accepted: int, pace: Pace, left: float, now: float) -> Aim:
    """Compare what is hoped for with what the pace foretells; ``left`` seconds remain, 0 once it is over.

    >>> for line in outlook(1000, 400, Pace(400, 4 * 86_400), 10 * 86_400, 0.0).lines:
    ...     print(line)
    400 of the 1,000 reports that you aim at (40%).
    At the present pace (100 a day) the target is reached about 7 January 1970.
    When the collection ends there should be 1,300 to 1,500 reports.
    """
    percent = 100 if target is None else min(100, 100 * accepted // target)
    lines = []
    if target is not None:
        lines.append(f"{accepted:,} of the {target:,} reports that you aim at ({percent}%).")
    if left <= 0:
        return Aim(target, percent, tuple(lines))
    if pace.reports <= 0:
        lines.append("There is no pace to judge by: no report has come of late.")
        return Aim(target, percent, tuple(lines))
    if target is not None and accepted < target:
        lines.append(_reached(target - accepted, pace, left, now))
    low, high = pace.within(left)
    lines.append(f"When the collection ends there should be {_few(accepted + low)} to {_few(accepted + high)} reports.")
    return Aim(target, percent, tuple(lines))


def _reached(missing: int, pace: Pace, left: float, now: float) -> str:
    seconds = missing * pace.seconds / pace.reports
    begin = f"At the present pace ({pace.words}) the target"
    if seconds > _FAR:
        return f"{begin} is not reached within a hundred years."
    moment = int(now + seconds)
    words = when(moment) if seconds < 2 * DAY else day(moment)
    if seconds > left:
        return f"{begin} would be reached about {words}, after the collection has ended."
    return f"{begin} is reached about {words}."


def _few(n: int) -> str:
    """Return a number of reports with the digits that a forecast can have."""
    return f"{int(float(f'{n:.2g}')):,}" if n >= 1000 else f"{n:,}"
