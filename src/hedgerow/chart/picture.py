"""Error against epsilon or people, with one look: inside of a page, which needs nothing else, or as a figure.

``hedgerow advise``, ``hedgerow compare``, the dashboard, the demo and the documentation all draw it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal

from hedgerow.chart.svg import Curve, chart
from hedgerow.digits import plain
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

__all__ = ["COLOURS", "ErrorPicture", "figure_of"]

COLOURS = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#b8860b", "#332288", "#56a0d3", "#882255")
"""By number, on white: told apart with every kind of colour blindness (the first four are of Okabe and Ito)."""
MARKERS = "os^Dv<>p"
"""The same curves without colour."""
MOST_MARKED = 12
"""Points of a curve that are marked one by one: more are a smooth line."""
_NAMES = {"epsilon": "epsilon (smaller protects more)", "people": "people"}


@dataclass(frozen=True)
class ErrorPicture:
    """Curves of an error, or of an accuracy, over epsilon or the number of people.

    Attributes
    ----------
    x : {"epsilon", "people"}
        What it is against, on a logarithmic axis.
    curves : tuple of Curve
        With bands; without one, both ends are the point.
    y_label, title : str
        What the number is, and where it was measured.
    lines : mapping
        What does not change along x, by name: dashed.
    marks : mapping
        Places of x that somebody asked about, by name: dotted.
    log_y : bool
        Whether errors are on a logarithmic axis.
    limits : (low, high), optional
        Of y; what lies beyond is drawn at the edge.
    ticks : tuple of float
        Of x; by default round numbers.

    Examples
    --------
    >>> from hedgerow.chart import Curve, Point
    >>> one = Curve("local", (Point(1.0, 5.0, 4.0, 6.0), Point(2.0, 3.0, 2.5, 3.5)), 0)
    >>> ErrorPicture("epsilon", (one,), "squared error").svg().startswith('<svg class="chart"')
    True
    """

    x: Literal["epsilon", "people"]
    curves: tuple[Curve, ...]
    y_label: str
    title: str = ""
    lines: Mapping[str, float] = field(default_factory=dict)
    marks: Mapping[str, float] = field(default_factory=dict)
    log_y: bool = False
    limits: tuple[float, float] | None = None
    ticks: tuple[float, ...] = ()

    def svg(self) -> str:
        """Return it for a page whose style sheet has the classes of :mod:`hedgerow.compare.web`."""
        return chart(
            self.curves,
            title=self.title,
            x_label=_NAMES[self.x],
            y_label=self.y_label,
            log_y=self.log_y,
            lines=self.lines,
            marks=self.marks,
            limits=self.limits,
            x_ticks=self.ticks or None,
        )

    def draw(self, axes: Axes) -> None:
        """Draw it with Matplotlib."""
        from matplotlib.ticker import FuncFormatter

        for curve in self.curves:
            points = sorted(curve.points)
            x = [point.x for point in points]
            colour = COLOURS[curve.colour % 8]
            marker = MARKERS[curve.colour % 8] if len(points) <= MOST_MARKED else ""
            axes.plot(x, [point.y for point in points], lw=2, marker=marker, ms=5, color=colour, label=curve.name)
            low = [point.low for point in points]
            high = [point.high for point in points]
            if low != high:
                axes.fill_between(x, low, high, color=colour, alpha=0.15, lw=0)
        for i, (name, value) in enumerate(self.lines.items()):
            style = (0, (2 + 3 * i, 2))
            axes.axhline(value, color="0.4", lw=1.2, linestyle=style, label=name, zorder=1)
        for name, value in self.marks.items():
            axes.axvline(value, color="0.6", lw=1, linestyle=":", zorder=0, label=name)
        axes.set(xscale="log", xlabel=_NAMES[self.x], ylabel=self.y_label)
        axes.set_title(self.title, parse_math=False)
        if self.log_y:
            axes.set_yscale("log")
        if self.limits is not None:
            axes.set_ylim(*self.limits)
        if self.ticks:
            axes.set_xticks(self.ticks)
        for axis in (axes.xaxis, axes.yaxis):
            axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
        axes.xaxis.set_minor_formatter(lambda value, _: "")
        axes.tick_params(axis="x", labelrotation=30)
        axes.grid(axis="y", color="0.9", lw=0.6)
        axes.spines[["top", "right"]].set_visible(False)


def figure_of(pictures: Sequence[ErrorPicture], *, size: tuple[float, float] = (5.2, 4.4)) -> Figure:
    """Return pictures side by side as one figure, with one legend below."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise HedgerowError("a plot needs Matplotlib; install hedgerow[plot].") from error
    figure = Figure(figsize=(size[0] * len(pictures), size[1]), layout="constrained")
    panels = figure.subplots(1, len(pictures), squeeze=False)[0]
    named: dict[str, Any] = {}
    for picture, axes in zip(pictures, panels, strict=True):
        picture.draw(axes)
        for handle, label in zip(*axes.get_legend_handles_labels(), strict=True):
            named.setdefault(label, handle)
    figure.legend(named.values(), named.keys(), loc="outside lower center", ncols=3, frameon=False)
    return figure
