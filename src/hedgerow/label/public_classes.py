"""Public models of classes: one public model for the indicator of each class, or a classifier."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from hedgerow.checks import OneOf, Rule, check_parameters
from hedgerow.errors import HedgerowError
from hedgerow.estimators.records import take_rows
from hedgerow.label.features import as_numbers
from hedgerow.label.residual import features
from hedgerow.public.given import PUBLIC_MODEL, fit_public_model, is_fitted, required_with
from hedgerow.public.stack import assign_folds
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray, IntArray

__all__ = ["CLASS_MODEL", "PublicClasses", "as_shares", "fit_public_classes"]


class _Classifier(Rule):
    words = "a classifier with predict_proba"

    def allows(self, value: object) -> bool:
        return hasattr(value, "predict_proba") and not isinstance(value, type)


CLASS_MODEL = PUBLIC_MODEL | _Classifier()
"""What ``public_model=`` of a classifier may be: as for regressors, for indicators of classes; or a classifier."""

_LEAST = 1e-3
"""Shares are at least this much of 1/C: no class is out of the question because few public records lack it."""


def as_shares(raw: npt.ArrayLike) -> FloatArray:
    """Return rows of shares: at least a little each, with sum 1.

    >>> as_shares([[0.2, 0.2], [-1.0, 3.0]]).round(4).tolist()
    [[0.5, 0.5], [0.0005, 0.9995]]
    """
    inside = np.clip(np.asarray(raw, dtype=np.float64), 0.0, 1.0)
    total = inside.sum(axis=1, keepdims=True)
    n_classes = inside.shape[1]
    inside = np.where(total > 0, inside / np.where(total > 0, total, 1.0), 1 / n_classes)
    shares: FloatArray = (1 - _LEAST) * inside + _LEAST / n_classes
    return shares


@dataclass(frozen=True, eq=False)
class PublicClasses:
    """A public model of classes.

    Attributes
    ----------
    models : tuple
        A fitted classifier, or one public model for each class (of two classes, for the second).
    places : array
        For a classifier: where each of its columns belongs.
    unseen : array of shape (n_public, C)
        Shares of the public records by models that have not seen them.
    codes : array
        Their classes.
    space : FeatureSpace or None
        By which a classifier reads records; None: it reads them as they are.
    """

    n_classes: int
    models: tuple[Any, ...]
    places: IntArray | None
    unseen: FloatArray
    codes: IntArray
    space: FeatureSpace | None = None

    def numbers(self, X: Any) -> FloatArray:
        """Return records as numbers, as the model reads them."""
        if self.places is not None:
            return np.asarray(as_numbers(self.space, X), dtype=np.float64)
        return features(self.models[0], X)

    def shares(self, X: Any) -> FloatArray:
        """Return class shares of records, columns in the order of the classes."""
        if self.places is not None:
            raw = self.models[0].predict_proba(as_numbers(self.space, X))
            return as_shares(_placed(raw, self.places, self.n_classes))
        return as_shares(_both(np.column_stack([model.predict(X) for model in self.models])))

    @property
    def residuals(self) -> FloatArray:
        """Indicators of the public records' classes minus their shares."""
        return np.eye(self.n_classes)[self.codes] - self.unseen

    def ranks(self) -> FloatArray:
        """Return how often the true class is the likeliest, the second likeliest, and so on; each at least a little."""
        order = np.argsort(-self.unseen, axis=1, kind="stable")
        rank = np.argmax(order == self.codes[:, None], axis=1)
        return (np.bincount(rank, minlength=self.n_classes) + 1) / (len(rank) + self.n_classes)


def fit_public_classes(
    public_model: Any,
    X_public: Any,
    codes: Any,
    n_classes: int,
    *,
    random_state: int,
    space: FeatureSpace | None = None,
) -> PublicClasses | None:
    """Return the public model of classes that :data:`CLASS_MODEL` asks for; None if there is to be none.

    >>> from sklearn.linear_model import LogisticRegression
    >>> X = np.random.default_rng(0).random((90, 2)); y = (X[:, 0] > 0.5).astype(int)
    >>> model = fit_public_classes(LogisticRegression(), X, y, 2, random_state=0)
    >>> model.shares(X).shape, model.ranks().round(1).tolist()
    ((90, 2), [0.9, 0.1])
    """
    check_parameters({"public_model": public_model}, {"public_model": CLASS_MODEL})
    if X_public is None and OneOf("auto", None).allows(public_model):
        return None
    if X_public is None:
        raise HedgerowError(required_with(public_model))
    if public_model is None:
        raise HedgerowError("'X_public' is for a public model: pass public_model='auto', or leave 'X_public' out.")
    codes = np.asarray(codes, dtype=np.int64)
    if hasattr(public_model, "predict_proba"):
        fitted = _classifier(public_model, as_numbers(space, X_public), codes, n_classes, random_state)
        return replace(fitted, space=space)
    models = []
    schema = {} if space is None else {"feature_bounds": space}
    for code in range(1 if n_classes == 2 else 0, n_classes):
        own = clone(public_model) if is_fitted(public_model) else public_model
        target = (codes == code).astype(np.float64)
        models.append(fit_public_model(own, X_public, target, random_state=random_state, **schema))
    asked = range(n_classes - len(models), n_classes)
    unseen = [(codes == code) - model.residuals_ for code, model in zip(asked, models, strict=True)]
    return PublicClasses(n_classes, tuple(models), None, as_shares(_both(np.column_stack(unseen))), codes)


def _both(raw: FloatArray) -> FloatArray:
    """Return shares of both classes, where only the second was modelled."""
    return raw if raw.shape[1] > 1 else np.column_stack([1 - raw[:, 0], raw[:, 0]])


def _placed(raw: Any, places: IntArray, n_classes: int) -> FloatArray:
    out = np.zeros((len(raw), n_classes))
    out[:, places] = raw
    return out


def _classifier(model: Any, X: Any, codes: IntArray, n_classes: int, seed: int) -> PublicClasses:
    """Fit a classifier, and others on parts of the records, for shares of records that they have not seen."""
    fitted = clone(model).fit(X, codes)
    folds = assign_folds(len(codes), seed)
    unseen = np.full((len(codes), n_classes), 1 / n_classes)
    for fold in np.unique(folds):
        held = np.flatnonzero(folds == fold)
        rest = np.flatnonzero(folds != fold)
        if len(np.unique(codes[rest])) > 1:
            part = clone(model).fit(take_rows(X, rest), codes[rest])
            unseen[held] = _placed(part.predict_proba(take_rows(X, held)), part.classes_, n_classes)
    return PublicClasses(n_classes, (fitted,), np.asarray(fitted.classes_), as_shares(unseen), codes)
