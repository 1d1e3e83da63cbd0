"""Expected error against people and against epsilon, one line a trust model."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from hedgerow.chart import Curve, ErrorPicture, Point, figure_of
from hedgerow.local.advise.forecast import SETTINGS, Advice

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["advice_pictures", "plot_advice"]

_POINTS = 60  # of a smooth line across 10 cm
_EPSILONS = np.geomspace(0.1, 10.0, 25)  # what protects somewhat, and what protects hardly


def advice_pictures(advice: Advice) -> tuple[ErrorPicture, ErrorPicture]:
    """Return the forecasts from 100 people to 100 times the number asked about, and from epsilon 0.1 to 10."""
    label = "expected squared error"
    most = 1.15 * max(advice.mean_square, *(f.mse for f in advice.forecasts))
    lines = {"public only": advice.mean_square}
    settings = [s for s in advice.settings if s != "public only"]
    people = np.geomspace(100, max(1e4, 100 * advice.n_holders), _POINTS)
    along = tuple(_curve(s, people, [advice.expected(s, n) for n in people]) for s in settings)
    by_people = ErrorPicture(
        "people",
        along,
        label,
        f"epsilon = {advice.epsilon:g}",
        lines,
        {f"asked about: {advice.n_holders:,} people": float(advice.n_holders)},
        limits=(0.0, most),
    )
    others = [advice.at(epsilon=float(e)) for e in _EPSILONS]
    across = tuple(_curve(s, _EPSILONS, [a.expected(s, a.n_holders) for a in others]) for s in settings)
    marks = {f"asked about: epsilon {advice.epsilon:g}": advice.epsilon} if np.isfinite(advice.epsilon) else {}
    by_epsilon = ErrorPicture(
        "epsilon", across, label, f"{advice.n_holders:,} people", lines, marks, limits=(0.0, most)
    )
    return by_people, by_epsilon


def _curve(setting: str, x: np.ndarray, errors: list[float]) -> Curve:
    points = tuple(Point(float(at), error, error, error) for at, error in zip(x, errors, strict=True))
    return Curve(setting, points, SETTINGS.index(setting) - 1)


def plot_advice(advice: Advice) -> Figure:
    """Return both pictures as one figure."""
    return figure_of(advice_pictures(advice))
