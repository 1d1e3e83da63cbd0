"""The two ends of the scale: the public model alone, and boosting that sees everything."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import numpy as np

from hedgerow.public import PublicModel
from hedgerow.types import FloatArray
from hedgerow_experiments.frontier.models import FOLDER, fitted_model
from hedgerow_experiments.public.cases import Case

__all__ = ["ceiling", "error", "gap", "public_error", "public_model"]


def error(prediction: Any, case: Case) -> float:
    """Return the test error (mean squared) of predictions."""
    return float(np.mean((np.asarray(prediction) - case.y_test) ** 2))


def public_model(case: Case) -> PublicModel:
    """Return the public model of a case; kept on disk where ``$HEDGEROW_BENCH_CACHE`` names a folder."""
    return fitted_model(case.X_public, case.y_public, case.split, case.categories or None)


def public_error(case: Case) -> float:
    """Return the test error of the public model, within the label bounds."""
    return error(np.clip(public_model(case).predict(case.X_test), *case.label_bounds), case)


def ceiling(case: Case) -> float:
    """Return the test error of boosting on all public and private records, without privacy or shift.

    It is computed once a case, and kept as a number where ``$HEDGEROW_BENCH_CACHE`` names a folder.
    """
    folder = os.environ.get(FOLDER)
    name = f"ceiling {case.code} {case.split} {case.shift} {len(case.y_public)} {len(case.y)}.json"
    path = Path(folder) / name if folder else None
    if path is not None and path.exists():
        return float(json.loads(path.read_text()))
    found = error(np.clip(_boosting(case), *case.label_bounds), case)
    if path is not None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(found))
    return found


def _boosting(case: Case) -> FloatArray:
    import pandas as pd
    from sklearn.ensemble import HistGradientBoostingRegressor

    # Shifted public labels would lower the ceiling, and it is the same whatever the shift without them.
    parts = [case.X] if case.shift != "none" else [case.X_public, case.X]
    y = case.y if case.shift != "none" else np.concatenate([case.y_public, case.y])
    every = pd.concat([*parts, case.X_test])
    for column in case.categories:
        every[column] = pd.Categorical(every[column].astype(str), case.categories[column])
    model = HistGradientBoostingRegressor(
        max_iter=300, learning_rate=0.05, min_samples_leaf=5, random_state=0, categorical_features=list(case.categories)
    )
    return np.asarray(model.fit(every.iloc[: len(y)], y).predict(every.iloc[len(y) :]))


def gap(method: float, public: float, best: float) -> float:
    """Return which share of the distance from the public model to the ceiling a method closes.

    >>> gap(2.0, 3.0, 1.0)
    0.5
    """
    return (public - method) / (public - best)
