"""What estimators share in which holders keep some features private."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hedgerow.checks import Flag, OneOf, Real, Rule, Whole
from hedgerow.estimators.base import PrivateEstimator, PrivateRegressor
from hedgerow.public.given import PUBLIC_MODEL
from hedgerow.space import FeatureSpace
from hedgerow.types import FloatArray

__all__ = ["SemiRegressor", "TwoRounds"]


@dataclass(kw_only=True, eq=False, repr=False)
class SemiRegressor(PrivateRegressor):
    """A regressor over records within public bounds."""

    feature_bounds: Any = None
    categories: Any = None

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
    public_model: Any = "auto"

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
    }
