"""The task of one round, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from hedgerow.checks import check_epsilon
from hedgerow.grid import check_label_bounds
from hedgerow.label.boosting import boosting_for
from hedgerow.label.regressor import measure_averaging
from hedgerow.label.response import residual_response
from hedgerow.ranges import listed_columns
from hedgerow.semi.cells import choose_joint
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.partly_public.assist import Assist
from hedgerow.tasks.partly_public.residual import ResidualTask
from hedgerow.tasks.partly_public.symbols import k_ary_symbols

__all__ = ["design_residual"]

_FINE = 8.0  # the epsilon for which boosting is as fine as it gets (:mod:`hedgerow.label.boosting`)
_MOST = 20_000  # made-up records on which averaging is measured: a second of boosting


def design_residual(
    model: Any,
    *,
    epsilon: float,
    label_bounds: object,
    n_holders: int,
    private_columns: Sequence[str | int] | None = None,
    X_public: Any = None,
    y_public: Any = None,
    target: str = "y",
    title: str = "",
) -> ResidualTask:
    """Choose radius and randomiser from public out-of-fold errors; see :class:`ResidualTask`.

    With public records, private values are told in groups together with the error where that is worth its noise
    (:mod:`hedgerow.semi.cells`).

    Parameters
    ----------
    model : PublicModel
        Fitted on public records, with a portable form.
    n_holders : int
        How many are expected to answer: the more, the more does bias count against noise.
    private_columns : sequence of str or int, optional
        Private for everybody; without it each holder chooses, and says so.
    X_public, y_public : public records and labels, optional
        What groups of private values are chosen by; without them there are none.
    """
    epsilon = check_epsilon(epsilon)
    bounds = check_label_bounds(label_bounds)
    response = residual_response(model.residuals_, epsilon, averaging(n_holders, len(model.space_), epsilon), bounds)
    masks = "personal"
    private: tuple[str, ...] = ()
    if private_columns is not None:
        masks = "policy"
        private = tuple(listed_columns(private_columns, model.space_.inputs, "private_columns"))
    joint = None
    if X_public is not None:
        fine = averaging(n_holders, len(model.space_), _FINE)
        joint = choose_joint(
            model, X_public, y_public, private, epsilon=epsilon, averaging=fine, plain=response
        )  # fmt: skip
    # Beyond some epsilon the response is that of a smaller one, which keeps the larger claim too.
    chosen: Any = response.task.mechanism
    mechanism = replace(chosen, epsilon=epsilon)
    radius = response.task.grid.high
    n_levels = mechanism.n_inputs
    cells = None
    if joint is not None:
        cells = joint.cells
        mechanism = k_ary_symbols(epsilon, cells.n_leaves, joint.n_levels)
        radius = joint.radius
        n_levels = joint.n_levels
    assist = Assist(model.portable_, bounds, radius, Residuals.summarise(model.residuals_, radius, n_levels))
    return ResidualTask(epsilon, model.space_, assist, mechanism, masks, private, target, title, cells)


def averaging(n: int, columns: int, epsilon: float) -> float:
    """Return by how much boosting on so many reports divides their noise, from records that are made up.

    What it is on the holders' own features is not known when a task is designed.

    >>> averaging(100, 2, 1.0) < averaging(5000, 2, 1.0)
    True
    """
    n = max(1, min(n, _MOST))
    X = np.random.default_rng(0).random((n, columns))
    return measure_averaging(boosting_for(n, epsilon), X, (0.0, 1.0))
