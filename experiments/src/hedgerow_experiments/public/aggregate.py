"""Noisy sums of two servers on top of a public model, on one case."""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from hedgerow.sums import SecureSumRegressor
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.public.cases import Case, draw
from hedgerow_experiments.public.ends import ceiling, error, public_error, public_model

__all__ = ["MANY", "compute"]

MANY = "1e5 holders"
_MANY = 100_000
_DELTA = 1e-6


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return test errors: of the public model, of boosting without privacy, and of the public model with sums."""
    many = key.setting == MANY
    case = draw(key.dataset, key.repeat, "none" if many else key.setting)
    asked = _drawn_again(case, seed) if many else case
    shared = {"delta": _DELTA, "label_bounds": case.label_bounds, "random_state": seed % 2**31}
    sums = SecureSumRegressor(key.epsilon, public_model=public_model(case), **shared)  # type: ignore[arg-type]
    sums.fit(asked.X, asked.y, case.X_public, case.y_public)
    return {
        "public": public_error(case),
        "ceiling": ceiling(case),
        "sums": error(sums.predict(case.X_test), case),
    }


def _drawn_again(case: Case, seed: int) -> Case:
    """Return the case with 1e5 holders, drawn with replacement."""
    rows = np.random.default_rng(seed).integers(len(case.y), size=_MANY)
    return replace(case, X=case.X.iloc[rows], y=case.y[rows])
