"""The task of one round, from public facts alone."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from hedgerow.checks import check_epsilon
from hedgerow.grid import check_label_bounds
from hedgerow.label.residual import residual_mechanism
from hedgerow.mechanisms.residual import ResidualMechanism
from hedgerow.mechanisms.unbiased import k_ary_levels
from hedgerow.ranges import listed_columns
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.partly_public.assist import Assist
from hedgerow.tasks.partly_public.residual import ResidualTask

__all__ = ["design_residual"]


def design_residual(
    model: Any,
    *,
    epsilon: float,
    label_bounds: object,
    private_columns: Sequence[str | int] | None = None,
    n_holders: int | None = None,
    target: str = "y",
    title: str = "",
) -> ResidualTask:
    """Choose radius and randomiser from public out-of-fold errors; see :class:`ResidualTask`.

    Parameters
    ----------
    model : PublicModel
        Fitted on public records, with a portable form.
    private_columns : sequence of str or int, optional
        Private for everybody; without it each holder chooses, and says so.
    n_holders : int, optional
        How many are expected to answer.
    """
    epsilon = check_epsilon(epsilon)
    chosen: ResidualMechanism = residual_mechanism(model.residuals_, epsilon)
    mechanism = k_ary_levels(epsilon, chosen.joint.n_levels)
    summary = Residuals.summarise(model.residuals_, chosen.radius, mechanism.n_inputs)
    assist = Assist(model.portable_, check_label_bounds(label_bounds), chosen.radius, summary)
    masks = "personal"
    private: tuple[str, ...] = ()
    if private_columns is not None:
        masks = "policy"
        private = tuple(listed_columns(private_columns, model.space_.inputs, "private_columns"))
    return ResidualTask(epsilon, model.space_, assist, mechanism, masks, private, target, title)
