"""The label and one feature private, on one case: one round, and what other trust models get of the same holders."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import numpy as np

from hedgerow import AssistedForestRegressor, HistOfTreeRegressor, LabelPrivateRegressor
from hedgerow.compare.scores import Row
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.public.cases import Case, draw
from hedgerow_experiments.public.ends import ceiling, error, public_error, public_model
from hedgerow_experiments.tidy import row_of

__all__ = ["compute", "private_column", "tidy"]

_KINDS: dict[str, Any] = {
    "one round": HistOfTreeRegressor,
    "label": LabelPrivateRegressor,
    "assisted": AssistedForestRegressor,
    "no noise": HistOfTreeRegressor,
}
_ONE_ROUND = ("one round", "no noise")


def private_column(case: Case) -> str:
    """Return the number column that goes with the label most in public records."""
    numbers = [c for c in case.X_public.columns if case.X_public[c].dtype.kind in "fiub"]
    numbers = [c for c in numbers if case.X_public[c].nunique() > 1]
    strength = {c: abs(np.corrcoef(case.X_public[c].to_numpy(dtype=float), case.y_public)[0, 1]) for c in numbers}
    return str(max(strength, key=lambda c: strength[c]))


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return test errors: of the public model, of boosting without privacy, and of one method at one epsilon."""
    case = draw(key.dataset, key.repeat, key.setting)
    model = public_model(case)
    kind = _KINDS[key.group]
    epsilon = math.inf if key.group == "no noise" else key.epsilon
    made = kind(
        epsilon=epsilon, label_bounds=case.label_bounds, public_model=model, random_state=seed % 2**31
    )  # fmt: skip
    more: dict[str, Any] = {}
    if key.group != "label":
        more = {"X_public": case.X_public, "y_public": case.y_public}
    if key.group in _ONE_ROUND:
        more["private"] = [private_column(case)]
    made.fit(case.X, case.y, **more)
    return {
        "public": public_error(case),
        "ceiling": ceiling(case),
        key.group: error(made.predict(case.X_test), case),
    }


def tidy(experiment: Experiment, key: Key, value: dict[str, float]) -> Iterator[Row]:
    """Yield a row for each; the two ends of the scale once, with one round."""
    for method, number in value.items():
        if method != key.group and key.group != "one round":
            continue
        yield row_of(experiment, key, number, method=method)
