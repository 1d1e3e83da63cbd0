"""PrivateAnova planned by other numbers, one at a time, beside the shipped ones and beside the recipe before them."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from hedgerow.central import DiPriMeForestRegressor
from hedgerow.central.anova import PrivateAnovaRegressor
from hedgerow_experiments.anova.declared import EBM, FOREST, PURE, PURE_VARIANTS, VARIANTS
from hedgerow_experiments.anova.sets import known, split
from hedgerow_experiments.diprime.compute import dp_ebm
from hedgerow_experiments.experiment import Key

__all__ = ["compute"]


def _planned(group: str) -> Any:
    """Return the estimator, planned by other numbers if the group has some."""
    if group == FOREST:
        return DiPriMeForestRegressor
    if group == PURE:
        return partial(PrivateAnovaRegressor, delta=0.0)
    if group in PURE_VARIANTS:
        from hedgerow.central.anova.pure_plan import PureRules  # commit 4339863 has neither

        own = {"_pure_rules": PureRules(**PURE_VARIANTS[group])}
        return partial(type("Planned", (PrivateAnovaRegressor,), own), delta=0.0)
    if group not in VARIANTS:
        return PrivateAnovaRegressor
    from hedgerow.central.anova.rules import Rules

    return type("Planned", (PrivateAnovaRegressor,), {"_rules": Rules(**VARIANTS[group])})


def compute(key: Key, seed: int) -> dict[str, float]:
    """Fit once; return the test error. "before" takes the recipe as it is in the package that is imported."""
    data = known(key.dataset)
    train, test = split(len(data.y), key.repeat)
    public = {"label_bounds": (0.0, 1.0), "feature_bounds": data.bounds, "categories": data.categories}
    if key.group == EBM:
        model = dp_ebm(data, key.epsilon, seed, False)
    else:
        model = _planned(key.group)(epsilon=key.epsilon, random_state=seed, **public)
    model.fit(data.X[train], data.y[train])
    guess = np.clip(model.predict(data.X[test]), 0.0, 1.0)  # ours are within; DP-EBM's need not be
    return {key.group: float(np.mean((guess - data.y[test]) ** 2))}
