"""The papers' splits into public, private and test records."""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from hedgerow.space import FeatureSpace
from hedgerow.types import RealArray
from hedgerow_experiments.data.datasets import Dataset

__all__ = ["Part", "Split", "split", "widened"]


@dataclass(frozen=True, eq=False)
class Part:
    """Records as a frame, the same encoded, and labels."""

    X: Any
    Z: RealArray
    y: npt.NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Split:
    """Public, private and test records; ranges and label bounds come from the public ones alone."""

    space: FeatureSpace
    label_bounds: tuple[float, float]
    categories: dict[str, list[str]]
    public: Part
    private: Part
    test: Part


def widened(y: npt.ArrayLike, by: float = 0.1) -> tuple[float, float]:
    """Return the range of public labels, wider by a share of its width in all.

    >>> widened([0.0, 10.0])
    (-0.5, 10.5)
    """
    values = np.asarray(y, dtype=np.float64)
    margin = (float(values.max()) - float(values.min()) or 1.0) * by / 2
    return float(values.min()) - margin, float(values.max()) + margin


def split(data: Dataset, repeat: int, shares: tuple[float, float] = (0.1, 0.2)) -> Split:
    """Return split number ``repeat``: shares of public and test records, by default 1:7:2.

    The category lists of text columns are those declared in :mod:`hedgerow_experiments.data.public_facts` (for a set of
    one's own that declares none, all values that occur); feature ranges are those of the public records.
    """
    n = len(data.y)
    order = np.random.default_rng([zlib.crc32(data.code.encode()), repeat]).permutation(n)
    public = round(shares[0] * n)
    test = round(shares[1] * n)
    ends = {"public": order[:public], "private": order[public : n - test], "test": order[n - test :]}
    y = np.asarray(data.y, dtype=np.float64)
    text = [c for c in data.X.columns if data.X[c].dtype.kind not in "fiub"]
    declared = data.categories
    categories = {str(c): list(declared.get(str(c)) or sorted(map(str, data.X[c].unique()))) for c in text}
    space = FeatureSpace.from_public(data.X.iloc[ends["public"]], categories=categories)
    parts = {k: Part(data.X.iloc[rows], space.encode(data.X.iloc[rows]), y[rows]) for k, rows in ends.items()}
    return Split(space, widened(y[ends["public"]]), categories, **parts)
