"""Every private estimator that is exported, small, with what is public about a table of two columns and a label.

``make(entry)`` returns a fresh one. All are fitted by ``fit(entry, estimator, X, y)`` on a table with the columns of
:data:`NAMES`, the second a category of :data:`KINDS`; numeric labels lie in [0, 4], classes are :data:`CLASSES`. A new
estimator is covered by being exported: what it needs is told by the names of its parameters.
"""

import inspect
from dataclasses import dataclass, replace
from functools import cache
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge
from sklearn.naive_bayes import GaussianNB

import hedgerow
from hedgerow import baselines
from hedgerow.estimators.base import PrivateEstimator

NAMES = ("age", "kind")
KINDS = ("a", "b", "other")
CLASSES = ("low", "mid", "top")
SCHEMA = {"feature_bounds": {"age": (0, 10)}, "categories": {"kind": list(KINDS)}}


@dataclass(frozen=True)
class Entry:
    """One estimator: its options, whether it takes numbers only, wants public records, and holds features public."""

    name: str
    options: dict[str, Any]
    trust: str
    numeric: bool = False
    public: bool = False
    open_features: bool = False

    @property
    def classify(self) -> bool:
        return self.name.endswith("Classifier")

    @property
    def id(self) -> str:
        return self.name + (", public" if self.public else "") + (", pure" if self.options.get("delta") == 0 else "")


def table(n: int = 60, seed: int = 0) -> pd.DataFrame:
    """Return records."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.uniform(0, 10, n), "kind": rng.choice(KINDS[:2], n)})


def labels(X: pd.DataFrame, classify: bool) -> Any:
    """Return labels that depend on the records, as plain Python values."""
    level = np.clip((X["age"].to_numpy() / 3.4).astype(int), 0, 2)
    return np.array(CLASSES)[level].tolist() if classify else (level + 0.5 * (X["kind"] == "b").to_numpy()).tolist()


def numeric(X: pd.DataFrame) -> np.ndarray:
    """Return the number column alone, twice."""
    return np.column_stack([X["age"], X["age"]])


BOX = {"feature_bounds": (0, 10)}
SMALL = {"n_estimators": 2, "max_depth": 2, "n_trees": 1, "random_state": 0}


def private_estimators() -> dict[str, type]:
    """Return all that are exported, by name."""
    names = [*hedgerow.__all__, *baselines.__all__]
    kinds = {name: getattr(hedgerow, name) for name in names}
    return {name: k for name, k in kinds.items() if inspect.isclass(k) and issubclass(k, PrivateEstimator)}


def _entries(name: str, kind: type) -> list[Entry]:
    has = inspect.signature(kind).parameters
    # The papers' trees over numbers have no categories; a regressor of the caller's choice reads records in clear.
    meta = bool({"regressor", "estimator"} & set(has))
    numbers_only = "categories" not in has
    known = {**SMALL, "label_bounds": (0, 4), "classes": list(CLASSES), "regressor": Ridge(), "estimator": GaussianNB()}
    known |= BOX if numbers_only else SCHEMA
    options = {name: value for name, value in known.items() if name in has}
    central = "central" if any("central" in part.__module__ for part in kind.__mro__) else "local"
    if any("hedgerow.sums" in part.__module__ for part in kind.__mro__):
        central = "aggregate"
    entries = [Entry(name, options, central, numeric=numbers_only, open_features=meta)]
    if "X_public" in inspect.signature(kind.fit).parameters and not meta:
        if "public_model" in has:
            options = {**options, "public_model": Ridge()}
        entries.append(Entry(name, options, central, public=True))
    return entries


EXPORTED = tuple(entry for name, kind in private_estimators().items() for entry in _entries(name, kind))
_ANOVA = next(entry for entry in EXPORTED if entry.name == "PrivateAnovaRegressor")
ENTRIES = (*EXPORTED, replace(_ANOVA, options={**_ANOVA.options, "delta": 0.0, "missing": "indicator"}))


def make(entry: Entry, **changed: Any) -> Any:
    """Return a fresh estimator."""
    return getattr(hedgerow, entry.name)(**{**entry.options, **changed})


def fit(entry: Entry, estimator: Any, X: pd.DataFrame, y: Any) -> Any:
    """Fit it on private records, with public ones if it wants them."""
    known: dict[str, Any] = {}
    if entry.public:
        public = table(80, seed=1)
        known = {"X_public": public, "y_public": labels(public, entry.classify)}
    return estimator.fit(numeric(X) if entry.numeric else X, y, **known)


@cache
def fitted(entry_id: str) -> Any:
    """Return one fit of each, to look at: all tests share it, and none may change it."""
    (entry,) = [e for e in ENTRIES if e.id == entry_id]
    X = table()
    return fit(entry, make(entry), X, labels(X, entry.classify))
