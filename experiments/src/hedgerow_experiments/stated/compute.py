"""One fit with the data's own bounds or with stated ones, on the same split and with the same seed."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow_experiments.anova.compute import METHODS as anova
from hedgerow_experiments.anova.compute import halves
from hedgerow_experiments.diprime.compute import METHODS as diprime
from hedgerow_experiments.diprime.compute import Prepared, prepare
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.stated.declared import CLASSES, STATED

__all__ = ["compute", "outside"]


def compute(key: Key, seed: int) -> dict[str, float]:
    """Fit once; return the test score, and the share of records with a value outside the bounds."""
    data = prepare(key.dataset, key.setting == STATED)
    classify = key.dataset in CLASSES
    train, test = halves(len(data.y), key.repeat)
    model = _model(key, data, seed, classify).fit(data.X[train], data.y[train])
    guess = model.predict(data.X[test])
    truth = data.y[test]
    beyond = float(outside(data.X, data.bounds).any(axis=1).mean())
    if classify:
        return {"accuracy": float(np.mean(guess == truth)), "outside": beyond}
    return {"mse": float(np.mean((np.clip(guess, *data.label_bounds) - truth) ** 2)), "outside": beyond}


def _model(key: Key, data: Prepared, seed: int, classify: bool) -> Any:
    methods = anova if key.group in anova else diprime
    model = methods[key.group](data, key.epsilon, seed, classify)
    if key.group == "PrivateAnova" and not classify:
        model.set_params(label_bounds=data.label_bounds)
    return model


def outside(X: npt.NDArray[np.float64], bounds: npt.NDArray[np.float64]) -> npt.NDArray[np.bool_]:
    """Return which values lie outside their bounds; a missing one does not.

    >>> outside(np.array([[0.5, 2.0], [np.nan, 1.0]]), np.array([[0.0, 0.0], [1.0, 1.0]])).tolist()
    [[False, True], [False, False]]
    """
    below: npt.NDArray[np.bool_] = np.less(X, bounds[0])
    above: npt.NDArray[np.bool_] = np.greater(X, bounds[1])
    return below | above
