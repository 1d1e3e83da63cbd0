"""The pilot of an assisted task: whom to ask, and what."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.checks import check_epsilon
from hedgerow.errors import HedgerowError
from hedgerow.grid import check_label_bounds
from hedgerow.local.assisted.design import public_errors, public_model_for
from hedgerow.randomness import Randomness
from hedgerow.tasks.assisted.pilot import PilotMessage, PilotTask, pilot_multiples
from hedgerow.types import IntArray

__all__ = ["design_pilot", "pilot_group", "pilot_size"]


# By hand, see pilot_size. Asking a twentieth adds at most 1/.95 - 1 = 5.3 % to the noise variance of the main task.
_ENOUGH = 0.05  # standard error of a share
_USELESS = 0.15  # the same, beyond which nobody is asked
_MOST = 0.05  # of the holders


def pilot_size(pilot: Any, n_holders: int, epsilon: float) -> int:
    r"""Return how many of the holders to ask.

    ``"auto"``: so many that the share of errors in any set of bins is known with a standard error of at most .05,
    :math:`1/(2 \kappa \sqrt n)`, but at most 5 % of the holders; nobody if the error of 5 % is above .15. A
    number is the share of the holders; None or 0 asks nobody.

    >>> [pilot_size("auto", 10_000, epsilon) for epsilon in (0.1, 0.5, 1, 2, 8)]
    [0, 500, 500, 318, 101]
    >>> [pilot_size(pilot, 300, 1.0) for pilot in ("auto", 0.2, None)]
    [0, 60, 0]
    """
    if pilot is None:
        return 0
    if isinstance(pilot, str) and pilot == "auto":
        message = PilotMessage(epsilon, 1 + 2 * len(pilot_multiples(epsilon)))
        n = (0.5 / (message.kappa * _ENOUGH)) ** 2
        most = int(_MOST * n_holders)
        return min(int(np.ceil(n)), most) if most >= n * (_ENOUGH / _USELESS) ** 2 else 0
    number = isinstance(pilot, int | float | np.integer | np.floating) and not isinstance(pilot, bool)
    if not number or not 0 <= pilot <= 0.5:
        raise HedgerowError(
            f"The 'pilot' parameter must be 'auto', None or a share of the holders in [0, 0.5]. Got {pilot!r} instead."
        )
    return min(max(1, round(pilot * n_holders)), n_holders - 1) if pilot > 0 else 0


def pilot_group(n_holders: int, size: int, source: Randomness) -> tuple[IntArray, IntArray]:
    """Return the holders of the pilot and all others, by a draw that looks at no record; nobody is in both."""
    order = np.argsort(source.integers(1 << 62, n_holders), kind="stable")
    return np.sort(order[:size]), np.sort(order[size:])


def design_pilot(
    X_public: object,
    y_public: object,
    *,
    epsilon: float,
    label_bounds: object,
    public_model: Any = "auto",
    random_state: int = 0,
    target: str = "y",
    **schema: Any,
) -> PilotTask:
    """Fit the public model, and cut the range of its errors into bins.

    The arguments are those of :func:`design_assisted`, which has to get the same.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((300, 2)); y = X[:, 0] + rng.normal(size=300)
    >>> task = design_pilot(X, y, epsilon=2.0, label_bounds=(-3, 5), public_model=Ridge())
    >>> [round(edge, 2) for edge in task.edges]
    [-1.87, -0.66, 0.66, 1.87]
    """
    epsilon = check_epsilon(epsilon)
    bounds = check_label_bounds(label_bounds)
    model = public_model_for(public_model, random_state, schema, X_public, y_public)
    assert model.portable_ is not None
    _, residuals, _ = public_errors(model, X_public, y_public, bounds)
    spread = float(np.sqrt(np.mean(residuals**2))) or 1e-6
    above = [spread * m for m in pilot_multiples(epsilon)]
    return PilotTask(epsilon, bounds, model.space_, model.portable_, (*(-e for e in above[::-1]), *above), target)
