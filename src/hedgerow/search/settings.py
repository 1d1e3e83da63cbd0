"""The settings that a search compares: public, and none that changes what is promised or what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from sklearn.base import clone, is_classifier
from sklearn.model_selection import ParameterGrid

from hedgerow.errors import HedgerowError
from hedgerow.estimators.base import PrivateEstimator

__all__ = ["METHOD", "candidate_of", "check_estimator", "read_settings"]

MOST = 100
"""Settings in one search: with more, 30 % of 100,000 records leave each candidate fewer than 300."""
METHOD = "estimator"
"""The name by which a setting says that another estimator is tried."""
_FIXED = (
    "epsilon",
    "delta",
    "neighbours",
    "random_state",
    "ledger",
    "schema",
    "label_bounds",
    "classes",
    "feature_bounds",
    "categories",
    "categorical_features",
    "mechanism",
)


def check_estimator(estimator: object) -> None:
    """Refuse what cannot be searched."""
    if not isinstance(estimator, PrivateEstimator):
        raise HedgerowError(
            "The 'estimator' parameter of PrivateSearchCV must be a private estimator of hedgerow. "
            f"Got {type(estimator).__name__} instead."
        )
    for name in ("random_state", "ledger"):
        if getattr(estimator, name) is not None:
            raise HedgerowError(f"'{name}' is for the whole search: pass it to PrivateSearchCV, not to its estimator.")
    if isinstance(listed := getattr(estimator, "classes", None), str) and listed == "observed":
        raise HedgerowError(
            "'classes' must be a list for a search: groups of records that read it off their labels would differ."
        )


def read_settings(settings: object, estimator: PrivateEstimator) -> list[dict[str, Any]]:
    """Return the candidates: of a dict of lists all combinations, of a list of dicts each as it is."""
    if isinstance(settings, Mapping):
        found = list(ParameterGrid(_lists(settings)))
    elif isinstance(settings, Sequence) and not isinstance(settings, str | bytes):
        found = list(settings)
    else:
        found = []
    if not found or not all(isinstance(one, Mapping) for one in found) or len(found) > MOST:
        raise HedgerowError(
            "The 'settings' parameter of PrivateSearchCV must be a dict of lists such as {'max_depth': [2, 4]}, or a "
            f"list of 1 to {MOST} dicts. Got {type(settings).__name__} with {len(found)} settings instead."
        )
    for one in found:
        _check_one(one, estimator)
    return [dict(one) for one in found]


def _lists(settings: Mapping[Any, Any]) -> Mapping[Any, Any]:
    for name, values in settings.items():
        if isinstance(values, str | bytes) or not isinstance(values, Sequence) or not len(values):
            raise HedgerowError(f"'settings' must have a list of values for {name!r}. Got {values!r} instead.")
    return settings


def candidate_of(estimator: PrivateEstimator, setting: Mapping[Any, Any]) -> Any:
    """Return the estimator, or the other one that a setting names, with the rest of the setting."""
    own = dict(setting)
    method = own.pop(METHOD, estimator)
    return clone(method).set_params(**own)


def _check_one(setting: Mapping[Any, Any], estimator: PrivateEstimator) -> None:
    """Refuse, before anything is drawn, what the estimator does not have or would refuse."""
    method = setting.get(METHOD, estimator)
    if METHOD in setting:
        check_estimator(method)
        _check_alike(estimator, method)
    own = method.get_params(deep=False)
    for name in setting:
        if name == METHOD:
            continue
        if name not in own:
            raise HedgerowError(
                f"'settings' names {name!r}, which is no parameter of {type(method).__name__}: {sorted(own)}."
            )
        if name in _FIXED:
            raise HedgerowError(
                f"'settings' must not vary {name!r}: all candidates promise the same and know the same. Set it on the "
                "estimator."
            )
    candidate_of(estimator, setting)._check_parameters()


def _check_alike(estimator: PrivateEstimator, other: PrivateEstimator) -> None:
    """Refuse another method that promises otherwise, or to whom something else is known."""
    names = f"{type(estimator).__name__} and {type(other).__name__}"
    for one in (estimator, other):
        if not hasattr(one, "neighbours"):
            raise HedgerowError(f"another 'estimator' in 'settings' is for central estimators. Got {names} instead.")
    if is_classifier(estimator) != is_classifier(other):
        raise HedgerowError(f"'settings' must be of one kind, numbers or classes. Got {names} instead.")
    for name in _FIXED:
        if not _equal(getattr(estimator, name, None), getattr(other, name, None)):
            raise HedgerowError(
                f"'settings' must not vary {name!r}: all candidates promise the same and know the same. {names} differ."
            )


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    if isinstance(one, Mapping) and isinstance(other, Mapping):
        return one.keys() == other.keys() and all(_equal(one[name], other[name]) for name in one)
    if isinstance(one, np.ndarray) or isinstance(other, np.ndarray):
        return bool(np.array_equal(np.asarray(one), np.asarray(other)))
    return bool(one == other)
