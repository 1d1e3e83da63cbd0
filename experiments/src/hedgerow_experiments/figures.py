"""Figures of results with matplotlib: curves with bands, box plots and trees, as SVG and PNG.

Colours and ids are fixed, so that a figure drawn again from the same numbers is the same file.
"""

from __future__ import annotations

import io
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from hedgerow.compare.scores import Summary
from hedgerow.errors import HedgerowError
from hedgerow.partition import Partition
from hedgerow_experiments.experiment import Files
from hedgerow_experiments.export import replace

__all__ = ["boxes", "curves", "drawn", "privacy_curves", "pyplot", "save", "tree_picture"]

_PALETTE = ("#0072b2", "#d55e00", "#009e73", "#aa4499", "#b8860b", "#332288", "#56b4e9", "#882255")
_STYLE = {
    "axes.spines.top": False, "axes.spines.right": False, "axes.grid": True,
    "grid.alpha": 0.3, "legend.frameon": False, "legend.fontsize": 8, "font.size": 9, "axes.titlesize": 10,
}  # fmt: skip


def pyplot(style: Mapping[str, Any] = _STYLE) -> Any:
    """Return matplotlib's interface with a style of ours, whatever was drawn before; ids are fixed in all of them."""
    try:
        import matplotlib
    except ImportError as error:
        raise HedgerowError(f"figures need matplotlib ({error}): pip install hedgerow-experiments.") from None
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    plt.rcdefaults()
    plt.rcParams.update({"svg.hashsalt": "hedgerow", **style})
    return plt


def curves(
    summaries: Iterable[Summary],
    *,
    x: Callable[[Summary], float | None] = lambda s: s.x,
    series: Callable[[Summary], str] = lambda s: s.method,
    panel: Callable[[Summary], str] = lambda s: s.dataset,
    x_label: str = "",
    y_label: str = "",
    log_x: bool = False,
    log_y: bool = False,
    band: bool = True,
    ends: Callable[[Summary], bool] = lambda s: False,
    columns: int = 3,
) -> Any:
    """Return small multiples: one panel a data set, one curve a series, with (0.1, 0.9) quantiles over repeats.

    Parameters
    ----------
    summaries : iterable of Summary
        Cells, with their values repeat by repeat.
    x, series, panel : callable
        The abscissa of a cell, the name of its curve and of its panel.
    ends : callable
        Cells that are drawn as horizontal lines: what does not depend on the abscissa.
    columns : int
        Panels side by side.
    """
    plt = pyplot()
    found = list(summaries)
    panels = list(dict.fromkeys(panel(s) for s in found))
    colours = {name: _PALETTE[i % len(_PALETTE)] for i, name in enumerate(dict.fromkeys(map(series, found)))}
    wide = min(columns, max(1, len(panels)))
    tall = -(-max(1, len(panels)) // wide)
    figure, axes = plt.subplots(tall, wide, figsize=(3.6 * wide, 2.7 * tall), squeeze=False, layout="constrained")
    for ax, name in zip(axes.flat, panels, strict=False):
        inside = [s for s in found if panel(s) == name]
        for label, colour in colours.items():
            _draw(ax, [s for s in inside if series(s) == label], x, ends, label, colour, band)
        ax.set_title(name)
        ax.set_xscale("log" if log_x else "linear")
        ax.set_yscale("log" if log_y else "linear")
    for ax in axes.flat[len(panels) :]:
        ax.set_visible(False)
    figure.supxlabel(x_label)
    figure.supylabel(y_label)
    handles = [plt.Line2D([], [], color=c, marker="o", markersize=3) for c in colours.values()]
    figure.legend(handles, list(colours), loc="outside upper center", ncols=min(5, len(colours) or 1))
    return figure


def _draw(ax: Any, cells: list[Summary], x: Any, ends: Any, label: str, colour: str, band: bool) -> None:
    for s in (s for s in cells if ends(s)):
        ax.axhline(s.mean, color=colour, linestyle="--", linewidth=1)
    points = sorted(((x(s), s) for s in cells if not ends(s) and x(s) is not None), key=lambda p: p[0])
    if not points:
        return
    at = [p for p, _ in points]
    ax.plot(at, [s.mean for _, s in points], color=colour, marker="o", markersize=3, label=label)
    if band:
        low, high = zip(*(s.quantiles() for _, s in points), strict=True)
        ax.fill_between(at, low, high, color=colour, alpha=0.15, linewidth=0)


def privacy_curves(
    summaries: Iterable[Summary], *, y_label: str = "test MSE", log_y: bool = True, columns: int = 3
) -> Any:
    """Return error against epsilon, one panel a data set; methods without an epsilon are horizontal lines."""
    return curves(
        summaries, x=lambda s: s.epsilon, x_label="epsilon", y_label=y_label, log_x=True, log_y=log_y, columns=columns,
        ends=lambda s: s.epsilon is None,
    )  # fmt: skip


def boxes(groups: Mapping[str, Sequence[float]], *, title: str = "", y_label: str = "", log_y: bool = False) -> Any:
    """Return a box plot: median, quartiles, and whiskers to the 5 and 95 % quantiles."""
    plt = pyplot()
    figure, ax = plt.subplots(figsize=(1.2 + 1.1 * max(1, len(groups)), 3.0), layout="constrained")
    drawn = ax.boxplot(list(groups.values()), whis=(5, 95), widths=0.5, showfliers=False, patch_artist=True)
    for i, box in enumerate(drawn["boxes"]):
        box.set(facecolor=_PALETTE[i % len(_PALETTE)], alpha=0.35)
    ax.set_xticks(range(1, len(groups) + 1), list(groups))
    ax.set(title=title, ylabel=y_label)
    ax.set_yscale("log" if log_y else "linear")
    return figure


def tree_picture(tree: Partition, values: Any = None, *, title: str = "") -> Any:
    """Return a picture of a partition, with one value a leaf if given."""
    plt = pyplot()
    size = (max(4.0, 0.95 * tree.n_leaves), 1.2 + 1.1 * (tree.depth + 1))
    figure, ax = plt.subplots(figsize=size, layout="constrained")
    tree.plot(values, ax)
    ax.set_title(title)
    return figure


def drawn(figure: Any, **options: Any) -> Files:
    """Return a figure as SVG and PNG, by their endings, and close it."""
    from matplotlib import pyplot as plt

    files = {}
    for ending, metadata in ((".svg", {"Date": None}), (".png", {"Software": None})):
        content = io.BytesIO()
        figure.savefig(content, format=ending[1:], metadata=metadata, **{"dpi": 130, **options})
        files[ending] = content.getvalue()
    plt.close(figure)
    return files


def save(figure: Any, stem: Path) -> list[Path]:
    """Write ``stem.svg`` and ``stem.png``, and return their paths."""
    files = {stem.with_name(stem.name + ending): content for ending, content in drawn(figure).items()}
    for path, content in files.items():
        replace(path, content)
    return list(files)
