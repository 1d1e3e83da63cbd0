"""Expected error against the number of holders, one line a trust model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hedgerow.digits import plain
from hedgerow.errors import HedgerowError
from hedgerow.local.advise.forecast import Advice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot_advice"]

COLOURS = {"public only": "0.4", "local": "C0", "semi-feature": "C1", "label": "C2"}


def plot_advice(advice: Advice) -> Figure:
    """Return a figure with the forecasts from 100 holders to 100 times the number asked about."""
    try:
        from matplotlib.figure import Figure
        from matplotlib.ticker import FuncFormatter
    except ImportError as error:
        raise HedgerowError("a plot needs Matplotlib; install hedgerow[plot].") from error
    figure = Figure(figsize=(6, 4.5), layout="constrained")
    axes = figure.add_subplot()
    n = np.geomspace(100, max(1e4, 100 * advice.n_holders), 60)
    for setting in advice.settings:
        style = "--" if setting == "public only" else "-"
        errors = [advice.expected(setting, x) for x in n]
        axes.plot(n, errors, style, color=COLOURS[setting], label=setting)
    asked = f"asked about: {advice.n_holders:,}"
    axes.axvline(advice.n_holders, color="0.6", linewidth=1, linestyle=":", zorder=0, label=asked)
    axes.set(xscale="log", xlabel="holders", ylabel="expected squared error", title=f"epsilon = {advice.epsilon:g}")
    axes.set_ylim(bottom=0)
    for axis in (axes.xaxis, axes.yaxis):
        axis.set_major_formatter(FuncFormatter(lambda value, _: plain(value)))
    axes.tick_params(axis="x", labelrotation=30)
    figure.legend(loc="outside lower center", ncols=3, frameon=False)
    return figure
