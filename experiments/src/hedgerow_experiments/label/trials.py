"""One trial of the label privacy experiments: an 80/20 split, labels randomised once, one fit."""

from __future__ import annotations

import math
from functools import lru_cache
from typing import Any

import numpy as np
from sklearn.base import BaseEstimator, RegressorMixin, clone
from sklearn.model_selection import train_test_split

from hedgerow.label import (
    AutoMechanism,
    GaussianMechanism,
    LabelPrivateRegressor,
    LaplaceMechanism,
    OptimalRandomizer,
    RPWithPrior,
    RROnBins,
    StaircaseMechanism,
    UnbiasedRandomizer,
)
from hedgerow.label.regressor import measure_averaging
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.label.data import LEARNERS, Case, load_case
from hedgerow_experiments.label.network import PaperNetwork, predict_many

__all__ = ["MECHANISMS", "Fits", "compute", "noisy_labels", "run_block"]

_PAPER: dict[str, Any] = {"prior_share": "auto", "trust": "central"}  # Algorithm 4: a curator's noisy histogram
MECHANISMS: dict[str, Any] = {
    "RPWithPrior": lambda e, b: RPWithPrior(e, label_bounds=b, **_PAPER),
    "auto": lambda e, b: AutoMechanism(e, label_bounds=b, **_PAPER),
    "Optimal": lambda e, b: OptimalRandomizer(e, label_bounds=b, **_PAPER),
    "RRonBins": lambda e, b: RROnBins(e, label_bounds=b, **_PAPER),
    "Unbiased": lambda e, b: UnbiasedRandomizer(e, label_bounds=b, **_PAPER),
    "Laplace": lambda e, b: LaplaceMechanism(e, label_bounds=b),
    "Staircase": lambda e, b: StaircaseMechanism(e, label_bounds=b),
    "Gaussian": lambda e, b: GaussianMechanism(e, delta=1e-4, label_bounds=b),
}
FIRST = {"crime": 2}
"""The first trial, where it is not 0: splits 0 and 1 of crime were looked at while defaults were chosen."""
Variant = tuple[str, str]


class Recorder(RegressorMixin, BaseEstimator):  # type: ignore[misc]
    """A regressor that only keeps the labels it is given."""

    def fit(self, X: Any, y: Any) -> Recorder:
        """Keep the labels."""
        self.labels_ = np.asarray(y)
        return self

    def predict(self, X: Any) -> Any:
        """Predict one value for all; nothing is measured of that."""
        return np.full(len(X), self.labels_.mean())


def noisy_labels(case: Case, X: Any, y: Any, cell: Variant, epsilon: float, trial: int, averaging: float) -> Any:
    """Return the noisy labels of a cell as a regressor gets to see them."""
    mechanism, debias = cell
    made = MECHANISMS[mechanism](epsilon, case.bounds)
    model = LabelPrivateRegressor(Recorder(), made, debias=debias, averaging=averaging, random_state=1000 + trial)
    return model.fit(X, y).regressor_.labels_


class Fits(dict[bytes, float]):
    """Test errors of one trial, learner and budget, by the labels that were learnt from."""


def run_block(
    case: Case,
    learner: str,
    variants: list[Variant],
    epsilon: float,
    trial: int,
    averaging: float,
    fits: Fits | None = None,
) -> list[float]:
    """Return the test errors of one trial: 80/20 split, labels randomised once for each variant, one fit each.

    Equal labels are learnt from once: "auto" is one of the others, with the same seed, and without noise all are.
    """
    X, Xt, y, yt = train_test_split(case.X, case.y, test_size=0.2, random_state=trial)
    found = [
        noisy_labels(case, X, y, v, epsilon, trial, averaging) for v in variants[: 1 if math.isinf(epsilon) else None]
    ]
    keys = [b"" if math.isinf(epsilon) else labels.tobytes() for labels in found]
    errors = Fits() if fits is None else fits
    missing = {key: labels for key, labels in zip(keys, found, strict=True) if key not in errors}
    regressor = LEARNERS[learner](case, trial, len(y), epsilon)
    if isinstance(regressor, PaperNetwork) and missing:
        predicted = predict_many(regressor, X, list(missing.values()), Xt)
    else:
        predicted = [clone(regressor).fit(X, labels).predict(Xt) for labels in missing.values()]
    for key, p in zip(missing, predicted, strict=True):
        errors[key] = float(np.mean((np.clip(p, *case.bounds) - yt) ** 2))
    mse = [errors[key] for key in keys]
    return mse * len(variants) if math.isinf(epsilon) else mse


@lru_cache(maxsize=2)
def _case(dataset: str, trial: int) -> Case:
    """Return a data set; simulated ones are drawn anew for every trial."""
    return load_case(dataset, trial)


@lru_cache(maxsize=1)
def _shared(dataset: str, learner: str, epsilon: float, trial: int) -> tuple[Case, float, Fits]:
    """Return what all mechanisms of a trial share: the case, what ``averaging="auto"`` would measure, and fits."""
    case = _case(dataset, trial if dataset.startswith("simulated") else 0)
    X = train_test_split(case.X, test_size=0.2, random_state=trial)[0]
    regressor = LEARNERS[learner](case, trial, len(X), epsilon)
    return case, measure_averaging(regressor, X, case.bounds), Fits()


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return the test error of one mechanism under one learner; ``"mechanism/debias"`` says how bias is undone."""
    trial = key.repeat + FIRST.get(key.dataset, 0)
    case, averaging, fits = _shared(key.dataset, key.setting, key.epsilon, trial)
    mechanism, _, debias = key.group.partition("/")
    variant = (mechanism, debias or "shrink")
    return {key.group: run_block(case, key.setting, [variant], key.epsilon, trial, averaging, fits)[0]}
