"""PrivateAnova beside DP-EBM, DiPriMe and the ends without privacy, on the same splits.

Bounds are those of the whole data set, declared public; targets are scaled to [0, 1]; 90 % train, 10 % test. DP-EBM is
measured if ``interpret-core`` is installed.
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow_experiments.diprime.compute import METHODS as peers
from hedgerow_experiments.diprime.compute import Prepared, dp_ebm, prepare
from hedgerow_experiments.experiment import Key

__all__ = ["METHODS", "compute"]


def _ours(**options: Any) -> Callable[..., Any]:
    def build(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
        from hedgerow.central.anova import PrivateAnovaClassifier, PrivateAnovaRegressor

        public = {"feature_bounds": data.bounds, "categories": data.categories, "random_state": seed}
        if classify:
            return PrivateAnovaClassifier(**{"epsilon": epsilon, "classes": [0, 1], **public, **options})
        return PrivateAnovaRegressor(**{"epsilon": epsilon, "label_bounds": (0.0, 1.0), **public, **options})

    return build


def _dummy(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    from sklearn import dummy

    return dummy.DummyClassifier(strategy="most_frequent") if classify else dummy.DummyRegressor()


def _forest(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    from sklearn import ensemble

    return (ensemble.RandomForestClassifier if classify else ensemble.RandomForestRegressor)(30, random_state=seed)


def _boosting(data: Prepared, epsilon: float, seed: int, classify: bool) -> Any:
    from sklearn import ensemble

    kind = ensemble.HistGradientBoostingClassifier if classify else ensemble.HistGradientBoostingRegressor
    return kind(categorical_features=sorted(data.categories) if data.categories else None, random_state=seed)


METHODS: dict[str, Callable[..., Any]] = {
    "mean": _dummy,
    "PrivateAnova": _ours(),
    "DP-EBM": dp_ebm,
    "additive": _ours(interactions=False),
    "pure": _ours(delta=0.0),
    "replace": _ours(neighbours="replace"),
    "DiPriMe": peers["DiPriMeFlip"],
    "random forest": _forest,
    "boosting": _boosting,
    "no noise": _ours(epsilon=math.inf),
}


def halves(n: int, repeat: int) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return training and test records as the prototype drew them: the last tenth of a permutation is the test.

    >>> [part.size for part in halves(4177, 0)]
    [3759, 418]
    """
    order = np.random.RandomState(repeat).permutation(n)  # the old generator: the prototype's splits, to compare
    return order[: int(0.9 * n)], order[int(0.9 * n) :]


def compute(key: Key, seed: int) -> dict[str, float]:
    """Fit once; return the test score (mean squared error, or accuracy) and the seconds of the fit."""
    data = prepare(key.dataset)
    classify = key.setting == "classification"
    train, test = halves(len(data.y), key.repeat)
    model = METHODS[key.group](data, key.epsilon, seed, classify)
    start = time.perf_counter()
    model.fit(data.X[train], data.y[train])
    seconds = round(time.perf_counter() - start, 2)
    guess = model.predict(data.X[test])
    truth = data.y[test]
    if classify:
        return {"accuracy": float(np.mean(guess == truth)), "seconds": seconds}
    return {"mse": float(np.mean((np.clip(guess, 0, 1) - truth) ** 2)), "seconds": seconds}
