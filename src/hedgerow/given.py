"""Types of what a user gives to a constructor."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, TypeAlias

import numpy as np
import numpy.typing as npt

if TYPE_CHECKING:
    from hedgerow.ledger import Ledger
    from hedgerow.randomness import Randomness
    from hedgerow.schema import Schema
    from hedgerow.space import FeatureSpace

__all__ = [
    "BoundsLike",
    "CategoriesLike",
    "ClassesLike",
    "ColumnsLike",
    "EstimatorLike",
    "LabelBoundsLike",
    "LedgerLike",
    "ProgressLike",
    "RandomStateLike",
    "SchemaLike",
]

Pair: TypeAlias = Sequence[float] | npt.NDArray[Any]
"""A lower and an upper end."""

BoundsLike: TypeAlias = "Pair | Sequence[Pair] | Mapping[Any, Pair] | FeatureSpace | None"
"""One range for all, one for each (lower ends, then upper ends), ranges by column, or a space that has them."""

CategoriesLike: TypeAlias = Mapping[Any, Sequence[Any]] | None
"""Public lists of categories by column."""

ColumnsLike: TypeAlias = Sequence[int | str] | None
"""Columns by name or position."""

LabelBoundsLike: TypeAlias = Pair | Sequence[Pair] | None
"""The range of the label, or one for each output."""

ClassesLike: TypeAlias = Iterable[Any] | str | None
"""The public list of classes, or by name how to get one."""

RandomStateLike: TypeAlias = "int | np.integer[Any] | Randomness | np.random.RandomState | np.random.Generator | None"
"""None is the secure source; all others are simulations."""

LedgerLike: TypeAlias = "Ledger | str | os.PathLike[str] | None"
"""A ledger, or where one lies."""

SchemaLike: TypeAlias = "Schema | None"
"""What is public of columns and label."""

EstimatorLike: TypeAlias = object
"""An estimator by duck type (``fit``, ``predict``), or a name for one: scikit-learn has no type for this."""

ProgressLike: TypeAlias = Callable[..., Any] | None
"""Called as long work goes on."""
