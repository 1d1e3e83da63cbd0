"""What estimators share in which holders keep some features private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hedgerow.checks import Flag, OneOf, Real, Rule, Whole
from hedgerow.errors import HedgerowError
from hedgerow.estimators.base import PrivateEstimator, PrivateRegressor
from hedgerow.given import BoundsLike, CategoriesLike, EstimatorLike
from hedgerow.public.given import PUBLIC_MODEL
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["SemiRegressor", "TwoRounds"]


@dataclass(kw_only=True, eq=False, repr=False)
class SemiRegressor(PrivateRegressor):
    """A regressor over records within public bounds."""

    feature_bounds: BoundsLike = None
    categories: CategoriesLike = None

    def _start(self, X: Any, y: Any) -> tuple[Any, FloatArray, FeatureSpace]:
        """Check everything that is public first; return private records, labels and the schema."""
        rows, labels = self._open(X, y)
        return rows, labels, self._space(rows)


@dataclass(kw_only=True, eq=False, repr=False)
class TwoRounds(PrivateEstimator):
    """The settings of both rounds, for numbers and for classes: see :class:`~hedgerow.HistOfTreeRegressor`."""

    rule: str = "auto"
    max_depth: int | str | None = None
    n_bins: int | str = 2
    n_private: int | str = "auto"
    label_share: float = 0.5
    response: str = "k_ary"
    min_samples_leaf: int = 1
    balance: float = 0.2
    constant: float = 0.1
    shrink: bool = True
    hide_mask: bool = False
    public_model: EstimatorLike = "auto"
    method: str = "auto"

    _parameters: ClassVar[dict[str, Rule]] = {
        "rule": OneOf("auto", "max_edge", "cart", "random_max_edge"),
        "max_depth": Whole(0) | OneOf("auto", None),
        "n_bins": Whole() | OneOf("auto"),
        "n_private": Whole(0) | OneOf("auto"),
        "label_share": Real(0, 1, ends="high"),
        "response": OneOf("k_ary", "bits"),
        "min_samples_leaf": Whole(),
        "balance": Real(0, 0.5, ends="low"),
        "constant": Real(0, ends="low"),
        "shrink": Flag(),
        "hide_mask": Flag(),
        "public_model": PUBLIC_MODEL,
        "method": OneOf("auto", "one_round", "two_rounds"),
    }

    def _in_one_round(self, public_model: Any) -> bool:
        """Return whether holders are asked once, for the error of a public model; refuse what does not fit that."""
        if self.method == "two_rounds":
            return False
        shaped = [name for name in _SHAPES if getattr(self, name) != TwoRounds.__dataclass_fields__[name].default]
        if self.method == "auto":
            return public_model is not None and not shaped
        if public_model is None:
            raise HedgerowError(
                "method='one_round' asks holders for the error of a public model: pass 'X_public' and 'y_public', or a "
                "fitted 'public_model'."
            )
        if shaped:
            raise HedgerowError(
                f"'{shaped[0]}' is for two rounds, and method='one_round' has one: leave it out, or pass "
                "method='two_rounds'."
            )
        return True


_SHAPES = (
    "rule",
    "max_depth",
    "n_bins",
    "n_private",
    "label_share",
    "response",
    "min_samples_leaf",
    "balance",
    "constant",
    "shrink",
    "hide_mask",
)
"""Settings that one round does not have: whoever changes one asks for two."""
