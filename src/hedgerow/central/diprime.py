"""The parameters of DiPriMe forests."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from hedgerow.central.base import ForestBase
from hedgerow.checks import Flag, OneOf, Real, Rule, Whole
from hedgerow.given import EstimatorLike
from hedgerow.public.given import PUBLIC_MODEL

__all__ = ["DiPriMe"]


@dataclass(kw_only=True, eq=False, repr=False)
class DiPriMe(ForestBase):
    """What :class:`~hedgerow.DiPriMeForestRegressor` explains."""

    max_features: int | None = 5
    selection: str = "permute_and_flip"
    accounting: str = "strict"
    split_share: float = 0.5
    partition: bool = True
    delta: float = 0.0
    n_bins: int = 32
    stages: Any = "auto"
    bounds_share: float = 0.1
    verbose: int = 0
    public_model: EstimatorLike = "auto"

    _parameters: ClassVar[dict[str, Rule]] = {
        "max_features": Whole() | OneOf(None),
        "selection": OneOf("permute_and_flip", "exponential", "random"),
        "accounting": OneOf("strict", "paper"),
        "split_share": Real(0, 1),
        "partition": Flag(),
        "delta": Real(0, 1, ends="low"),
        "n_bins": Whole(2),
        "stages": Whole() | OneOf("auto"),
        "bounds_share": Real(0, 1),
        "verbose": Whole(0) | Flag(),
        "public_model": PUBLIC_MODEL,
    }
