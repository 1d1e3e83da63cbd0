"""Curves and pair surfaces as pictures: what is added, the noise in it, and where the records are (Matplotlib)."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from statistics import NormalDist
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.digits import plain
from hedgerow.errors import HedgerowError
from hedgerow.schema.words import one_line
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from hedgerow.central.anova.explain import Curve, Explanation, Surface

__all__ = ["LEVEL", "plot_explanation", "reach"]

LEVEL = 0.9
"""Share of the known noise that a band holds. It is not the coverage of an interval.

Noise also chooses functions, quantiles and clips, and curves are drawn before long records are shortened. Curves of
fits of the same records with other noise spread by 1.0 to 7.4 times the known noise: 8 to 30 seeds at epsilon .5 to 4,
made-up functions of 4 and 6 features (n of 500 to 20,000, up to 2.9 times) and 2,000 homes of ``load_homes`` (7.4, by
hand). No factor would do for all, so there is none, and pictures say so.
"""
# By hand, all of these: what can be read at the size of a page.
_COLUMNS = 3
_SURFACES = 3
_CATEGORIES = 14  # bars of one feature; of more, those that add most
_LETTERS = 22  # of a category
_TITLE = 26  # letters of a feature's name
_SHORT = 10  # letters of a name beside a surface
_NAMED = 8  # categories named beside a surface
_DIGITS = 6  # of a number at an axis: enough to tell neighbours apart; zeros at the end are not written
_ROOM = 0.12  # of a panel, below the curve, for the ticks of records
_FAINT = 0.35  # opacity of what may be noise
_BLUE = "#1f5f99"


def reach(noise: FloatArray, level: float = LEVEL) -> FloatArray:
    """Return half the width of the middle part of normal noise that holds this share of it.

    >>> reach(np.array([2.0])).round(2).tolist()
    [3.29]
    """
    return np.asarray(NormalDist().inv_cdf((1 + level) / 2) * noise)


def plot_explanation(explanation: Explanation, output: int = 0, most: int = 12) -> Figure:
    """Draw the most important curves and the three most important pairs, all curves on one scale, all pairs on one."""
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise HedgerowError("a plot needs Matplotlib: pip install 'hedgerow[plot]'.") from error
    order = np.argsort(-explanation.feature_importances(), kind="stable")[:most]
    names = list(explanation.curves)
    curves = [explanation.curves[names[j]] for j in order]
    surfaces = _largest_surfaces(explanation)
    columns = min(_COLUMNS, max(len(curves), len(surfaces)))
    rows = -(-len(curves) // columns)
    figure = Figure(figsize=(max(4 * columns, 6), 3 * (rows + bool(surfaces)) + 0.6), layout="constrained")
    grid = figure.add_gridspec(rows + bool(surfaces), columns)
    limits = _limits(curves, output)
    for place, curve in enumerate(curves):
        axes = figure.add_subplot(grid[place // columns, place % columns])
        _draw_curve(axes, curve, output, limits, explanation)
    if surfaces:
        _draw_surfaces(figure, grid, rows, surfaces, output, explanation)
    note = "\n".join(textwrap.wrap(_note(explanation, bool(surfaces)), 45 * columns + 10))
    figure.supxlabel(note, fontsize="small", color="0.3", x=0.01, ha="left")
    return figure


def _note(explanation: Explanation, surfaces: bool) -> str:
    """Return what bands, ticks and colours mean, and what is not drawn."""
    text = (
        f"Bands: {100 * LEVEL:g} % of the known noise of the coefficients, point by point. They are too narrow for "
        "intervals: noise also chose functions, quantiles and clips (another fit of the same records differs by up to "
        "several times as much), and other records might have been drawn. Ticks: a sixteenth of the records, about, "
        "lies between neighbours (quantiles as they were released)."
    )
    if surfaces:
        text += " Pairs: what two features add beyond their curves; faint where it is less than its band."
    triples = [size for group, (size, _) in explanation.importances.items() if len(group) == 3]
    if triples:
        text += f" Not drawn: what three features add together (the largest by {plain(max(triples), 2)})."
    return text


def _largest_surfaces(explanation: Explanation) -> list[Surface]:
    sizes = {pair: explanation.importances[pair][0] for pair in explanation.surfaces}
    ranked = sorted((pair for pair, size in sizes.items() if size > 0), key=lambda pair: -sizes[pair])
    return [explanation.surfaces[pair] for pair in ranked[:_SURFACES]]


def _limits(curves: Sequence[Curve], output: int) -> tuple[float, float]:
    """Return the ends of the scale that all curves share: bands included, and 0."""
    low = 0.0
    high = 0.0
    for curve in curves:
        half = reach(curve.noise[:, output])
        low = min(low, float((curve.y[:, output] - half).min()), float(curve.missing[output]))
        high = max(high, float((curve.y[:, output] + half).max()), float(curve.missing[output]))
    margin = 0.05 * (high - low) or 1.0
    return low - margin, high + margin


def _draw_curve(axes: Any, curve: Curve, output: int, limits: tuple[float, float], explanation: Explanation) -> None:
    if isinstance(curve.x, list):
        _draw_bars(axes, curve, output, limits)
        axes.set_xlabel(explanation.adds(output), parse_math=False)
    else:
        _draw_line(axes, curve, output, limits)
        axes.set_ylabel(explanation.adds(output), parse_math=False)
        axes.set_xlabel(one_line(explanation.units.get(curve.name, "")), parse_math=False)
    axes.set_title(short(curve.name, _TITLE), parse_math=False)


def _draw_line(axes: Any, curve: Curve, output: int, limits: tuple[float, float]) -> None:
    y = curve.y[:, output]
    half = reach(curve.noise[:, output])
    axes.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    axes.plot(curve.x, y, color=_BLUE)
    axes.fill_between(curve.x, y - half, y + half, color=_BLUE, alpha=0.25, linewidth=0)
    gap = float(curve.missing[output])
    if gap:
        axes.axhline(gap, color="0.4", linestyle=":", linewidth=1)
        axes.annotate(
            "missing", (1, gap), xycoords=("axes fraction", "data"), ha="right", va="bottom", fontsize="small"
        )
    ticks = curve.x[:: max(1, (len(curve.x) - 1) // 16)]
    axes.vlines(ticks, 0, _ROOM / 2, transform=axes.get_xaxis_transform(), color="0.3", linewidth=0.8)
    low, high = limits
    axes.set_ylim(low - _ROOM * (high - low), high)
    _plain_numbers(axes.xaxis)
    _plain_numbers(axes.yaxis)


def _draw_bars(axes: Any, curve: Curve, output: int, limits: tuple[float, float]) -> None:
    """Draw a bar a category, the first on top; of many, those that add or take away most."""
    y = curve.y[:, output]
    shown = np.arange(len(y))
    if len(y) > _CATEGORIES:
        shown = np.sort(np.argsort(-np.abs(y), kind="stable")[:_CATEGORIES])
    places = np.arange(len(shown))
    half = reach(curve.noise[shown, output])
    axes.barh(places, y[shown], xerr=half, color=_BLUE, alpha=0.6, ecolor="0.2", capsize=2)
    axes.axvline(0, color="0.6", linewidth=0.8)
    axes.set_yticks(places, [short(curve.x[i], _LETTERS) for i in shown], fontsize="small", parse_math=False)
    axes.invert_yaxis()
    axes.set_xlim(*limits)
    _plain_numbers(axes.xaxis)
    if len(shown) < len(y):
        text = f"and {len(y) - len(shown):,} that add less"
        axes.annotate(text, (0.98, 0.02), xycoords="axes fraction", ha="right", fontsize="small", color="0.3")


def _draw_surfaces(
    figure: Figure, grid: Any, row: int, surfaces: Sequence[Surface], output: int, explanation: Explanation
) -> None:
    """Draw heat maps on one scale, in steps of equally many records."""
    largest = max(float(np.abs(surface.y[:, :, output]).max()) for surface in surfaces) or 1.0
    drawn = []
    for place, surface in enumerate(surfaces):
        axes = figure.add_subplot(grid[row, place])
        drawn.append(axes)
        y = surface.y[:, :, output]
        sure = np.abs(y) > reach(surface.noise[:, :, output])
        alpha = np.where(sure, 1.0, _FAINT)
        image = axes.imshow(
            y.T, origin="lower", aspect="auto", cmap="RdBu_r", vmin=-largest, vmax=largest, alpha=alpha.T
        )
        for axis, values, name in (
            (axes.xaxis, surface.x[0], surface.names[0]),
            (axes.yaxis, surface.x[1], surface.names[1]),
        ):
            _name_steps(axis, values)
            unit = explanation.units.get(name, "")
            axis.set_label_text(short(f"{name} ({unit})" if unit else name, _TITLE), parse_math=False)
    bar = figure.colorbar(image, ax=drawn, format=_formatter())
    bar.set_label(explanation.adds(output), parse_math=False)


def _name_steps(axis: Any, values: Any) -> None:
    """Write names, or the values at quarters, beside the steps of a surface."""
    if isinstance(values, list):
        places: npt.NDArray[np.int64] = np.unique(np.linspace(0, len(values) - 1, min(len(values), _NAMED)).astype(int))
        words = [short(values[i], _SHORT) for i in places]
    else:
        places = np.unique(np.linspace(0, len(values) - 1, 5).astype(int))
        words = [plain(float(values[i]), 3) for i in places]
    axis.set_ticks(places, words, fontsize="small", parse_math=False)


def _plain_numbers(axis: Any) -> None:
    from matplotlib.ticker import MaxNLocator

    axis.set_major_locator(MaxNLocator(4))
    axis.set_major_formatter(_formatter())


def _formatter() -> Any:
    from matplotlib.ticker import FuncFormatter

    return FuncFormatter(lambda value, _: plain(value, _DIGITS))


def short(text: str, most: int) -> str:
    """Return a name on one line with at most so many letters.

    >>> short("heating", 20), short("a very long name of a column", 12)
    ('heating', 'a very long…')
    """
    line = one_line(str(text))
    return line if len(line) <= most else f"{line[: most - 1].rstrip()}…"
