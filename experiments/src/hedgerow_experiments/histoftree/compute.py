"""The HistOfTree paper's tables: one method on one split, over its parameter grid."""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache

import numpy as np

from hedgerow.compare.scores import Row
from hedgerow.randomness import SeededRandomness
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.histoftree.methods import METHODS, Trial, make_trial
from hedgerow_experiments.tidy import row_of

__all__ = ["compute", "estimators", "tidy"]


@lru_cache(maxsize=1)
def _trial(code: str, repeat: int) -> Trial:
    return make_trial(load_dataset(code), repeat)


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return test errors by parameter; "mean" is the mean of the training labels, without privacy."""
    trial = _trial(key.dataset, key.repeat)
    if key.group == "mean":
        return {"": trial.mse(np.full(len(trial.y_test), trial.y.mean()))}
    source = SeededRandomness(seed, ("histoftree", key.dataset, key.setting, str(key.epsilon), key.group))
    return METHODS[key.group](trial, key.epsilon or float("inf"), key.setting == "aligned", source)


def estimators(method: str, parameter: str) -> tuple[str, str]:
    """Return the row of a table and the parameter: the paper's plain estimator (9) is a row of its own.

    >>> estimators("s=1", "0.5/2/3/plain"), estimators("s=1", "0.5/2/3/shrunk"), estimators("DT", "4/10")
    (('s=1 (9)', '0.5/2/3'), ('s=1', '0.5/2/3'), ('DT', '4/10'))
    """
    head, _, last = parameter.rpartition("/")
    if last in ("plain", "shrunk"):
        return (f"{method} (9)" if last == "plain" else method), head
    return method, parameter


def tidy(experiment: Experiment, key: Key, value: dict[str, float]) -> Iterator[Row]:
    """Yield errors over the grid as rows."""
    for parameter, error in value.items():
        method, where = estimators(key.group, parameter)
        yield row_of(experiment, key, error, method=method, parameter=where)
