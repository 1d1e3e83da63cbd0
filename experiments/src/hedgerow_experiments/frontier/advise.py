"""The guide (``hedgerow advise``) against simulation, on one split: what it measures, and errors to compare with.

What is measured on public records is kept, and forecasts are made from it whenever rows are written: a change of the
guide needs no new run.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import lru_cache
from typing import Any

import numpy as np

from hedgerow.compare.scores import Row
from hedgerow.local.advise import PublicFacts, advise_from, measure_public
from hedgerow.public import PublicModel
from hedgerow_experiments.data.datasets import load_dataset
from hedgerow_experiments.data.splits import Split, split
from hedgerow_experiments.experiment import Experiment, Key
from hedgerow_experiments.frontier.declared import ADVISE_EPSILONS, SIMULATED
from hedgerow_experiments.frontier.models import fitted_model
from hedgerow_experiments.frontier.simulate import predicted, private_half
from hedgerow_experiments.tidy import row_of

__all__ = ["compute", "tidy"]


@lru_cache(maxsize=1)
def _split(code: str, repeat: int) -> tuple[Split, PublicModel]:
    s = split(load_dataset(code), repeat)
    return s, fitted_model(s.public.X, s.public.y, repeat, s.categories or None)


def compute(key: Key, seed: int) -> dict[str, Any]:
    """Return what is measured on public records, or simulated test errors of one setting by epsilon."""
    s, base = _split(key.dataset, key.repeat)
    if key.group != "facts":
        guesses = {f"{e:g}": predicted(key.group, s, base, e, key.repeat) for e in ADVISE_EPSILONS}
        return {e: float(np.mean((guess - s.test.y) ** 2)) for e, guess in guesses.items()}
    names = private_half([str(c) for c in s.public.X.columns])
    facts = measure_public(base, s.public.X, s.public.y, s.label_bounds, names, 0)
    own = float(np.mean(base.residuals_**2))
    return {"facts": facts.to_dict(), "own": own, "holders": len(s.private.y)}


def tidy(experiment: Experiment, key: Key, value: dict[str, Any]) -> Iterator[Row]:
    """Yield forecasts and what they rest on, or simulated errors; the setting is the trust model."""

    def row(setting: str, method: str, epsilon: float | None, number: float, metric: str = experiment.metric) -> Row:
        return row_of(experiment, key, number, setting=setting, method=method, epsilon=epsilon, metric=metric)

    if key.group != "facts":
        yield from (row(key.group, "simulated", float(e), error) for e, error in value.items())
        return
    facts = PublicFacts.from_dict(value["facts"])
    holders = value["holders"]
    yield row("public model", "own", None, value["own"])
    yield row("public model", "fresh", None, float(np.mean(facts.residuals**2)))
    yield row("public model", "own", None, len(facts.residuals), "records")
    for epsilon in ADVISE_EPSILONS:
        advice = advise_from(facts, epsilon, holders)
        yield from (row(name, "forecast", epsilon, advice.expected(name, holders)) for name in SIMULATED)
