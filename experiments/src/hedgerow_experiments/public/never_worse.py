"""The assisted forest beside the public model it starts from, run by run: fair and shifted public records."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from hedgerow.local.assisted import design_assisted, design_pilot
from hedgerow.local.assisted.design import public_errors
from hedgerow.local.assisted.pilot import pilot_group, pilot_size
from hedgerow.randomness import Randomness, SeededRandomness
from hedgerow.tasks.assisted import AssistedModel, AssistedTask, PilotTotals, check_pilot
from hedgerow.types import FloatArray, IntArray
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.public.cases import Case, draw
from hedgerow_experiments.public.ends import public_model

__all__ = ["DRAWS", "PILOTS", "compute"]

PILOTS = 4
"""Times that a pilot group is drawn and answers."""
DRAWS = 5
"""Times that all others then draw their reports."""


@dataclass(frozen=True, eq=False)
class Records:
    """Columns that trees split on (the public prediction is the last), and errors of the public model."""

    columns: FloatArray
    errors: FloatArray

    @property
    def predicted(self) -> FloatArray:
        """The public predictions."""
        return self.columns[:, -1]


@lru_cache(maxsize=1)
def _case(code: str, repeat: int, shift: str) -> tuple[Case, Records, Records]:
    """Return the case, its holders and its test records; all epsilons share them."""
    case = draw(code, repeat, shift)
    return case, _records(case, case.X, case.y), _records(case, case.X_test, case.y_test)


def _records(case: Case, X: Any, y: FloatArray) -> Records:
    model = public_model(case)
    assert model.portable_ is not None
    Z = model.space_.encode(X)
    g = model.portable_.predict_within(Z, case.label_bounds)
    return Records(np.column_stack([model.portable_.design(Z), g]), np.clip(y, *case.label_bounds) - g)


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return the test error over that of the public model, for each draw of the reports."""
    case, holders, test = _case(key.dataset, key.repeat, key.setting)
    model = public_model(case)
    public = (case.X_public, case.y_public)
    options: dict[str, Any] = {"epsilon": key.epsilon, "label_bounds": case.label_bounds, "public_model": model}
    n = len(holders.errors)
    size = pilot_size("auto", n, key.epsilon)
    plain = design_assisted(*public, n_holders=n - size, **options)
    _, residuals, _ = public_errors(model, *public, case.label_bounds)
    question = design_pilot(*public, **options)
    leaves = plain.trees.apply(holders.columns)
    found = {}
    for i in range(PILOTS):
        source = SeededRandomness(seed + i)
        task = plain
        leaf = leaves
        others = np.arange(n)
        if size:
            asked, others = pilot_group(n, size, source.child("pilot group"))
            sent = question.encoding.randomize(question.bins(holders.errors[asked]), source.child("pilot"))
            totals = PilotTotals(question, size, tuple(question.encoding.sums(sent).tolist()), simulation=True)
            if check_pilot(totals, residuals).differs:
                task = design_assisted(*public, n_holders=len(others), pilot=totals, **options)
                leaf = task.trees.apply(holders.columns)
        for k in range(DRAWS):
            corrected = _answered(task, leaf[others], holders.errors[others], source.child(f"holders {k}"))
            found[f"draw {i * DRAWS + k}"] = _ratio(corrected, test, case)
    return found


def _answered(task: AssistedTask, leaf: IntArray, errors: FloatArray, source: Randomness) -> AssistedModel:
    """Return the model of reports as devices draw them, from leaves and errors that are known already."""
    level = task.grid.levels(errors / task.radius, source)
    sums = task.encoding.sums(task.encoding.draw(leaf, level, source))
    return AssistedModel(task, len(errors), tuple(sums.tolist()), simulation=True)


def _ratio(model: AssistedModel, test: Records, case: Case) -> float:
    leaf = model.task.trees.apply(test.columns)
    added = np.mean([values[leaf[:, t]] for t, values in enumerate(model.leaf_values)], axis=0)
    y = test.predicted + test.errors
    error = np.mean((np.clip(test.predicted + added, *case.label_bounds) - y) ** 2)
    return float(error / np.mean(test.errors**2))
