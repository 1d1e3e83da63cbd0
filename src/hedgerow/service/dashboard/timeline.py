"""When reports came, as bars: their areas are reports and their heights the pace, as stretches differ in length."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime

from hedgerow.digits import in_full, plain
from hedgerow.service.timeline import HOUR

__all__ = ["Bar", "Timeline", "day", "draw", "when"]

# Pixels, by hand: a card of a phone.
WIDTH = 320
HEIGHT = 80
DAY = 24 * HOUR
"""Seconds."""
_UNITS = (HOUR, 6 * HOUR, DAY, 7 * DAY, 30 * DAY, 365 * DAY)  # what a bar may stand for, at least
_MOST_BARS = 60  # of the shortest unit that gives no more, so that a bar is a few pixels wide; by hand
_LEAST_WIDTH = 1.0  # pixels: what there is is seen


def when(seconds: int) -> str:
    """Return a time in words.

    >>> when(0)
    '1 January 1970, 00:00 UTC'
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{day(seconds)}, {moment:%H:%M} UTC"


def day(seconds: int) -> str:
    """Return a day in words.

    >>> day(0)
    '1 January 1970'
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment.day} {moment:%B} {moment.year}"


def _short(seconds: int) -> str:
    """Return a time of these days, short enough that two stand below a picture.

    >>> _short(0)
    '1 January, 00:00'
    """
    moment = datetime.fromtimestamp(seconds, UTC)
    return f"{moment.day} {moment:%B, %H:%M}"


@dataclass(frozen=True)
class Bar:
    """A stretch of time: where its bar lies, in pixels, and what it says; ``young`` if its end is now."""

    x: float
    y: float
    width: float
    height: float
    words: str
    young: bool


@dataclass(frozen=True)
class Timeline:
    """Bars from the opening until now, the largest pace in words, and both ends."""

    bars: tuple[Bar, ...]
    top: str
    start: str
    end: str


def draw(marks: Sequence[tuple[int, int]], accepted: int, opens: int, now: int) -> Timeline | None:
    """Draw the counts of stretches and what has come since the last of them; None before the first report.

    Examples
    --------
    >>> made = draw([(3600, 40), (7200, 20)], 65, 0, 9000)
    >>> [(bar.x, bar.width, bar.height, bar.young) for bar in made.bars]
    [(0.0, 128.0, 80.0, False), (128.0, 128.0, 40.0, False), (256.0, 64.0, 10.0, True)]
    >>> made.top, made.bars[0].words
    ('40 an hour', '1 January 1970, 00:00 UTC to 1 January 1970, 01:00 UTC: 40 reports')
    """
    if accepted <= 0:
        return None
    last = marks[-1][0] if marks else opens
    end = max(now, last, opens + 1)
    unit = next((unit for unit in _UNITS if (end - opens) / unit <= _MOST_BARS), _UNITS[-1])
    stretches = _merged(marks, opens, unit)
    rest = accepted - sum(n for _, n in marks)
    if rest > 0:
        stretches.append((stretches[-1][1] if stretches else opens, end, rest))
    paces = [n / max(stop - start, HOUR) for start, stop, n in stretches]  # a young stretch of a minute proves no pace
    most = max(paces)
    bars: list[Bar] = []
    for (start, stop, n), pace in zip(stretches, paces, strict=True):
        height = round(HEIGHT * pace / most, 1)
        width = max(_LEAST_WIDTH, round(WIDTH * (stop - start) / (end - opens), 1))
        x = round(min(WIDTH * (start - opens) / (end - opens), WIDTH - width), 1)
        words = f"{when(start)} to {when(stop)}: {n:,} report{'' if n == 1 else 's'}"
        young = rest > 0 and len(bars) == len(stretches) - 1
        bars.append(Bar(x, round(HEIGHT - height, 1), width, height, words, young))
    name = day if end - opens >= 2 * DAY else _short
    return Timeline(tuple(bars), _pace(most, unit), name(opens), name(end))


def _merged(marks: Sequence[tuple[int, int]], opens: int, unit: int) -> list[tuple[int, int, int]]:
    """Return stretches (start, end, reports) that are at least a unit long, but the last."""
    found: list[tuple[int, int, int]] = []
    start = opens
    for until, n in marks:
        stop = max(until, start)
        if found and found[-1][1] - found[-1][0] < unit:
            first, _, before = found.pop()
            found.append((first, stop, before + n))
        else:
            found.append((start, stop, n))
        start = stop
    return found


def _pace(by_second: float, unit: int) -> str:
    if unit < DAY:
        return f"{in_full(plain(by_second * HOUR, 2))} an hour"
    return f"{in_full(plain(by_second * DAY, 2))} a day"
