"""Features that are public: they are read by the learner, not by a rule that absorbs everything."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
from sklearn.utils import assert_all_finite, get_tags
from sklearn.utils.validation import validate_data

from hedgerow.errors import BoundsError, HedgerowError, shown
from hedgerow.estimators.records import check_table
from hedgerow.public.estimator import design_matrix
from hedgerow.space import FeatureSpace

__all__ = ["PublicFeatures", "as_numbers", "check_weights", "refuse_parameters"]


class PublicFeatures:
    """An estimator whose learner reads public features; ``_learner()`` is that learner, before it is fitted.

    ``space_`` is the schema by which a fitted learner reads records; None: it reads them as they are.
    """

    _learner_name: ClassVar[str]
    schema: Any
    space_: FeatureSpace | None

    def _learner(self, n: int = 1) -> Any:
        raise NotImplementedError

    def _records(self, X: Any, *, reset: bool) -> Any:
        """Check records the scikit-learn way; data frames are left to the learner (or its pipeline)."""
        check_table(X)
        if self.schema is not None:
            return super()._records(X, reset=reset)  # type: ignore[misc]
        if hasattr(X, "columns"):
            validate_data(self, X, reset=reset, skip_check_array=True)
            return X
        tags = get_tags(self).input_tags
        sparse = "csr" if tags.sparse else False  # rows of these can be taken
        rows = validate_data(self, X, reset=reset, dtype=None, accept_sparse=sparse, ensure_all_finite=False)
        if not tags.allow_nan:
            _check_finite(rows, self._learner(), self._learner_name)
        return rows

    def _inputs(self, rows: Any) -> Any:
        """Return what the learner reads: records as they are, or, by a schema, as numbers."""
        return as_numbers(self.space_, rows)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()  # type: ignore[misc]
        inner = get_tags(self._learner()).input_tags
        tags.input_tags.allow_nan = inner.allow_nan
        tags.input_tags.sparse = inner.sparse
        tags.input_tags.string = inner.string
        return tags


def _check_finite(rows: Any, learner: Any, name: str) -> None:
    """Refuse features that the learner does not take; scikit-learn would recommend models that are not private."""
    if hasattr(rows, "tocsr"):  # sparse
        rows = rows.tocsr().data
    try:
        assert_all_finite(rows)
    except ValueError:
        raise BoundsError(
            f"'X' contains NaN or infinity, which {shown(learner)} does not take: fill them in beforehand, or leave "
            f"'{name}' out (it is then boosting, which takes missing values)."
        ) from None


def as_numbers(space: FeatureSpace | None, rows: Any) -> Any:
    """Return records as numbers by a schema; as they are without one."""
    if space is None:
        return rows
    return np.ascontiguousarray(design_matrix(space, rows))  # as arrays come: else sums differ in last digits


def check_weights(fit_params: dict[str, Any], n: int) -> None:
    """Refuse a ``sample_weight`` that is not one number above 0 a record.

    It is public: it must not depend on labels. A weight of 0 would ask a holder to spend epsilon for nothing.
    """
    given = fit_params.get("sample_weight")
    if given is None:
        return
    weight = np.asarray(given)
    if weight.shape != (n,) or weight.dtype.kind not in "fiu" or not np.isfinite(weight).all() or (weight <= 0).any():
        raise HedgerowError(
            f"'sample_weight' must be {n} public numbers above 0, one a record; leave records of weight 0 out, so that "
            "their holders need not answer."
        )


def refuse_parameters(fit_params: dict[str, Any], why: str) -> None:
    """Refuse parameters of ``fit`` that nothing would read."""
    if fit_params:
        raise HedgerowError(f"'fit' got {', '.join(map(repr, fit_params))}, but {why}: leave it out.")
