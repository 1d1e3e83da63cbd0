"""Every estimator of the library, small, with what is public about a table of two columns and a label.

``make(name)`` returns a fresh one. All are fitted by ``fit(entry, X, y)`` on a table with the columns of :data:`NAMES`,
the second a category of :data:`KINDS`; numeric labels lie in [0, 4], classes are :data:`CLASSES`.
"""

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from sklearn.linear_model import Ridge

import hedgerow
from hedgerow.public import PublicModel

NAMES = ("age", "kind")
KINDS = ("a", "b", "other")
CLASSES = ("low", "mid", "top")
SCHEMA = {"feature_bounds": {"age": (0, 10)}, "categories": {"kind": list(KINDS)}}
NUMBER, CLASS = {"label_bounds": (0, 4)}, {"classes": list(CLASSES)}


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
        return self.name + ("" if not self.public else " with public records")


def table(n: int = 60, seed: int = 0) -> pd.DataFrame:
    """Return records."""
    rng = np.random.default_rng(seed)
    return pd.DataFrame({"age": rng.uniform(0, 10, n), "kind": rng.choice(KINDS[:2], n)})


def labels(X: pd.DataFrame, classify: bool) -> Any:
    """Return labels that depend on the records, as plain Python values."""
    level = np.clip((X["age"] / 3.4).astype(int), 0, 2).to_numpy()
    return np.array(CLASSES)[level].tolist() if classify else (level + 0.5 * (X["kind"] == "b")).to_numpy().tolist()


def numeric(X: pd.DataFrame) -> np.ndarray:
    """Return the number column alone, twice."""
    return np.column_stack([X["age"], X["age"]])


def _local(name: str, **options: Any) -> Entry:
    return Entry(name, {"random_state": 0, **options}, "local")


def _central(name: str, **options: Any) -> Entry:
    label = CLASS if name.endswith("Classifier") else NUMBER
    return Entry(name, {"random_state": 0, **label, **SCHEMA, **options}, "central")


SMALL = {"n_estimators": 2, "max_depth": 2}
ASSISTED = {"public_model": Ridge(), "n_trees": 1}
BOX = {"feature_bounds": (0, 10)}
ENTRIES = (
    _local("LPDTRegressor", max_depth=2, **NUMBER, **SCHEMA),
    Entry("LPDTRegressor", {"random_state": 0, "max_depth": 2, **NUMBER, **SCHEMA}, "local", public=True),
    _local("LPDTClassifier", max_depth=2, **CLASS, **SCHEMA),
    Entry("LPDTClassifier", {"random_state": 0, "max_depth": 2, **CLASS, **SCHEMA}, "local", public=True),
    _local("AssistedForestRegressor", **NUMBER, **SCHEMA),
    Entry(
        "AssistedForestRegressor",
        {"random_state": 0, "public_model": Ridge(), "n_trees": 1, **NUMBER, **SCHEMA},
        "local",
        public=True,
    ),
    _local("AssistedForestClassifier", **CLASS, **SCHEMA),
    Entry(
        "AssistedForestClassifier",
        {"random_state": 0, "public_model": Ridge(), "n_trees": 1, **CLASS, **SCHEMA},
        "local",
        public=True,
    ),
    Entry("PrivateHistogramRegressor", {"random_state": 0, **NUMBER, **BOX}, "local", numeric=True),
    Entry("DeconvolutionRegressor", {"random_state": 0, **NUMBER, **BOX}, "local", numeric=True),
    _local("HistOfTreeRegressor", max_depth=1, **NUMBER, **SCHEMA),
    _local("KRRRegressor", max_depth=1, **NUMBER, **SCHEMA),
    _local("PartialTreeRegressor", max_depth=1, **NUMBER, **SCHEMA),
    _local("LabelTreeRegressor", max_depth=1, **NUMBER, **SCHEMA),
    Entry("LabelPrivateRegressor", {"random_state": 0, "regressor": Ridge(), **NUMBER}, "local", True, False, True),
    _central("DiPriMeForestRegressor", **SMALL),
    _central("DiPriMeForestClassifier", **SMALL),
    _central("DPExtraTreesRegressor", **SMALL),
    _central("DPExtraTreesClassifier", **SMALL),
    _central("DPRandomForestRegressor", **SMALL),
    _central("DPRandomForestClassifier", **SMALL),
    _central("DPDecisionForestClassifier", **SMALL),
    _central("MedianForestRegressor", **SMALL),
    _central("MedianForestClassifier", **SMALL),
    _central("PrivateAnovaRegressor"),
    _central("PrivateAnovaClassifier"),
    _central("PrivateAnovaRegressor", delta=0, missing="indicator"),
)


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


def public_model() -> PublicModel:
    """Return a public model of the table."""
    X = table(80, seed=1)
    return PublicModel(Ridge(), **SCHEMA).fit(X, labels(X, False))
