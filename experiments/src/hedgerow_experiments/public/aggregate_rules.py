"""Noisy sums of two servers by other sizes, one at a time, beside the shipped ones."""

from __future__ import annotations

from hedgerow.sums import SecureSumRegressor
from hedgerow.sums.rules import Rules
from hedgerow_experiments.experiment import Key
from hedgerow_experiments.public.cases import draw
from hedgerow_experiments.public.declared import SHIPPED, SIZES
from hedgerow_experiments.public.ends import error, public_error, public_model

__all__ = ["compute"]

_DELTA = 1e-6


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return test errors: of sums of these sizes on a public model, and beside the shipped ones of that model alone.

    All have one seed a split.
    """
    case = draw(key.dataset, key.repeat)
    sized = type("Sized", (SecureSumRegressor,), {"_rules": Rules(**SIZES.get(key.group, {}))})
    facts = {"delta": _DELTA, "label_bounds": case.label_bounds, "random_state": seed}
    model = sized(key.epsilon, public_model=public_model(case), **facts)
    model.fit(case.X, case.y, case.X_public, case.y_public)
    found = {key.group: error(model.predict(case.X_test), case)}
    return {"public": public_error(case), **found} if key.group == SHIPPED else found  # it is the same for all sizes
