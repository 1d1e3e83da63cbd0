"""What the estimators of the aggregate model share: groups of holders, one after the other, and what they release."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np

from hedgerow.checks import Real, Rule
from hedgerow.estimators.records import take_rows
from hedgerow.guarantee import AS_IF_SHARED, Guarantee
from hedgerow.local.assisted.base import CorrectsPublic
from hedgerow.randomness import Randomness
from hedgerow.schema import Schema
from hedgerow.spending import Booking
from hedgerow.sums.design import Chain
from hedgerow.sums.rules import Rules
from hedgerow.tasks.sums.model import SumsModel
from hedgerow.tasks.sums.noisy import NoisySums
from hedgerow.tasks.sums.task import SumsTask
from hedgerow.types import FloatArray, IntArray

__all__ = ["SecureSum", "groups_of"]


def groups_of(n: int, sizes: Sequence[int], source: Randomness) -> list[IntArray]:
    """Return who is in each group, by a draw that looks at no record; everybody is in one."""
    order = np.argsort(source.integers(1 << 62, n), kind="stable")
    return [np.sort(part) for part in np.split(order, np.cumsum(sizes)[:-1])]


@dataclass(kw_only=True, eq=False, repr=False)
class SecureSum(CorrectsPublic):
    """A public model, and corrections from noisy sums."""

    delta: float = 1e-6

    _parameters: ClassVar[dict[str, Rule]] = {"delta": Real(0, 1, ends="none")}
    _rules: ClassVar[Rules | None] = None

    def _booking(self, source: Randomness) -> Booking:
        """Return the booking of what each holder spends."""
        claim = Guarantee(self.epsilon, self.delta, protects="record", trust="aggregate", neighbours="replace")
        return Booking.of(self, claim, source)

    def _chain(self, X: Any, y: Any, n: int, bounds: Any, seed: int, rows: Any, public_model: Any) -> Chain:
        """Return the tasks for so many holders; ``rows`` are asked for the names of their columns only."""
        given: dict[str, Any] = {"epsilon": self.epsilon, "delta": self.delta, "label_bounds": bounds}
        given |= {"n_holders": max(n, 1), "random_state": seed, "min_batch_size": 1}
        if X is None:
            return Chain.without_public(self._space(rows), **given)
        return Chain.of(X, y, public_model=public_model, rules=self._rules, **given, **self._schema())

    def _ask(
        self,
        chain: Chain,
        rows: Any,
        labels: FloatArray,
        source: Randomness,
        booking: Booking,
        schema: Schema | None = None,
    ) -> tuple[list[SumsTask], list[NoisySums], SumsModel]:
        """Ask all groups, one after the other: what the servers released of each, and the last model."""
        tasks: list[SumsTask] = []
        released: list[NoisySums] = []
        booking.book()
        groups = groups_of(len(labels), chain.sizes, source.child("groups"))
        task: SumsTask | None = chain.first()
        while task is not None:
            task = task.following(schema)
            own = groups[task.group]
            totals = self._released(task, take_rows(rows, own), labels[own], source.child("group", task.group))
            model: SumsModel = replace(task.model(totals), notes=(AS_IF_SHARED,))
            tasks.append(task)
            released.append(totals)
            task = chain.after(model)
        return tasks, released, model

    def _released(self, task: SumsTask, rows: Any, labels: FloatArray, source: Randomness) -> NoisySums:
        """Return what is released of a group; of nobody, which few holders of many classes may leave, no evidence."""
        if not len(labels):
            return NoisySums(task.id, 0, (0,) * task.length, source.simulation)
        totals: Any = task.simulate(rows, labels, source)
        released: NoisySums = totals
        return released
