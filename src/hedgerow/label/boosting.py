"""Gradient boosting for noisy labels, with settings from public numbers only."""

from __future__ import annotations

import math
from typing import Any

from sklearn.ensemble import HistGradientBoostingClassifier, HistGradientBoostingRegressor

__all__ = ["boosting_for", "class_boosting_for"]

_FEW, _MANY = 8, 31  # leaves a tree, with hardly any signal and with hardly any noise


def boosting_for(n: int, epsilon: float) -> HistGradientBoostingRegressor:
    r"""Return gradient boosting that does not chase the noise of n labels randomised with epsilon.

    Randomised response multiplies the variance of a mean by ``q = 1/tanh(epsilon/2)**2``, so leaves hold ``q`` times
    as many labels (at most a tenth of all). Noise over signal is ``q - 1 = 1/sinh(epsilon/2)**2`` a label; with ``S =
    n sinh(epsilon/2)**2`` trees have ``sqrt(S)/10`` leaves between 8 and 31, and learn at a rate between 0.05 and 0.1.
    The defaults of scikit-learn return when there is little noise. There is no early stopping, which would give up
    a tenth of the labels for a score that is mostly noise. Only n and epsilon are used, and they are public.

    Examples
    --------
    >>> for epsilon in (0.5, 2.0, 8.0):
    ...     model = boosting_for(2000, epsilon)
    ...     print(model.max_leaf_nodes, model.min_samples_leaf, round(model.learning_rate, 3))
    8 200 0.05
    8 34 0.05
    31 20 0.1
    """
    half = min(epsilon, 100.0) / 2
    return HistGradientBoostingRegressor(**_settings(n, half))


def class_boosting_for(n: int, epsilon: float, n_classes: int) -> HistGradientBoostingClassifier:
    """Return the same for classes sent by randomised response.

    With k classes a report depends on its class by ``p - q = (e**eps - 1)/(e**eps + k - 1)``, which for two is
    ``tanh(epsilon/2)``; the settings are those of the epsilon at which two classes would be told as well.

    Examples
    --------
    >>> [class_boosting_for(2000, 2.0, k).min_samples_leaf for k in (2, 4, 10)]
    [34, 53, 132]
    """
    e = math.exp(min(epsilon, 50.0))
    half = math.atanh(min((e - 1) / (e + n_classes - 1), 1 - 1e-12))
    return HistGradientBoostingClassifier(**_settings(n, half), random_state=0)


def _settings(n: int, half: float) -> dict[str, Any]:
    """Return the settings for half an epsilon."""
    leaves = max(_FEW, min(_MANY, round(math.sqrt(n) * math.sinh(half) / 10)))
    smallest = max(20, min(round(20 / math.tanh(half) ** 2), n // 10))
    rate = 0.05 + 0.05 * (leaves - _FEW) / (_MANY - _FEW)
    return {
        "max_leaf_nodes": leaves,
        "min_samples_leaf": smallest,
        "learning_rate": rate,
        "early_stopping": False,
    }
