"""PublicModel: what public data alone can do, and the yardstick of everything private."""

from __future__ import annotations

import warnings
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, column_or_1d, validate_data

from hedgerow.errors import BoundsError, HedgerowError, HedgerowWarning
from hedgerow.given import BoundsLike, CategoriesLike, ColumnsLike, EstimatorLike, RandomStateLike, SchemaLike
from hedgerow.grid import check_labels
from hedgerow.portable import PortableModel
from hedgerow.portable.model import Part
from hedgerow.public.convert import portable_parts
from hedgerow.public.distil import COMPACT_BYTES, distil
from hedgerow.public.stack import assign_folds, fit_stack, out_of_fold
from hedgerow.schema import Schema
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

if TYPE_CHECKING:
    from hedgerow.formula import Formula

__all__ = ["PublicModel", "design_columns", "design_matrix"]


class PublicModel(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """The best model from public records alone: a non-negative stack, with honest residuals and a portable form.

    ExtraTrees, gradient boosting, ridge, kernel ridge tuned by leave-one-out, support vectors and a Gaussian process
    with a length-scale a column, over columns bent as the evidence says, are weighted by non-negative least squares on
    their out-of-fold predictions, and in part by their own errors. No private record is involved, so nothing is
    protected and nothing needs to be. It takes about 10 seconds for 400 records of 10 columns, and 20 for 1,000 of 20.

    Parameters
    ----------
    regressor : scikit-learn regressor, optional
        Used in place of the stack. It is fitted on encoded records: numbers clipped to their public ranges, categories
        as indicators.
    compact : bool, default=False
        Distil a model larger than that into at most 200 kB, which a phone or a browser can run. It is then the small
        model that predicts, and its residuals that are kept.
    categorical_features, categories, feature_bounds : see :class:`~hedgerow.LPDTRegressor`
    schema : Schema, optional
        What is public of the columns, in the place of these three; missing and unknown values count as it says.
    random_state : None, int or RandomState, default=None
        Seed of trees and folds.

    Attributes
    ----------
    portable_ : PortableModel
        The same model as plain arrays; ``portable_.predict(space_.encode(X))`` needs NumPy only and differs from
        scikit-learn's prediction by rounding. None for a ``regressor`` that has no portable form.
    residuals_ : array
        ``y`` minus the prediction by models that have not seen the record.
    weights_ : dict
        Weights of the stack by name.
    space_ : FeatureSpace
        Public ranges and categories.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> X = rng.random((200, 2)); y = np.sin(6 * X[:, 0]) + X[:, 1]
    >>> model = PublicModel(random_state=0).fit(X, y)
    >>> float(np.mean(model.residuals_**2) / np.var(y)) < 0.01
    True
    >>> bool(np.allclose(model.portable_.predict(model.space_.encode(X)), model.predict(X)))
    True
    """

    def __init__(
        self,
        regressor: EstimatorLike = None,
        *,
        compact: bool = False,
        categorical_features: ColumnsLike = None,
        categories: CategoriesLike = None,
        feature_bounds: BoundsLike = None,
        random_state: RandomStateLike = None,
        schema: SchemaLike = None,
    ) -> None:
        self.regressor = regressor
        self.compact = compact
        self.categorical_features = categorical_features
        self.categories = categories
        self.feature_bounds = feature_bounds
        self.random_state = random_state
        self.schema = schema

    def fit(self, X: Any, y: Any) -> PublicModel:
        """Fit on public records and labels."""
        if y is None:
            raise HedgerowError("PublicModel requires y to be passed, but the target y is None.")
        self._check_schema()
        X = self._records(X, reset=True)
        y = check_labels(column_or_1d(y, warn=True), n=X.shape[0]).astype(np.float64)
        _warn_if_alike(y)
        self.space_ = FeatureSpace.from_public(
            X,
            feature_bounds=self.feature_bounds if self._stated is None else self._stated,
            categorical_features=self.categorical_features,
            categories=self.categories,
        )
        seed = int(check_random_state(self.random_state).randint(2**31 - 1))
        self._column, self._code = design_columns(self.space_)
        D = self._design(X)
        if self.regressor is None:
            self._fit_stack(D, y, seed)
        else:
            self._fit_given(D, y, seed)
        if self.compact and (self.portable_ is None or self.portable_.n_bytes > COMPACT_BYTES):
            self._distil(D, seed)
        return self

    def _fit_stack(self, D: FloatArray, y: FloatArray, seed: int) -> None:
        stack = fit_stack(D, y, seed)
        self.fitted_: Any = stack
        self.weights_ = dict(stack.weights)
        self.residuals_ = y - stack.out_of_fold
        self.portable_: PortableModel | None = self._portable(*stack.portable(D.shape[1]))

    def _fit_given(self, D: FloatArray, y: FloatArray, seed: int) -> None:
        self.fitted_ = clone(self.regressor).fit(D, y)
        self.weights_ = {type(self.regressor).__name__: 1.0}
        if len(y) > 1:
            self.residuals_ = y - out_of_fold(self.regressor, D, y, assign_folds(len(y), seed))
        else:
            self.residuals_ = np.zeros(len(y))
        try:
            self.portable_ = self._portable(*portable_parts(self.fitted_, D.shape[1]))
        except HedgerowError:
            self.portable_ = None

    def _distil(self, D: FloatArray, seed: int) -> None:
        """Replace the model by a small one; what the small one misses is part of its residuals."""
        large = np.asarray(self.fitted_.predict(D))
        self.portable_ = self._portable(*distil(lambda A: np.asarray(self.fitted_.predict(A)), D, seed))
        small = sum((p.predict(D) for p in self.portable_.parts), start=np.full(len(D), self.portable_.intercept))
        self.residuals_ = self.residuals_ + large - small

    def _portable(self, constant: float, parts: list[Part]) -> PortableModel:
        return PortableModel(len(self.space_), self._column, self._code, constant, tuple(parts))

    def _design(self, X: Any) -> FloatArray:
        return design_matrix(self.space_, X)

    def _check_schema(self) -> None:
        """Refuse what the schema says already."""
        if self.schema is None:
            return
        if not isinstance(self.schema, Schema):
            raise HedgerowError(f"The 'schema' parameter must be a Schema or None. Got {self.schema!r} instead.")
        for name in ("feature_bounds", "categories", "categorical_features"):
            if getattr(self, name) is not None:
                raise BoundsError(
                    f"'{name}' and 'schema' say the same thing: leave '{name}' out, or edit the schema. "
                    f"Got {name}={getattr(self, name)!r} beside a schema."
                )

    @property
    def _stated(self) -> FeatureSpace | None:
        """Everything about the columns, if a schema says it (estimators pass its space as ``feature_bounds``)."""
        if self.schema is not None:
            space: FeatureSpace = self.schema.space
            return space
        return self.feature_bounds if isinstance(self.feature_bounds, FeatureSpace) else None

    def _records(self, X: Any, *, reset: bool) -> Any:
        if self._stated is not None:
            rows = self._stated.table(X)
            if reset:
                self.n_features_in_ = len(self._stated.columns)
                self.feature_names_in_ = np.array(self._stated.inputs, dtype=object)
            return rows
        if hasattr(X, "columns") or self.categorical_features is not None:
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X if hasattr(X, "columns") else np.asarray(X)
        return validate_data(self, X, reset=reset, dtype=[np.float64, np.float32])

    def predict(self, X: Any) -> FloatArray:
        """Predict labels, with scikit-learn where the model is not a compact one."""
        check_is_fitted(self)
        X = self._records(X, reset=False)
        if self.compact and self.portable_ is not None:
            return self.portable_.predict(self.space_.encode(X))
        return np.asarray(self.fitted_.predict(self._design(X)), dtype=np.float64)

    def formula(self) -> Formula:
        """Return what the portable form computes, for :mod:`hedgerow.export`."""
        from hedgerow.formula.formula import Formula
        from hedgerow.formula.portable import design_term, portable_term
        from hedgerow.formula.terms import records

        check_is_fitted(self)
        if self.portable_ is None:
            raise HedgerowError(
                f"PublicModel cannot be exported: there is no portable form of {type(self.regressor).__name__}; pass "
                "compact=True to distil it into one."
            )
        return Formula.of(self.space_, portable_term(self.portable_, design_term(self.portable_, records())), None)


def _warn_if_alike(y: FloatArray) -> None:
    """Say so if public labels do not differ: a public model of them is the start of every trust model, and no help.

    It makes no error on public records, and to the size of these errors all private ones are clipped.
    """
    if len(y) > 1 and y.min() == y.max():
        warnings.warn(
            f"'y_public': all {len(y):,} public labels are alike (with classes: none or all are of some class). A "
            "public model of them seems to make no errors, and next to nothing can be learnt from private labels on "
            "top of it; pass public records with labels that differ, or none.",
            HedgerowWarning,
            stacklevel=4,
        )


def design_columns(space: FeatureSpace) -> tuple[npt.NDArray[np.int64], npt.NDArray[np.int64]]:
    """Return the design: numeric columns as they are, an indicator for each category.

    >>> space = FeatureSpace.from_bounds((0, 1), ["a", "b"], categories={"b": ["x", "y"]})
    >>> [part.tolist() for part in design_columns(space)]
    [[0, 1, 1], [-1, 0, 1]]
    """
    pairs: list[tuple[int, int]] = []
    for j, size in enumerate(space.n_categories.tolist()):
        pairs += [(j, code) for code in range(size)] if size else [(j, -1)]
    column, code = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return column, code


def design_matrix(space: FeatureSpace, X: Any) -> FloatArray:
    """Return records as numbers for any regressor: within their ranges, and an indicator for each category.

    >>> space = FeatureSpace.from_bounds((0, 1), ["a", "b"], categories={"b": ["x", "y"]})
    >>> design_matrix(space, [[7, "y"], [None, "?"]]).tolist()
    [[1.0, 0.0, 1.0], [0.5, 1.0, 0.0]]
    """
    return PortableModel(len(space), *design_columns(space), 0.0, ()).design(space.encode(X))
