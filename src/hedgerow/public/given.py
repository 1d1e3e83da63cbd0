"""The parameter ``public_model=`` of estimators and designs, one meaning everywhere."""

from __future__ import annotations

from typing import Any

from sklearn.base import clone, is_classifier

from hedgerow.checks import OneOf, Rule, check_parameters
from hedgerow.errors import BoundsError, HedgerowError, shown
from hedgerow.grid import check_labels
from hedgerow.public.estimator import PublicModel
from hedgerow.space import FeatureSpace

__all__ = ["PUBLIC_MODEL", "fit_public_model", "is_fitted", "required_with"]


class _Regressor(Rule):
    words = "a regressor such as PublicModel()"

    def allows(self, value: object) -> bool:
        if isinstance(value, type) or not hasattr(value, "predict"):
            return False
        return is_fitted(value) or (hasattr(value, "fit") and not is_classifier(value))


PUBLIC_MODEL = OneOf("auto", "compact", None) | _Regressor()
"""What ``public_model=`` may be.

"auto" is :class:`~hedgerow.PublicModel` fitted on the public rows, if there are any; "compact" the same in at most
200 kB; a fitted PublicModel is used as it is. Any other regressor, fitted or not, is fitted (again) on the public rows,
so that its errors are those on rows that it has not seen. None is no public model.
"""


def is_fitted(model: object) -> bool:
    """Return whether it is a public model that knows its errors on rows that it has not seen."""
    return hasattr(model, "residuals_")


def required_with(public_model: object) -> str:
    """Return why there must be public records."""
    return f"'X_public' and 'y_public' are required with public_model={shown(public_model)}: pass them too."


def fit_public_model(public_model: Any, X_public: object, y_public: object, *, random_state: int, **schema: Any) -> Any:
    """Return the fitted public model that :data:`PUBLIC_MODEL` asks for; None if there is to be none.

    >>> import numpy as np
    >>> from sklearn.linear_model import Ridge
    >>> X = np.random.default_rng(0).random((50, 2))
    >>> fit_public_model(Ridge(), X, X[:, 0], random_state=0)
    PublicModel(random_state=0, regressor=Ridge())
    >>> fit_public_model("auto", None, None, random_state=0) is None
    True
    """
    check_parameters({"public_model": public_model}, {"public_model": PUBLIC_MODEL})
    if is_fitted(public_model):
        _check_space(public_model, schema)
        return public_model
    if X_public is None:
        if public_model is None or (isinstance(public_model, str) and public_model == "auto"):
            return None
        raise HedgerowError(required_with(public_model))
    if public_model is None:
        raise HedgerowError("'X_public' is for a public model: pass public_model='auto', or leave 'X_public' out.")
    labels = check_labels(y_public, name="y_public", n=_n_records(X_public))
    regressor = None if isinstance(public_model, str) else public_model
    compact = isinstance(public_model, str) and public_model == "compact"
    if isinstance(public_model, PublicModel):
        own = clone(public_model)
        if own.schema is None and own.feature_bounds is None and isinstance(schema.get("feature_bounds"), FeatureSpace):
            own.set_params(feature_bounds=schema["feature_bounds"])
        own.fit(X_public, labels)
        _check_space(own, schema)
        return own
    model = PublicModel(regressor, compact=compact, random_state=random_state, **schema).fit(X_public, labels)
    if model.portable_ is None:  # a kind of regressor that cannot be written down: a small one that learns from it
        model = PublicModel(regressor, compact=True, random_state=random_state, **schema).fit(X_public, labels)
    return model


def _check_space(model: Any, schema: dict[str, Any]) -> None:
    """Refuse a public model of other columns, ranges or categories than a schema states: both cannot be true."""
    stated = schema.get("feature_bounds")
    space = getattr(model, "space_", None)
    if not isinstance(stated, FeatureSpace) or space is None or space == stated:
        return
    known = {column.name: column for column in space.columns}
    other = [column.name for column in stated.columns if known.get(column.name) != column]
    other += [name for name in known if name not in stated.inputs]
    raise BoundsError(
        f"'public_model' was fitted with other public facts than 'schema' states (differing: {other or 'the order'}): "
        "fit it by PublicModel(schema=schema).fit(X_public, y_public), or leave one of them out."
    )


def _n_records(X: Any) -> int:
    return int(X.shape[0]) if hasattr(X, "shape") else len(X)
