"""Corrections of a public model over public features, learnt from one round's reports. All post-processing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.label.residual import learn_corrections
from hedgerow.partition.tree import Partition
from hedgerow.portable import PortableModel
from hedgerow.public.convert import portable_parts
from hedgerow.public.estimator import design_columns
from hedgerow.tasks.partly_public.corrected import CorrectedModel
from hedgerow.tasks.partly_public.growing import grow_masked
from hedgerow.tasks.partly_public.residual_message import in_order
from hedgerow.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
    from hedgerow.space import FeatureSpace
    from hedgerow.tasks.partly_public.residual import ResidualTask
    from hedgerow.tasks.totals import KeptRows

__all__ = ["corrected_model"]

_DEPTH = 3  # of the tree of groups: at most 8, which a screen holds; by hand, predictions do not depend on it
_LEAST = 20  # a group holds at least this part of the reports; by hand, likewise
_BALANCE = 0.2  # least share of either side of a cut, as in two rounds
_FINE = 1 << 10  # units of a step in which noisy errors are added up exactly when groups are grown


def corrected_model(task: ResidualTask, totals: KeptRows, regressor: Any = None) -> CorrectedModel:
    """Return the public model with the corrections that reports speak for.

    It depends on what was sent alone, neither on ids nor on the order: every door makes the same model.
    """
    rows = in_order(totals.reports().payloads)
    codes, private, Z = task.encoding.read(rows)
    shared = np.asarray(~private.any(axis=0))
    correction = _learn(task, Z, task.noisy_errors(codes), shared, regressor)
    groups, values = _groups(task, Z, task.mechanism.positions(codes), shared)
    added = _means(groups.apply(Z), np.nan_to_num(correction.predict(Z)), groups.n_leaves)
    return CorrectedModel(
        task,
        totals.n_reports,
        correction,
        groups,
        values,
        tuple(added.tolist()),
        totals.simulation,
    )


def _learn(task: ResidualTask, Z: FloatArray, noisy: FloatArray, shared: BoolArray, regressor: Any) -> PortableModel:
    """Return what is added to the public model, over the columns that everybody shows."""
    column, code = _design(task.space, shared)
    design = PortableModel(len(task.space), column, code, 0.0, ())
    if not len(Z):
        return design
    F = design.design(Z)
    nothing_shown = F.shape[1] == 0
    if nothing_shown:
        F = np.zeros((len(Z), 1))
    # Percentiles of the public errors are all that the task tells of them, and enough for their mean square.
    learners, weights = learn_corrections(regressor, F, noisy, np.array(task.assist.residuals.quantiles))
    if nothing_shown:
        level = sum(w * float(m.predict(F[:1])[0]) for m, w in zip(learners, weights.tolist(), strict=True))
        return PortableModel(len(task.space), column, code, level, ())
    constant = 0.0
    parts: list[Any] = []
    for learner, weight in zip(learners, weights.tolist(), strict=True):
        more, own = portable_parts(learner, F.shape[1], weight)
        constant += more
        parts += own
    return PortableModel(len(task.space), column, code, constant, tuple(parts))


def _design(space: FeatureSpace, shared: BoolArray) -> tuple[IntArray, IntArray]:
    """Return the columns of a design matrix of shared features: numbers, and an indicator for each category."""
    column, code = design_columns(space)
    kept = shared[column]
    return column[kept], code[kept]


def _groups(
    task: ResidualTask, Z: FloatArray, places: FloatArray, shared: BoolArray
) -> tuple[Partition, tuple[tuple[float, ...], ...]]:
    """Return groups grown from one half of the reports, and what the other half says of each."""
    n = len(places)
    order = np.random.default_rng(0).permutation(n)  # public: the same for everybody, whatever was reported
    grown = order[: n // 2]
    told = order[n // 2 :]
    groups = grow_masked(
        task.space,
        Z[grown],
        np.rint(_FINE * places[grown]).astype(np.int64),
        np.broadcast_to(~shared, (len(grown), len(shared))),
        np.flatnonzero(shared),
        rule="cart",
        max_depth=_DEPTH,
        min_samples_leaf=max(1, len(grown) // _LEAST),
        balance=_BALANCE,
    )
    group = groups.apply(Z[told])
    k = groups.n_leaves
    number = np.bincount(group, minlength=k).astype(np.float64)
    total = np.bincount(group, places[told], minlength=k)
    mean = _means(group, places[told], k)
    spread = np.bincount(group, (places[told] - mean[group]) ** 2, minlength=k)
    # The number of people in a group varies from one draw of people to another, and the sum with it.
    var_n = spread + mean**2 * number
    scale = n / max(len(told), 1)  # as if all had been asked, with the noise of those who were
    first = [scale * column for column in (total, number)]
    second = [scale**2 * column for column in (var_n, mean * number, number)]
    return groups, tuple(tuple(column.tolist()) for column in (*first, *second))


def _means(group: npt.NDArray[Any], values: FloatArray, k: int) -> FloatArray:
    """Return the mean of each group, 0 of an empty one."""
    number = np.bincount(group, minlength=k)
    return np.asarray(np.bincount(group, values, minlength=k) / np.maximum(number, 1))
