"""The data sets and learners of the label privacy paper, with label bounds that are public."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.compose import make_column_transformer
from sklearn.impute import SimpleImputer
from sklearn.preprocessing import OrdinalEncoder

from hedgerow.errors import HedgerowError
from hedgerow.label.boosting import boosting_for
from hedgerow_experiments.data.criteo import HASHED, MOST, load_criteo
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.label.network import PaperNetwork

__all__ = ["DATASETS", "LEARNERS", "Case", "load_case"]


@dataclass(frozen=True, eq=False)
class Case:
    """Features as numbers, labels, the public range of the label, and which columns are codes of words."""

    X: npt.NDArray[np.float64]
    y: npt.NDArray[np.float64]
    bounds: tuple[float, float]
    batch: int = 256
    words: tuple[int, ...] = ()


def _crime() -> Case:
    """Communities and Crime: attributes with missing values are dropped but OtherPerCap, which is imputed."""
    data = load_dataset("CRM")
    X = data.X.copy()
    if "OtherPerCap" in X:
        X["OtherPerCap"] = X["OtherPerCap"].fillna(X["OtherPerCap"].mean())
    X = X.dropna(axis=1)
    return Case(X.to_numpy(dtype=np.float64), np.asarray(data.y, dtype=np.float64), (0.0, 1.0))


def _housing() -> Case:
    """California housing: values are capped at 5.00001 by those who published them."""
    data = load_dataset("CAL")
    return Case(data.X.to_numpy(dtype=np.float64), np.asarray(data.y, dtype=np.float64), (0.0, 5.0))


def _nyc() -> Case:
    """Flight delays, in place of Criteo; bounds as a curator might publish them, labels outside are clipped."""
    data = load_dataset("NYC")
    text = [c for c in data.X.columns if data.X[c].dtype.kind not in "fiu"]
    other = [c for c in data.X.columns if c not in text]
    encode = make_column_transformer((SimpleImputer(), other), (OrdinalEncoder(), text))
    X = np.asarray(encode.fit_transform(data.X), dtype=np.float64)
    words = tuple(range(X.shape[1] - len(text), X.shape[1]))
    return Case(X, np.asarray(data.y, dtype=np.float64), (-60.0, 240.0), 8192, words)


def _criteo() -> Case:
    """Criteo's log, where a user has it; sales above 400 euro are left out, as in the paper."""
    frame = load_criteo()
    y = frame.pop("target").to_numpy(dtype=np.float64)
    words = tuple(range(frame.shape[1] - len(HASHED), frame.shape[1]))
    return Case(frame.to_numpy(dtype=np.float64), y, (0.0, MOST), 8192, words)


def _simulated(nonlinear: bool) -> Callable[[int, int], Case]:
    def make(seed: int, rows: int) -> Case:
        rng = np.random.default_rng(seed)
        X = rng.standard_normal((rows, 10))
        if nonlinear:
            return Case(X, np.exp(X).sum(axis=1), (0.0, 60.0))
        return Case(X, X @ rng.standard_normal(10), (-12.0, 12.0))

    return make


_FILES: dict[str, Callable[[], Case]] = {"crime": _crime, "housing": _housing, "nyc": _nyc, "criteo": _criteo}
_SIMULATED = {"simulated-linear": _simulated(False), "simulated-nonlinear": _simulated(True)}
DATASETS = (*_FILES, *_SIMULATED)
"""Names of cases, as in ``rpwithprior_mse.csv``; the paper gives no sizes for the simulated ones: 2000 x 10 here."""


def load_case(name: str, seed: int, rows: int = 2000) -> Case:
    """Return a case; seed and rows matter for simulated data only."""
    if name in _SIMULATED:
        return _SIMULATED[name](seed, rows)
    if name not in _FILES:
        raise HedgerowError(f"unknown data set {name!r}; known are {sorted(DATASETS)}.")
    return _FILES[name]()


def _network(case: Case, seed: int, n: int, epsilon: float) -> Any:
    return PaperNetwork(case.bounds, case.batch, case.words, seed)


def _boosting(case: Case, seed: int, n: int, epsilon: float) -> Any:
    return boosting_for(n, epsilon).set_params(random_state=seed)


LEARNERS: dict[str, Callable[[Case, int, int, float], Any]] = {"network": _network, "boosting": _boosting}
"""Learners by name, built for a case, a seed, the number of labels and epsilon."""
