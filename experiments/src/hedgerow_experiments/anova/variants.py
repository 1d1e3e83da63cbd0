"""PrivateAnova planned by other numbers, one at a time, beside the shipped ones and beside the recipe before them."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.central.anova import PrivateAnovaRegressor
from hedgerow_experiments.anova.sets import known, split
from hedgerow_experiments.experiment import Key

__all__ = ["BEFORE", "SHIPPED", "VARIANTS", "compute"]

SHIPPED = "PrivateAnova"
BEFORE = "before"
VARIANTS: dict[str, dict[str, Any]] = {
    "full .2": {"full": 0.2},
    "full .45": {"full": 0.45},
    "fall 1": {"fall": 1.0},
    "fall 20": {"fall": 20.0},
    "clear .2": {"clear": 0.2},
    "clear .6": {"clear": 0.6},
    "pair weight .5": {"pair_weights": (0.5, 0.5)},
    "stages from 900": {"stages_from": (900.0, 90.0)},
    "pairs from 90 d": {"pairs_from": (900.0, 90.0)},
    "four stages from 1500": {"many_from": 1500.0},
    "four stages never": {"many_from": float("inf")},
    "shares of the last only": {"averaged": False},
}
"""Which numbers differ, by name."""


def compute(key: Key, seed: int) -> dict[str, float]:
    """Fit once; return the test error. "before" takes the recipe as it is in the package that is imported."""
    data = known(key.dataset)
    train, test = split(len(data.y), key.repeat)
    model = PrivateAnovaRegressor(
        key.epsilon,
        label_bounds=(0.0, 1.0),
        feature_bounds=data.bounds,
        categories=data.categories,
        random_state=seed,
    )
    if key.group in VARIANTS:
        from hedgerow.central.anova.rules import Rules

        model._rules = Rules(**VARIANTS[key.group])
    model.fit(data.X[train], data.y[train])
    return {key.group: float(np.mean((model.predict(data.X[test]) - data.y[test]) ** 2))}
