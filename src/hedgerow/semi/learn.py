"""Corrections of a public model over public features, learnt from one round's reports. All post-processing."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from hedgerow.label.residual import learn_corrections
from hedgerow.partition.tree import Partition
from hedgerow.portable import PortableModel
from hedgerow.public.convert import portable_parts
from hedgerow.public.estimator import design_columns
from hedgerow.semi.symbols import Symbols, learn_symbols
from hedgerow.tasks.partly_public.corrected import CorrectedModel
from hedgerow.tasks.partly_public.growing import grow_masked
from hedgerow.tasks.partly_public.residual_message import in_order
from hedgerow.types import BoolArray, FloatArray, IntArray

if TYPE_CHECKING:
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
    shown = np.asarray(~private.all(axis=0))
    Z = filled(Z, private)
    correction = _Learner(task, Z, codes, shown, bool(private.any())).correction(regressor)
    # Of groups that are told with intervals, nobody's value is made up.
    groups, values = _groups(task, Z, task.mechanism.positions(codes), np.asarray(~private.any(axis=0)))
    inputs = np.column_stack([Z, np.zeros(len(Z)), codes // (task.grid.n_steps + 1) % task.n_cells])
    if not private.any():
        inputs = task.inputs(Z)
    added = _means(groups.apply(Z), np.nan_to_num(correction.predict(inputs)), groups.n_leaves)
    return CorrectedModel(
        task,
        totals.n_reports,
        correction,
        groups,
        values,
        tuple(added.tolist()),
        totals.simulation,
    )


def filled(Z: FloatArray, private: BoolArray) -> FloatArray:
    """Return records in which values that their holders hide are replaced by those that others show.

    Which others is drawn at random, from a public seed: what a feature tells is then learnt from people who show it,
    and is believed the less the fewer they are. A feature that nobody shows stays 0.

    >>> filled(np.array([[1.0, 0.0], [2.0, 7.0]]), np.array([[False, True], [False, False]])).tolist()
    [[1.0, 7.0], [2.0, 7.0]]
    """
    rng = np.random.default_rng(0)
    Z = Z.copy()
    for j in np.flatnonzero(private.any(axis=0) & ~private.all(axis=0)).tolist():
        hidden = private[:, j]
        Z[hidden, j] = rng.choice(Z[~hidden, j], int(hidden.sum()))
    return Z


@dataclass(frozen=True, eq=False)
class _Learner:
    """What corrections are learnt from: columns that somebody shows, the public prediction where nobody hides any."""

    task: ResidualTask
    Z: FloatArray
    codes: IntArray
    shown: BoolArray
    hides: bool

    @property
    def _columns(self) -> tuple[IntArray, IntArray]:
        """Return the design over inputs of corrections, without groups: numbers, and indicators of categories."""
        column, code = design_columns(self.task.space)
        kept = self.shown[column]
        more = [] if self.hides else [len(self.task.space)]
        return np.append(column[kept], more).astype(np.int64), np.append(code[kept], [-1] * len(more)).astype(np.int64)

    def _model(self, constant: float = 0.0, parts: Sequence[Any] = ()) -> PortableModel:
        column, code = self._columns
        if self.task.n_cells > 1:
            group = len(self.task.space) + 1
            column = np.append(column, [group] * (self.task.n_cells + 1))
            code = np.append(code, [-1, *range(self.task.n_cells)])
        return PortableModel(len(self.task.space) + 2, column, code, constant, tuple(parts))

    def _inputs(self, group: IntArray) -> FloatArray:
        g = np.zeros(len(self.Z))
        if not self.hides:
            g = self.task.assist.predict(self.Z)
        return np.column_stack([self.Z, g, group])

    def correction(self, regressor: Any) -> PortableModel:
        """Return what is added to the public model."""
        design = self._model()
        if not len(self.Z):
            return design
        if self.task.n_cells > 1:
            return self._from_symbols(design, regressor)
        F = design.design(self._inputs(np.zeros(len(self.Z), dtype=np.int64)))
        nothing_shown = F.shape[1] == 0
        if nothing_shown:
            F = np.zeros((len(self.Z), 1))
        noisy = self.task.noisy_errors(self.codes)
        # Percentiles of the public errors are all that the task tells of them, and enough for their mean square.
        learners, weights = learn_corrections(regressor, F, noisy, np.array(self.task.assist.residuals.quantiles))
        if nothing_shown:
            return self._model(sum(w * float(m.predict(F[:1])[0]) for m, w in zip(learners, weights, strict=True)))
        return self._portable(learners, weights, F.shape[1])

    def _from_symbols(self, design: PortableModel, regressor: Any) -> PortableModel:
        """Return corrections over groups of private values as well."""
        symbols = Symbols(self.task, self.codes)
        plain = len(self._columns[0])
        known = design.design(self._inputs(symbols.named))

        def placed(group: IntArray) -> FloatArray:
            F = known.copy()
            F[:, plain] = group
            F[:, plain + 1 :] = group[:, None] == np.arange(self.task.n_cells)
            return F

        learners, weights = learn_symbols(symbols, placed, known[:, :plain], regressor)
        return self._portable(learners, weights, known.shape[1])

    def _portable(self, learners: list[Any], weights: FloatArray, width: int) -> PortableModel:
        constant = 0.0
        parts: list[Any] = []
        for learner, weight in zip(learners, weights.tolist(), strict=True):
            more, own = portable_parts(learner, width, weight)
            constant += more
            parts += own
        return self._model(constant, parts)


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
