"""The picture of an answer in plain text: bars of ``#``, and an arrow at what is sent."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from hedgerow.holder.texts import Texts
from hedgerow.mechanisms.words import percent
from hedgerow.tasks.base import Task
from hedgerow.tasks.picture import Bar, Panel
from hedgerow.tasks.reports import Reports
from hedgerow.tasks.words import plain

__all__ = ["draw_picture", "picture_of"]

_WIDTH = 30  # of the longest bar: with words beside it a line fits 80 characters
_LINES = 16  # of a noisy number, so that a picture fits a screen of 24 lines


def picture_of(task: Task, body: bytes, record: Mapping[str, Any], mask: Sequence[bool] | None) -> tuple[Panel, ...]:
    """Return what could have been sent of a record, and what the body says."""
    try:
        Z, y = task.encode_record(record)
        private = None if mask is None else list(mask)
        return task.picture(Reports.from_bytes(task, body).payloads, Z, y, private=private)
    except Exception:  # an error here would be silence about a record that was drawn already
        return ()


def draw_picture(panels: Sequence[Panel], name: str, texts: Texts) -> list[str]:
    """Return a picture as lines of text.

    >>> from hedgerow.tasks.picture import named
    >>> for line in draw_picture([named({3: 1.0}, 5, 0.6, 0.1, 2)], "hours", Texts("en"))[2:]:
    ...     print(line)
      One answer is sent:
        your true answer                             60 % ##############################
        one of 4 other answers (10 % each)           40 % #################### <- sent
    """
    if not panels:
        return []
    lines = [texts.say("picture.title"), f"  {texts.say('picture.intro')}"]
    for panel in panels:
        what = texts.say("picture.error", name=plain(name)) if panel.error else plain(name)
        lines.append(f"  {texts.say(f'picture.{panel.kind}', name=what)}")
        bars = _fewer(panel.bars) if panel.kind == "values" else panel.bars
        most = max((_chance(panel, bar) for bar in bars), default=1.0)
        lines += [_line(panel, bar, most, texts) for bar in bars]
        if panel.kind == "values" and bars:
            lines.append(f"    {_truth(panel, bars, texts)}")
    return lines


def _chance(panel: Panel, bar: Bar) -> float:
    return bar.total if panel.kind == "named" else bar.chance


def _line(panel: Panel, bar: Bar, most: float, texts: Texts) -> str:
    chance = _chance(panel, bar)
    blocks = "#" * round(_WIDTH * chance / most)
    sent = f" <- {bar_sent(bar, texts)}" if bar.sent else ""
    return f"    {bar_words(panel, bar, texts):<40} {_percent(chance, texts):>8} {blocks}{sent}".rstrip()


def _percent(chance: float, texts: Texts) -> str:
    return percent(chance).replace(".", texts.decimal)


def bar_words(panel: Panel, bar: Bar, texts: Texts) -> str:
    """Return what a bar stands for."""
    if bar.what == "value":
        low = texts.number(float(f"{bar.low:.5g}"))
        high = texts.number(float(f"{bar.high:.5g}"))
        return texts.say("picture.value", low=low) if low == high else texts.say("picture.span", low=low, high=high)
    if bar.what == "other" and panel.kind == "named" and bar.count == 1:
        return texts.say("picture.other_one")
    suffix = {"marked": "_marked", "told": "_told"}.get(panel.kind, "") if bar.what in ("own", "other") else ""
    return texts.say(f"picture.{bar.what}{suffix}", n=bar.count, each=_percent(bar.chance, texts))


def bar_sent(bar: Bar, texts: Texts) -> str:
    """Return whether it was sent, or how many were."""
    if bar.count > 1 and bar.what == "other" and bar.sent != 1:
        return texts.say("picture.some", m=bar.sent, n=bar.count)
    return texts.say("picture.sent" if bar.sent else "picture.not_sent")


def _fewer(bars: Sequence[Bar]) -> list[Bar]:
    """Return bars side by side as one, so that they fit a screen."""
    width = -(-len(bars) // _LINES)
    out = []
    for start in range(0, len(bars), max(1, width)):
        part = bars[start : start + width]
        chance = sum(bar.chance for bar in part)
        out.append(Bar("value", chance, sum(bar.sent for bar in part), 1, part[0].low, part[-1].high))
    return out


def _truth(panel: Panel, bars: Sequence[Bar], texts: Texts) -> str:
    sent = next(bar for bar in bars if bar.sent)
    truth = texts.number(float(f"{panel.truth or 0.0:.5g}"))
    words = bar_words(panel, sent, texts)
    return texts.say("picture.truth", truth=truth, sent=words, chance=_percent(sent.chance, texts))
