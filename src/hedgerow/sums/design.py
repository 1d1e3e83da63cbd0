"""Design of the tasks of a chain, from public records and what earlier groups released."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from hedgerow.aggregate.servers import Servers
from hedgerow.checks import check_epsilon
from hedgerow.grid import LARGEST, check_label_bounds
from hedgerow.local.assisted.design import public_errors, public_model_for
from hedgerow.mechanisms.bit_sums import BitSums
from hedgerow.portable import PortableModel, Trees
from hedgerow.public import PublicModel
from hedgerow.space import FeatureSpace
from hedgerow.sums.aims import process_units
from hedgerow.sums.checks import Checked, hoped, level_alone, whole
from hedgerow.sums.grow import ONE_LEAF, grow
from hedgerow.sums.radius import choose_share, least_radius
from hedgerow.sums.rows import Pool, pool_rows
from hedgerow.sums.rules import Rules
from hedgerow.tasks.assisted.residuals import Residuals
from hedgerow.tasks.sums.earlier import Earlier
from hedgerow.tasks.sums.model import SumsModel
from hedgerow.tasks.sums.noisy import SERVERS
from hedgerow.tasks.sums.steps import Step, corrections, smooth_part
from hedgerow.tasks.sums.task import SumsTask
from hedgerow.tasks.sums.told import Leaves
from hedgerow.types import FloatArray

__all__ = ["Chain"]

_LEFT = 0.3  # of the residual variance, at least, is taken to be left by the steps (AGGREGATE.md's recipe)
# Quantile of public residuals to which a check clips holders' at least, and up to which corrections are believed at
# first. What groups that learn read from a smaller radius (choose_share) may be wrong where tails differ: a check must
# see that.
_CLIP = 0.9
_SMALLEST = 1e-50  # of a radius: residuals may all be 0
RULES = Rules()
"""Those of every chain that is given no others."""


@dataclass(frozen=True, eq=False)
class Chain:
    """All tasks of one collection: groups that learn, each from what the one before left, and a last one that checks.

    Examples
    --------
    >>> from sklearn.linear_model import Ridge
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((20_000, 2)); y = X[:, 0] + (X[:, 1] > 0.5)
    >>> chain = Chain.of(X[:300], y[:300], epsilon=1.0, delta=1e-6, label_bounds=(0, 2), n_holders=19_700,
    ...                  public_model=Ridge())
    >>> task = chain.first()
    >>> task.encoding.circuit
    MultihotCountVec(length=512, max_weight=16, chunk=23)
    >>> model = task.model(task.simulate(X[300:9000], y[300:9000], 1))
    >>> chain.after(model).group
    1
    """

    epsilon: float
    delta: float
    bounds: tuple[float, float]
    space: FeatureSpace
    portable: PortableModel
    pool: Pool
    residuals: FloatArray
    sizes: tuple[int, ...]
    seed: int
    fields: Mapping[str, Any]
    rules: Rules = RULES

    @classmethod
    def of(
        cls,
        X: Any,
        y: Any,
        *,
        epsilon: float,
        delta: float,
        label_bounds: Any,
        n_holders: int,
        public_model: Any = "auto",
        random_state: int = 0,
        target: str = "y",
        servers: Servers | None = None,
        min_batch_size: int = 100,
        rules: Rules | None = None,
        **schema: Any,
    ) -> Chain:
        """Fit the public model, and plan the groups.

        Parameters
        ----------
        X, y : public records and labels
        epsilon, delta : float
            What one report may cost; a holder is in one group.
        n_holders : int
            How many will answer, in all groups together.
        public_model : "auto", "compact", a regressor or a fitted PublicModel
            See :data:`~hedgerow.public.given.PUBLIC_MODEL`.
        servers : Servers or None
            Who adds up; None makes tasks for simulation only.
        rules : Rules or None
            Sizes; None means :data:`RULES`.
        schema : feature_bounds, categorical_features, categories
            Passed to :class:`~hedgerow.PublicModel`.
        """
        bounds = check_label_bounds(label_bounds)
        model: PublicModel = public_model_for(public_model, random_state, schema, X, y)
        portable = model.portable_
        assert portable is not None
        Z, residuals, honest = public_errors(model, X, y, bounds)
        F = np.column_stack([portable.design(Z), honest])
        units = process_units(portable, F[:, :-1])
        pool = pool_rows(F, residuals, lambda D: np.clip(portable.predict_design(D), *bounds), units, random_state)
        fields = {"target": target, "servers": servers, "min_batch_size": min_batch_size}
        rules = rules or RULES
        sizes = rules.groups(n_holders, check_epsilon(epsilon), delta, min_batch_size)
        return cls(epsilon, delta, bounds, model.space_, portable, pool, residuals, sizes, random_state, fields, rules)

    @classmethod
    def without_public(
        cls,
        space: FeatureSpace,
        *,
        epsilon: float,
        delta: float,
        label_bounds: Any,
        n_holders: int,
        random_state: int = 0,
        **fields: Any,
    ) -> Chain:
        """Return one group that starts from the middle of the bounds: it learns one number for everybody."""
        low, high = check_label_bounds(label_bounds)
        radius = (high - low) / 2
        d = len(space)
        portable = PortableModel(d, np.arange(d), np.full(d, -1), low + radius, ())
        residuals = np.linspace(-radius, radius, 101)
        pool = Pool(np.zeros((1, d + 1)), np.zeros(1), np.zeros((1, 1)))
        sizes = (n_holders,)
        return cls(epsilon, delta, (low, high), space, portable, pool, residuals, sizes, random_state, fields)

    def first(self) -> SumsTask:
        """Return the task of the first group: of a forest and bumps that add nothing yet."""
        rows = corrections((), self.pool.rows[:, :-1], self.pool.rows[:, -1])
        forest = self._grown(rows, self.rules.forest, self.seed + 1) if len(rows) > 1 else ONE_LEAF
        smooth = smooth_part() if self.pool.bumps is None else smooth_part(self.pool.bumps)
        return self._task(0, (Step(replace(forest, value=np.zeros(len(forest.value))), self._radius(rows), smooth),))

    def after(self, model: SumsModel) -> SumsTask | None:
        """Return the task of the next group; None after the last one."""
        group = model.task.group + 1
        if group == len(self.sizes):
            return None
        if not model.n_reports:
            return self._task(group, model.steps, model.task.earlier)
        steps = self._widened(model.steps)
        return self._task(group, steps, (*model.task.earlier, model.told), self._missed(model))

    def _grown(self, rows: FloatArray, leaves: tuple[int, ...], seed: int) -> Trees:
        return grow(rows, self.pool, leaves, seed, self.rules.draws)

    def _radius(self, rows: FloatArray, share: float = _CLIP, left: float = 1.0) -> float:
        """Return what holds this share of public errors, where this share of their variance is left."""
        clip = share if len(rows) > 1 else 1.0
        held = float(np.quantile(np.abs(self.residuals), clip)) * math.sqrt(left)
        return max(held, least_radius(self.residuals), _SMALLEST)

    def _seeing(self, levels: tuple[float, ...]) -> float:
        """Return the radius of a check: what holds nine tenths of public errors, also less what steps add in any bin.

        That is how errors are if steps are wrong altogether. Cut to a smaller radius they would contradict steps by no
        more than that radius, however large the steps are, and those would pass.
        """
        moved = np.abs(np.subtract.outer((0.0, *levels), self.residuals))
        return max(float(np.quantile(moved, _CLIP, axis=1).max()), least_radius(self.residuals), _SMALLEST)

    def _widened(self, steps: tuple[Step, ...]) -> tuple[Step, ...]:
        """Return the steps, of which the last may correct a level that sums have found beyond its bound, too."""
        last = steps[-1]
        rows = corrections(steps[:-1], self.pool.rows[:, :-1], self.pool.rows[:, -1])
        level = abs(float(np.mean(last.raw(rows))))
        bound = max(last.bound, self._radius(rows) + level)
        return (*steps[:-1], replace(last, bound=min(bound, LARGEST)))

    def _missed(self, model: SumsModel) -> float:
        """Return the part of the mean error that a group told which its correction does not take up.

        The next group has a radius that is wider by it. Where all errors may have been cut, by three deviations, sums
        do not tell how far they are: it is as wide as labels can be apart.
        """
        told = model.told.told(self.epsilon, self.delta, model.task.residuals)
        width = self.bounds[1] - self.bounds[0]
        if told.cut:
            return width
        rows = corrections(model.steps[:-1], self.pool.rows[:, :-1], self.pool.rows[:, -1])
        taken = float(np.mean(model.steps[-1].raw(rows)))
        return min(abs(told.level[0] - taken), width)

    def _share(self, leaves: Leaves) -> float:
        """Return the share of public errors that groups which learn are to have within the radius."""
        errors = self.pool.residual
        groups = max(len(self.sizes) - 1, 1)
        n = self.sizes[0]
        K = sum(leaves.sizes) / len(leaves.sizes)
        own = 2 * SERVERS * float(BitSums(self.epsilon, self.delta, len(leaves.sizes), 2 * sum(leaves.sizes)).variance)
        noise = (own * (K / n) ** 2 + K / n) / groups
        return choose_share(errors, Leaves(leaves.places[: len(errors)], leaves.sizes), noise)

    def _task(
        self, group: int, steps: tuple[Step, ...], earlier: tuple[Earlier, ...] = (), missed: float = 0.0
    ) -> SumsTask:
        if group and group == len(self.sizes) - 1:
            return self._check(steps)
        rows = corrections(steps, self.pool.rows[:, :-1], self.pool.rows[:, -1])
        square = float(np.mean(self.residuals**2))
        if len(rows) > 1:
            trees = self._grown(rows, self.rules.asked, self.seed + 1000 * (group + 1))
            share = self._share(Leaves(trees.apply(rows), trees.n_leaves))
            left = max(1 - float(np.var(rows[:, -1])) / square, _LEFT) if square > 0 else 1.0
            radius = self._radius(rows, share, left) + missed
        else:
            trees = ONE_LEAF
            radius = self._radius(rows)
        return self._asking(group, steps, trees, radius, earlier=earlier)

    def _check(self, steps: tuple[Step, ...]) -> SumsTask:
        """Return the task of the last group: about all that steps add or their level, whichever may gain more."""
        n = self.sizes[-1]
        square = float(np.mean(self.residuals**2))

        def gain(asked: Checked) -> float:
            sums = BitSums(self.epsilon, self.delta, 1, 2 * len(asked.levels))
            return hoped(asked, self._seeing(asked.levels), n, SERVERS * float(sums.variance), square)

        found = max((whole(steps, self.pool.rows), level_alone(steps, self.pool.rows)), key=gain)
        radius = self._seeing(found.levels)
        return self._asking(len(self.sizes) - 1, found.steps, found.trees, radius, found.levels)

    def _asking(
        self,
        group: int,
        steps: tuple[Step, ...],
        trees: Trees,
        radius: float,
        levels: tuple[float, ...] = (),
        earlier: tuple[Earlier, ...] = (),
    ) -> SumsTask:
        rows = corrections(steps, self.pool.rows[:, :-1], self.pool.rows[:, -1])
        return SumsTask(
            self.epsilon,
            self.delta,
            self.bounds,
            self.space,
            self.portable,
            steps,
            trees,
            radius,
            levels,
            self.sizes,
            group,
            Residuals.summarise(self.residuals, radius, 2),
            trees.apply(rows),
            steps[-1].trees.apply(rows),
            earlier=earlier,
            process=None if levels else self.pool.process,
            **self.fields,
        )
