"""Simulated predictions of every trust model that starts from a public model."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from hedgerow.label import LabelPrivateRegressor
from hedgerow.local.assisted import design_assisted
from hedgerow.semi import HistOfTreeRegressor
from hedgerow_experiments.data.splits import Split

__all__ = ["predicted", "private_half"]


def private_half(names: Sequence[str]) -> list[str]:
    """Return the columns that are private in the semi-feature simulation: the first half."""
    return [str(n) for n in names[: len(names) // 2]]


def predicted(setting: str, s: Split, base: Any, epsilon: float, seed: int) -> Any:
    """Return predictions of the test records by the estimator of one setting."""
    options: dict[str, Any] = {"epsilon": epsilon, "label_bounds": s.label_bounds}
    if setting == "public only":
        return np.clip(base.predict(s.test.X), *s.label_bounds)
    if setting == "local":
        options["n_holders"] = len(s.private.y)
        task = design_assisted(s.public.X, s.public.y, public_model=base, random_state=seed, **options)
        return task.simulate(s.private.X, s.private.y, seed).model().predict(s.test.X)
    if setting == "semi-feature":
        names = [str(c) for c in s.private.X.columns]
        mask = np.isin(names, private_half(names))
        semi = HistOfTreeRegressor(public_model=base, random_state=seed, **options)
        return semi.fit(s.private.X, s.private.y, private=mask).predict(s.test.X)
    label = LabelPrivateRegressor(public_model=base, random_state=seed, **options)
    return label.fit(s.private.X, s.private.y).predict(s.test.X)
