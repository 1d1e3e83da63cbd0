"""Central models with and without a public model, on one case."""

from __future__ import annotations

from typing import Any

from hedgerow.central.anova import PrivateAnovaRegressor
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.public.cases import draw
from hedgerow_experiments.public.ends import ceiling, error, public_error, public_model

__all__ = ["compute"]

_DELTA = 1e-6


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return test errors: of the public model, of boosting without privacy, and with and without the public model."""
    case = draw(key.dataset, key.repeat)
    model = public_model(case)
    shared: dict[str, Any] = {"delta": _DELTA, "label_bounds": case.label_bounds, "random_state": seed % 2**31}
    helped = PrivateAnovaRegressor(key.epsilon, public_model=model, **shared)
    helped.fit(case.X, case.y, case.X_public, case.y_public)
    alone = PrivateAnovaRegressor(key.epsilon, public_model=None, feature_bounds=model.space_, **shared)
    alone.fit(case.X, case.y)
    return {
        "public": public_error(case),
        "ceiling": ceiling(case),
        "ANOVA": error(helped.predict(case.X_test), case),
        "ANOVA without": error(alone.predict(case.X_test), case),
    }
