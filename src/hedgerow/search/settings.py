"""The settings that a search compares: public, and none that changes what is promised or what is known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from sklearn.base import clone
from sklearn.model_selection import ParameterGrid

from hedgerow.errors import HedgerowError
from hedgerow.estimators.base import PrivateEstimator

__all__ = ["check_estimator", "read_settings"]

MOST = 100
"""Settings in one search: with more, 30 % of 100,000 records leave each candidate fewer than 300."""
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


def _check_one(setting: Mapping[Any, Any], estimator: PrivateEstimator) -> None:
    """Refuse, before anything is drawn, what the estimator does not have or would refuse."""
    own = estimator.get_params(deep=False)
    for name in setting:
        if name not in own:
            raise HedgerowError(
                f"'settings' names {name!r}, which is no parameter of {type(estimator).__name__}: {sorted(own)}."
            )
        if name in _FIXED:
            raise HedgerowError(
                f"'settings' must not vary {name!r}: all candidates promise the same and know the same. Set it on the "
                "estimator."
            )
    clone(estimator).set_params(**setting)._check_parameters()
