"""Tables 6 and 9 of the RPWithPrior paper: seconds of randomising labels, and of a trial with its network."""

from __future__ import annotations

import time
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.model_selection import train_test_split

from hedgerow_experiments.experiment import Key
from hedgerow_experiments.label.data import LEARNERS, Case, load_case
from hedgerow_experiments.label.trials import noisy_labels

__all__ = ["compute"]

_AVERAGING = 25.0
"""What "auto" finds for crime, about; measuring it is no part of the paper's methods, so it is not timed."""


@lru_cache(maxsize=1)
def _case(dataset: str) -> Case:
    return load_case(dataset, 0)


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return processor seconds, and how many different labels were randomised.

    Labels are drawn twice and the second time counts: the first loads code and fills tables of noise.
    """
    case = _case(key.dataset)
    X, _, y, _ = train_test_split(case.X, case.y, test_size=0.2, random_state=key.repeat)
    labels: Any = None
    took = 0.0
    for _ in range(2):
        start = time.process_time()
        labels = noisy_labels(case, X, y, (key.group, "shrink"), key.epsilon, key.repeat, _AVERAGING)
        took = time.process_time() - start
    if key.setting == "9":
        start = time.process_time()
        LEARNERS["network"](case, key.repeat, len(y), key.epsilon).fit(X, labels)
        took = took + time.process_time() - start
    return {"seconds": round(took, 6), "labels": float(len(np.unique(y)))}
