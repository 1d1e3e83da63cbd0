"""Few public records, many holders, fair or shifted: the cases that every trust model is measured on."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.types import FloatArray
from hedgerow_experiments.data.datasets import Dataset, load_dataset
from hedgerow_experiments.data.splits import widened

__all__ = ["SHIFTS", "Case", "draw"]

_TEST = 0.2  # share of test records, as in the papers' splits
_TILT = 1.5  # log-odds of being public for one standard deviation of what decides it
_LEVEL = 0.5  # standard deviations by which public labels are too large
_SPREAD = 1.5  # by which public labels are too far from their mean
_RARE = 0.05  # odds of being public for records of the category that public data lack

Rows = npt.NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Case:
    """Public records, holders and test records of one data set; holders and test records are of one distribution."""

    code: str
    split: int
    shift: str
    X_public: Any
    y_public: FloatArray
    X: Any
    y: FloatArray
    X_test: Any
    y_test: FloatArray
    label_bounds: tuple[float, float]
    categories: dict[str, list[str]]


def _no_weights(X: Any, y: FloatArray) -> FloatArray:
    return np.ones(len(y))


def _scaled(values: FloatArray) -> FloatArray:
    spread = float(np.std(values)) or 1.0
    return np.asarray((values - values.mean()) / spread)


def _numbers(X: Any) -> list[str]:
    return [c for c in X.columns if X[c].dtype.kind in "fiub" and X[c].nunique() > 1]


def _by_feature(X: Any, y: FloatArray) -> FloatArray:
    """Prefer the low end of the numeric column that goes with the label most."""
    columns = [np.nan_to_num(X[c].to_numpy(dtype=np.float64)) for c in _numbers(X)]
    strength = [abs(float(np.corrcoef(values, y)[0, 1])) for values in columns]
    return np.exp(-_TILT * _scaled(columns[int(np.argmax(strength))]))


def _by_large(X: Any, y: FloatArray) -> FloatArray:
    return np.exp(_TILT * _scaled(y))


def _by_small(X: Any, y: FloatArray) -> FloatArray:
    return np.exp(-_TILT * _scaled(y))


def _by_category(X: Any, y: FloatArray) -> FloatArray:
    """Leave out nearly all of one category: the second most frequent one, or the top third of a few-valued column."""
    text = [c for c in X.columns if X[c].dtype.kind not in "fiub"]
    if text:
        values = X[text[0]].astype(str)
        rare = np.asarray(values == values.value_counts().index[min(1, values.nunique() - 1)])
    else:
        column = min(_numbers(X), key=lambda c: X[c].nunique())
        numbers = np.nan_to_num(X[column].to_numpy(dtype=np.float64))
        rare = numbers >= np.quantile(numbers, 2 / 3)
    return np.where(rare, _RARE, 1.0)


def _same(y: FloatArray) -> FloatArray:
    return y


def _higher(y: FloatArray) -> FloatArray:
    return np.asarray(y + _LEVEL * y.std())


def _wider(y: FloatArray) -> FloatArray:
    return np.asarray(y.mean() + _SPREAD * (y - y.mean()))


Weights = Callable[[Any, FloatArray], FloatArray]
SHIFTS: dict[str, tuple[Weights, Callable[[FloatArray], FloatArray]]] = {
    "none": (_no_weights, _same),
    "feature end": (_by_feature, _same),
    "label level": (_no_weights, _higher),
    "label spread": (_no_weights, _wider),
    "large labels": (_by_large, _same),
    "small labels": (_by_small, _same),
    "rare category": (_by_category, _same),
}
"""Which records become public (relative weights), and what is done to their labels."""


def draw(code: str | Dataset, split: int, shift: str = "none", n_public: int = 400) -> Case:
    """Return one case: a fifth of the records for the test, ``n_public`` of the others public, the rest holders.

    Label bounds are those declared for the set (else the range of public labels, widened), and contain the public
    labels. Where a shift decides which records become public, they are drawn first, and test records from what is left:
    of a small set they take a part that is missed, and holders would not be like the test records otherwise.
    """
    data = load_dataset(code) if isinstance(code, str) else code
    X = _filled(data.X)
    y = np.asarray(data.y, dtype=np.float64)
    rng = np.random.default_rng([zlib.crc32(data.code.encode()), split, 20])
    order = rng.permutation(len(y))
    n_test = round(_TEST * len(y))
    test = order[:n_test]
    others = order[n_test:]
    weights, change = SHIFTS[shift]
    if weights is not _no_weights:
        others = order
    chances = weights(X.iloc[others], y[others])
    chosen = rng.choice(len(others), n_public, replace=False, p=chances / chances.sum())
    public = others[chosen]
    holders = np.delete(others, chosen)
    if weights is not _no_weights:
        test = holders[:n_test]
        holders = holders[n_test:]
    y_public = change(y[public])
    low, high = data.label_bounds or widened(y_public)
    bounds = (min(float(low), float(y_public.min())), max(float(high), float(y_public.max())))
    return Case(
        data.code, split, shift,
        X.iloc[public], y_public, X.iloc[holders], y[holders], X.iloc[test], y[test],
        bounds, _categories(data),
    )  # fmt: skip


def _filled(X: Any) -> Any:
    """Return the table with 0 for missing numbers, which trees can set apart."""
    numbers = [c for c in X.columns if X[c].dtype.kind in "fiub"]
    return X.assign(**{c: X[c].fillna(0) for c in numbers if X[c].isna().any()})


def _categories(data: Dataset) -> dict[str, list[str]]:
    """Return declared values of text columns; for a set that declares none, all that occur."""
    text = [c for c in data.X.columns if data.X[c].dtype.kind not in "fiub"]
    declared = data.categories
    return {str(c): list(declared.get(str(c)) or sorted(map(str, data.X[c].unique()))) for c in text}
