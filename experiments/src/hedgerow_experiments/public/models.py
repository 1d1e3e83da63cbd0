"""The public model beside the one it replaced, on one split."""

from __future__ import annotations

import time
from collections.abc import Iterator
from typing import Any

import numpy as np

from hedgerow.compare.scores import Row
from hedgerow.public import PublicModel
from hedgerow.public.distil import distil
from hedgerow.public.estimator import design_matrix
from hedgerow.types import FloatArray
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import split
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.public.before import StackBefore
from hedgerow_experiments.public.cases import draw
from hedgerow_experiments.public.declared import SHARES
from hedgerow_experiments.tidy import row_of

__all__ = ["compute", "tidy"]

Part = tuple[Any, FloatArray]
_COMPACT = 1  # splits on which the compact model is measured too: it takes as long as the model itself


def _records(code: str, setting: str, repeat: int) -> tuple[Part, Part, dict[str, list[str]]]:
    """Return public and test records, and the lists of categories."""
    if setting == SHARES:
        s = split(load_dataset(code), repeat)
        return (s.public.X, s.public.y), (s.test.X, s.test.y), s.categories
    case = draw(code, repeat)
    return (case.X_public, case.y_public), (case.X_test, case.y_test), case.categories


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return test errors, seconds and kB by the name of the model and what is measured."""
    (X, y), (X_test, y_test), categories = _records(key.dataset, key.setting, key.repeat)
    seed = seed % 2**31  # as large as scikit-learn takes
    start = time.process_time()
    model = PublicModel(categories=categories or None, random_state=seed).fit(X, y)
    assert model.portable_ is not None
    found = {"now seconds": time.process_time() - start, "now kB": model.portable_.n_bytes / 1000}

    def error(predicted: FloatArray) -> float:
        return float(np.mean((predicted - y_test) ** 2))

    found["now mse"] = error(model.predict(X_test))
    if key.group == "other seed":
        return {"other seed mse": found["now mse"]}
    D = design_matrix(model.space_, X)
    T = design_matrix(model.space_, X_test)
    if key.repeat < _COMPACT:
        constant, parts = distil(model.fitted_.predict, D, seed)
        found["compact mse"] = error(np.sum([part.predict(T) for part in parts], axis=0) + constant)
    start = time.process_time()
    before = StackBefore(seed).fit(D, y)
    found["before seconds"] = time.process_time() - start
    found["before mse"] = error(before.predict(T))
    return found


def tidy(experiment: Experiment, key: Key, value: dict[str, float]) -> Iterator[Row]:
    """Yield a row for each model and what is measured."""
    for name, number in value.items():
        method, metric = name.rsplit(" ", 1)
        yield row_of(experiment, key, number, method=method, metric=metric)
