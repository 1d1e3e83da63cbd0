"""Small charts as inline SVG, coloured by the page's style sheet, so that they follow its light and dark modes."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from html import escape
from typing import NamedTuple

__all__ = ["Curve", "Point", "chart", "ticks"]

# Pixels, by hand.
WIDTH = 340
HEIGHT = 230
_LEFT = 46
_RIGHT = 12
_TOP = 38
_BOTTOM = 36


class Point(NamedTuple):
    """A point of a curve, with the ends of its band."""

    x: float
    y: float
    low: float
    high: float


class Curve(NamedTuple):
    """A named curve; ``colour`` is the number of a colour of the page's palette."""

    name: str
    points: tuple[Point, ...]
    colour: int


def ticks(low: float, high: float, log: bool = False, most: int = 5) -> list[float]:
    """Return round numbers within a range.

    >>> ticks(0.0, 1.0), ticks(0.5, 8.0, log=True)
    ([0.0, 0.2, 0.4, 0.6, 0.8, 1.0], [0.5, 1.0, 2.0, 5.0])
    """
    if log:
        first = math.floor(math.log10(low))
        last = math.ceil(math.log10(high))
        for steps in ((1, 2, 5), (1, 3), (1,)):
            found = [s * 10.0**k for k in range(first, last + 1) for s in steps]
            found = [v for v in found if low * (1 - 1e-9) <= v <= high * (1 + 1e-9)]
            if len(found) <= most + 1:
                return found
        return found[:: math.ceil(len(found) / most)]
    raw = (high - low) / most or 1.0
    size = 10.0 ** math.floor(math.log10(raw))
    step = next(s * size for s in (1, 2, 5, 10) if s * size >= raw * (1 - 1e-9))
    start = math.ceil(low / step - 1e-9)
    return [round(k * step, 12) for k in range(start, math.floor(high / step + 1e-9) + 1)]


class _Axis:
    """Where values go, linearly or by logarithm."""

    def __init__(self, low: float, high: float, start: float, end: float, log: bool) -> None:
        self.log = log and low > 0
        if high <= low:
            low, high = (low / 2, high * 2) if self.log else (low - 0.5, high + 0.5)
        self.low = low
        self.high = high
        self.start = start
        self.end = end

    def __call__(self, value: float) -> float:
        value = min(max(value, self.low), self.high)
        if self.log:
            share = math.log(value / self.low) / math.log(self.high / self.low)
        else:
            share = (value - self.low) / (self.high - self.low)
        return round(self.start + share * (self.end - self.start), 1)

    def ticks(self, most: int) -> list[float]:
        return ticks(self.low, self.high, self.log, most)


def chart(
    curves: Sequence[Curve],
    *,
    title: str = "",
    x_label: str = "epsilon",
    y_label: str = "",
    log_x: bool = True,
    log_y: bool = False,
    lines: Mapping[str, float] | None = None,
    marks: Mapping[str, float] | None = None,
    limits: tuple[float, float] | None = None,
    x_ticks: Sequence[float] | None = None,
) -> str:
    """Return a line chart with bands; ``lines`` are named horizontal ones, ``marks`` vertical ones.

    Values outside ``limits`` are drawn at the edge.
    """
    xs = [p.x for c in curves for p in c.points]
    ys = [v for c in curves for p in c.points for v in (p.low, p.high)] + list((lines or {}).values())
    if not xs:
        return f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}"></svg>'
    bottom, top = limits or (min(ys), max(ys))
    x = _Axis(min(xs), max(xs), _LEFT, WIDTH - _RIGHT, log_x)
    y = _Axis(bottom, top, HEIGHT - _BOTTOM, _TOP, log_y)
    parts = [f'<svg class="chart" viewBox="0 0 {WIDTH} {HEIGHT}" role="img" aria-label="{escape(title)}">']
    parts += _frame(x, y, title, x_label, y_label, x_ticks)
    parts += _ends(lines or {}, y)
    for name, value in (marks or {}).items():
        said = f"<title>{escape(name)}</title>"
        parts.append(f'<path class="end" d="M{x(value)} {_TOP}V{HEIGHT - _BOTTOM}">{said}</path>')
    for curve in curves:
        parts += _drawn(curve, x, y, y_label)
    return "".join([*parts, "</svg>"])


def _ends(lines: Mapping[str, float], y: _Axis) -> list[str]:
    """Return dashed lines; where two are close, the second has its name on the left."""
    out = []
    names = {"end": -99.0, "start": -99.0}
    for name, value in sorted(lines.items(), key=lambda item: item[1]):
        at = y(value)
        side = "end" if abs(at - names["end"]) > 11 or abs(at - names["start"]) <= 11 else "start"
        names[side] = at
        said = f"<title>{escape(name)}: {value:.3g}</title>"
        x = WIDTH - _RIGHT if side == "end" else _LEFT + 3
        out.append(f'<path class="end" d="M{_LEFT} {at}H{WIDTH - _RIGHT}">{said}</path>')
        out.append(f'<text class="note" x="{x}" y="{at - 3}" text-anchor="{side}">{escape(name)}</text>')
    return out


def _drawn(curve: Curve, x: _Axis, y: _Axis, unit: str) -> list[str]:
    points = sorted(curve.points)
    colour = f"c{curve.colour % 8}"
    band = [f"{x(p.x)},{y(p.high)}" for p in points] + [f"{x(p.x)},{y(p.low)}" for p in reversed(points)]
    line = "M" + "L".join(f"{x(p.x)} {y(p.y)}" for p in points)
    out = [f'<g class="{colour}"><polygon class="band" points="{" ".join(band)}"/><path class="line" d="{line}"/>']
    for p in points:
        said = escape(f"{curve.name}: {p.y:.3g} {unit} at {p.x:g} ({p.low:.3g} to {p.high:.3g})")
        out.append(f'<circle r="2.6" cx="{x(p.x)}" cy="{y(p.y)}"><title>{said}</title></circle>')
    return [*out, "</g>"]


def _frame(x: _Axis, y: _Axis, title: str, x_label: str, y_label: str, x_ticks: Sequence[float] | None) -> list[str]:
    out = [f'<text class="title" x="{_LEFT - 40}" y="14">{escape(title)}</text>'] if title else []
    for value in y.ticks(4):
        at = y(value)
        out.append(f'<path class="grid" d="M{_LEFT} {at}H{WIDTH - _RIGHT}"/>')
        out.append(f'<text class="tick" x="{_LEFT - 5}" y="{at + 3.5}" text-anchor="end">{_short(value)}</text>')
    for value in x_ticks if x_ticks is not None else x.ticks(6):
        at = x(value)
        out.append(f'<path class="grid" d="M{at} {HEIGHT - _BOTTOM}v4"/>')
        out.append(
            f'<text class="tick" x="{at}" y="{HEIGHT - _BOTTOM + 15}" text-anchor="middle">{_short(value)}</text>'
        )
    middle = (WIDTH + _LEFT) / 2
    out.append(f'<text class="note" x="{middle}" y="{HEIGHT - 6}" text-anchor="middle">{escape(x_label)}</text>')
    if y_label:
        out.append(f'<text class="note" x="{_LEFT - 40}" y="28">{escape(y_label)}</text>')
    return out


def _short(value: float) -> str:
    """Return a tick's label.

    >>> [_short(v) for v in (0.0, 0.25, 20.0, 50000.0, 2000000.0, 0.0002)]
    ['0', '0.25', '20', '50k', '2M', '2e-4']
    """
    if value == 0:
        return "0"
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if abs(value) >= size * (1 if unit == "M" else 10):
            return f"{value / size:g}{unit}"
    if abs(value) < 1e-3:
        mantissa, exponent = f"{value:.0e}".split("e")
        return f"{mantissa}e{int(exponent)}"
    return f"{value:g}"
