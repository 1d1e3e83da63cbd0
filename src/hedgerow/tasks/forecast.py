"""What more reports would buy: read from the totals alone, so no privacy is spent."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from hedgerow.digits import plain
from hedgerow.errors import HedgerowError

if TYPE_CHECKING:
    from hedgerow.tasks.tree.estimates import LeafEstimates
    from hedgerow.types import FloatArray

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
            f"from about {plain(self.now, 3)} to {plain(self.then, 3)}."
        )


def forecast(leaves: LeafEstimates, values: FloatArray, more: int, known: FloatArray | float = 0.0) -> Forecast | None:
    r"""Foresee the error of the means of leaves after ``more`` reports like those counted; None before the first.

    With c times the reports, D grows by c and every variance of (N, D) by c, so a mean from reports alone has variance
    :math:`V / (c D^2)`; blended with public means it is :math:`1 / (c\,w + 1 / V_0')` with the weights of
    :func:`~hedgerow.tasks.tree.estimates.blend`. Neither exceeds a quarter
    of the squared label range, which is what is known before any report.

    Parameters
    ----------
    values : array
        What each leaf predicts.
    known : array or float
        How much public records say about each leaf: one over the variance, in grid steps.

    Examples
    --------
    >>> from hedgerow.tasks.tree.task import LocalTask
    >>> X = np.random.default_rng(0).random((4_000, 1))
    >>> task = LocalTask.design(epsilon=4.0, label_bounds=(0, 1), features=1, feature_bounds=(0, 1),
    ...                         max_depth=1, response="bits", cell_share=0.5)
    >>> print(task.simulate(X, X[:, 0], 1).model().forecast(12_000))
    With 12,000 more reports the error of a leaf's mean should fall from about ... to ...
    """
    if more < 0:
        raise HedgerowError(f"The 'more' parameter must not be negative. Got {more!r} instead.")
    n = leaves.n_reports
    if n == 0:
        return None
    return Forecast(n, more, _error(leaves, values, known, 1.0), _error(leaves, values, known, 1 + more / n))


def _error(leaves: LeafEstimates, values: FloatArray, known: FloatArray | float, growth: float) -> float:
    """Return the root mean squared error of leaf means, in label units, with ``growth`` times the reports."""
    grid = leaves.grid
    m = leaves.moments
    mean = (values - grid.low) / grid.step
    variance = np.maximum(m.var_n - 2 * mean * m.cov + mean**2 * m.var_d, 1e-12)
    square = np.maximum(m.denominator**2 - m.var_d, 0.0)  # D^2 without the noise's own square
    floor = 4.0 / grid.n_steps**2  # no mean is further off than half the range
    spread = 1.0 / (growth * square / variance + np.maximum(known, floor))
    share = np.maximum(leaves.mass, 1e-12)
    return float(np.sqrt(np.average(spread, weights=share)) * grid.step)
