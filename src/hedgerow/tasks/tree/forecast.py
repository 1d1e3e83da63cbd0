"""What more reports would buy: read from the aggregate alone, so no privacy is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.errors import HedgerowError
from hedgerow.tasks.tree.estimates import shift_variance

if TYPE_CHECKING:
    from hedgerow.tasks.tree.encoding import FloatArray, Moments
    from hedgerow.tasks.tree.model import Model

__all__ = ["Forecast", "forecast"]


@dataclass(frozen=True)
class Forecast:
    """The error of the leaf means that more reports can remove, now and with more of them.

    Attributes
    ----------
    n_reports, more : int
        Reports counted so far, and how many would be added.
    now, then : float
        Root mean squared error of the leaf means (in label units, leaves weighed by their holders) from noise and
        sampling. What splits cannot explain of a single label comes on top and stays.
    """

    n_reports: int
    more: int
    now: float
    then: float

    def __str__(self) -> str:
        return (
            f"With {self.more:,} more reports the error of a leaf's mean should fall "
            f"from about {self.now:.3g} to {self.then:.3g}."
        )


def forecast(model: Model, more: int) -> Forecast:
    r"""Foresee the error of a regression model's leaf means after ``more`` reports like those counted.

    With c times the reports, D grows by c and every variance of (N, D) by c, so a mean from reports alone has variance
    :math:`V / (c D^2)`; blended with public means it is :math:`1 / (c\,w + 1 / V_0')` with the weights of
    :func:`~hedgerow.tasks.tree.estimates.blend`. Neither exceeds a quarter
    of the squared label range, which is what is known before any report.

    Examples
    --------
    >>> from hedgerow.tasks.tree.task import LocalTask
    >>> from hedgerow.tasks.tree.simulate import simulate_aggregate
    >>> X = np.random.default_rng(0).random((4_000, 1))
    >>> task = LocalTask.design(epsilon=4.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1), max_depth=1)
    >>> print(forecast(simulate_aggregate(task, X, X[:, 0], randomness=1).model(), 12_000))
    With 12,000 more reports the error of a leaf's mean should fall from about ... to ...
    """
    if more < 0:
        raise HedgerowError(f"The 'more' parameter must not be negative. Got {more!r} instead.")
    if model.task.classes is not None:
        raise HedgerowError("forecasts are for numeric labels; this task has classes: read its shares and intervals.")
    if model.n_reports == 0:
        raise HedgerowError("there is no report yet: a forecast needs some to know the noise by.")
    growth = 1 + more / model.n_reports
    return Forecast(model.n_reports, more, _error(model, 1.0), _error(model, growth))


def _error(model: Model, growth: float) -> float:
    """Return the root mean squared error of leaf means, in label units, with ``growth`` times the reports."""
    grid, m = model.task.grid, model.leaves.moments
    mean = (model.leaf_values - grid.low) / grid.step
    variance = np.maximum(m.var_n - 2 * mean * m.cov + mean**2 * m.var_d, 1e-12)
    square = np.maximum(m.denominator**2 - m.var_d, 0.0)  # D^2 without the noise's own square
    spread = 1.0 / (growth * square / variance + _prior_precision(model, m))
    share = np.maximum(model.leaves.mass, 1e-12)
    return float(np.sqrt(np.average(spread, weights=share)) * grid.step)


def _prior_precision(model: Model, moments: Moments) -> FloatArray:
    """Return how much public records say about each leaf, in grid steps; nothing unless the model blends."""
    public, grid = model.task.public, model.task.grid
    floor = np.full(model.task.n_leaves, 4.0 / grid.n_steps**2)  # no mean is further off than half the range
    if public is None or model.fallback != "blend":
        return floor
    prior = (np.array(public.mean) - grid.low) / grid.step
    prior_var = public.mean_variance / grid.step**2
    tau2 = shift_variance(moments, prior, prior_var, grid.n_steps)
    precision: FloatArray = np.maximum(1.0 / np.maximum(prior_var + tau2, 1e-12), floor)
    return precision
