"""Private labels with and without a public model, on one case."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from hedgerow.compare.scores import Row
from hedgerow.label import LabelPrivateRegressor
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.public.cases import draw
from hedgerow_experiments.public.declared import MANY
from hedgerow_experiments.public.ends import ceiling, error, public_error, public_model
from hedgerow_experiments.tidy import row_of

__all__ = ["compute", "tidy"]


def compute(key: Key, seed: int) -> dict[str, float]:
    """Return test errors: of the public model, of boosting without privacy, and of private labels at one epsilon."""
    many = key.setting == MANY
    case = draw(key.dataset, key.repeat, "none" if many else key.setting, 500 if many else 400)
    model = public_model(case)
    shared: dict[str, Any] = {"epsilon": key.epsilon, "label_bounds": case.label_bounds, "random_state": seed % 2**31}
    helped = LabelPrivateRegressor(public_model=model, **shared)
    helped.fit(case.X, case.y, case.X_public, case.y_public)
    numbers = [model._design(rows) for rows in (case.X, case.X_test)]
    alone = LabelPrivateRegressor(public_model=None, **shared).fit(numbers[0], case.y)
    return {
        "public": public_error(case),
        "ceiling": ceiling(case),
        "label": error(helped.predict(case.X_test), case),
        "no public model": error(alone.predict(numbers[1]), case),
    }


def tidy(experiment: Experiment, key: Key, value: dict[str, float]) -> Iterator[Row]:
    """Yield a row for each."""
    for method, number in value.items():
        yield row_of(experiment, key, number, method=method)
