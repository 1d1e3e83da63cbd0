"""Public records that differ from the private ones: the shifts of the LPDT paper, and the other way round."""

from __future__ import annotations

from typing import Any

import numpy as np

from hedgerow.types import FloatArray
from hedgerow_experiments.data.datasets import load_dataset

__all__ = ["SHIFTS", "shifted"]

Records = tuple[Any, FloatArray]

SHIFTS = {
    "WHI->RED": "white wines are public, red wines private",
    "prepaid->credit": "trips of TAX paid by prepaid card are public (1,000 of them), those by credit card private",
    "TAX13->TAX": "taxi trips of 2013 to 2016 are public (1,000 of them), those of 2022 private",
}
_MOST = 1000


def shifted(name: str, repeat: int) -> tuple[Records, Records, Records]:
    """Return public, private and test records; private and test are 8:2 of one distribution."""
    (X0, y0), (X1, y1) = {"WHI->RED": _wine, "prepaid->credit": _prepaid, "TAX13->TAX": _years}[name]()
    rng = np.random.default_rng([7, repeat])
    order = rng.permutation(len(y1))
    other = rng.permutation(len(y0))
    cut = len(order) // 5
    some = other if name == "WHI->RED" else other[:_MOST]
    return (X0.iloc[some], y0[some]), (X1.iloc[order[cut:]], y1[order[cut:]]), (X1.iloc[order[:cut]], y1[order[:cut]])


def _labels(data: Any) -> FloatArray:
    return np.asarray(data.y, dtype=np.float64)


def _wine() -> tuple[Records, Records]:
    white = load_dataset("WHI")
    red = load_dataset("RED")
    return (white.X, _labels(white)), (red.X, _labels(red))


def _prepaid() -> tuple[Records, Records]:
    data = load_dataset("TAX")
    numbers = data.X.drop(columns=["company", "payment_type"]).fillna(0).astype(float)
    paid = data.X["payment_type"]
    public = np.asarray(paid == "Prcard")
    private = np.asarray(paid == "Credit Card")
    return (numbers[public], _labels(data)[public]), (numbers[private], _labels(data)[private])


def _years() -> tuple[Records, Records]:
    old = load_dataset("TAX13")
    new = load_dataset("TAX")
    # The weekday counts from Sunday in one file and from Monday in the other.
    columns = ["pickup_community_area", "dropoff_community_area", "trip_hour_of_day", "tips", "trip_seconds",
               "trip_miles"]  # fmt: skip
    (A, a), (B, b) = ((d.X[columns].fillna(0).astype(float), _labels(d)) for d in (old, new))
    return (A, a), (B, b)
