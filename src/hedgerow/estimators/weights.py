"""Weights of records: a private estimator does not take them, and says why."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from typing import Any

from hedgerow.errors import HedgerowError

__all__ = ["without_weights"]


def without_weights(fit: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``fit``, which refuses ``sample_weight`` if it does not take it; its signature stays as it is.

    A record of weight w moves a sum by w times as much as one of weight 1. So either the noise grows with the largest
    weight, for everybody, or the claim is not true for whoever has it; and a weight that was made from private records
    tells of them. Where features are public and labels are randomised before they are weighed, public weights are
    post-processing.

    >>> def fit(self, X, y): ...
    >>> without_weights(fit)("Tree", [[1]], [2], sample_weight=[3])
    Traceback (most recent call last):
    ...
    hedgerow.errors.HedgerowError: 'sample_weight' is not taken by str: a record of weight w would need w times ...
    """
    known = inspect.signature(fit).parameters
    if "sample_weight" in known or any(p.kind is p.VAR_KEYWORD for p in known.values()):
        return fit

    @functools.wraps(fit)
    def refusing(self: Any, *arguments: Any, **options: Any) -> Any:
        if options.pop("sample_weight", None) is not None:
            raise HedgerowError(
                f"'sample_weight' is not taken by {type(self).__name__}: a record of weight w would need w times the "
                "noise to be hidden as well as the others, and a weight may itself tell of its record. Leave it out; "
                "weigh public records, or where only labels are private use LabelPrivateRegressor or "
                "LabelPrivateClassifier, whose weights are public."
            )
        return fit(self, *arguments, **options)

    return refusing
