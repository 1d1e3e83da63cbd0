"""What the sections of the results page share: small multiples, folded tables, ratios in words."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from html import escape
from typing import NamedTuple

from hedgerow.chart.svg import Curve, Point, chart
from hedgerow.compare.scores import Summary
from hedgerow.compare.web import details, grid, legend
from hedgerow.recommended import RECOMMENDED
from hedgerow_experiments.claims.base import geometric, ratio
from hedgerow_experiments.forms import to_html
from hedgerow_experiments.found import Evidence
from hedgerow_experiments.tables import Table

__all__ = ["Section", "by_epsilon", "epsilons", "mean_curve", "multiples", "section", "tables", "versus"]

NOTE = (
    "<p class=soft>Bold: best of the row; underlined: second; *: significantly better than every other family of "
    "methods (Wilcoxon, 5 %). Where the paper prints a figure: ours / paper (ratio). Parameters are the best in "
    "hindsight for every method that has a grid, as in the papers.</p>"
)


class Section(NamedTuple):
    """A trust model: who may see a record, what to use, pages with more, and what builds headline and evidence."""

    key: str
    title: str
    question: str
    use: str
    pages: tuple[str, ...]
    build: Callable[[Evidence], tuple[str, str]]


def section(key: str, title: str, pages: tuple[str, ...], build: Callable[[Evidence], tuple[str, str]]) -> Section:
    """Return the section of a trust model, which recommends what README and documentation do."""
    found = next(one for one in RECOMMENDED if one.key == key)
    return Section(key, title, found.who, found.html, pages, build)


def versus(value: float) -> str:
    """Return a ratio in words.

    >>> [versus(v) for v in (0.94, 1.2, 1.003, 3.4)]
    ['6 % below', '20 % above', 'level with', '3.4 times']
    """
    if value >= 2:
        return f"{value:.2g} times"
    percent = round(100 * (value - 1))
    return "level with" if percent == 0 else f"{abs(percent)} % {'above' if percent > 0 else 'below'}"


def epsilons(cells: Iterable[Summary]) -> list[float]:
    """Return the finite epsilons of some cells, in order."""
    return sorted({s.epsilon for s in cells if s.epsilon is not None and math.isfinite(s.epsilon)})


def by_epsilon(ours: Sequence[Summary], theirs: Sequence[Summary], *, fixed: bool = False) -> dict[float, list[float]]:
    """Return the ratios of means by epsilon, one a data set."""
    found = {e: ratio([s for s in ours if s.epsilon == e], theirs, fixed=fixed) for e in epsilons(ours)}
    return {e: r for e, r in found.items() if r}


def mean_curve(name: str, ratios: Mapping[float, Sequence[float]], colour: int) -> Curve:
    """Return geometric means by epsilon as a curve without a band."""
    means = {e: geometric(list(r)) for e, r in ratios.items()}
    return Curve(name, tuple(Point(e, v, v, v) for e, v in means.items()), colour)


def multiples(
    cells: Sequence[Summary],
    methods: Sequence[str],
    ends: Sequence[str] = (),
    *,
    shown: int = 6,
    y_label: str = "test MSE",
    names: Mapping[str, str] | None = None,
) -> str:
    """Return one chart a data set with one curve a method, the first few in sight and the others folded."""
    colours = {m: i for i, m in enumerate(methods) if any(s.method == m for s in cells)}
    charts = []
    for data in dict.fromkeys(s.dataset for s in cells):
        own = [s for s in cells if s.dataset == data]
        curves = [Curve(m, _points(s for s in own if s.method == m), c) for m, c in colours.items()]
        lines = {s.method: s.mean for s in own if s.method in ends}
        if any(p.y > 0 for c in curves for p in c.points):
            title = (names or {}).get(data, data)
            full = [c for c in curves if c.points]
            at = epsilons(own)
            few = at if len(at) <= 6 else None
            # A split may have no error at all, which no logarithm shows: bands that leave the scale end at its edge.
            values = [v for v in (*(p.y for c in full for p in c.points), *lines.values()) if v > 0]
            limits = (min(values) / 1.3, max(values) * 1.3)
            drawn = chart(full, title=title, y_label=y_label, lines=lines, log_y=True, x_ticks=few, limits=limits)
            charts.append(drawn)
    out = legend(colours) + grid(charts[:shown])
    return out + (details(f"{len(charts) - shown} more data sets", grid(charts[shown:])) if len(charts) > shown else "")


def _points(cells: Iterable[Summary]) -> tuple[Point, ...]:
    found = [s for s in cells if s.epsilon is not None and math.isfinite(s.epsilon)]
    return tuple(Point(float(s.epsilon or 0), s.mean, *s.quantiles()) for s in found)


def tables(found: Iterable[tuple[str, Table]], summary: str) -> str:
    """Return titled tables, folded; nothing if there are none."""
    content = "".join(f"<h3>{escape(title)}</h3>{to_html(table)}" for title, table in found if table.rows)
    return details(summary, NOTE + content) if content else ""
