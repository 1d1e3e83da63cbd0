"""Figures of an experiment from its rows: error against epsilon, or against whatever its curves have on their axis."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from hedgerow.compare.scores import Row, summarise
from hedgerow_experiments.experiment import Experiment
from hedgerow_experiments.figures import curves, privacy_curves, save

__all__ = ["draw"]


def draw(experiment: Experiment, rows: Iterable[Row], folder: Path) -> list[Path]:
    """Write one figure a setting, as SVG and PNG, and return their paths.

    Cells with an axis of their own (depth, records, ...) become parameter curves, one series for each method and
    epsilon; all others become privacy-utility curves, one panel a data set.
    """
    found = summarise(rows, experiment.choose)
    out: list[Path] = []
    for setting, metric in dict.fromkeys((s.setting, s.metric) for s in found):
        cells = [s for s in found if (s.setting, s.metric) == (setting, metric)]
        stem = folder / "-".join(filter(None, [experiment.name, setting.replace(" ", "-")]))
        log = metric != "accuracy" and min(s.mean for s in cells) > 0
        if any(s.x is not None for s in cells):
            figure = curves(
                [s for s in cells if s.x is not None],
                series=lambda s: s.method if s.epsilon is None else f"{s.method}, epsilon {s.epsilon:g}",
                y_label=metric, log_y=log,
            )  # fmt: skip
        elif any(s.epsilon is not None for s in cells):
            figure = privacy_curves(cells, y_label=metric, log_y=log)
        else:
            continue
        out += save(figure, stem)
    return out
